//! Finds each packed byte in memory. All other code uses this cursor.
//!
//! The cursor passes a range of the packed stream of some instances to a [`Visitor`], part by part and in order. Packing,
//! unpacking, lending memory without a copy and copying between layouts are different visitors. Between two calls, the position
//! is the only state, so no other state can disagree with it. Finding a position takes time logarithmic in the number of blocks
//! for each loop around it.
//!
//! At each level the range is [split]: less than one item at the start, whole items, less than one item at the end. The visitor
//! gets the whole items in a single call; the cursor descends only into the two ends. An item is an instance, an iteration of a
//! loop, an operation, a block, or a value, from the outermost level to the innermost. Before the cursor splits a range, the
//! visitor may [take](Visitor::take_range) it as it is, if it can copy any part of the operation's packed bytes.
//!
//! An example: an instance is two blocks of 4 bytes with a stride of 8, the extent is 20, and there are 4
//! instances; the range is `6..21` of the 32 packed bytes.
//!
//! ```text
//! packed     0        8        16       24       32
//! instances  |   0    |   1    |   2    |   3    |
//! range             [6               21)
//! instances         6..8 of instance 0, all of instance 1, 0..5 of instance 2
//! blocks            2..4 of block 1 | all | block 0, 0..1 of block 1
//! visited    run(10, 2)   repeated(1 at 20)   blocks(1 at 40)   run(48, 1)
//! ```
//!
//! So a range takes two descents and one call for the middle, however many instances it spans.
//!
//! The descent is in this file; `instances` starts it, and `numbers` has the same descent for the numbers of segments.

mod instances;
mod numbers;

use core::ops::{ControlFlow, Range};

pub(crate) use self::instances::Instances;
use crate::plan::{
    Blocks, Elements, Index, List, Lists, Op, Permutation, Plan, Program, Split, numbered_items,
    size, split, split_first,
};

/// Visits the parts of a range. Displacements are in bytes from the origin of the first
/// instance.
pub(crate) trait Visitor {
    /// Bytes of one block, or a part of it.
    fn run(&mut self, disp: i64, len: u64) -> ControlFlow<()>;

    /// Blocks at equal distances.
    fn blocks(&mut self, blocks: &Blocks) -> ControlFlow<()> {
        (0..blocks.count).try_for_each(|index| self.run(blocks.block(index), blocks.len))
    }

    /// Blocks of a list. `shift` is added to their displacements.
    fn list(&mut self, list: &List, lists: &Lists, shift: i64) -> ControlFlow<()> {
        lists.blocks(list).try_for_each(|(disp, len)| self.run(disp.wrapping_add(shift), len))
    }

    /// Values that are converted. They occur only in plans of conversions.
    fn elements(&mut self, elements: &Elements) -> ControlFlow<()> {
        let _ = elements;
        ControlFlow::Continue(())
    }

    /// `len` bytes of a single converted value, from byte `into` on: less than the whole value.
    fn part_of_element(&mut self, element: &Elements, into: u64, len: u64) -> ControlFlow<()> {
        let _ = (element, into, len);
        ControlFlow::Continue(())
    }

    /// Repeated operations. If the visitor returns `None`, it gets them iteration by iteration.
    fn repeated(&mut self, repeated: &Repeated<'_>) -> Option<ControlFlow<()>> {
        let _ = repeated;
        None
    }

    /// A range of the packed bytes of `of`. If the visitor returns `None`, the cursor splits the range.
    fn take_range(&mut self, of: &Splittable<'_>, bytes: &Range<u64>) -> Option<ControlFlow<()>> {
        let _ = (of, bytes);
        None
    }
}

/// Data of which any range of packed bytes may be copied at once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Splittable<'a> {
    Repeated(&'a Repeated<'a>),
    /// Several blocks, and the program that they belong to.
    Blocks(&'a Blocks, &'a Program),
    /// A list of these tables, with the shift of its displacements.
    List(&'a List, &'a Lists, i64),
}

/// Operations that are executed several times, one iteration after another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeated<'a> {
    pub(crate) ops: &'a [Op],
    pub(crate) program: &'a Program,
    pub(crate) level: Level<'a>,
    pub(crate) count: u64,
    /// Bytes from one iteration to the next.
    pub(crate) stride: i64,
    /// The shift of the displacements in the first iteration.
    pub(crate) shift: i64,
}

/// What the iterations are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Level<'a> {
    /// Instances of a plan.
    Instances(&'a Plan),
    /// Values of a Rust type, with their permutation if they have one.
    Values(Option<&'a Permutation>),
    /// Iterations of a loop.
    Loop,
}

/// Operations that follow one another in a body.
#[derive(Clone, Copy)]
struct Operations<'a> {
    ops: &'a [Op],
    program: &'a Program,
    index: Option<&'a Index>,
    first: usize,
    end: usize,
}

/// A body and its repetitions.
#[derive(Clone, Copy)]
struct Iterations<'a> {
    body: Operations<'a>,
    level: Level<'a>,
    count: u64,
    stride: i64,
    /// The shift of the displacements in the first repetition.
    shift: i64,
}

impl Iterations<'_> {
    /// A non-empty range of the packed bytes of all repetitions, of `size` bytes each.
    #[inline]
    fn visit<V: Visitor>(&self, range: Range<u64>, size: u64, visitor: &mut V) -> ControlFlow<()> {
        if let [Op::Blocks(Blocks { disp, len, count: 1, .. })] = self.body.all()
            && (self.count == 1 || i128::from(self.stride) == i128::from(*len))
        {
            // Blocks that touch are one run, however many there are.
            let disp = disp.wrapping_add(self.shift).wrapping_add(range.start.cast_signed());
            return visitor.run(disp, range.end - range.start);
        }
        if self.count == 1 {
            return self.one(0, range, size, visitor);
        }
        if range == (0..size * self.count) {
            return self.whole(0..self.count, visitor);
        }
        if let Some(flow) =
            visitor.take_range(&Splittable::Repeated(&self.repeated(0, self.count)), &range)
        {
            return flow;
        }
        let Split { head, whole, tail } = split(range, size);
        if let Some(head) = head {
            self.one(head.item, head.bytes, size, visitor)?;
        }
        if !whole.is_empty() {
            self.whole(whole, visitor)?;
        }
        tail.map_or(ControlFlow::Continue(()), |tail| {
            self.one(tail.item, tail.bytes, size, visitor)
        })
    }

    /// A range of the packed bytes of a single repetition.
    #[inline]
    fn one<V: Visitor>(
        &self,
        at: u64,
        bytes: Range<u64>,
        size: u64,
        visitor: &mut V,
    ) -> ControlFlow<()> {
        if bytes == (0..size) {
            return self.whole(at..at + 1, visitor);
        }
        // For a single operation, the visitor may take the part itself.
        if !matches!(self.level, Level::Loop)
            && self.body.all().len() > 1
            && let Some(flow) =
                visitor.take_range(&Splittable::Repeated(&self.repeated(at, 1)), &bytes)
        {
            return flow;
        }
        self.body.visit(bytes, self.shift_of(at), visitor)
    }

    fn shift_of(&self, iteration: u64) -> i64 {
        self.shift.wrapping_add(self.stride.wrapping_mul(iteration.cast_signed()))
    }

    fn repeated(&self, first: u64, count: u64) -> Repeated<'_> {
        let Self { body, level, stride, .. } = *self;
        let (ops, program, shift) = (body.all(), body.program, self.shift_of(first));
        Repeated { ops, program, level, count, stride, shift }
    }

    fn whole<V: Visitor>(&self, mut items: Range<u64>, visitor: &mut V) -> ControlFlow<()> {
        let repeated = self.repeated(items.start, items.end - items.start);
        let Repeated { ops, count, stride, shift, .. } = repeated;
        if let [Op::Elements(only)] = ops
            && let Some(all) = only.shifted(shift).repeated(count, stride)
        {
            return visitor.elements(&all);
        }
        if let Some(flow) = visitor.repeated(&repeated) {
            return flow;
        }
        items.try_for_each(|item| self.body.whole(self.shift_of(item), visitor))
    }
}

impl<'a> Operations<'a> {
    /// All of these operations, with their index if they have one.
    fn new(ops: &'a [Op], program: &'a Program, index: Option<&'a Index>) -> Self {
        Self { ops, program, index, first: 0, end: ops.len() }
    }

    /// The operations.
    fn all(&self) -> &'a [Op] {
        &self.ops[self.first..self.end]
    }
}

impl Operations<'_> {
    /// Packed bytes of the operation at an index; `body` is its body, if it is a loop.
    fn size(&self, at: usize, body: &[Op]) -> u64 {
        match self.index {
            Some(index) => index.size(at),
            None => size(&self.ops[at..=at + body.len()], self.program.lists()),
        }
    }

    fn visit<V: Visitor>(&self, range: Range<u64>, shift: i64, visitor: &mut V) -> ControlFlow<()> {
        if let Some((op, _, [])) = split_first(&self.ops[self.first..self.end]) {
            return self.operation(self.first, op, range, shift, visitor);
        }
        // Few operations are scanned from the first; the index of many skips those before the range.
        let (first, mut start) = match self.index {
            Some(index) => index.find(self.first..self.end, range.start),
            None => (self.first, 0),
        };
        for (at, op, body) in numbered_items(&self.ops[first..self.end]) {
            if start >= range.end {
                break;
            }
            let at = first + at;
            let size = self.size(at, body);
            if start + size > range.start {
                let part = range.start.max(start) - start..(range.end - start).min(size);
                self.operation(at, op, part, shift, visitor)?;
            }
            start += size;
        }
        ControlFlow::Continue(())
    }

    /// Visits all of the operations.
    fn whole<V: Visitor>(&self, shift: i64, visitor: &mut V) -> ControlFlow<()> {
        numbered_items(self.all()).try_for_each(|(at, op, _)| match *op {
            Op::Blocks(blocks) => visitor.blocks(&blocks.shifted(shift)),
            Op::List(list) => visitor.list(&list, self.program.lists(), shift),
            Op::Elements(elements) => visitor.elements(&elements.shifted(shift)),
            Op::Loop { count, stride, items } => {
                self.inner(self.first + at, count, stride, items, shift).whole(0..count, visitor)
            }
        })
    }

    /// The iterations of the loop at an index.
    fn inner(
        &self,
        at: usize,
        count: u64,
        stride: i64,
        items: usize,
        shift: i64,
    ) -> Iterations<'_> {
        let body = Operations { first: at + 1, end: at + 1 + items, ..*self };
        Iterations { body, level: Level::Loop, count, stride, shift }
    }

    /// Visits a range of one operation.
    fn operation<V: Visitor>(
        &self,
        at: usize,
        op: &Op,
        part: Range<u64>,
        shift: i64,
        visitor: &mut V,
    ) -> ControlFlow<()> {
        match *op {
            Op::Blocks(blocks) => self.blocks(&blocks.shifted(shift), part, visitor),
            Op::List(list) => of_list(&list, self.program.lists(), part, shift, visitor),
            Op::Elements(elements) => of_elements(elements.shifted(shift), part, visitor),
            Op::Loop { count, stride, items } => {
                let size = match self.index {
                    Some(index) => index.size(at) / count,
                    None => size(&self.ops[at + 1..at + 1 + items], self.program.lists()),
                };
                self.inner(at, count, stride, items, shift).visit(part, size, visitor)
            }
        }
    }

    /// Visits a range of blocks at equal distances.
    #[inline]
    fn blocks<V: Visitor>(
        &self,
        blocks: &Blocks,
        range: Range<u64>,
        visitor: &mut V,
    ) -> ControlFlow<()> {
        if blocks.count == 1 {
            let disp = blocks.disp.wrapping_add(range.start.cast_signed());
            return visitor.run(disp, range.end - range.start);
        }
        if range == (0..blocks.len * blocks.count) {
            return visitor.blocks(blocks);
        }
        if let Some(flow) = visitor.take_range(&Splittable::Blocks(blocks, self.program), &range) {
            return flow;
        }
        let Split { head, whole, tail } = split(range, blocks.len);
        if let Some(head) = head {
            let disp = blocks.block(head.item).wrapping_add(head.bytes.start.cast_signed());
            visitor.run(disp, head.bytes.end - head.bytes.start)?;
        }
        if !whole.is_empty() {
            let (disp, count) = (blocks.block(whole.start), whole.end - whole.start);
            visitor.blocks(&Blocks { disp, count, ..*blocks })?;
        }
        tail.map_or(ControlFlow::Continue(()), |tail| {
            visitor.run(blocks.block(tail.item), tail.bytes.end)
        })
    }
}

/// Visits a range of values that are converted.
fn of_elements<V: Visitor>(
    elements: Elements,
    part: Range<u64>,
    visitor: &mut V,
) -> ControlFlow<()> {
    if part == (0..elements.blocks.len * elements.blocks.count) {
        return visitor.elements(&elements);
    }
    let Split { head, whole, tail } = split(part, elements.blocks.len);
    if let Some(head) = head {
        let Range { start, end } = head.bytes;
        visitor.part_of_element(&elements.part(head.item, 1), start, end - start)?;
    }
    if !whole.is_empty() {
        visitor.elements(&elements.part(whole.start, whole.end - whole.start))?;
    }
    tail.map_or(ControlFlow::Continue(()), |tail| {
        visitor.part_of_element(&elements.part(tail.item, 1), 0, tail.bytes.end)
    })
}

/// Visits a range of a list.
fn of_list<V: Visitor>(
    list: &List,
    lists: &Lists,
    range: Range<u64>,
    shift: i64,
    visitor: &mut V,
) -> ControlFlow<()> {
    let entries = lists.entries(list);
    if range == (0..entries.size()) {
        return visitor.list(list, lists, shift);
    }
    if let Some(flow) = visitor.take_range(&Splittable::List(list, lists, shift), &range) {
        return flow;
    }
    let disp = |block| {
        let (offset, _) = entries.get(block).unwrap_or((0, 0));
        list.disp().wrapping_add(shift).wrapping_add(offset.cast_signed())
    };
    let (mut block, start) = entries.find(range.start, 0);
    let (last, last_start) = entries.find_from(range.end, block, start);
    let into = range.start - start;
    if into > 0 {
        let len = range.end.min(entries.start(block + 1)) - range.start;
        visitor.run(disp(block).wrapping_add(into.cast_signed()), len)?;
        block += 1;
    }
    if block < last {
        visitor.list(&list.part(block, last), lists, shift)?;
    }
    if block <= last && last_start < range.end {
        visitor.run(disp(last), range.end - last_start)?;
    }
    ControlFlow::Continue(())
}

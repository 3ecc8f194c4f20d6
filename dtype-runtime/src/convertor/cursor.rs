//! Finds each packed byte in memory. All other code asks this cursor.
//!
//! The cursor hands a range of the packed stream of some instances to a [`Visitor`], part by part and in order.
//! Packing, unpacking, lending memory without a copy and copying between layouts are different visitors. Only the
//! position counts between two calls, so there is no other state that could disagree with it. (Beside the position, a convertor
//! keeps the number of the list's block where the last range ended, but as a guess, which is checked before it is used.)
//! Finding a position takes time logarithmic in the number of blocks for each loop around it.
//!
//! At each level the range is cut in three: less than one item at the start, whole items, less than one item at
//! the end. The whole items go to the visitor in a single call; only the two ends are followed further down. An
//! item is an instance, an iteration of a loop, an operation, a block, or a value, from the outermost level to the
//! innermost.
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
//! visited    run(10, 2)   instances(1 at 20)   blocks(1 at 40)   run(48, 1)
//! ```
//!
//! So a range costs two descents and one call for the middle, however many instances are in it. A part of a single instance
//! starts one level further down, at its operations.
//!
//! This file descends; `instances` is where a descent starts, and `numbers` the same descent for the numbers of segments.

mod instances;
mod numbers;

use core::ops::ControlFlow;
use core::ops::Range;

pub(crate) use self::instances::Instances;
use crate::plan::{
    Blocks, Elements, Index, List, Lists, Op, Permutation, Program, numbered_items, size,
    split_first,
};

/// What is done with the parts of a range. Displacements are in bytes from the origin of the first
/// instance.
pub(crate) trait Visitor {
    /// Bytes of one block, or a part of it.
    fn run(&mut self, disp: i64, len: u64) -> ControlFlow<()>;

    /// Blocks at equal distances.
    fn blocks(&mut self, blocks: &Blocks) -> ControlFlow<()> {
        (0..blocks.count).try_for_each(|index| self.run(blocks.block(index), blocks.len))
    }

    /// Blocks of a list, with `shift` to be added to their displacements.
    fn list(&mut self, list: &List, lists: &Lists, shift: i64) -> ControlFlow<()> {
        lists.blocks(list).try_for_each(|(disp, len)| self.run(disp.wrapping_add(shift), len))
    }

    /// The blocks at the start of a list that fit `bytes` packed bytes, up to the first one that does not. Returns their
    /// number. If the visitor returns `None`, the number is looked up, and they follow.
    fn list_within(&mut self, list: &List, lists: &Lists, shift: i64, bytes: u64) -> Option<usize> {
        let _ = (list, lists, shift, bytes);
        None
    }

    /// A guess which block of a list a range starts in. Any number will do.
    fn near(&self) -> usize {
        0
    }

    /// Called with the block of a list where the next range of the stream starts, if it is not in another list.
    fn ended_near(&mut self, block: usize) {
        let _ = block;
    }

    /// Values that are converted. Only the plans of conversions have them.
    fn elements(&mut self, elements: &Elements) -> ControlFlow<()> {
        let _ = elements;
        ControlFlow::Continue(())
    }

    /// `len` bytes of a single value that is converted, from byte `into` of the value on, but not the whole value.
    fn part_of_element(&mut self, element: &Elements, into: u64, len: u64) -> ControlFlow<()> {
        let _ = (element, into, len);
        ControlFlow::Continue(())
    }

    /// Some, but not all packed bytes of one execution of operations. If the visitor returns `None`, the parts
    /// follow.
    fn part(&mut self, part: &Fragment<'_>) -> Option<ControlFlow<()>> {
        let _ = part;
        None
    }

    /// Packed bytes of records that are a permutation, from anywhere in the first to anywhere in the last. The records are the
    /// instances, or the iterations of the loop that each instance is. If the visitor returns `None`, the parts follow.
    fn permuted(&mut self, part: &Fragment<'_>) -> Option<ControlFlow<()>> {
        let _ = part;
        None
    }

    /// Operations that are executed several times. If the visitor returns `None`, they come iteration by iteration.
    fn repeated(&mut self, repeated: &Repeated<'_>) -> Option<ControlFlow<()>> {
        let _ = repeated;
        None
    }

    /// Whole instances of `size` packed bytes each; likewise.
    fn instances(&mut self, size: u64, repeated: &Repeated<'_>) -> Option<ControlFlow<()>> {
        let _ = size;
        self.repeated(repeated)
    }
}

/// Operations that are executed several times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeated<'a> {
    pub(crate) ops: &'a [Op],
    pub(crate) program: &'a Program,
    pub(crate) count: u64,
    /// Bytes from one iteration to the next.
    pub(crate) stride: i64,
    /// The shift of the displacements in the first iteration.
    pub(crate) shift: i64,
}

/// Some packed bytes of operations that are executed several times, counted from the start of the first execution that
/// they are in.
#[derive(Clone, Debug)]
pub(crate) struct Fragment<'a> {
    pub(crate) permutation: &'a Permutation,
    pub(crate) bytes: Range<u64>,
    /// The shift of the displacements.
    pub(crate) shift: i64,
}

/// Operations that follow one another in a body.
#[derive(Clone, Copy)]
struct Body<'a> {
    ops: &'a [Op],
    program: &'a Program,
    index: Option<&'a Index>,
    first: usize,
    end: usize,
}

/// A body with its repetitions.
struct Iterations<'a> {
    body: Body<'a>,
    /// Packed bytes of one repetition.
    size: u64,
    stride: i64,
    /// The shift of the displacements in the first repetition.
    shift: i64,
    /// Whether the repetitions are the instances.
    outermost: bool,
    /// The permutation of the instances, if the repetitions are the instances and there is one.
    permutation: Option<&'a Permutation>,
}

impl Iterations<'_> {
    fn visit<V: Visitor>(&self, range: Range<u64>, visitor: &mut V) -> ControlFlow<()> {
        let Range { mut start, end } = range;
        // Less than a repetition at the start, then whole ones, then less than one.
        let mut iteration = start / self.size;
        let into = start % self.size;
        if into > 0 || end - start < self.size {
            let rest = (self.size - into).min(end - start);
            self.part(into..into + rest, iteration, visitor)?;
            start += rest;
            iteration += 1;
        }
        let whole = (end - start) / self.size;
        if whole > 0 {
            self.whole(iteration, whole, visitor)?;
        }
        let rest = (end - start) % self.size;
        if rest > 0 {
            self.part(0..rest, iteration + whole, visitor)?;
        }
        ControlFlow::Continue(())
    }

    /// Some packed bytes of one repetition.
    #[inline]
    fn part<V: Visitor>(
        &self,
        bytes: Range<u64>,
        iteration: u64,
        visitor: &mut V,
    ) -> ControlFlow<()> {
        let shift = self.shift_of(iteration);
        let Body { ops, program, first, end, .. } = self.body;
        let permutation = if self.outermost {
            self.permutation
        } else {
            program.of_parts(&ops[first..end], self.stride)
        };
        if let Some(permutation) = permutation {
            let part = Fragment { permutation, bytes: bytes.clone(), shift };
            if let Some(taken) = visitor.part(&part) {
                return taken;
            }
        }
        self.body.visit(bytes, shift, visitor)
    }

    fn shift_of(&self, iteration: u64) -> i64 {
        self.shift.wrapping_add(self.stride.wrapping_mul(iteration.cast_signed()))
    }

    fn whole<V: Visitor>(&self, first: u64, count: u64, visitor: &mut V) -> ControlFlow<()> {
        let Body { ops, program, first: from, end, .. } = self.body;
        let (ops, shift) = (&ops[from..end], self.shift_of(first));
        if let [Op::Blocks(only)] = ops
            && only.count == 1
            && i128::from(self.stride) == i128::from(only.len)
        {
            // Any number of blocks that touch are one run.
            return visitor.run(only.disp.wrapping_add(shift), only.len * count);
        }
        if let [Op::Elements(only)] = ops
            && let Some(all) = only.shifted(shift).repeated(count, self.stride)
        {
            return visitor.elements(&all);
        }
        let repeated = Repeated { ops, program, count, stride: self.stride, shift };
        let taken = if self.outermost {
            visitor.instances(self.size, &repeated)
        } else {
            visitor.repeated(&repeated)
        };
        if let Some(taken) = taken {
            return taken;
        }
        for iteration in first..first + count {
            self.body.visit(0..self.size, self.shift_of(iteration), visitor)?;
        }
        ControlFlow::Continue(())
    }
}

impl<'a> Body<'a> {
    /// All of these operations, for which there may be an index.
    fn of(ops: &'a [Op], program: &'a Program, index: Option<&'a Index>) -> Self {
        Self { ops, program, index, first: 0, end: ops.len() }
    }
}

impl Body<'_> {
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
        // A few operations are scanned; with many, those before the range are skipped.
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

    /// A range of one operation.
    fn operation<V: Visitor>(
        &self,
        at: usize,
        op: &Op,
        part: Range<u64>,
        shift: i64,
        visitor: &mut V,
    ) -> ControlFlow<()> {
        match *op {
            Op::Blocks(blocks) => of_blocks(&blocks.shifted(shift), part, visitor),
            Op::List(list) => of_list(&list, self.program.lists(), part, shift, visitor),
            Op::Elements(elements) => of_elements(elements.shifted(shift), part, visitor),
            Op::Loop { count, stride, items } => {
                let body = Body { first: at + 1, end: at + 1 + items, ..*self };
                let size = match self.index {
                    Some(index) => index.size(at) / count,
                    None => size(&self.ops[body.first..body.end], self.program.lists()),
                };
                Iterations { body, size, stride, shift, outermost: false, permutation: None }
                    .visit(part, visitor)
            }
        }
    }
}

/// A range of blocks at equal distances.
fn of_blocks<V: Visitor>(blocks: &Blocks, part: Range<u64>, visitor: &mut V) -> ControlFlow<()> {
    let Range { mut start, end } = part;
    let len = blocks.len;
    if blocks.count == 1 {
        return visitor.run(blocks.disp.wrapping_add(start.cast_signed()), end - start);
    }
    let mut block = start / len;
    let into = start % len;
    if into > 0 || end - start < len {
        let rest = (len - into).min(end - start);
        visitor.run(blocks.block(block).wrapping_add(into.cast_signed()), rest)?;
        start += rest;
        block += 1;
    }
    let mut rest = end - start;
    if rest >= len {
        let whole = rest / len;
        visitor.blocks(&Blocks { disp: blocks.block(block), count: whole, ..*blocks })?;
        (block, rest) = (block + whole, rest % len);
    }
    if rest > 0 {
        visitor.run(blocks.block(block), rest)?;
    }
    ControlFlow::Continue(())
}

/// A range of values that are converted.
fn of_elements<V: Visitor>(
    elements: Elements,
    part: Range<u64>,
    visitor: &mut V,
) -> ControlFlow<()> {
    let Range { mut start, end } = part;
    let len = elements.blocks.len;
    let mut first = start / len;
    let into = start % len;
    if into > 0 || end - start < len {
        let rest = (len - into).min(end - start);
        visitor.part_of_element(&elements.part(first, 1), into, rest)?;
        start += rest;
        first += 1;
    }
    let whole = (end - start) / len;
    if whole > 0 {
        visitor.elements(&elements.part(first, whole))?;
    }
    let rest = (end - start) % len;
    if rest > 0 {
        visitor.part_of_element(&elements.part(first + whole, 1), 0, rest)?;
    }
    ControlFlow::Continue(())
}

/// A range of a list.
pub(super) fn of_list<V: Visitor>(
    list: &List,
    lists: &Lists,
    part: Range<u64>,
    shift: i64,
    visitor: &mut V,
) -> ControlFlow<()> {
    let entries = lists.entries(list);
    let byte = |block: usize, into: u64| {
        let (offset, len) = entries.get(block).unwrap_or((0, 0));
        let disp = list.disp().wrapping_add(shift).wrapping_add(offset.cast_signed());
        (disp.wrapping_add(into.cast_signed()), len - into)
    };
    let (mut block, start) = entries.find(part.start, visitor.near());
    let into = part.start - start;
    let (disp, left) = byte(block, into);
    let size = entries.size();
    if part.end - part.start <= left {
        visitor.ended_near(block + usize::from(part.end - part.start == left));
        return visitor.run(disp, part.end - part.start);
    }
    let mut position = start;
    if into > 0 {
        visitor.run(disp, left)?;
        (block, position) = (block + 1, part.start + left);
    }
    let count = list.count as usize;
    let rest = list.part(block, count);
    let (last, last_start) = if part.end == size {
        visitor.list(&rest, lists, shift)?;
        (count, size)
    } else if let Some(number) = visitor.list_within(&rest, lists, shift, part.end - position) {
        (block + number, entries.start(block + number))
    } else {
        let (last, last_start) = entries.find_from(part.end, block, position);
        if last > block {
            visitor.list(&list.part(block, last), lists, shift)?;
        }
        (last, last_start)
    };
    // After the last block, the next instance's first one follows.
    visitor.ended_near(if part.end == size { 0 } else { last });
    if part.end > last_start {
        visitor.run(byte(last, 0).0, part.end - last_start)?;
    }
    ControlFlow::Continue(())
}

//! Where each packed byte lives in memory: the one place that knows.
//!
//! A range of the packed stream of some instances is handed, piece by piece and in order, to a
//! [`Visitor`]: packing, unpacking, lending memory without a copy and copying between layouts are what
//! the visitors do with the pieces. Nothing is remembered between two calls but the position, so there
//! is no state that could disagree with it; finding a position takes logarithmic time for each loop
//! around it.

mod numbers;

use core::ops::ControlFlow;
use core::ops::Range;

use crate::commit::{Blocks, Elements, Index, List, Op, Permutation, Plan, Tables, size, size_at};

/// Instances of a type, as the operations that name their bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instances<'a> {
    prologue: &'a [Op],
    steady: &'a [Op],
    epilogue: &'a [Op],
    tables: &'a Tables,
    /// Of `steady`.
    index: Option<&'a Index>,
    /// Packed bytes of the three.
    sizes: [u64; 3],
    /// Of `steady`, if it is one.
    permutation: Option<&'a Permutation>,
    /// How many times `steady` is executed.
    repetitions: u64,
    /// Bytes from one instance to the next.
    extent: i64,
    count: u64,
}

/// What is done with the pieces of a range. Displacements are in bytes from the origin of the first
/// instance.
pub(crate) trait Visitor {
    /// Bytes of one block, or a part of it.
    fn run(&mut self, disp: i64, len: u64) -> ControlFlow<()>;

    /// Blocks at equal distances.
    fn blocks(&mut self, blocks: &Blocks) -> ControlFlow<()> {
        (0..blocks.count).try_for_each(|index| self.run(blocks.block(index), blocks.len))
    }

    /// Blocks of a list, with what is to be added to their displacements.
    fn list(&mut self, list: &List, tables: &Tables, shift: i64) -> ControlFlow<()> {
        tables.blocks(list).try_for_each(|(disp, len)| self.run(disp.wrapping_add(shift), len))
    }

    /// Values that are converted. Only plans of conversions have them.
    fn elements(&mut self, elements: &Elements) -> ControlFlow<()> {
        let _ = elements;
        ControlFlow::Continue(())
    }

    /// `len` bytes from byte `into` on of a single value that is converted, not all of it.
    fn part_of_element(&mut self, element: &Elements, into: u64, len: u64) -> ControlFlow<()> {
        let _ = (element, into, len);
        ControlFlow::Continue(())
    }

    /// Some packed bytes of one execution of operations, not all of them; likewise.
    fn part(&mut self, part: &Part<'_>) -> Option<ControlFlow<()>> {
        let _ = part;
        None
    }

    /// Operations that are executed several times. Those that are not taken as a whole come piece by piece.
    fn repeated(&mut self, repeated: &Repeated<'_>) -> Option<ControlFlow<()>> {
        let _ = repeated;
        None
    }

    /// Whole instances of so many packed bytes each; likewise.
    fn instances(&mut self, size: u64, repeated: &Repeated<'_>) -> Option<ControlFlow<()>> {
        let _ = size;
        self.repeated(repeated)
    }
}

/// Operations that are executed several times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeated<'a> {
    pub(crate) ops: &'a [Op],
    pub(crate) tables: &'a Tables,
    pub(crate) count: u64,
    /// Bytes from one time to the next.
    pub(crate) stride: i64,
    /// What is added to the displacements the first time.
    pub(crate) shift: i64,
}

/// Some packed bytes of operations that are executed several times.
#[derive(Clone, Debug)]
pub(crate) struct Part<'a> {
    pub(crate) permutation: &'a Permutation,
    /// Which packed bytes of one execution.
    pub(crate) bytes: Range<u64>,
    /// What is added to the displacements.
    pub(crate) shift: i64,
}

/// Operations that follow one another in a body.
#[derive(Clone, Copy)]
struct Body<'a> {
    ops: &'a [Op],
    tables: &'a Tables,
    index: Option<&'a Index>,
    first: usize,
    end: usize,
}

impl<'a> Instances<'a> {
    /// `count` instances of the type that a plan was made for.
    pub(crate) fn of_plan(plan: &'a Plan, count: u64) -> Self {
        Self {
            prologue: plan.prologue(),
            steady: plan.steady(),
            epilogue: plan.epilogue(),
            tables: plan.tables(),
            index: plan.index(),
            sizes: plan.sizes(),
            permutation: None,
            repetitions: plan.repetitions(count),
            extent: plan.extent(),
            count,
        }
    }

    /// `count` values, `stride` bytes apart, of a type that a constant program of `size` bytes names the
    /// data of.
    pub(crate) fn of_program(
        ops: &'a [Op],
        permutation: Option<&'a Permutation>,
        size: u64,
        stride: i64,
        count: u64,
    ) -> Self {
        Self {
            prologue: &[],
            steady: ops,
            epilogue: &[],
            tables: Tables::empty(),
            index: None,
            sizes: [0, size, 0],
            permutation,
            repetitions: count,
            extent: stride,
            count,
        }
    }

    /// The tables of the operations.
    pub(crate) fn tables(&self) -> &'a Tables {
        self.tables
    }

    /// Packed bytes of all instances; what was asked for is known to fit.
    pub(crate) fn size(&self) -> u64 {
        let [prologue, steady, epilogue] = self.sizes;
        if self.count == 0 { 0 } else { prologue + steady * self.repetitions + epilogue }
    }

    /// Hands the pieces of a range of packed bytes to a visitor, in order, until it has enough. What lies
    /// behind the last byte is left out.
    pub(crate) fn visit<V: Visitor>(&self, range: Range<u64>, visitor: &mut V) -> ControlFlow<()> {
        let to = range.end.min(self.size());
        let from = range.start;
        if from >= to {
            return ControlFlow::Continue(());
        }
        let [prologue, steady, epilogue] = self.sizes;
        let body = |ops, index| Body { ops, tables: self.tables, index, first: 0, end: ops.len() };
        if from < prologue {
            body(self.prologue, None).visit(from..to.min(prologue), 0, visitor)?;
        }
        let behind = prologue + steady * self.repetitions;
        if from.max(prologue) < to.min(behind) {
            let turns = Turns {
                body: body(self.steady, self.index),
                size: steady,
                stride: self.extent,
                shift: 0,
                outermost: true,
                permutation: self.permutation,
            };
            let range = from.max(prologue) - prologue..to.min(behind) - prologue;
            turns.visit(range, visitor)?;
        }
        if to > behind && epilogue > 0 {
            let last = self.extent.wrapping_mul((self.count - 1).cast_signed());
            let range = from.max(behind) - behind..to - behind;
            body(self.epilogue, None).visit(range, last, visitor)?;
        }
        ControlFlow::Continue(())
    }
}

/// A body with its repetitions.
struct Turns<'a> {
    body: Body<'a>,
    /// Packed bytes of one repetition.
    size: u64,
    stride: i64,
    /// What is added to the displacements the first time.
    shift: i64,
    /// Whether the repetitions are the instances,
    outermost: bool,
    /// and if so, their permutation, if they are one.
    permutation: Option<&'a Permutation>,
}

impl Turns<'_> {
    fn visit<V: Visitor>(&self, range: Range<u64>, visitor: &mut V) -> ControlFlow<()> {
        let Range { mut start, end } = range;
        // Less than a repetition at the start, then whole ones, then less than one.
        let mut turn = start / self.size;
        let into = start % self.size;
        if into > 0 || end - start < self.size {
            let rest = (self.size - into).min(end - start);
            self.part(into..into + rest, turn, visitor)?;
            start += rest;
            turn += 1;
        }
        let whole = (end - start) / self.size;
        if whole > 0 {
            self.whole(turn, whole, visitor)?;
        }
        let rest = (end - start) % self.size;
        if rest > 0 {
            self.part(0..rest, turn + whole, visitor)?;
        }
        ControlFlow::Continue(())
    }

    /// Some packed bytes of one repetition.
    #[inline]
    fn part<V: Visitor>(&self, bytes: Range<u64>, turn: u64, visitor: &mut V) -> ControlFlow<()> {
        let shift = self.shift_of(turn);
        let Body { ops, tables, first, end, .. } = self.body;
        let permutation = if self.outermost {
            self.permutation.or_else(|| tables.of_steady())
        } else {
            tables.of_parts(&ops[first..end], self.stride)
        };
        if let Some(permutation) = permutation {
            let part = Part { permutation, bytes: bytes.clone(), shift };
            if let Some(taken) = visitor.part(&part) {
                return taken;
            }
        }
        self.body.visit(bytes, shift, visitor)
    }

    fn shift_of(&self, turn: u64) -> i64 {
        self.shift.wrapping_add(self.stride.wrapping_mul(turn.cast_signed()))
    }

    fn whole<V: Visitor>(&self, first: u64, count: u64, visitor: &mut V) -> ControlFlow<()> {
        let Body { ops, tables, first: from, end, .. } = self.body;
        let (ops, shift) = (&ops[from..end], self.shift_of(first));
        if let [Op::Blocks(only)] = ops
            && only.count == 1
            && i128::from(self.stride) == i128::from(only.len)
        {
            // However many touch, they are one piece.
            return visitor.run(only.disp.wrapping_add(shift), only.len * count);
        }
        if let [Op::Elements(only)] = ops
            && let Some(all) = only.shifted(shift).repeated(count, self.stride)
        {
            return visitor.elements(&all);
        }
        let repeated = Repeated { ops, tables, count, stride: self.stride, shift };
        let taken = if self.outermost {
            visitor.instances(self.size, &repeated)
        } else {
            visitor.repeated(&repeated)
        };
        if let Some(taken) = taken {
            return taken;
        }
        for turn in first..first + count {
            self.body.visit(0..self.size, self.shift_of(turn), visitor)?;
        }
        ControlFlow::Continue(())
    }
}

impl Body<'_> {
    /// Packed bytes of the operation at an index.
    fn size(&self, at: usize) -> u64 {
        match self.index {
            Some(index) => index.size(at),
            None => size_at(self.ops, at, self.tables),
        }
    }

    fn visit<V: Visitor>(&self, range: Range<u64>, shift: i64, visitor: &mut V) -> ControlFlow<()> {
        // Few operations are gone through; of many, those before the range are skipped.
        let (mut at, mut start) = match self.index {
            Some(index) => index.find(self.first, self.end, range.start),
            None => (self.first, 0),
        };
        while at < self.end && start < range.end {
            let size = self.size(at);
            if start + size > range.start {
                let part = range.start.max(start) - start..(range.end - start).min(size);
                self.operation(at, part, shift, visitor)?;
            }
            start += size;
            at += 1 + self.ops[at].items();
        }
        ControlFlow::Continue(())
    }

    /// A range of one operation.
    fn operation<V: Visitor>(
        &self,
        at: usize,
        part: Range<u64>,
        shift: i64,
        visitor: &mut V,
    ) -> ControlFlow<()> {
        match self.ops[at] {
            Op::Blocks(blocks) => of_blocks(&blocks.shifted(shift), part, visitor),
            Op::List(list) => of_list(&list, self.tables, part, shift, visitor),
            Op::Elements(elements) => of_elements(elements.shifted(shift), part, visitor),
            Op::Loop { count, stride, items } => {
                let body = Body { first: at + 1, end: at + 1 + items, ..*self };
                let size = match self.index {
                    Some(index) => index.size(at) / count,
                    None => size(&self.ops[body.first..body.end], self.tables),
                };
                Turns { body, size, stride, shift, outermost: false, permutation: None }
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
    let whole = (end - start) / len;
    if whole > 0 {
        visitor.blocks(&Blocks { disp: blocks.block(block), count: whole, ..*blocks })?;
    }
    let rest = (end - start) % len;
    if rest > 0 {
        visitor.run(blocks.block(block + whole), rest)?;
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
    let len = elements.places.len;
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
fn of_list<V: Visitor>(
    list: &List,
    tables: &Tables,
    part: Range<u64>,
    shift: i64,
    visitor: &mut V,
) -> ControlFlow<()> {
    let entries = tables.entries(list);
    let place = |block: usize, into: u64| {
        let (offset, len) = entries.get(block).unwrap_or((0, 0));
        let disp = list.disp().wrapping_add(shift).wrapping_add(offset.cast_signed());
        (disp.wrapping_add(into.cast_signed()), len - into)
    };
    let (mut block, start) = entries.find(part.start, entries.guess(part.start));
    let (last, last_start) = entries.find(part.end, block);
    let into = part.start - start;
    if into > 0 || last == block {
        let (disp, left) = place(block, into);
        visitor.run(disp, left.min(part.end - part.start))?;
        block += 1;
    }
    if last > block {
        visitor.list(&list.part(block, last), tables, shift)?;
    }
    if last >= block && part.end > last_start {
        visitor.run(place(last, 0).0, part.end - last_start)?;
    }
    ControlFlow::Continue(())
}

//! The walk over a plan that finds the segments of a range, in order.
//!
//! The cursor descends to the partial instances and iterations at both ends of a range; this walk gets all whole iterations at
//! once (`Visitor::repeated`). It passes their segments on in the largest groups whose neighbours do not touch, such as the
//! blocks of a vector or the entries of a list. A [`Taker`] then stores or folds a group in one loop, and compares only its
//! first segment with the one before.

use core::ops::{ControlFlow, Range};

use super::Segment;
use crate::convertor::cursor::{Instances, Level, Repeated, Visitor};
use crate::plan::{Blocks, Entries, List, Lists, Op, Program, items};

/// If there are at least this many iterations, and they have at most so many segments, the segments of one are looked up for
/// all.
const MIN_ALIKE: u64 = 4;
const MAX_ALIKE: usize = 16;

/// Rows of at least this many blocks are looked up row by row.
const LONG_ROW: u64 = 8;

/// A consumer of segments, which come in order. It joins those that touch.
pub(super) trait Taker: Sized {
    /// A segment, or the continuation of the last one.
    fn take(&mut self, disp: i64, len: u64) -> ControlFlow<()>;

    /// Blocks whose neighbours do not touch; the first may touch the segment before. Their number is known (`size_hint`), so
    /// the compiler can process several at a time.
    fn apart(&mut self, blocks: impl Iterator<Item = Segment>) -> ControlFlow<()>;

    /// As [`apart`](Self::apart), for blocks whose number is not known.
    fn each_apart(&mut self, blocks: impl Iterator<Item = Segment>) -> ControlFlow<()>;

    /// Whether the consumer takes so many segments that a table of them pays.
    fn takes_many(&self) -> bool;

    /// Visits iterations, in order.
    fn iterations(&mut self, repeated: &Repeated<'_>) -> ControlFlow<()> {
        let Repeated { ops, program, count, stride, mut shift, .. } = *repeated;
        if let [Op::Blocks(only)] = ops
            && only.count == 1
        {
            let all = Blocks { count, stride, ..only.shifted(shift) };
            return self.apart(segments(all.normalized()));
        }
        if let Some(row) = repeated.row() {
            let mut rows = segments(Blocks { count, stride, ..row.shifted(shift) });
            return rows
                .try_for_each(|Segment { disp, .. }| self.apart(segments(Blocks { disp, ..row })));
        }
        if count >= MIN_ALIKE && self.takes_many() {
            let mut one = [Segment::NONE; MAX_ALIKE];
            if let Some(one) = repeated.alike(&mut one) {
                return self.each_apart(shifted_each(repeated, move || one.iter().copied()));
            }
        }
        for _ in 0..count {
            self.once(ops, program, shift)?;
            shift = shift.wrapping_add(stride);
        }
        ControlFlow::Continue(())
    }

    /// Visits one execution of operations.
    fn once(&mut self, ops: &[Op], program: &Program, shift: i64) -> ControlFlow<()> {
        items(ops).try_for_each(|(op, body)| self.operation(op, body, program, shift))
    }

    /// Visits one execution of an operation.
    fn operation(
        &mut self,
        op: &Op,
        body: &[Op],
        program: &Program,
        shift: i64,
    ) -> ControlFlow<()> {
        match *op {
            Op::Blocks(Blocks { disp, len, count: 1, .. }) => {
                self.take(disp.wrapping_add(shift), len)
            }
            Op::Blocks(blocks) => self.apart(segments(blocks.shifted(shift).normalized())),
            Op::List(list) => self.listed(&list, program.lists(), shift),
            // Converted values are no segments: memory and stream differ.
            Op::Elements(_) => ControlFlow::Continue(()),
            Op::Loop { count, stride, .. } => {
                let level = Level::Loop;
                self.iterations(&Repeated { ops: body, program, level, count, stride, shift })
            }
        }
    }

    /// Visits the blocks of a list. Neighbours do not touch: they would be one block.
    fn listed(&mut self, list: &List, lists: &Lists, shift: i64) -> ControlFlow<()> {
        let disp = list.disp().wrapping_add(shift);
        let at = |offset: u64, len| Segment { disp: disp.wrapping_add(offset.cast_signed()), len };
        match lists.entries(list) {
            Entries::Even(offsets, len) => {
                self.apart(offsets.iter().map(|offset| at((*offset).into(), len)))
            }
            Entries::Varied(entries) => self.apart(
                entries
                    .iter()
                    .zip(entries.get(1..).unwrap_or_default())
                    .map(|([offset, start], [_, end])| at((*offset).into(), (end - start).into())),
            ),
            Entries::WideEven(offsets, len) => {
                self.apart(offsets.iter().map(|offset| at(*offset, len)))
            }
            Entries::WideVaried(entries) => self.apart(
                entries
                    .iter()
                    .zip(entries.get(1..).unwrap_or_default())
                    .map(|([offset, start], [_, end])| at(*offset, end - start)),
            ),
        }
    }
}

impl<T: Taker> Visitor for T {
    #[inline]
    fn run(&mut self, disp: i64, len: u64) -> ControlFlow<()> {
        self.take(disp, len)
    }

    fn blocks(&mut self, blocks: &Blocks) -> ControlFlow<()> {
        self.apart(segments(blocks.normalized()))
    }

    fn list(&mut self, list: &List, lists: &Lists, shift: i64) -> ControlFlow<()> {
        self.listed(list, lists, shift)
    }

    /// Visits whole iterations, without a descent to each operation.
    fn repeated(&mut self, repeated: &Repeated<'_>) -> Option<ControlFlow<()>> {
        Some(self.iterations(repeated))
    }
}

/// The segments of blocks whose neighbours do not touch.
#[inline(always)]
pub(super) fn segments(blocks: Blocks) -> impl Iterator<Item = Segment> {
    let Blocks { disp, len, count, stride } = blocks;
    (0..count).map(move |index| {
        let disp = disp.wrapping_add(stride.wrapping_mul(index.cast_signed()));
        Segment { disp, len }
    })
}

/// The segments of iterations that do not touch one another and that all have the same segments.
#[inline(always)]
fn shifted_each<I: Iterator<Item = Segment>>(
    repeated: &Repeated<'_>,
    one: impl Fn() -> I,
) -> impl Iterator<Item = Segment> {
    let Repeated { count, stride, shift, .. } = *repeated;
    (0..count).flat_map(move |iteration| {
        let shift = shift.wrapping_add(stride.wrapping_mul(iteration.cast_signed()));
        one().map(move |segment| segment.shifted(shift))
    })
}

impl Repeated<'_> {
    /// The blocks of an iteration at a shift of 0, if there are many and neither blocks nor iterations touch.
    fn row(&self) -> Option<Blocks> {
        let [Op::Blocks(row)] = self.ops else { return None };
        let row = row.normalized();
        let touches_next = row.last_end() == row.disp.wrapping_add(self.stride);
        (row.count >= LONG_ROW && !touches_next).then_some(row)
    }

    /// The segments of an iteration at a shift of 0, if they are few and the iterations do not touch one another.
    fn alike<'s>(&self, one: &'s mut [Segment; MAX_ALIKE]) -> Option<&'s [Segment]> {
        let mut finder = Finder { out: &mut *one, found: 0, bytes: 0 };
        let all = finder.once(self.ops, self.program, 0);
        let found = finder.found;
        if all.is_break() {
            return None;
        }
        let one = &one[..found];
        let ([first, .., last] | [first @ last]) = one else { return None };
        (last.end() != first.disp.wrapping_add(self.stride)).then_some(one)
    }
}

/// The segments found, and where the walk stopped.
pub(super) struct Found {
    pub(super) segments: usize,
    /// The bytes of the segments.
    pub(super) bytes: u64,
}

/// Finds the first segments of a range, as many as there are and fit in `out`.
pub(super) fn find(instances: Instances<'_>, range: Range<u64>, out: &mut [Segment]) -> Found {
    let mut finder = Finder { out, found: 0, bytes: 0 };
    let _ = match instances.single() {
        // The whole stream, without the divisions that find where a range starts and ends.
        Some(all) if range == (0..instances.size()) && !range.is_empty() => {
            finder.apart(segments(*all))
        }
        _ => instances.visit(range, &mut finder),
    };
    Found { segments: finder.found, bytes: finder.bytes }
}

/// Finds the segments of a range, in order.
struct Finder<'a> {
    out: &'a mut [Segment],
    /// The number of segments in `out`.
    found: usize,
    /// The bytes of all segments that were found.
    bytes: u64,
}

impl Finder<'_> {
    /// Adds segments that touch neither the last one nor each other, as many as fit; returns their number.
    #[inline(always)]
    fn put(&mut self, segments: impl Iterator<Item = Segment>) -> usize {
        let free = self.out.get_mut(self.found..).unwrap_or_default();
        let (mut found, mut bytes) = (0, 0);
        for (out, segment) in free.iter_mut().zip(segments) {
            *out = segment;
            found += 1;
            bytes += segment.len;
        }
        self.found += found;
        self.bytes += bytes;
        found
    }
}

impl Taker for Finder<'_> {
    #[inline]
    fn take(&mut self, disp: i64, len: u64) -> ControlFlow<()> {
        if let Some(last) = self.out[..self.found].last_mut()
            && last.end() == disp
        {
            last.len += len;
            self.bytes += len;
            return ControlFlow::Continue(());
        }
        let next = self.out.get_mut(self.found);
        let Some(next) = next else { return ControlFlow::Break(()) };
        *next = Segment { disp, len };
        self.found += 1;
        self.bytes += len;
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn apart(&mut self, mut blocks: impl Iterator<Item = Segment>) -> ControlFlow<()> {
        let Some(first) = blocks.next() else { return ControlFlow::Continue(()) };
        self.take(first.disp, first.len)?;
        let number = blocks.size_hint().0;
        if self.put(blocks) == number { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    #[inline(always)]
    fn each_apart(&mut self, mut blocks: impl Iterator<Item = Segment>) -> ControlFlow<()> {
        let Some(first) = blocks.next() else { return ControlFlow::Continue(()) };
        self.take(first.disp, first.len)?;
        self.put(blocks.by_ref());
        if blocks.next().is_none() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn takes_many(&self) -> bool {
        self.out.len() >= MAX_ALIKE
    }
}

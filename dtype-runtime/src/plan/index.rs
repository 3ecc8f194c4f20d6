//! The packed position and the segment at which each operation starts, so that a binary search finds an
//! operation by its position.
//!
//! Two columns ascend from one operation to the next, however the loops nest: the number of packed bytes and the
//! number of segments before the operation, if every loop around it is in its first iteration. A body is a range
//! of operations, so its columns are ranges too, and one search in such a range finds the operation. The operation
//! found may be inside an inner loop of the body while the position lies in a later iteration; `around` leads back
//! to the body's own operation.
//!
//! An example: the loop `0` of 10 iterations over a block of 4 bytes and one of 2, then a block of 8.
//!
//! ```text
//! index  operation         starts  sizes  around
//! 0      loop 10           0       60     none
//! 1        copy 4          0       4      0
//! 2        copy 2          4       2      0
//! 3      copy 8            60      8      none
//! ```
//!
//! Position 50 is after start 4 and before start 60: operation 2. It is in loop 0, which is in the body that is
//! searched: the position is byte 50 of operation 0, iteration 8, byte 2 there.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::list::Lists;
use super::op::{Op, numbered_items, size};
use super::segments::Segments;

/// Fewer operations than this are searched one by one.
pub(super) const MIN_OPERATIONS: usize = 16;

/// What the index knows about each operation, in columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Index {
    /// Packed bytes before the operation if every loop around it is in its first iteration. Ascending.
    starts: Vec<u64>,
    /// Packed bytes of the operation; for a loop, all of its iterations.
    sizes: Vec<u64>,
    /// The number of the segment that the operation starts in, counted as `starts` is. Ascending, with repetitions.
    numbers: Vec<u64>,
    /// Segments of the operation alone; for a loop, all of its iterations.
    segments: Vec<u64>,
    /// Index of the innermost loop around the operation, or `NONE`.
    around: Vec<usize>,
}

const NONE: usize = usize::MAX;

impl Index {
    /// The index of these operations.
    pub(super) fn new(ops: &[Op], lists: &Lists) -> Self {
        let empty = vec![0; ops.len()];
        let mut index = Self {
            starts: empty.clone(),
            sizes: empty.clone(),
            numbers: empty.clone(),
            segments: empty,
            around: vec![NONE; ops.len()],
        };
        index.fill(ops, 0, lists, (0, 0), NONE);
        index
    }

    /// Fills in a body whose first operation has the index `from`, starting at the given position and segment.
    /// Returns its size and its number of segments.
    fn fill(
        &mut self,
        ops: &[Op],
        from: usize,
        lists: &Lists,
        (start, number): (u64, u64),
        around: usize,
    ) -> (u64, Segments) {
        let (mut bytes_before, mut before) = (0, Segments::EMPTY);
        for (at, op, body) in numbered_items(ops) {
            // A loop starts where its first operation starts.
            let leaf = ops[at..].iter().position(|op| !matches!(op, Op::Loop { .. }));
            let leaf = leaf.map_or(at, |inside| at + inside);
            let joined = before.joined(&Segments::from_ops(&ops[leaf..=leaf], lists), 0);
            let index = from + at;
            self.starts[index] = start + bytes_before;
            self.numbers[index] = number + before.count - joined;
            self.around[index] = around;
            let (bytes, segments) = match *op {
                Op::Loop { count, stride, .. } => {
                    let first = (self.starts[index], self.numbers[index]);
                    let (bytes, once) = self.fill(body, index + 1, lists, first, index);
                    (count * bytes, once.repeated(count, stride))
                }
                _ => (size(&ops[at..=at], lists), Segments::from_ops(&ops[at..=at], lists)),
            };
            (self.sizes[index], self.segments[index]) = (bytes, segments.count);
            bytes_before += bytes;
            before = before.then(segments);
        }
        (bytes_before, before)
    }

    /// Packed bytes of an operation.
    pub(crate) fn size(&self, at: usize) -> u64 {
        self.sizes[at]
    }

    /// The operation of the body `body` that holds a position in its first iteration, and how many packed bytes of the body
    /// come before that operation.
    pub(crate) fn find(&self, body: Range<usize>, position: u64) -> (usize, u64) {
        let first = body.start;
        let origin = self.starts[first];
        let starts = &self.starts[body];
        let at = first + starts.partition_point(|start| *start <= origin + position) - 1;
        // The operation found may be inside a loop, and the position in a later iteration of that loop.
        let at = self.out_to(first, at);
        (at, self.starts[at] - origin)
    }

    /// The operation of the body starting at `first` that is `at`, or that contains `at`.
    fn out_to(&self, first: usize, at: usize) -> usize {
        let around = self.around[first];
        let mut at = at;
        while self.around[at] != around {
            at = self.around[at];
        }
        at
    }

    /// Segments of an operation alone.
    pub(crate) fn segments(&self, at: usize) -> u64 {
        self.segments[at]
    }

    /// The number of the segment that an operation of the body starts in, counted from the first one of the body.
    pub(crate) fn number(&self, first: usize, at: usize) -> u64 {
        self.numbers[at] - self.numbers[first]
    }
}

#[cfg(test)]
mod tests {
    use super::super::op::{Blocks, items};
    use super::super::{Plan, Written};
    use super::*;

    /// Displacement and length of each run that the operations copy.
    fn runs(ops: &[Op], shift: i64) -> Vec<(i64, u64)> {
        let runs_of = |(op, body): (&Op, &[Op])| match *op {
            Op::Blocks(all) => (0..all.count).map(|k| (shift + all.block(k), all.len)).collect(),
            Op::Loop { count, stride, .. } => {
                let way = |iteration: u64| shift + stride * iteration.cast_signed();
                (0..count).flat_map(|iteration| runs(body, way(iteration))).collect::<Vec<_>>()
            }
            Op::List(_) | Op::Elements(_) => Vec::new(),
        };
        items(ops).flat_map(runs_of).collect()
    }

    /// The number of segments of these runs.
    fn segments(runs: &[(i64, u64)]) -> u64 {
        let starts = runs.windows(2).filter(|two| two[0].0 + two[0].1.cast_signed() != two[1].0);
        u64::from(!runs.is_empty()) + starts.count() as u64
    }

    /// Compares the index with a count run by run, for a body and the bodies inside it.
    fn check(index: &Index, all: &[Op], body: &Range<usize>) {
        let (first, mut start, mut before) = (body.start, 0, Vec::new());
        for (at, op, inner) in numbered_items(&all[body.clone()]) {
            let at = first + at;
            let these = runs(&all[at..=at + inner.len()], 0);
            let (size, alone) = (these.iter().map(|run| run.1).sum(), segments(&these));
            assert_eq!(index.size(at), size, "{op:?}");
            for position in start..start + size {
                assert_eq!(index.find(body.clone(), position), (at, start), "{op:?}");
            }
            before.push(these[0]);
            // One less if it continues the segment before.
            let number = segments(&before) - 1;
            assert_eq!((index.segments(at), index.number(first, at)), (alone, number), "{op:?}");
            before.extend(&these[1..]);
            start += size;
            if !inner.is_empty() {
                check(index, all, &(at + 1..at + 1 + inner.len()));
            }
        }
    }

    #[test]
    fn operations_are_found_by_position_and_numbered_by_segment() {
        let run = |disp, len| Op::Blocks(Blocks::run(disp, len));
        let each = |count, stride, items| Op::Loop { count, stride, items };
        let nest = [
            run(0, 4),
            each(3, 100, 5),
            run(4, 2),
            each(2, 10, 1),
            run(12, 5),
            run(27, 5),
            Op::Blocks(Blocks { disp: 40, len: 4, count: 3, stride: 8 }),
            run(300, 4),
            // Each iteration touches the next one, the run before the loop touches the first iteration, and the run after it
            // the last.
            each(10, 8, 2),
            run(304, 4),
            run(310, 2),
            run(384, 8),
        ];
        let example = [each(10, 8, 2), run(0, 4), run(5, 2), run(100, 8)];
        for all in [&nest[..], &example] {
            check(&Index::new(all, Lists::none()), all, &(0..all.len()));
        }
    }

    #[test]
    fn a_plan_of_many_operations_has_an_index() {
        let has_index = |runs: usize| {
            let places = (0..).map(|k| 10 * k * k).take(runs);
            let ops: Vec<Op> = places.map(|disp| Op::Blocks(Blocks::run(disp, 4))).collect();
            let written = Written { ops: &ops, extent: 1 << 40, lists: None };
            Plan::of_program(written, 4 * runs as u64).index().is_some()
        };
        assert_eq!([MIN_OPERATIONS - 1, MIN_OPERATIONS].map(has_index), [false, true]);
    }
}

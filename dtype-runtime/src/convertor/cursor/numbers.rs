//! The number of the segment that holds a position of the packed stream. The descent is the cursor's, over the same operations,
//! and takes logarithmic time for each loop.
//!
//! Segments cannot be counted operation by operation, because the last segment of one operation and the first of the next are
//! one segment if they touch. [`Segments`] knows how many segments an operation has, where the first starts and where the last
//! ends. The count of a sequence is then the sum of the counts, minus one for each joint at which two segments touch
//! ([`Segments::joined`]). The segment at such a joint starts in the earlier operation and ends in the later one. An operation's
//! first number is that of the segment that holds its first byte, even if the segment started earlier.
//!
//! An example: an instance has runs `0..4` and `8..12`, the extent is 12, and there are 3 instances. Instance 0 ends where
//! instance 1 begins, so two joints touch, and there are 2 + 2 + 2 − 2 = 4 segments:
//!
//! ```text
//! memory     0..4   8..12 12..16   20..24 24..28   32..36
//! packed     0..4   4..8   8..12   12..16 16..20   20..24
//! instance    0      0      1        1      2        2
//! segment     0      1------1        2------2        3
//! ```
//!
//! The number of position 17 is 2: position 17 is in the first run of instance 2, whose first byte is in segment 2.

use core::ops::Range;

use super::instances::Instances;
use super::{Iterations, Operations};
use crate::plan::{Op, Segments, numbered_items, size};

impl Instances<'_> {
    /// The number of segments of a range that is not empty.
    pub(in crate::convertor) fn segments(&self, range: Range<u64>) -> u64 {
        let Iterations { body, stride, .. } = self.iterations();
        let known = self.plan().and_then(|(plan, _)| plan.segments());
        let one =
            known.copied().unwrap_or_else(|| Segments::from_ops(body.ops, body.program.lists()));
        let (size, step) = (self.size_of_one(), one.step(stride));
        // The number of the segment that holds a position.
        let number = |position| position / size * step + body.number_of(position % size);
        // In this order to avoid overflow: there may be nearly 2⁶⁴ segments.
        number(range.end - 1) - number(range.start) + 1
    }
}

impl Operations<'_> {
    /// The operation that holds a position, the packed bytes before that operation, and the number of the segment that it
    /// starts in.
    fn find_position(&self, position: u64) -> (usize, u64, u64) {
        if let Some(index) = self.index {
            let (at, start) = index.find(self.first..self.end, position);
            return (at, start, index.number(self.first, at));
        }
        let lists = self.program.lists();
        let (mut start, mut before) = (0, Segments::EMPTY);
        for (at, _, body) in numbered_items(&self.ops[self.first..self.end]) {
            let next = self.first + at + 1 + body.len();
            let op = &self.ops[self.first + at..next];
            if next >= self.end && start == 0 {
                // There is only one operation.
                break;
            }
            let own = Segments::from_ops(op, lists);
            let first = before.count - before.joined(&own, 0);
            let end = start + size(op, lists);
            if next >= self.end || position < end {
                return (self.first + at, start, first);
            }
            start = end;
            before = before.then(own);
        }
        (self.first, 0, 0)
    }

    /// The body of the loop at an index, the number of segments that each iteration adds, and the packed bytes of each.
    fn repeated(&self, at: usize, count: u64, stride: i64, items: usize) -> (Self, u64, u64) {
        let body = Self { first: at + 1, end: at + 1 + items, ..*self };
        if let Some(index) = self.index {
            // Each iteration continues the segment before it, or none does, so the total decides.
            return (body, index.segments(at) / count, index.size(at) / count);
        }
        let ops = &self.ops[body.first..body.end];
        let lists = self.program.lists();
        (body, Segments::from_ops(ops, lists).step(stride), size(ops, lists))
    }

    /// The segment of the body that holds a position.
    fn number_of(&self, position: u64) -> u64 {
        let (at, start, first) = self.find_position(position);
        let position = position - start;
        let inside = match self.ops[at] {
            Op::Blocks(blocks) => position / blocks.len,
            Op::List(list) => {
                let entries = self.program.entries(&list);
                entries.find(position, 0).0 as u64
            }
            Op::Elements(_) => 0,
            Op::Loop { count, stride, items } => {
                let (body, step, size) = self.repeated(at, count, stride, items);
                position / size * step + body.number_of(position % size)
            }
        };
        first + inside
    }
}

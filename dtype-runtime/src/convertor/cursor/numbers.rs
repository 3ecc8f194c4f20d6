//! Segments of the packed stream by number: where each starts, and which segment holds a position. The descent is the cursor's,
//! over the same operations, and takes logarithmic time for each loop.
//!
//! Segments cannot be counted operation by operation, because the last segment of one operation and the first of the next are
//! one segment if they touch. [`Segments`] knows how many segments an operation has, where the first starts and where the last
//! ends. The count of a sequence is then the sum of the counts, minus one for each joint at which two segments touch
//! ([`Segments::joined`]). The segment at such a joint starts in the earlier operation and ends in the later one. Hence the two
//! searches differ:
//!
//! - [`Instances::start_of`] looks for the start of a segment. A number belongs to the first operation that reaches it.
//! - [`Instances::number_of`] looks for the segment at a position. An operation's first number is that of the segment that
//!   holds its first byte, even if the segment started earlier.
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
//! `start_of(2)` is 12: instance 1 has segments 1 and 2, and segment 2 is the second of these. `number_of(17)` is 2: position
//! 17 is in the first run of instance 2, whose first byte is in segment 2.

use super::instances::Instances;
use super::{Body, Iterations};
use crate::plan::{Numbering, Op, Segments, numbered_items, size};

impl Instances<'_> {
    /// The segments of an instance.
    pub(in crate::convertor) fn segments(&self) -> Segments {
        let Body { ops, program, .. } = self.iterations().body;
        Segments::from_ops(ops, program.lists())
    }

    /// Where the segment with this number starts in the packed stream; the end of the stream if there are fewer. `segments` are
    /// those of an instance.
    pub(in crate::convertor) fn start_of(&self, segments: &Segments, number: u64) -> u64 {
        let Iterations { body, count, stride, .. } = self.iterations();
        if number >= segments.repeated(count, stride).count {
            return self.size();
        }
        let (instance, number) = Numbering::of(segments, stride).find(number);
        instance * self.size_of_one() + body.start_of(number)
    }

    /// The number of the segment that holds a position before the end. `segments` are those of an instance.
    pub(in crate::convertor) fn number_of(&self, segments: &Segments, position: u64) -> u64 {
        let Iterations { body, stride, .. } = self.iterations();
        let size = self.size_of_one();
        let (instance, position) = (position / size, position % size);
        Numbering::of(segments, stride).first(instance) + body.number_of(position)
    }
}

impl Body<'_> {
    /// The operation that a segment starts in, the packed bytes before that operation, and the segment's number there.
    fn find_number(&self, number: u64) -> (usize, u64, u64) {
        if let Some(index) = self.index {
            let (at, number) = index.find_number(self.ops, self.first..self.end, number);
            return (at, index.start(self.first, at), number);
        }
        let is_it = |_, first: u64, own: &Segments| number < first + own.count;
        let (at, start, first) = self.search(is_it);
        (at, start, number - first)
    }

    /// The operation that holds a position, the packed bytes before that operation, and the number of the segment that it
    /// starts in.
    fn find_position(&self, position: u64) -> (usize, u64, u64) {
        if let Some(index) = self.index {
            let (at, start) = index.find(self.first..self.end, position);
            return (at, start, index.number(self.first, at));
        }
        self.search(|end, _, _| position < end)
    }

    /// The first operation for which `is_it` holds, or else the last one; the packed bytes before it; and the number of the
    /// segment that it starts in. The arguments of `is_it` are the packed bytes up to the operation's end, that number, and the
    /// operation's own segments.
    fn search(&self, is_it: impl Fn(u64, u64, &Segments) -> bool) -> (usize, u64, u64) {
        let lists = self.program.lists();
        let (mut start, mut before) = (0, Segments::EMPTY);
        for (at, _, body) in numbered_items(&self.ops[self.first..self.end]) {
            let next = self.first + at + 1 + body.len();
            let op = &self.ops[self.first + at..next];
            if next >= self.end && start == 0 {
                // There is only one operation.
                return (self.first, 0, 0);
            }
            let own = Segments::from_ops(op, lists);
            let first = before.count - before.joined(&own, 0);
            let end = start + size(op, lists);
            if next >= self.end || is_it(end, first, &own) {
                return (self.first + at, start, first);
            }
            start = end;
            before = before.then(own);
        }
        (self.first, 0, 0)
    }

    /// The body of the loop at an index, the numbering of its repetitions, and the packed bytes of each.
    fn repeated(&self, at: usize, count: u64, stride: i64, items: usize) -> (Self, Numbering, u64) {
        let body = Self { first: at + 1, end: at + 1 + items, ..*self };
        if let Some(index) = self.index {
            return (body, Numbering::of_all(index.segments(at), count), index.size(at) / count);
        }
        let ops = &self.ops[body.first..body.end];
        let lists = self.program.lists();
        (body, Numbering::of(&Segments::from_ops(ops, lists), stride), size(ops, lists))
    }

    /// Where a segment that starts in the body starts.
    fn start_of(&self, number: u64) -> u64 {
        let (at, start, number) = self.find_number(number);
        let inside = match self.ops[at] {
            // Each block is a segment, because blocks that touch were merged when the plan was made.
            Op::Blocks(blocks) => number * blocks.len,
            Op::List(list) => {
                let block = usize::try_from(number).unwrap_or(usize::MAX);
                self.program.entries(&list).start(block)
            }
            Op::Elements(_) => 0,
            Op::Loop { count, stride, items } => {
                let (body, iterations, size) = self.repeated(at, count, stride, items);
                let (iteration, number) = iterations.find(number);
                iteration * size + body.start_of(number)
            }
        };
        start + inside
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
                let (body, iterations, size) = self.repeated(at, count, stride, items);
                iterations.first(position / size) + body.number_of(position % size)
            }
        };
        first + inside
    }
}

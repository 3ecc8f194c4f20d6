//! The segments of the packed stream by number: where each starts, and which one holds a position. The same walk as
//! that of positions, over the same operations, in logarithmic time for each loop.

use super::{Body, Instances};
use crate::commit::{Chain, Index, Op, Turns, size, size_at};

impl<'a> Instances<'a> {
    /// The segments of one execution of each part.
    pub(in crate::convertor) fn chains(&self) -> [Chain; 3] {
        [self.prologue, self.steady, self.epilogue].map(|ops| Chain::of(ops, self.tables))
    }

    /// The segments of each part, where it is.
    fn parts(&self, chains: &[Chain; 3]) -> [Chain; 3] {
        let [prologue, steady, epilogue] = *chains;
        let Some(steps) = self.count.checked_sub(1) else { return [Chain::EMPTY; 3] };
        let last = self.extent.wrapping_mul(steps.cast_signed());
        [prologue, steady.repeated(self.repetitions, self.extent), epilogue.shifted(last)]
    }

    fn body(&self, ops: &'a [Op], index: Option<&'a Index>) -> Body<'a> {
        Body { ops, tables: self.tables, index, first: 0, end: ops.len() }
    }

    /// Where a segment starts in the packed stream, by its number; the end of the stream if there are not so many.
    pub(in crate::convertor) fn start_of(&self, chains: &[Chain; 3], number: u64) -> u64 {
        let [before, all, behind] = self.parts(chains);
        if number < before.segments {
            return self.body(self.prologue, None).start_of(number);
        }
        let [prologue, steady, _] = self.sizes;
        let both = before.then(all);
        if number < both.segments {
            let number = number - (before.segments - before.joined(&all));
            let (turn, number) = Turns::of(&chains[1], self.extent).find(number);
            return prologue + turn * steady + self.body(self.steady, self.index).start_of(number);
        }
        let number = number - (both.segments - both.joined(&behind));
        if number < behind.segments {
            let start = prologue + steady * self.repetitions;
            return start + self.body(self.epilogue, None).start_of(number);
        }
        self.size()
    }

    /// The number of the segment that holds a position before the end.
    pub(in crate::convertor) fn number_of(&self, chains: &[Chain; 3], position: u64) -> u64 {
        let [prologue, steady, _] = self.sizes;
        if position < prologue {
            return self.body(self.prologue, None).number_of(position);
        }
        let [before, all, behind] = self.parts(chains);
        let repetitions = steady * self.repetitions;
        let position = position - prologue;
        if position < repetitions {
            let first = before.segments - before.joined(&all);
            let turns = Turns::of(&chains[1], self.extent);
            let (turn, position) = (position / steady, position % steady);
            let body = self.body(self.steady, self.index);
            return first + turns.first(turn) + body.number_of(position);
        }
        let both = before.then(all);
        let first = both.segments - both.joined(&behind);
        first + self.body(self.epilogue, None).number_of(position - repetitions)
    }
}

impl Body<'_> {
    /// The operation that a segment starts in, packed bytes before it, and the number that the segment has there.
    fn find_number(&self, number: u64) -> (usize, u64, u64) {
        if let Some(index) = self.index {
            let (at, number) = index.find_number(self.ops, self.first, self.end, number);
            return (at, index.start(self.first, at), number);
        }
        let (mut at, mut start, mut before) = (self.first, 0, Chain::EMPTY);
        loop {
            let next = at + 1 + self.ops[at].items();
            if next >= self.end && start == 0 {
                // The only one.
                return (at, 0, number);
            }
            let chain = Chain::at(self.ops, at, self.tables);
            let first = before.segments - before.joined(&chain);
            if number < first + chain.segments || next >= self.end {
                return (at, start, number - first);
            }
            start += size_at(self.ops, at, self.tables);
            before = before.then(chain);
            at = next;
        }
    }

    /// The operation that holds a position, packed bytes before it, and the number of the segment it starts in.
    fn find_position(&self, position: u64) -> (usize, u64, u64) {
        if let Some(index) = self.index {
            let (at, start) = index.find(self.first, self.end, position);
            return (at, start, index.number(self.first, at));
        }
        let (mut at, mut start, mut before) = (self.first, 0, Chain::EMPTY);
        loop {
            let chain = Chain::at(self.ops, at, self.tables);
            let size = size_at(self.ops, at, self.tables);
            let next = at + 1 + self.ops[at].items();
            if position < start + size || next >= self.end {
                return (at, start, before.segments - before.joined(&chain));
            }
            start += size;
            before = before.then(chain);
            at = next;
        }
    }

    /// The body of the loop at an index, and how its repetitions are numbered, with the bytes of each.
    fn repeated(&self, at: usize, count: u64, stride: i64, items: usize) -> (Self, Turns, u64) {
        let body = Self { first: at + 1, end: at + 1 + items, ..*self };
        if let Some(index) = self.index {
            return (body, Turns::of_all(index.segments(at), count), index.size(at) / count);
        }
        let ops = &self.ops[body.first..body.end];
        (body, Turns::of(&Chain::of(ops, self.tables), stride), size(ops, self.tables))
    }

    /// Where a segment that starts in the body does so.
    fn start_of(&self, number: u64) -> u64 {
        let (at, start, number) = self.find_number(number);
        let inside = match self.ops[at] {
            // Each is a segment: those that touch have become one when the plan was made.
            Op::Blocks(blocks) => number * blocks.len,
            Op::List(list) => {
                let block = usize::try_from(number).unwrap_or(usize::MAX);
                self.tables.entries(&list).start(block)
            }
            Op::Elements(_) => 0,
            Op::Loop { count, stride, items } => {
                let (body, turns, size) = self.repeated(at, count, stride, items);
                let (turn, number) = turns.find(number);
                turn * size + body.start_of(number)
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
                let entries = self.tables.entries(&list);
                entries.find(position, entries.guess(position)).0 as u64
            }
            Op::Elements(_) => 0,
            Op::Loop { count, stride, items } => {
                let (body, turns, size) = self.repeated(at, count, stride, items);
                turns.first(position / size) + body.number_of(position % size)
            }
        };
        first + inside
    }
}

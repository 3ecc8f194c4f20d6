//! Where the operations of a plan begin in the packed stream, and with which segment, so that a position or
//! the number of a segment is found without a look at all that is before.

use alloc::vec;
use alloc::vec::Vec;

use super::chain::Chain;
use super::elements::Elements;
use super::list::List;
use super::plan::Op;
use super::tables::Tables;

/// Fewer operations than this are looked through one by one.
pub(super) const FEWEST: usize = 16;

/// What is known of each operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Index {
    /// Packed bytes before the operation, were every loop around it in its first repetition. These only
    /// grow from one operation to the next, however the loops nest.
    starts: Vec<u64>,
    /// Packed bytes of the operation, a loop with all of its repetitions.
    sizes: Vec<u64>,
    /// The number of the segment that the operation starts in, counted as `starts` is, and growing as they do,
    /// though not with each operation.
    numbers: Vec<u64>,
    /// Segments of the operation alone, a loop with all of its repetitions.
    segments: Vec<u64>,
    /// Index of the loop around it; `NONE` for those that are in none.
    around: Vec<usize>,
}

const NONE: usize = usize::MAX;

impl Index {
    /// The index of these operations, unless they are few.
    pub(super) fn of(ops: &[Op], tables: &Tables) -> Option<Self> {
        if ops.len() < FEWEST {
            return None;
        }
        let empty = vec![0; ops.len()];
        let mut index = Self {
            starts: empty.clone(),
            sizes: empty.clone(),
            numbers: empty.clone(),
            segments: empty,
            around: vec![NONE; ops.len()],
        };
        index.fill(ops, 0..ops.len(), tables, (0, 0), NONE);
        Some(index)
    }

    /// Fills in a body that starts at a position and with a segment, and returns its size and its segments.
    fn fill(
        &mut self,
        ops: &[Op],
        body: core::ops::Range<usize>,
        tables: &Tables,
        (start, number): (u64, u64),
        around: usize,
    ) -> (u64, Chain) {
        let (mut at, mut size, mut chain) = (body.start, 0, Chain::EMPTY);
        while at < body.end {
            let next = at + 1 + ops[at].items();
            // Of a loop, its first operation starts where it does.
            let leaf = at + ops[at..next].iter().take_while(|op| op.items() > 0).count();
            let joined = chain.joined(&Chain::at(ops, leaf, tables));
            self.starts[at] = start + size;
            self.numbers[at] = number + chain.segments - joined;
            self.around[at] = around;
            let (bytes, segments) = match ops[at] {
                Op::Loop { count, stride, .. } => {
                    let first = (self.starts[at], self.numbers[at]);
                    let (bytes, chain) = self.fill(ops, at + 1..next, tables, first, at);
                    (count * bytes, chain.repeated(count, stride))
                }
                _ => (ops[at].size(tables), Chain::at(ops, at, tables)),
            };
            (self.sizes[at], self.segments[at]) = (bytes, segments.segments);
            size += bytes;
            chain = chain.then(segments);
            at = next;
        }
        (size, chain)
    }

    /// Packed bytes of an operation.
    pub(crate) fn size(&self, at: usize) -> u64 {
        self.sizes[at]
    }

    /// The operation of a body, which starts at index `first`, that holds a position in its first
    /// repetition, and how far into the body it starts.
    pub(crate) fn find(&self, first: usize, end: usize, position: u64) -> (usize, u64) {
        let origin = self.starts[first];
        let around = self.around[first];
        let starts = &self.starts[first..end];
        let mut at = first + starts.partition_point(|start| *start <= origin + position) - 1;
        // Perhaps it is a part of a loop, which the position is in a later repetition of.
        while self.around[at] != around {
            at = self.around[at];
        }
        (at, self.starts[at] - origin)
    }

    /// Packed bytes before an operation of a body.
    pub(crate) fn start(&self, first: usize, at: usize) -> u64 {
        self.starts[at] - self.starts[first]
    }

    /// Segments of an operation alone.
    pub(crate) fn segments(&self, at: usize) -> u64 {
        self.segments[at]
    }

    /// The number of the segment that an operation of a body starts in, where the body's first is 0.
    pub(crate) fn number(&self, first: usize, at: usize) -> u64 {
        self.numbers[at] - self.numbers[first]
    }

    /// The operation of a body, which starts at index `first`, that a segment starts in, and the number that the
    /// segment has there.
    pub(crate) fn find_number(
        &self,
        ops: &[Op],
        first: usize,
        end: usize,
        number: u64,
    ) -> (usize, u64) {
        let target = self.numbers[first] + number;
        let around = self.around[first];
        // The last operation that starts in a segment before.
        let before = self.numbers[first..end].partition_point(|number| *number < target);
        let Some(before) = before.checked_sub(1) else { return (first, 0) };
        let mut at = first + before;
        while self.around[at] != around {
            at = self.around[at];
        }
        let inside = target - self.numbers[at];
        if inside < self.segments[at] { (at, inside) } else { (at + 1 + ops[at].items(), 0) }
    }
}

impl Op {
    /// How many operations behind this one are part of it.
    pub(crate) const fn items(&self) -> usize {
        match *self {
            Self::Loop { items, .. } => items,
            Self::Blocks(_) | Self::List(_) | Self::Elements(_) => 0,
        }
    }

    /// Packed bytes of an operation that is no loop.
    #[inline]
    fn size(&self, tables: &Tables) -> u64 {
        self.size_by(&|list| tables.entries(list).size())
    }

    /// As [`size`](Self::size), given the bytes of lists.
    #[inline(always)]
    fn size_by(&self, of_list: &impl Fn(&List) -> u64) -> u64 {
        match self {
            Self::Blocks(blocks) => blocks.len * blocks.count,
            Self::List(list) => of_list(list),
            Self::Elements(Elements { places, .. }) => places.len * places.count,
            Self::Loop { .. } => 0,
        }
    }
}

/// Packed bytes of operations, executed once, where there are no tables yet but the bytes of lists are known.
pub(super) fn size_by(ops: &[Op], of_list: &impl Fn(&List) -> u64) -> u64 {
    let (mut at, mut sum) = (0, 0);
    while let Some(op) = ops.get(at) {
        let next = at + 1 + op.items();
        sum += match *op {
            Op::Loop { count, .. } => count * size_by(&ops[at + 1..next], of_list),
            _ => op.size_by(of_list),
        };
        at = next;
    }
    sum
}

/// Packed bytes of operations, executed once.
pub(crate) fn size(ops: &[Op], tables: &Tables) -> u64 {
    let (mut at, mut sum) = (0, 0);
    while let Some(op) = ops.get(at) {
        let next = at + 1 + op.items();
        sum += size_at(ops, at, tables);
        at = next;
    }
    sum
}

/// Packed bytes of the operation at an index, a loop with all of its repetitions.
pub(crate) fn size_at(ops: &[Op], at: usize, tables: &Tables) -> u64 {
    match ops[at] {
        Op::Loop { count, items, .. } => count * size(&ops[at + 1..=at + items], tables),
        op => op.size(tables),
    }
}

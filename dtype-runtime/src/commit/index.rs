//! Where the operations of a plan begin in the packed stream, so that a position in it is found without
//! a look at all that is before.

use alloc::vec;
use alloc::vec::Vec;

use super::elements::Elements;
use super::list::Tables;
use super::plan::Op;

/// Fewer operations than this are looked through one by one.
const FEWEST: usize = 16;

/// What is known of each operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Index {
    /// Packed bytes before the operation, were every loop around it in its first repetition. These only
    /// grow from one operation to the next, however the loops nest.
    starts: Vec<u64>,
    /// Packed bytes of the operation, a loop with all of its repetitions.
    sizes: Vec<u64>,
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
        let mut index = Self { starts: empty.clone(), sizes: empty, around: vec![NONE; ops.len()] };
        index.fill(ops, 0..ops.len(), tables, 0, NONE);
        Some(index)
    }

    /// Fills in a body that starts at a position, and returns its size.
    fn fill(
        &mut self,
        ops: &[Op],
        body: core::ops::Range<usize>,
        tables: &Tables,
        start: u64,
        around: usize,
    ) -> u64 {
        let (mut at, mut size) = (body.start, 0);
        while at < body.end {
            self.starts[at] = start + size;
            self.around[at] = around;
            let next = at + 1 + ops[at].items();
            self.sizes[at] = match ops[at] {
                Op::Loop { count, .. } => {
                    count * self.fill(ops, at + 1..next, tables, start + size, at)
                }
                _ => ops[at].size(tables),
            };
            size += self.sizes[at];
            at = next;
        }
        size
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
    fn size(&self, tables: &Tables) -> u64 {
        match self {
            Self::Blocks(blocks) => blocks.len * blocks.count,
            Self::List(list) => tables.size(list),
            Self::Elements(Elements { places, .. }) => places.len * places.count,
            Self::Loop { .. } => 0,
        }
    }
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

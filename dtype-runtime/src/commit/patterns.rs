//! Which of a plan's repetitions are permutations of bytes.
//!
//! They are looked up by what is repeated, which is short: at most as many operations as a permutation has
//! bytes.

use alloc::vec::Vec;

use super::elements::Elements;
use super::permutation::{ByteMap, Permutation};
use super::plan::{Blocks, Op};

/// Fewer blocks than this, at equal distances, are not worth looking up.
pub(crate) const FEWEST_BLOCKS: u64 = 8;

/// Fewer operations than this, with all repetitions, are not worth looking up.
const FEWEST_OPERATIONS: u64 = 8;

/// How often the instances' own operations are taken to be repeated.
const MANY: u64 = 1000;

/// So many are kept for a plan; there are hardly ever more than two.
const MOST: usize = 8;

/// Whether anything here executes permutations.
pub(super) const ARE_EXECUTED: bool =
    cfg!(all(target_arch = "x86_64", any(feature = "std", target_feature = "avx512vbmi")));

/// The permutations of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Patterns {
    /// Whether the first of `records` are the instances' own operations.
    has_steady: bool,
    records: Vec<Records>,
    columns: Vec<Column>,
}

/// Operations that are repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Records {
    ops: Vec<Op>,
    /// Bytes from one repetition to the next.
    stride: i64,
    permutation: Permutation,
}

/// Blocks at equal distances, wherever the first one is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Column {
    len: u64,
    stride: i64,
    /// With the first block at displacement 0.
    permutation: Permutation,
}

impl Patterns {
    /// Those among the operations of a plan, whose instances are `extent` bytes apart.
    pub(super) fn of([prologue, steady, epilogue]: [&[Op]; 3], extent: i64) -> Self {
        let mut all = Self { has_steady: false, records: Vec::new(), columns: Vec::new() };
        all.add_steady(steady, extent);
        all.add_inside(prologue);
        all.add_inside(epilogue);
        all
    }

    /// Adds those among operations that are themselves executed any number of times, `extent` bytes apart.
    fn add_steady(&mut self, ops: &[Op], extent: i64) {
        self.add(ops, MANY, extent);
        self.has_steady = !self.records.is_empty();
        self.add_inside(ops);
    }

    /// Adds those among operations.
    fn add_inside(&mut self, ops: &[Op]) {
        for (at, op) in ops.iter().enumerate() {
            match *op {
                Op::Blocks(blocks) if blocks.count > 1 => self.add_column(blocks),
                Op::Loop { count, stride, items } => {
                    self.add(&ops[at + 1..=at + items], count, stride);
                }
                // Values of one width that are reversed are a column of bytes, with another permutation.
                Op::Elements(all) if all.places.count > 1 => self.add_column(all.places),
                Op::Blocks(_) | Op::List(_) | Op::Elements(_) => {}
            }
        }
    }

    fn add(&mut self, ops: &[Op], count: u64, stride: i64) {
        if let [Op::Blocks(only) | Op::Elements(Elements { places: only, .. })] = ops
            && only.count.checked_mul(count).is_some()
            && let Some(all) = only.repeated(count, stride)
        {
            self.add_column(all);
        } else if ARE_EXECUTED
            && is_worth_it(ops, count)
            && self.records.len() < MOST
            && self.of_records(ops, stride).is_none()
            && let Some(map) = ByteMap::of(ops)
            && let Some(permutation) = if ops.iter().all(is_single) {
                Permutation::if_faster(&map, stride)
            } else {
                // The alternative is to execute the operations one by one.
                Permutation::if_near(&map, stride)
            }
        {
            self.records.reserve_exact(1);
            self.records.push(Records { ops: ops.to_vec(), stride, permutation });
        }
    }

    fn add_column(&mut self, blocks: Blocks) {
        let Blocks { len, stride, count, .. } = blocks;
        let mut map = ByteMap::new();
        if ARE_EXECUTED
            && count >= FEWEST_BLOCKS
            && self.columns.len() < MOST
            && self.columns.iter().all(|column| (column.len, column.stride) != (len, stride))
            && map.run(0, len)
            && let Some(permutation) = Permutation::if_faster(&map, stride)
            // One block at a time is better moved as it is.
            && permutation.records() > 1
        {
            self.columns.reserve_exact(1);
            self.columns.push(Column { len, stride, permutation });
        }
    }

    /// Repetitions of these operations, so many bytes apart.
    pub(super) fn of_records(&self, ops: &[Op], stride: i64) -> Option<&Permutation> {
        let mut all = self.records.iter();
        let found = all.find(|records| records.stride == stride && records.ops == ops)?;
        Some(&found.permutation)
    }

    /// Any number of repetitions of the instances' own operations.
    #[inline]
    pub(super) fn of_steady(&self) -> Option<&Permutation> {
        if self.has_steady {
            self.records.first().map(|records| &records.permutation)
        } else {
            None
        }
    }

    /// Blocks of this length, so many bytes apart, the first at displacement 0.
    pub(super) fn of_blocks(&self, all: Blocks) -> Option<&Permutation> {
        let mut columns = self.columns.iter();
        let found = columns.find(|column| column.len == all.len && column.stride == all.stride)?;
        (all.count >= found.permutation.fewest() as u64).then_some(&found.permutation)
    }
}

fn is_single(op: &Op) -> bool {
    matches!(op, Op::Blocks(blocks) if blocks.count == 1)
}

/// Whether so many repetitions of operations are worth looking up.
#[inline]
pub(super) fn is_worth_it(ops: &[Op], count: u64) -> bool {
    (ops.len() as u64).saturating_mul(count) >= FEWEST_OPERATIONS
}

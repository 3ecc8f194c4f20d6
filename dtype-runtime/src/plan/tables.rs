//! Tables computed from the operations of a plan to execute them faster: permutations of bytes, the runs of an instance, and an
//! instance as one list.
//!
//! [`Committed::prepare`](crate::Committed::prepare) computes the tables, or else the first call that can use them. Computing
//! them when a type is committed would make that take four times as long for small structs, and ten times for vectors.
//!
//! The permutation of a loop's body is found by comparing operations. There are few of these: at most as many as a permutation
//! has bytes.

use alloc::vec::Vec;

use super::byte_map::ByteMap;
use super::flat::{Flat, flat};
use super::list::Lists;
use super::once::Once;
use super::op::{Blocks, Op, split_first};
use super::permutation::Permutation;
use super::runs::Records;
use crate::kernels;

/// Fewer blocks than this at equal distances are not worth a lookup.
pub(crate) const MIN_BLOCKS: u64 = 8;

/// Fewer operations than this, counted with all iterations, are not worth a lookup.
const MIN_OPERATIONS: u64 = 8;

/// At most this many permutations of each kind are kept; a plan rarely has more than two.
const MAX_KEPT: usize = 8;

/// Whether this target executes permutations, of all kinds or some.
pub(super) const ARE_EXECUTED: bool = kernels::EXECUTES_PERMUTATIONS;

/// The tables of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tables {
    pub(super) instances: Option<Instances>,
    /// The instances, if each is a few runs.
    pub(super) records: Option<Records>,
    /// One instance as a list.
    pub(super) flat: Once<Option<Flat>>,
    bodies: Vec<Body>,
    /// The index of the body that an instance repeats, if the instance is one loop.
    iterations: Option<usize>,
    columns: Vec<Column>,
}

/// The permutation that copies instances, and any part of their packed bytes. Its records are one of three: the instances; the
/// iterations of a loop that is the whole instance and that the next instance continues; or the blocks that all instances
/// consist of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Instances {
    pub(crate) permutation: Permutation,
    /// The displacement that the permutation's are relative to.
    pub(crate) disp: i64,
    /// Whether each instance is a record, so that the permutation can copy a single instance.
    pub(crate) are_records: bool,
}

/// Operations that a loop repeats.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    ops: Vec<Op>,
    /// Bytes from one repetition to the next.
    stride: i64,
    pub(crate) permutation: Option<Permutation>,
    /// One repetition as a list, if it is a nest of short loops.
    pub(crate) list: Option<Flat>,
}

impl Body {
    fn is(&self, ops: &[Op], stride: i64) -> bool {
        self.stride == stride && self.ops == ops
    }
}

impl PartialEq for Body {
    /// The other fields follow from these.
    fn eq(&self, other: &Self) -> bool {
        self.is(&other.ops, other.stride)
    }
}

impl Eq for Body {}

/// Blocks at equal distances, at any displacement.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Column {
    len: u64,
    stride: i64,
    /// Relative to the first block.
    permutation: Permutation,
}

impl Tables {
    /// The tables of a plan whose instances have these operations and are `extent` bytes apart.
    pub(super) fn new(instance: &[Op], lists: &Lists, extent: i64) -> Self {
        let mut tables = Self {
            instances: None,
            records: Records::new(instance, extent),
            flat: Once::new(),
            bodies: Vec::new(),
            iterations: None,
            columns: Vec::new(),
        };
        if !ARE_EXECUTED {
            return tables;
        }
        // Backwards, so that a loop comes after the loops inside it.
        for (at, op) in instance.iter().enumerate().rev() {
            match *op {
                Op::Blocks(blocks) => tables.add_column(&blocks),
                Op::Loop { count, stride, items } => {
                    tables.add_body(&instance[at + 1..=at + items], lists, count, stride);
                }
                Op::Elements(_) | Op::List(_) => {}
            }
        }
        if let Some((Op::Loop { stride, .. }, body, [])) = split_first(instance) {
            tables.iterations = tables.bodies.iter().position(|known| known.is(body, *stride));
        }
        tables.instances = tables.instances(instance, extent);
        tables
    }

    fn instances(&self, instance: &[Op], extent: i64) -> Option<Instances> {
        /// Enough instances to count as many blocks.
        const MANY: u64 = 1000;
        if let [Op::Blocks(blocks)] = instance
            && blocks.count.checked_mul(MANY).is_some()
            && let Some(all) = blocks.repeated(MANY, extent)
        {
            let permutation = permutation_of_blocks(&all)?;
            return Some(Instances { permutation, disp: blocks.disp, are_records: false });
        }
        if let [Op::Loop { count, stride, .. }, ..] = instance
            && let Some(permutation) = self.iterations()
            && i128::from(*stride) * i128::from(*count) == i128::from(extent)
        {
            return Some(Instances {
                permutation: permutation.clone(),
                disp: 0,
                are_records: false,
            });
        }
        let permutation = permutation_of_records(instance, extent)?;
        Some(Instances { permutation, disp: 0, are_records: true })
    }

    fn add_body(&mut self, ops: &[Op], lists: &Lists, count: u64, stride: i64) {
        if !is_worth_it(ops, count)
            || self.bodies.len() == MAX_KEPT
            || self.body(ops, stride).is_some()
        {
            return;
        }
        let permutation = permutation_of_body(ops, stride);
        // Records inside a nest are copied several at a time, which is faster than a list's runs.
        let list = if permutation.is_none() && !self.has_records(ops) {
            flat(ops, lists).filter(|list| !list.has_rows)
        } else {
            None
        };
        if permutation.is_some() || list.is_some() {
            self.bodies.reserve_exact(1);
            self.bodies.push(Body { ops: ops.to_vec(), stride, permutation, list });
        }
    }

    fn add_column(&mut self, blocks: &Blocks) {
        if self.columns.len() < MAX_KEPT
            && self.column(blocks).is_none()
            && let Some(permutation) = permutation_of_blocks(blocks)
        {
            self.columns.reserve_exact(1);
            self.columns.push(Column { len: blocks.len, stride: blocks.stride, permutation });
        }
    }

    /// The permutation of the iterations, if an instance is a loop over a permutation.
    pub(super) fn iterations(&self) -> Option<&Permutation> {
        self.bodies.get(self.iterations?)?.permutation.as_ref()
    }

    /// Whether a loop among these operations has a permutation as its body.
    pub(super) fn has_records(&self, ops: &[Op]) -> bool {
        ops.iter().enumerate().any(|(at, op)| match *op {
            Op::Loop { stride, items, .. } => self
                .body(&ops[at + 1..=at + items], stride)
                .is_some_and(|body| body.permutation.is_some()),
            _ => false,
        })
    }

    /// The body of a loop with these operations and this stride.
    pub(super) fn body(&self, ops: &[Op], stride: i64) -> Option<&Body> {
        self.bodies.iter().find(|body| body.is(ops, stride))
    }

    /// The permutation of blocks of this length and stride.
    pub(super) fn column(&self, blocks: &Blocks) -> Option<&Permutation> {
        let mut columns = self.columns.iter();
        let found =
            columns.find(|column| (column.len, column.stride) == (blocks.len, blocks.stride))?;
        Some(&found.permutation)
    }
}

/// The permutation of repetitions of operations, `stride` bytes apart, if there is one and using it pays.
fn permutation_of_records(ops: &[Op], stride: i64) -> Option<Permutation> {
    let map = ByteMap::from_ops(ops)?;
    if ops.iter().all(|op| matches!(op, Op::Blocks(blocks) if blocks.count == 1)) {
        Permutation::new_if_faster(&map, stride)
    } else {
        // The alternative is to execute the operations one by one.
        Permutation::new_if_near(&map, stride)
    }
}

/// As [`permutation_of_records`], for a loop's body. If the body is blocks at equal distances, the alternative is a kernel for
/// rows.
fn permutation_of_body(ops: &[Op], stride: i64) -> Option<Permutation> {
    match ops {
        [Op::Blocks(_)] => Permutation::new_if_faster_than_rows(&ByteMap::from_ops(ops)?, stride),
        _ => permutation_of_records(ops, stride),
    }
}

/// As [`permutation_of_records`], for blocks, relative to the first one.
fn permutation_of_blocks(blocks: &Blocks) -> Option<Permutation> {
    let mut map = ByteMap::new();
    let is_run = blocks.stride.cast_unsigned() == blocks.len;
    if is_run || blocks.count < MIN_BLOCKS || !map.run(0, blocks.len) {
        return None;
    }
    // Windows of a single block are slower than a direct copy.
    Permutation::new_if_faster(&map, blocks.stride).filter(|all| all.records() > 1)
}

/// Whether `count` repetitions of operations are worth a lookup.
#[inline]
pub(super) fn is_worth_it(ops: &[Op], count: u64) -> bool {
    (ops.len() as u64).saturating_mul(count) >= MIN_OPERATIONS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(disp: i64, len: u64) -> Op {
        Op::Blocks(Blocks::run(disp, len))
    }

    fn each(count: u64, stride: i64, items: usize) -> Op {
        Op::Loop { count, stride, items }
    }

    fn tables(instance: &[Op], extent: i64) -> Tables {
        Tables::new(instance, Lists::none(), extent)
    }

    #[test]
    fn bodies_of_loops_are_records() {
        let nest = [each(20, 24, 2), run(0, 4), run(8, 4)];
        let all = tables(&nest, 480);
        assert_eq!(all.iterations().is_some(), ARE_EXECUTED);
        assert_eq!(all.has_records(&nest), ARE_EXECUTED);
        assert!(!all.has_records(&nest[1..]));
        // Tables are equal if they are made of equal operations.
        let other = tables(&[each(20, 24, 2), run(0, 4), run(9, 4)], 480);
        assert!(all.bodies == tables(&nest, 480).bodies);
        assert_eq!(all.bodies == other.bodies, !ARE_EXECUTED);
        assert_eq!(all.body(&nest[1..], 24).is_some(), ARE_EXECUTED);
        assert!(all.body(&nest[1..], 25).is_none() && all.body(&nest[1..2], 24).is_none());
        // The next instance continues the loop in one case and not in the other.
        let are_records = |extent| tables(&nest, extent).instances.map(|all| all.are_records);
        assert_eq!(are_records(480), ARE_EXECUTED.then_some(false));
        assert_eq!(are_records(500), None);
        let rows = [each(3, 1000, 4), each(20, 24, 2), run(0, 4), run(8, 4), run(900, 4)];
        assert_eq!(tables(&rows, 3000).has_records(&rows), ARE_EXECUTED);
        assert!(tables(&rows, 3000).iterations().is_none());
        // A permutation needs no list, nor does a body with records in it.
        assert!(tables(&rows, 3000).bodies.iter().all(|body| body.list.is_none()));
    }

    #[test]
    fn what_repeats_often_is_kept_once() {
        let two = |count, stride| [each(count, stride, 2), run(0, 4), run(8, 4)];
        let number = |ops: &[Op]| tables(ops, 1 << 30).bodies.len();
        assert_eq!([3, 4].map(|count| number(&two(count, 24))), [0, usize::from(ARE_EXECUTED)]);
        assert_eq!(number(&[two(4, 24), two(9, 24)].concat()), usize::from(ARE_EXECUTED));
        let many: Vec<_> = (0..9).flat_map(|k| two(4, 24 + k)).collect();
        assert_eq!(number(&many), if ARE_EXECUTED { MAX_KEPT } else { 0 });
        // Columns have permutations, too.
        let column = |count, stride| Op::Blocks(Blocks { disp: 0, len: 2, count, stride });
        let number = |ops: &[Op]| tables(ops, 1 << 30).columns.len();
        assert_eq!([7, 8].map(|count| number(&[column(count, 6)])), [0, usize::from(ARE_EXECUTED)]);
        assert_eq!(number(&[column(8, 6), column(9, 6)]), usize::from(ARE_EXECUTED));
        assert_eq!(number(&[column(8, 2), column(8, 100)]), 0);
        let many: Vec<_> = (0..9).map(|k| column(8, 6 + k)).collect();
        assert_eq!(number(&many), if ARE_EXECUTED { MAX_KEPT } else { 0 });
    }
}

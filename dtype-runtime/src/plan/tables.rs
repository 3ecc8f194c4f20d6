//! Tables computed from the operations of a plan to execute them faster: permutations of bytes, the runs of an instance, and an
//! instance as one list.
//!
//! [`Committed::prepare`](crate::Committed::prepare) computes the tables, or else the first call that can use them. Computing
//! them when a type is committed would make that take four times as long for small structs, and ten times for vectors.
//!
//! The permutation of a loop's body is found by comparing operations. There are few of these: at most as many as a permutation
//! has bytes.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::byte_map::ByteMap;
use super::choose::records::{MIN_BLOCKS, Permuted, time_run_by_run};
use super::costs;
use super::costs::portable::RECORDS;
use super::flat::{Flat, flat};
use super::list::Lists;
use super::once::Once;
use super::op::{Blocks, Op, split_first};
use super::records::Records;
use super::runs::{Run, RunList};
use crate::isa;

/// Fewer operations than this, counted with all iterations, are not worth a lookup.
const MIN_OPERATIONS: u64 = 8;

/// The time of a record whose values are converted one by one.
const VALUE_BY_VALUE: usize = 1 << 10;

/// At most this many permutations of each kind are kept; a plan rarely has more than two.
const MAX_KEPT: usize = 8;

/// Whether this target executes permutations, of all kinds or some.
pub(super) const ARE_EXECUTED: bool = isa::EXECUTES_PERMUTATIONS;

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
    pub(crate) permuted: Permuted,
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
    pub(crate) permuted: Option<Permuted>,
    /// Several repetitions, if each is a few runs.
    pub(crate) runs: Option<Box<[Run]>>,
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
    permuted: Permuted,
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
        // Backwards, so that a loop comes after the loops inside it.
        for (at, op) in instance.iter().enumerate().rev() {
            match *op {
                Op::Blocks(blocks) if ARE_EXECUTED => tables.add_column(&blocks),
                Op::Loop { count, stride, items } => {
                    tables.add_body(&instance[at + 1..=at + items], lists, count, stride);
                }
                Op::Blocks(_) | Op::Elements(_) | Op::List(_) => {}
            }
        }
        if let Some((Op::Loop { stride, .. }, body, [])) = split_first(instance) {
            tables.iterations = tables.bodies.iter().position(|known| known.is(body, *stride));
        }
        if ARE_EXECUTED {
            tables.instances = tables.instances(instance, extent);
        }
        tables
    }

    fn instances(&self, instance: &[Op], extent: i64) -> Option<Instances> {
        /// Enough instances to count as many blocks.
        const MANY: u64 = 1000;
        if let [Op::Blocks(blocks)] = instance
            && blocks.count.checked_mul(MANY).is_some()
            && let Some(all) = blocks.repeated(MANY, extent)
        {
            let permuted = permuted_blocks(&all)?;
            return Some(Instances { permuted, disp: blocks.disp, are_records: false });
        }
        if let [Op::Loop { count, stride, .. }, ..] = instance
            && let Some(permuted) = self.iterations()
            && i128::from(*stride) * i128::from(*count) == i128::from(extent)
        {
            return Some(Instances { permuted: permuted.clone(), disp: 0, are_records: false });
        }
        let permuted = permuted_records(instance, extent)?;
        Some(Instances { permuted, disp: 0, are_records: true })
    }

    fn add_body(&mut self, ops: &[Op], lists: &Lists, count: u64, stride: i64) {
        if !is_worth_it(ops, count)
            || self.bodies.len() == MAX_KEPT
            || self.body(ops, stride).is_some()
        {
            return;
        }
        let permuted = if ARE_EXECUTED { permuted_records(ops, stride) } else { None };
        let runs = match ops {
            // Rows of blocks have kernels of their own.
            [Op::Blocks(_)] => None,
            _ => RunList::expand(ops).map(|list| list.all().into()),
        };
        // Records inside a nest are copied several at a time, which is faster than a list's runs.
        let list = if permuted.is_none() && !self.has_records(ops) {
            flat(ops, lists).filter(|list| !list.has_rows)
        } else {
            None
        };
        if permuted.is_some() || runs.is_some() || list.is_some() {
            self.bodies.reserve_exact(1);
            self.bodies.push(Body { ops: ops.to_vec(), stride, permuted, runs, list });
        }
    }

    fn add_column(&mut self, blocks: &Blocks) {
        if self.columns.len() < MAX_KEPT
            && self.column(blocks).is_none()
            && let Some(permuted) = permuted_blocks(blocks)
        {
            self.columns.reserve_exact(1);
            self.columns.push(Column { len: blocks.len, stride: blocks.stride, permuted });
        }
    }

    /// The permutation of the iterations, if an instance is a loop over a permutation.
    pub(super) fn iterations(&self) -> Option<&Permuted> {
        self.bodies.get(self.iterations?)?.permuted.as_ref()
    }

    /// Whether a loop among these operations has a permutation as its body.
    pub(super) fn has_records(&self, ops: &[Op]) -> bool {
        ops.iter().enumerate().any(|(at, op)| match *op {
            Op::Loop { stride, items, .. } => self
                .body(&ops[at + 1..=at + items], stride)
                .is_some_and(|body| body.permuted.is_some()),
            _ => false,
        })
    }

    /// The body of a loop with these operations and this stride.
    pub(super) fn body(&self, ops: &[Op], stride: i64) -> Option<&Body> {
        self.bodies.iter().find(|body| body.is(ops, stride))
    }

    /// The permutation of blocks of this length and stride.
    pub(super) fn column(&self, blocks: &Blocks) -> Option<&Permuted> {
        let mut columns = self.columns.iter();
        let found =
            columns.find(|column| (column.len, column.stride) == (blocks.len, blocks.stride))?;
        Some(&found.permuted)
    }
}

/// The permutation of repetitions of operations, `stride` bytes apart, if using it pays for any use.
fn permuted_records(ops: &[Op], stride: i64) -> Option<Permuted> {
    let map = ByteMap::from_ops(ops)?;
    let by_runs = |runs: &[Run]| (RECORDS.call + runs.len() * RECORDS.step, time_run_by_run(runs));
    let (call, time) = match (ops, Records::new(ops, stride), RunList::expand(ops)) {
        (_, Some(records), _) => by_runs(&records.runs),
        // Rows have a kernel of their own.
        ([_], None, Some(list)) => (0, time_run_by_run(list.all())),
        (_, None, Some(list)) => by_runs(list.all()),
        // Values that are not copied as they are have no faster way.
        (_, None, None) => (0, VALUE_BY_VALUE),
    };
    Permuted::new(&map, stride, call, time)
}

/// As [`permuted_records`], for blocks, relative to the first one.
fn permuted_blocks(blocks: &Blocks) -> Option<Permuted> {
    let mut map = ByteMap::new();
    let is_run = blocks.stride.cast_unsigned() == blocks.len;
    if is_run || blocks.count < MIN_BLOCKS || !map.run(0, blocks.len) {
        return None;
    }
    let time = costs::moves(usize::try_from(blocks.len).ok()?);
    // Windows of a single block are slower than a direct copy.
    Permuted::new(&map, blocks.stride, 0, time).filter(|all| all.permutation.records() > 1)
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
        assert!(all.bodies != other.bodies && all.body(&nest[1..], 24).is_some());
        assert!(all.body(&nest[1..], 25).is_none() && all.body(&nest[1..2], 24).is_none());
        // The next instance continues the loop in one case and not in the other.
        let are_records = |extent| tables(&nest, extent).instances.map(|all| all.are_records);
        assert_eq!(are_records(480), ARE_EXECUTED.then_some(false));
        assert_eq!(are_records(500), None);
        let rows = [each(3, 1000, 4), each(20, 24, 2), run(0, 4), run(8, 4), run(900, 4)];
        assert_eq!(tables(&rows, 3000).has_records(&rows), ARE_EXECUTED);
        assert!(tables(&rows, 3000).iterations().is_none());
        // A permutation needs no list, nor does a body with records in it.
        let has_list = tables(&rows, 3000).bodies.iter().any(|body| body.list.is_some());
        assert_eq!(has_list, !ARE_EXECUTED);
    }

    #[test]
    fn what_repeats_often_is_kept_once() {
        let two = |count, stride| [each(count, stride, 2), run(0, 4), run(8, 4)];
        let number = |ops: &[Op]| tables(ops, 1 << 30).bodies.len();
        assert_eq!([3, 4].map(|count| number(&two(count, 24))), [0, 1]);
        assert_eq!(number(&[two(4, 24), two(9, 24)].concat()), 1);
        let many: Vec<_> = (0..9).flat_map(|k| two(4, 24 + k)).collect();
        assert_eq!(number(&many), MAX_KEPT);
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

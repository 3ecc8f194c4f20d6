//! The instances and repetitions of a plan that are permutations of bytes, or records of a few runs.
//!
//! Repetitions are looked up by the repeated operations. There are few of these: at most as many as a permutation has
//! bytes.

use alloc::vec::Vec;

use super::byte_map::ByteMap;
use super::flat::Flat;
use super::once::Once;
use super::op::{Blocks, Elements, Op, split_first};
use super::permutation::Permutation;
use super::runs::Records;
use crate::kernels;

/// Fewer blocks than this at equal distances are not worth a lookup.
pub(crate) const FEWEST_BLOCKS: u64 = 8;

/// Fewer operations than this, counted with all iterations, are not worth a lookup.
const FEWEST_OPERATIONS: u64 = 8;

/// The number of instances that is assumed.
const MANY: u64 = 1000;

/// At most this many permutations of each kind are kept; a plan rarely has more than two.
const MOST: usize = 8;

/// Whether this target executes permutations, or some of them.
pub(super) const ARE_EXECUTED: bool = kernels::EXECUTES_PERMUTATIONS;

/// What is found in a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Patterns {
    /// Of the instances: a copy of the first permutation below, so that a fragment finds it a load earlier.
    instances: Option<OfInstances>,
    bodies: Vec<RepeatedBody>,
    columns: Vec<Column>,
    /// Of one instance.
    one: Option<Permutation>,
    /// The instances, if each is a few runs.
    records: Option<Records>,
    /// The iterations, if an instance is a loop over a permutation.
    iterations: Option<Iterations>,
    /// One instance as a list, computed when it was cut several times.
    flat: Once<Option<Flat>>,
}

/// What copies instances, and any part of their packed bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OfInstances {
    permutation: Permutation,
    /// Whether each instance is a block.
    are_blocks: bool,
    /// The displacement that the permutation counts from.
    disp: i64,
    /// Fewer bytes than this are copied block by block.
    fewest: u64,
}

/// The iterations of a loop that an instance is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Iterations {
    permutation: Permutation,
    /// Whether the iterations of all instances together are at equal distances: the extent is the count times the stride.
    are_joined: bool,
}

/// Operations that are repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RepeatedBody {
    ops: Vec<Op>,
    /// Bytes from one repetition to the next.
    stride: i64,
    permutation: Permutation,
}

/// Blocks at equal distances, at any displacement.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Column {
    len: u64,
    stride: i64,
    /// Relative to the first block.
    permutation: Permutation,
}

impl Patterns {
    /// The permutations and the records of a plan: of its instances, which have the operations `instance` and are `extent`
    /// bytes apart, and among these operations. `one` are the same operations again, if a permutation is to copy a single
    /// instance.
    pub(super) fn of(instance: &[Op], one: &[Op], extent: i64) -> Self {
        let one = ByteMap::of(one).and_then(|map| Permutation::of_one(&map));
        let (bodies, columns) = (Vec::new(), Vec::new());
        let mut all = Self {
            instances: None,
            bodies,
            columns,
            one,
            records: Records::of(instance, extent),
            iterations: None,
            flat: Once::new(),
        };
        all.add(instance, MANY, extent);
        all.instances = match (&all.bodies[..], &all.columns[..], instance) {
            ([body, ..], ..) => {
                let permutation = body.permutation.clone();
                Some(OfInstances { permutation, are_blocks: false, disp: 0, fewest: 0 })
            }
            // Blocks that touch are one run.
            (_, [column, ..], [Op::Blocks(Blocks { count: 1, disp, len, .. })])
                if len.cast_signed() != extent =>
            {
                let permutation = column.permutation.clone();
                let fewest = len * permutation.fewest() as u64;
                Some(OfInstances { permutation, are_blocks: true, disp: *disp, fewest })
            }
            _ => None,
        };
        all.add_inside(instance);
        if let Some((Op::Loop { count, stride, .. }, body, [])) = split_first(instance)
            && let Some(permutation) = all.of_records(body, *stride).cloned()
        {
            let joined = i64::try_from(*count).ok().and_then(|count| stride.checked_mul(count));
            all.iterations = Some(Iterations { permutation, are_joined: joined == Some(extent) });
        }
        all
    }

    /// Adds the permutations among operations.
    fn add_inside(&mut self, ops: &[Op]) {
        for (at, op) in ops.iter().enumerate() {
            match *op {
                Op::Blocks(blocks) if blocks.count > 1 => self.add_column(blocks),
                Op::Loop { count, stride, items } => {
                    self.add(&ops[at + 1..=at + items], count, stride);
                }
                // Values of one width are blocks at equal distances; the kernel reverses the permutation.
                Op::Elements(all) if all.blocks.count > 1 => self.add_column(all.blocks),
                Op::Blocks(_) | Op::List(_) | Op::Elements(_) => {}
            }
        }
    }

    fn add(&mut self, ops: &[Op], count: u64, stride: i64) {
        if let [Op::Blocks(only) | Op::Elements(Elements { blocks: only, .. })] = ops
            && only.count.checked_mul(count).is_some()
            && let Some(all) = only.repeated(count, stride)
        {
            self.add_column(all);
        } else if ARE_EXECUTED
            && is_worth_it(ops, count)
            && self.bodies.len() < MOST
            && self.of_records(ops, stride).is_none()
            && let Some(map) = ByteMap::of(ops)
            && let Some(permutation) = if ops.iter().all(is_single) {
                Permutation::new_if_faster(&map, stride)
            } else {
                // The alternative is to execute the operations one by one.
                Permutation::new_if_near(&map, stride)
            }
        {
            self.bodies.reserve_exact(1);
            self.bodies.push(RepeatedBody { ops: ops.to_vec(), stride, permutation });
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
            && let Some(permutation) = Permutation::new_if_faster(&map, stride)
            // A single block at a time is faster to copy directly.
            && permutation.records() > 1
        {
            self.columns.reserve_exact(1);
            self.columns.push(Column { len, stride, permutation });
        }
    }

    /// The permutation of repetitions of these operations, `stride` bytes apart.
    pub(super) fn of_records(&self, ops: &[Op], stride: i64) -> Option<&Permutation> {
        let mut all = self.bodies.iter();
        let found = all.find(|body| body.stride == stride && body.ops == ops)?;
        Some(&found.permutation)
    }

    /// The permutation of instances that are not blocks.
    #[inline]
    pub(super) fn of_instances(&self) -> Option<&Permutation> {
        let all = self.instances.as_ref().filter(|all| !all.are_blocks)?;
        Some(&all.permutation)
    }

    /// The permutation of instances that are blocks, and the displacement that it counts from.
    #[inline]
    pub(super) fn of_block_instances(&self) -> Option<(&Permutation, i64)> {
        let all = self.instances.as_ref().filter(|all| all.are_blocks)?;
        Some((&all.permutation, all.disp))
    }

    /// The permutation of instances that are packed by their quads, and the displacement that it counts from.
    #[inline(always)]
    pub(super) fn of_instances_by_quads(&self) -> Option<(&Permutation, i64)> {
        let all = self.instances.as_ref().filter(|all| all.permutation.quads().is_some())?;
        Some((&all.permutation, all.disp))
    }

    /// The permutation that copies any `bytes` packed bytes of instances, and the displacement that it counts from. Its records
    /// are the instances, or the iterations of the loop that each instance is.
    #[inline]
    pub(super) fn of_any_bytes(&self, bytes: u64) -> Option<(&Permutation, i64)> {
        match &self.instances {
            Some(all) => (bytes >= all.fewest).then_some((&all.permutation, all.disp)),
            None => Some((self.of_joined_iterations()?, 0)),
        }
    }

    /// The permutation of the iterations, if an instance is a loop that the next instance goes on with.
    pub(super) fn of_joined_iterations(&self) -> Option<&Permutation> {
        let all = self.iterations.as_ref().filter(|all| all.are_joined)?;
        Some(&all.permutation)
    }

    /// The permutation of the iterations, if an instance is a loop.
    pub(super) fn of_iterations(&self) -> Option<&Permutation> {
        Some(&self.iterations.as_ref()?.permutation)
    }

    /// The instances, if each is a few runs.
    #[inline]
    pub(super) fn records(&self) -> Option<&Records> {
        self.records.as_ref()
    }

    /// One instance as a list, if it was cut several times. `compute` writes it, and is told whether there are records in it
    /// that are a permutation.
    #[inline]
    pub(super) fn flat(&self, compute: impl FnOnce(bool) -> Option<Flat>) -> Option<&Flat> {
        if self.flat.known().is_none() {
            self.flat.count(|| compute(!self.bodies.is_empty()));
        }
        self.flat.known()?.as_ref()
    }

    /// The permutation of one instance, if a permutation is to copy it.
    #[inline(always)]
    pub(super) fn of_one(&self) -> Option<&Permutation> {
        self.one.as_ref()
    }

    /// The permutation of blocks of this length and stride, if `bytes` packed bytes of them are enough.
    #[inline]
    pub(super) fn of_blocks(&self, all: &Blocks, bytes: u64) -> Option<&Permutation> {
        let mut columns = self.columns.iter();
        let found = columns.find(|column| (column.len, column.stride) == (all.len, all.stride))?;
        (bytes >= all.len * found.permutation.fewest() as u64).then_some(&found.permutation)
    }
}

fn is_single(op: &Op) -> bool {
    matches!(op, Op::Blocks(blocks) if blocks.count == 1)
}

/// Whether `count` repetitions of operations are worth a lookup.
#[inline]
pub(super) fn is_worth_it(ops: &[Op], count: u64) -> bool {
    (ops.len() as u64).saturating_mul(count) >= FEWEST_OPERATIONS
}

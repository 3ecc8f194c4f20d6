//! The plan: the operations that pack and unpack instances of a type.
//!
//! A plan is data. [`commit`](crate::commit) writes it; the kernels and the convertors execute it.

mod byte_map;
pub(crate) mod choose;
pub(crate) mod costs;
mod flat;
mod gather;
mod index;
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, reason = "only some machines have vectors")
)]
mod lanes;
mod list;
mod once;
mod one;
mod op;
mod permutation;
mod program;
mod records;
mod runs;
mod segments;
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, reason = "only some machines have vectors")
)]
mod shuffle;
mod split;
mod steps;
mod tables;
mod values;

use alloc::boxed::Box;

pub(crate) use byte_map::ByteMap;
pub(crate) use flat::Flat;
pub(crate) use gather::{Constant, Gather, MAX_COLUMNS, Place};
pub(crate) use index::Index;
pub(crate) use lanes::{Load, Ranged, RangedList, Tests};
pub use list::List;
pub(crate) use list::{Entries, EntryKind, Lists, Moves};
pub(crate) use one::{One, SHORT, TwoRuns};
pub use op::{Blocks, Elements, Op, items};
pub(crate) use op::{numbered_items, size, split_first};
pub(crate) use permutation::Permutation;
pub(crate) use program::{Cut, Program};
pub(crate) use records::Records;
pub(crate) use runs::{Run, RunList};
pub(crate) use segments::Segments;
pub(crate) use shuffle::{Half, Shuffle, ShuffledBy};
pub(crate) use split::{Part, Split, split};
pub(crate) use steps::Step;
pub(crate) use tables::Instances;
pub(crate) use values::{Values, bytewise_size, values};

/// The operations that pack or unpack instances of a type.
///
/// For `n` instances the operations are executed `n` times, one extent further each time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    program: Program,
    /// Packed bytes of an instance.
    size: u64,
    /// `None` for few operations: computing it takes less time than storing it.
    overview: Option<Box<Overview>>,
}

/// Facts about many operations, computed in advance.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Overview {
    index: Index,
    /// The segments of an instance.
    segments: Segments,
}

/// The output of a compiler: the operations of a plan and the lists that they refer to.
pub(crate) struct Written<'a> {
    pub(crate) ops: &'a [Op],
    /// Bytes from one instance to the next.
    pub(crate) extent: i64,
    pub(crate) lists: Option<Box<Lists>>,
}

impl Plan {
    /// The plan of instances that are equally spaced blocks: the one shape that needs no compiler.
    ///
    /// Fast twin of `of_program`, kept equal by test `blocks_at_equal_distances_need_no_compiler`.
    #[inline(always)]
    pub(crate) fn of_blocks(all: Blocks, extent: i64) -> Self {
        let size = all.len * all.count;
        let program = Program::new([Op::Blocks(all)], size, extent, None);
        Self { program, size, overview: None }
    }

    /// The plan of a compiler's output for instances of `size` packed bytes.
    #[inline]
    pub(crate) fn of_program(written: Written<'_>, size: u64) -> Self {
        let Written { ops, extent, lists } = written;
        let tables = lists.as_deref().unwrap_or(Lists::none());
        debug_assert_eq!(size, op::size(ops, tables), "{ops:?}");
        let overview = (ops.len() >= index::MIN_OPERATIONS).then(|| {
            let segments = Segments::from_ops(ops, tables);
            Box::new(Overview { index: Index::new(ops, tables), segments })
        });
        let program = Program::new(ops, size, extent, lists);
        Self { program, size, overview }
    }

    /// The operations of an instance, with displacements relative to it.
    pub fn ops(&self) -> &[Op] {
        self.program.instance()
    }

    /// Displacement and length, both in bytes, of each block of a list among these operations. For a list of
    /// another plan this may yield fewer blocks, none, or unrelated ones.
    ///
    /// ```
    /// use dtype_runtime::plan::Op;
    /// use dtype_runtime::{Basic, Type};
    /// // 40 triangular numbers: no two distances between neighbours are equal.
    /// let displacements: Vec<i64> = (0..40).map(|i| i * (i + 3) / 2).collect();
    /// let committed = Type::indexed_block(1, &displacements, &Type::basic(Basic::U16))?.commit();
    /// let plan = committed.plan();
    /// let [Op::List(list)] = plan.ops() else { panic!("{plan:?}") };
    /// assert_eq!((list.count(), list.block_len()), (40, Some(2)));
    /// assert!(plan.blocks_of(list).eq(displacements.iter().map(|disp| (2 * disp, 2))));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn blocks_of(&self, list: &List) -> impl Iterator<Item = (i64, u64)> {
        self.program.blocks(list)
    }

    /// Packed bytes of an instance.
    #[inline]
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// The segments of an instance, if they are stored.
    pub(crate) fn segments(&self) -> Option<&Segments> {
        self.overview.as_ref().map(|overview| &overview.segments)
    }

    /// The index of the operations, if there is one.
    pub(crate) fn index(&self) -> Option<&Index> {
        self.overview.as_ref().map(|overview| &overview.index)
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// Bytes from one instance to the next.
    pub fn extent(&self) -> i64 {
        self.program.extent()
    }
}

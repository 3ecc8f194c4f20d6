//! The operations of a plan, and the tables that they refer to.

use alloc::boxed::Box;
use core::ops::Range;

use super::list::{Entries, List, Lists};
use super::once::Once;
use super::patterns::{ARE_EXECUTED, Patterns, is_worth_it};
use super::permutation::Permutation;
use super::plan::{Blocks, Op};

/// So many operations are kept in place, and need no memory of their own. With room for more, it takes longer to
/// move the others around.
pub(super) const FEW: usize = 2;

/// The operations of a plan and their tables: those of the lists, and the permutations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tables {
    ops: Ops,
    /// What an instance is, if that is blocks at equal distances. The operations say the same, but may have taken them
    /// apart to join the last block to the first one of the next instance.
    single: Option<Blocks>,
    /// How many of the operations come before the first repetition.
    before: usize,
    /// Index of the first operation behind the last repetition.
    behind: usize,
    extent: i64,
    lists: Option<Box<Lists>>,
    /// Most types are not packed as often as it takes to be worth it, and some not at all.
    patterns: Once<Patterns>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ops {
    Few([Op; FEW], usize),
    Many(Box<[Op]>),
}

impl Ops {
    #[inline(always)]
    pub(super) const fn one(blocks: Blocks) -> Self {
        Self::Few([Op::Blocks(blocks), Op::NONE], 1)
    }

    /// No more than are kept in place.
    #[inline(always)]
    pub(super) fn few(ops: &[Op]) -> Self {
        let op = |index: usize| ops.get(index).copied().unwrap_or(Op::NONE);
        Self::Few(core::array::from_fn(op), ops.len())
    }

    /// More than are kept in place.
    #[inline(always)]
    pub(super) fn many<const N: usize>(blocks: [Blocks; N]) -> Self {
        const { assert!(N > FEW) };
        Self::Many(Box::new(blocks.map(Op::Blocks)))
    }

    #[inline]
    fn of(ops: &[Op]) -> Self {
        let mut few = [Op::NONE; FEW];
        match few.get_mut(..ops.len()) {
            Some(some) => {
                some.copy_from_slice(ops);
                Self::Few(few, ops.len())
            }
            None => Self::Many(ops.into()),
        }
    }

    #[inline]
    fn all(&self) -> &[Op] {
        match self {
            Self::Few(few, number) => few.get(..*number).unwrap_or(&[]),
            Self::Many(many) => many,
        }
    }
}

/// The tables of operations among which there are no lists and no permutations.
static EMPTY: Tables = Tables {
    ops: Ops::Few([Op::NONE; FEW], 0),
    single: None,
    before: 0,
    behind: 0,
    extent: 0,
    lists: None,
    patterns: Once::new(),
};

impl Tables {
    /// Of operations, of which these are in each of the repetitions, `extent` bytes apart, and the others before and
    /// behind.
    #[inline]
    pub(super) fn new(
        ops: &[Op],
        repeated: Range<usize>,
        extent: i64,
        lists: Option<Box<Lists>>,
    ) -> Self {
        Self::of_ops(Ops::of(ops), repeated, extent, lists)
    }

    /// The same, of operations that are where they are to be kept.
    #[inline(always)]
    pub(super) fn of_ops(
        ops: Ops,
        repeated: Range<usize>,
        extent: i64,
        lists: Option<Box<Lists>>,
    ) -> Self {
        let Range { start: before, end: behind } = repeated;
        let mut patterns = Once::new();
        if ARE_EXECUTED {
            patterns.prepare(|| Patterns::of(parts(ops.all(), before, behind), extent));
        }
        Self { ops, single: None, before, behind, extent, lists, patterns }
    }

    /// The same, of instances that are these blocks each.
    #[inline(always)]
    pub(super) fn with_single(self, single: Blocks) -> Self {
        Self { single: Some(single.normalized()), ..self }
    }

    /// The tables of operations that are not in a plan.
    pub(crate) fn empty() -> &'static Self {
        &EMPTY
    }

    #[inline]
    pub(super) fn prologue(&self) -> &[Op] {
        self.ops.all().get(..self.before).unwrap_or(&[])
    }

    #[inline]
    pub(super) fn steady(&self) -> &[Op] {
        self.ops.all().get(self.before..self.behind).unwrap_or(&[])
    }

    #[inline]
    pub(super) fn epilogue(&self) -> &[Op] {
        self.ops.all().get(self.behind..).unwrap_or(&[])
    }

    /// The operations before the repetitions, in each of them, and behind them.
    #[inline]
    pub(crate) fn parts(&self) -> [&[Op]; 3] {
        let all = self.ops.all();
        if self.before == 0 && self.behind == all.len() {
            return [&[], all, &[]];
        }
        parts(all, self.before, self.behind)
    }

    /// What an instance is, if that is blocks at equal distances.
    #[inline]
    pub(crate) fn single(&self) -> Option<Blocks> {
        self.single
    }

    #[inline]
    pub(super) fn extent(&self) -> i64 {
        self.extent
    }

    /// The entries of a list that these tables were filled for; none of any other.
    pub(crate) fn entries(&self, list: &List) -> Entries<'_> {
        self.lists.as_ref().map_or(Entries::Even(&[], 0), |lists| lists.entries(list))
    }

    /// Displacement and length in bytes of each block of a list.
    pub(crate) fn blocks(&self, list: &List) -> impl Iterator<Item = (i64, u64)> {
        self.entries(list).blocks(*list)
    }

    /// `count` repetitions of these operations, so many bytes apart.
    #[inline]
    pub(crate) fn of_records(&self, ops: &[Op], stride: i64, count: u64) -> Option<&Permutation> {
        if !is_worth_it(ops, count) {
            return None;
        }
        self.patterns()?.of_records(ops, stride)
    }

    /// Any number of repetitions of these operations, so many bytes apart: where parts of one are copied as well.
    pub(crate) fn of_parts(&self, ops: &[Op], stride: i64) -> Option<&Permutation> {
        self.of_records(ops, stride, u64::MAX)
    }

    /// `count` repetitions of the instances' own operations.
    #[inline]
    pub(crate) fn of_instances(&self, count: u64) -> Option<&Permutation> {
        if !is_worth_it(self.steady(), count) {
            return None;
        }
        self.of_steady()
    }

    /// Any number of repetitions of the instances' own operations.
    #[inline]
    pub(crate) fn of_steady(&self) -> Option<&Permutation> {
        self.patterns()?.of_steady()
    }

    /// Blocks of this length, so many bytes apart, the first at displacement 0.
    #[inline]
    pub(crate) fn of_blocks(&self, all: Blocks) -> Option<&Permutation> {
        self.patterns()?.of_blocks(all)
    }

    /// The permutations among the operations.
    #[inline]
    fn patterns(&self) -> Option<&Patterns> {
        if !ARE_EXECUTED {
            return None;
        }
        self.patterns.get(|| Patterns::of(self.parts(), self.extent))
    }
}

/// Operations before the repetitions, in them, and behind them.
#[inline]
fn parts(all: &[Op], before: usize, behind: usize) -> [&[Op]; 3] {
    let part = |from, to| all.get(from..to).unwrap_or(&[]);
    [part(0, before), part(before, behind), part(behind, all.len())]
}

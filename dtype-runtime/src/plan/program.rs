//! The operations of a plan with everything that they refer to: the tables of lists, and the permutations.

use alloc::boxed::Box;

use super::choose::records::Permuted;
use super::flat::{Flat, flat};
use super::list::{Entries, List, Lists};
use super::once::Once;
use super::one::{One, SHORT, one};
use super::op::{Blocks, Op};
use super::records::Records;
use super::tables::{Body, Instances, Tables, is_worth_it};
use crate::isa::selected;

/// At most this many operations are stored inline, without an allocation. A larger inline array would cost more to move than
/// the allocation costs.
const MAX_INLINE: usize = 2;

/// At most this many runs, over all instances, are copied one by one without consulting the tables. A run that is not
/// [narrow](NARROW) counts as four.
const MAX_FEW_RUNS: u64 = 24;

/// A run of at most this many bytes takes two moves; a longer run takes as long as four narrow ones.
const NARROW: u64 = 32;

/// The operations of a plan, their lists, and the permutations among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// The operations of one instance.
    ops: Ops,
    /// How one instance is copied.
    one: One,
    /// The [runs](runs_of) of one instance.
    runs: u8,
    extent: i64,
    lists: Option<Box<Lists>>,
    tables: Once<Tables>,
}

/// An instance that is one level instead of several: where a part of it is found without walking the operations. It has the
/// size of two registers, so that a function can return it in them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cut<'a> {
    /// Blocks at equal distances.
    Blocks(&'a Blocks),
    /// Records that are a permutation.
    Records(&'a Permuted),
    /// A list of the program.
    List(&'a List),
    /// A list with tables of its own.
    Flat(&'a Flat),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ops {
    /// The operations followed by unused ones, and the number of operations.
    Inline([Op; MAX_INLINE], usize),
    Boxed(Box<[Op]>),
}

impl Ops {
    #[inline]
    fn all(&self) -> &[Op] {
        match self {
            Self::Inline(ops, number) => ops.get(..*number).unwrap_or(&[]),
            Self::Boxed(ops) => ops,
        }
    }
}

impl<const N: usize> From<[Op; N]> for Ops {
    #[inline(always)]
    fn from(ops: [Op; N]) -> Self {
        if N <= MAX_INLINE { Self::from(&ops[..]) } else { Self::Boxed(Box::new(ops)) }
    }
}

impl From<&[Op]> for Ops {
    #[inline(always)]
    fn from(ops: &[Op]) -> Self {
        if ops.len() <= MAX_INLINE {
            let op = |index: usize| ops.get(index).copied().unwrap_or(Op::NONE);
            Self::Inline(core::array::from_fn(op), ops.len())
        } else {
            Self::Boxed(ops.into())
        }
    }
}

/// The number of runs of an instance, as [`MAX_FEW_RUNS`] counts them; `u8::MAX` unless the instance is a few short runs that
/// do not touch those of the next instance.
#[inline(always)]
fn runs_of(instance: &[Op], extent: i64) -> u8 {
    let mut runs = 0;
    for op in instance {
        if runs >= MAX_FEW_RUNS {
            return u8::MAX;
        }
        match op {
            Op::Blocks(Blocks { count: 1, len, .. })
                if *len <= SHORT && len.cast_signed() != extent =>
            {
                runs += if *len > NARROW { 4 } else { 1 };
            }
            _ => return u8::MAX,
        }
    }
    match u8::try_from(runs) {
        // Without data, any number of instances would count as few.
        Ok(0) | Err(_) => u8::MAX,
        Ok(runs) => runs,
    }
}

static EMPTY: Program = Program {
    ops: Ops::Inline([Op::NONE; MAX_INLINE], 0),
    one: One::Operations,
    runs: u8::MAX,
    extent: 0,
    lists: None,
    tables: Once::new(),
};

impl Program {
    #[inline(always)]
    pub(super) fn new(
        ops: impl AsRef<[Op]> + Into<Ops>,
        size: u64,
        extent: i64,
        lists: Option<Box<Lists>>,
    ) -> Self {
        let instance = ops.as_ref();
        let one = one(instance, size);
        let runs = runs_of(instance, extent);
        let (ops, tables) = (ops.into(), Once::new());
        let mut program = Self { ops, one, runs, extent, lists, tables };
        if Once::<Tables>::IS_PREPARED {
            program.tables = Once::known(Tables::new(program.instance(), program.lists(), extent));
        }
        program
    }

    /// A program without operations, lists or permutations, for operations that are not part of a plan.
    pub(crate) fn empty() -> &'static Self {
        &EMPTY
    }

    /// The operations of one instance.
    #[inline]
    pub(crate) fn instance(&self) -> &[Op] {
        self.ops.all()
    }

    /// How one instance is copied.
    #[inline(always)]
    pub(crate) fn one(&self) -> &One {
        &self.one
    }

    /// The bytes of one instance, if they are blocks at equal distances.
    #[inline]
    pub(crate) fn single(&self) -> Option<&Blocks> {
        if let [Op::Blocks(all)] = self.instance() { Some(all) } else { None }
    }

    /// Bytes from one instance to the next.
    #[inline]
    pub(crate) fn extent(&self) -> i64 {
        self.extent
    }

    /// The tables of the lists.
    #[inline]
    pub(crate) fn lists(&self) -> &Lists {
        self.lists.as_deref().unwrap_or(Lists::none())
    }

    /// The entries of a list of this program. For a list of another program, there may be none, or unrelated ones.
    #[inline]
    pub(crate) fn entries(&self, list: &List) -> Entries<'_> {
        self.lists().entries(list)
    }

    /// Displacement and length in bytes of each block of a list.
    pub(crate) fn blocks(&self, list: &List) -> impl Iterator<Item = (i64, u64)> {
        self.lists().blocks(list)
    }

    /// Computes the tables unless they are computed already.
    pub(crate) fn prepare(&self) {
        let _ = (self.tables(), self.part_of_one(0));
    }

    /// The permutation that copies any packed bytes of instances, if there is one and using it pays.
    #[inline(always)]
    pub(crate) fn instances(&self) -> Option<&Instances> {
        self.tables()?.instances.as_ref()
    }

    /// The instances, if each is a few runs.
    #[inline]
    pub(crate) fn records(&self) -> Option<&Records> {
        self.tables()?.records.as_ref()
    }

    /// A form of one instance that finds and copies a part of `bytes` bytes faster than the operations do. Without the standard
    /// library, this is never a flat list.
    #[inline(always)]
    pub(crate) fn part_of_one(&self, bytes: u64) -> Option<Cut<'_>> {
        match self.instance() {
            [Op::Blocks(all)] => Some(Cut::Blocks(all)),
            [Op::List(list)] => Some(Cut::List(list)),
            _ => self.part_by_table(bytes),
        }
    }

    /// As [`part_of_one`](Self::part_of_one), for an instance of several operations.
    fn part_by_table(&self, bytes: u64) -> Option<Cut<'_>> {
        let tables = self.tables()?;
        if selected().permutes()
            && let Some(permuted) = tables.iterations()
        {
            return Some(Cut::Records(permuted));
        }
        let flat = tables.flat.get(|| {
            let mut flat = flat(self.instance(), self.lists())?;
            flat.has_rows |= tables.has_records(self.instance());
            Some(flat)
        });
        flat?.as_ref().filter(|flat| flat.is_for(bytes)).map(Cut::Flat)
    }

    /// The body of a loop that repeats it `count` times, `stride` bytes apart, if there is a faster way to copy it than by its
    /// operations.
    #[inline]
    pub(crate) fn body(&self, ops: &[Op], stride: i64, count: u64) -> Option<&Body> {
        if is_worth_it(ops, count) { self.tables()?.body(ops, stride) } else { None }
    }

    /// The permutation of blocks of this length and stride, relative to the first block.
    #[inline]
    pub(crate) fn of_blocks(&self, blocks: &Blocks) -> Option<&Permuted> {
        self.tables()?.column(blocks)
    }

    /// Whether `count` instances have only a few short runs, none of which touch, so that they are copied one by one. Only
    /// where the machine does not execute permutations.
    #[inline(always)]
    pub(crate) fn is_few_runs(&self, count: u64) -> bool {
        // A count of 0 is treated as 1.
        u64::from(self.runs).saturating_mul(count.max(1)) <= MAX_FEW_RUNS
    }

    /// The tables, computed by the first call that needs them.
    #[inline(always)]
    fn tables(&self) -> Option<&Tables> {
        self.tables.get(|| Tables::new(self.instance(), self.lists(), self.extent))
    }
}

#[cfg(test)]
mod tests {
    use super::super::list::EntryKind::Even;
    use super::super::list::Moves;
    use super::super::one::TwoRuns;
    use super::*;

    /// How a program copies one instance of these runs.
    fn one(runs: &[Blocks]) -> One {
        let ops: alloc::vec::Vec<Op> = runs.iter().copied().map(Op::Blocks).collect();
        let size = runs.iter().map(|run| run.len * run.count).sum();
        *Program::new(&ops[..], size, 1 << 40, None).one()
    }

    #[test]
    fn two_short_runs_need_no_operations() {
        let far = i64::from(i32::MAX);
        let runs = |disps, lens| One::Two(TwoRuns { disps, lens });
        let two = |disp, len| one(&[Blocks::run(disp, len), Blocks::run(8, 1)]);
        assert_eq!(two(far, SHORT), runs([i32::MAX, 8], [64, 1]));
        assert_eq!(two(-far - 1, 2), runs([i32::MIN, 8], [2, 1]));
        for (disp, len) in [(far + 1, 2), (-far - 2, 2), (0, SHORT + 1), (0, 256 + 8)] {
            assert_eq!(two(disp, len), One::Operations, "{disp} {len}");
        }
        let blocks = |disp, count| Blocks { disp, len: 4, count, stride: -12 };
        assert_eq!(one(&[blocks(24, 2)]), runs([24, 12], [4, 4]));
        for count in [1, 3] {
            assert_eq!(one(&[blocks(24, count)]), One::Operations, "{count}");
        }
        // Three short runs are not two.
        assert_eq!(one(&[blocks(24, 2), Blocks::run(0, 8)]), One::Operations);
        assert_eq!(one(&[Blocks::run(0, 8), blocks(24, 2)]), One::Operations);
        // Nor are three runs, one of which is long.
        assert_eq!(one(&[blocks(24, 2), Blocks::run(0, 80)]), One::Operations);
    }

    /// A program of these operations, for instances too far apart for a permutation.
    fn program(ops: &[Op]) -> Program {
        Program::new(ops, crate::plan::size(ops, Lists::none()), 1 << 40, None)
    }

    #[test]
    fn few_runs_are_those_of_all_instances() {
        let run = |disp, len| Op::Blocks(Blocks::run(disp, len));
        // The greatest number of instances that count as few runs.
        let most = |program: &Program| {
            (1..100).take_while(|count| program.is_few_runs(*count)).count() as u64
        };
        assert_eq!(most(&program(&[run(0, 1)])), MAX_FEW_RUNS);
        assert_eq!(most(&program(&[run(0, NARROW), run(64, 1)])), MAX_FEW_RUNS / 2);
        // Long runs count as four.
        assert_eq!(most(&program(&[run(0, NARROW + 1)])), MAX_FEW_RUNS / 4);
        assert_eq!(most(&program(&[run(0, SHORT)])), MAX_FEW_RUNS / 4);
        assert_eq!(most(&program(&[run(0, SHORT + 1)])), 0);
        // Three runs, and three of which one is too long.
        assert_eq!(most(&program(&[run(0, 1), run(4, 1), run(8, 1)])), MAX_FEW_RUNS / 3);
        assert_eq!(most(&program(&[run(0, 1), run(4, 1), run(8, 65)])), 0);
        // Instances that touch, instances of several blocks, and instances without data.
        let touching = [run(0, 8)];
        assert_eq!(most(&Program::new(&touching[..], 8, 8, None)), 0);
        let blocks = Op::Blocks(Blocks { disp: 0, len: 4, count: 2, stride: 8 });
        assert_eq!((most(&program(&[blocks])), most(&program(&[]))), (0, 0));
    }

    #[test]
    fn parts_are_found_in_what_is_one_level() {
        let run = |disp, len| Op::Blocks(Blocks::run(disp, len));
        let rows = |count| {
            let row = |disp| Op::Blocks(Blocks { disp, len: 4, count, stride: 80 });
            program(&[Op::Loop { count: 2, stride: 10_000, items: 2 }, row(0), row(5000)])
        };
        let blocks = program(&[run(0, 4)]);
        assert!(matches!(blocks.part_of_one(1), Some(Cut::Blocks(_))));
        let (nest, long) = (rows(3), rows(40));
        for bytes in [1, 1 << 20] {
            let is_list = matches!(nest.part_of_one(bytes), Some(Cut::Flat(_)));
            assert_eq!(is_list, !Once::<Tables>::IS_PREPARED);
        }
        assert!(long.part_of_one(1 << 20).is_none());
        let list = List { disp: 0, len: 4, first: 0, count: 2, kind: Even, moves: Moves::Any };
        let lists = Lists { even: alloc::vec![0, 9], ..Lists::new() };
        let list = Program::new([Op::List(list)], 8, 1 << 40, Some(Box::new(lists)));
        assert!(matches!(list.part_of_one(1), Some(Cut::List(_))));
        // Rows, and records that a permutation copies.
        let rows = Op::Blocks(Blocks { disp: 5000, len: 4, count: 2000, stride: 8 });
        let records = Op::Loop { count: 40, stride: 24, items: 2 };
        let both = program(&[records, run(0, 4), run(8, 4), rows]);
        assert!(both.part_of_one(1 << 20).is_none());
        // Runs this far apart do not become a list.
        assert!(program(&[run(0, 4), run(1 << 36, 4)]).part_of_one(1).is_none());
    }

    #[test]
    fn prepared_tables_are_not_computed_again() {
        let committed = crate::Type::basic(crate::Basic::U32).commit();
        committed.prepare();
        let tables = &committed.plan().program().tables;
        assert!(tables.get(|| unreachable!("they are known")).is_some());
    }
}

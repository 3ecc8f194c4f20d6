//! The operations of a plan with everything that they refer to: the lists and the permutations.

use alloc::borrow::Cow;
use alloc::boxed::Box;

use super::flat::flat;
use super::list::{Entries, List, Lists};
use super::once::Once;
use super::op::{Blocks, Op};
use super::patterns::{ARE_EXECUTED, Patterns, is_worth_it};
use super::permutation::Permutation;
use super::runs::Records;
use crate::kernels::{Isa, WIDTH, selected};

/// At most this many operations are stored inline, without an allocation. With a larger array, moving it would
/// cost more than the allocation.
const MOST_INLINE: usize = 2;

/// With at least this many operations, one instance is copied by a permutation. With fewer, a permutation is no slower in a
/// loop that does nothing else. But if the program has just written the values, or soon reads them, it waits: processors
/// forward a store to a later load of the same bytes only if neither is masked.
const FEWEST_PERMUTED: usize = 3;

/// At most this many runs of several instances are copied one by one, before anything else is asked. A run that is not
/// [narrow](NARROW) counts as four.
const MOST_FEW: u64 = 24;

/// A run of at most this many bytes takes two moves, and a longer one with its wide moves as long as four others.
const NARROW: u64 = 32;

/// A run of at most this many bytes is copied by a few moves.
pub(crate) const SHORT: u64 = 64;

/// The operations of a plan, their lists, and the permutations among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// The operations of one instance.
    ops: Ops,
    /// How one instance is copied.
    one: One,
    /// The [runs](runs_of) of one instance, or 0 if they are counted when needed: to count many takes a good part of the time
    /// of making a type.
    runs: u8,
    extent: i64,
    lists: Option<Box<Lists>>,
    /// Computed when many instances are packed first, or after some calls for few: most types are packed too rarely for
    /// permutations to pay, or have none.
    patterns: Once<Patterns>,
}

/// How one instance is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum One {
    /// Operation by operation.
    Operations,
    /// As two short runs.
    Two(TwoRuns),
    /// By a permutation, as soon as it is known: few bytes in several operations.
    Small,
}

/// An instance of two runs of at most [`SHORT`] bytes each, without anything else that an operation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TwoRuns {
    /// The displacements in bytes.
    pub(crate) disps: [i32; 2],
    /// The lengths in bytes.
    pub(crate) lens: [u16; 2],
}

impl TwoRuns {
    /// The bytes of these operations, if they are two such runs.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "short runs")]
    fn of(ops: &[Op]) -> Option<Self> {
        let ((first, second), lens) = match ops {
            [Op::Blocks(all)] if all.count == 2 => ((all.disp, all.block(1)), [all.len; 2]),
            [Op::Blocks(one), Op::Blocks(other)] if one.count == 1 && other.count == 1 => {
                ((one.disp, other.disp), [one.len, other.len])
            }
            _ => return None,
        };
        if lens.iter().any(|len| *len > SHORT) {
            return None;
        }
        let disps = [i32::try_from(first).ok()?, i32::try_from(second).ok()?];
        Some(Self { disps, lens: lens.map(|len| len as u16) })
    }
}

/// What an instance is, where that is one level instead of several: what a part of it is found and copied by.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cut<'a> {
    /// Records that are a permutation.
    Records(&'a Permutation),
    /// A list, and its tables.
    List(&'a List, &'a Lists),
}

/// What is known about the permutation of one instance.
pub(crate) enum Known<'a> {
    /// It was not looked for yet.
    NotYet,
    /// There is none.
    None,
    Permutation(&'a Permutation),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ops {
    /// The operations, followed by unused ones, and their number.
    Inline([Op; MOST_INLINE], usize),
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
        if N <= MOST_INLINE { Self::from(&ops[..]) } else { Self::Boxed(Box::new(ops)) }
    }
}

impl From<&[Op]> for Ops {
    #[inline(always)]
    fn from(ops: &[Op]) -> Self {
        if ops.len() <= MOST_INLINE {
            let op = |index: usize| ops.get(index).copied().unwrap_or(Op::NONE);
            Self::Inline(core::array::from_fn(op), ops.len())
        } else {
            Self::Boxed(ops.into())
        }
    }
}

impl From<Cow<'_, [Op]>> for Ops {
    #[inline(always)]
    fn from(ops: Cow<'_, [Op]>) -> Self {
        match ops {
            Cow::Owned(ops) if ops.len() > MOST_INLINE => Self::Boxed(ops.into()),
            ops => Self::from(&ops[..]),
        }
    }
}

/// The number of runs, as [`MOST_FEW`] counts them, of an instance that is a few short runs which do not touch those of the
/// next instance; `u8::MAX` for others.
#[inline(always)]
fn runs_of(instance: &[Op], extent: i64) -> u8 {
    let mut runs = 0;
    for op in instance {
        match op {
            Op::Blocks(Blocks { count: 1, len, .. })
                if *len <= SHORT && len.cast_signed() != extent && runs < MOST_FEW =>
            {
                runs += if *len > NARROW { 4 } else { 1 };
            }
            _ => return u8::MAX,
        }
    }
    match u8::try_from(runs) {
        // Any number of instances without data would be few.
        Ok(0) | Err(_) => u8::MAX,
        Ok(runs) => runs,
    }
}

static EMPTY: Program = Program {
    ops: Ops::Inline([Op::NONE; MOST_INLINE], 0),
    one: One::Operations,
    runs: 0,
    extent: 0,
    lists: None,
    patterns: Once::new(),
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
        let one = if ARE_EXECUTED && instance.len() >= FEWEST_PERMUTED && size <= WIDTH as u64 {
            One::Small
        } else {
            TwoRuns::of(instance).map_or(One::Operations, One::Two)
        };
        let runs = if instance.len() <= MOST_INLINE { runs_of(instance, extent) } else { 0 };
        let (ops, patterns) = (ops.into(), Once::new());
        let mut program = Self { ops, one, runs, extent, lists, patterns };
        if ARE_EXECUTED && Once::<Patterns>::IS_PREPARED {
            program.patterns = Once::of(program.find_patterns());
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

    /// The entries of a list of this program. For a list of another program: none, or unrelated ones.
    #[inline]
    pub(crate) fn entries(&self, list: &List) -> Entries<'_> {
        self.lists().entries(list)
    }

    /// Displacement and length in bytes of each block of a list.
    pub(crate) fn blocks(&self, list: &List) -> impl Iterator<Item = (i64, u64)> {
        self.lists().blocks(list)
    }

    /// The permutation of `count` repetitions of these operations, `stride` bytes apart, if there is one and it pays.
    #[inline]
    pub(crate) fn of_records(&self, ops: &[Op], stride: i64, count: u64) -> Option<&Permutation> {
        if !is_worth_it(ops, count) {
            return None;
        }
        self.patterns()?.of_records(ops, stride)
    }

    /// As [`of_records`](Self::of_records), for an unknown number of repetitions, some of which are copied in
    /// part.
    pub(crate) fn of_parts(&self, ops: &[Op], stride: i64) -> Option<&Permutation> {
        self.of_records(ops, stride, u64::MAX)
    }

    /// Whether `count` instances are only a few short runs apart from one another, which are copied one by one. They are not
    /// where the machine executes permutations.
    #[inline(always)]
    pub(crate) fn is_few_runs(&self, count: u64, isa: Isa) -> bool {
        if isa.permutes() {
            return false;
        }
        let of_all = |of_one: u64| of_one.saturating_mul(count);
        let runs = match self.runs {
            // Each operation is a run or more.
            0 if of_all(self.instance().len() as u64) > MOST_FEW => return false,
            0 => runs_of(self.instance(), self.extent),
            counted => counted,
        };
        match runs {
            u8::MAX => false,
            _ => of_all(u64::from(runs)) <= MOST_FEW,
        }
    }

    /// The permutation of `count` instances, if there is one and it pays. Few instances do not pay for computing it.
    #[inline]
    pub(crate) fn of_instances(&self, count: u64) -> Option<&Permutation> {
        self.patterns_for(count)?.of_instances()
    }

    /// The permutations, if they are known, or pay for `count` instances.
    #[inline(always)]
    fn patterns_for(&self, count: u64) -> Option<&Patterns> {
        if let Some(patterns) = self.patterns.known() {
            return Some(patterns);
        }
        match self.instance() {
            [] => None,
            ops if is_worth_it(ops, count) => self.patterns(),
            _ => {
                self.count();
                None
            }
        }
    }

    /// The permutation of several instances, each of which is a block, and the displacement that it counts from. It is
    /// computed after some calls.
    #[inline(always)]
    pub(crate) fn of_block_instances(&self) -> Option<(&Permutation, i64)> {
        if let Some(patterns) = self.patterns.known() {
            return patterns.of_block_instances();
        }
        if let [Op::Blocks(Blocks { count: 1, .. })] = self.instance() {
            self.count();
        }
        None
    }

    /// The permutation of `count` instances that are packed by their quads, and the displacement that it counts from. Few
    /// instances do not pay for computing it.
    #[inline(always)]
    pub(crate) fn of_instances_by_quads(&self, count: u64) -> Option<(&Permutation, i64)> {
        self.patterns_for(count)?.of_instances_by_quads()
    }

    /// Whether it is known that no permutation copies whole instances.
    #[inline(always)]
    pub(crate) fn is_without_permutation(&self) -> bool {
        self.patterns.known().is_some_and(|patterns| patterns.of_instances().is_none())
    }

    /// The permutation of many whole instances.
    #[cfg(feature = "show")]
    pub(crate) fn of_many_instances(&self) -> Option<&Permutation> {
        self.patterns()?.of_instances()
    }

    /// The permutation that copies any `bytes` packed bytes of instances, and the displacement that it counts from. Its records
    /// are the instances, or the iterations of the loop that each instance is.
    #[inline]
    pub(crate) fn of_any_bytes(&self, bytes: u64) -> Option<(&Permutation, i64)> {
        self.patterns()?.of_any_bytes(bytes)
    }

    /// The instances, if each is a few runs. Without the standard library they are known only on a target that executes
    /// permutations.
    #[inline]
    pub(crate) fn records(&self) -> Option<&Records> {
        self.patterns.get(|| self.find_patterns())?.records()
    }

    /// As [`records`](Self::records), if that is known.
    #[inline]
    pub(crate) fn known_records(&self) -> Option<&Records> {
        self.patterns.known()?.records()
    }

    /// What finds and copies a part of one instance faster than its operations do, if the part has `bytes` bytes. A list is
    /// written after some calls of this; without the standard library, never.
    #[inline]
    pub(crate) fn cut(&self, bytes: u64) -> Option<Cut<'_>> {
        let patterns = self.patterns.get(|| self.find_patterns())?;
        if let Some(permutation) = patterns.of_iterations()
            && selected().permutes()
        {
            return Some(Cut::Records(permutation));
        }
        let of = |has_records| flat(self.instance(), self.lists(), has_records);
        let flat = patterns.flat(of).filter(|flat| bytes < flat.limit)?;
        Some(Cut::List(&flat.list, &flat.lists))
    }

    /// The permutation of the iterations, if an instance is a loop that the next instance goes on with, and that is known.
    #[inline]
    pub(crate) fn known_joined_iterations(&self) -> Option<&Permutation> {
        self.patterns.known()?.of_joined_iterations()
    }

    /// The permutation of blocks of this length and stride, relative to the first block, if it pays for `bytes` packed bytes
    /// of them.
    #[inline]
    pub(crate) fn of_blocks(&self, all: &Blocks, bytes: u64) -> Option<&Permutation> {
        self.patterns()?.of_blocks(all, bytes)
    }

    /// The permutation of one instance, if a permutation is to copy it.
    #[cfg(feature = "show")]
    pub(crate) fn of_one(&self) -> Option<&Permutation> {
        if self.one == One::Small { self.patterns()?.of_one() } else { None }
    }

    /// The permutation of one instance that is [`One::Small`], without computing it.
    #[inline(always)]
    pub(crate) fn known_of_one(&self) -> Known<'_> {
        match self.patterns.known().map(Patterns::of_one) {
            None => Known::NotYet,
            Some(None) => Known::None,
            Some(Some(all)) => Known::Permutation(all),
        }
    }

    /// Counts a call for few instances. After some of them the permutations are known.
    #[cold]
    #[inline(never)]
    pub(crate) fn count(&self) {
        if ARE_EXECUTED {
            self.patterns.count(|| self.find_patterns());
        }
    }

    /// The permutations among the operations.
    #[inline]
    fn patterns(&self) -> Option<&Patterns> {
        if !ARE_EXECUTED {
            return None;
        }
        self.patterns.get(|| self.find_patterns())
    }

    fn find_patterns(&self) -> Patterns {
        let one = if self.one == One::Small { self.instance() } else { &[] };
        Patterns::of(self.instance(), one, self.extent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a program for one instance of these runs is.
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
        // Three runs.
        assert_eq!(one(&[blocks(24, 2), Blocks::run(0, 80)]), One::Operations);
    }
}

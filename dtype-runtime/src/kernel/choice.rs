//! Which routine copies what: the decisions of the kernels, for those who want to read them.
//!
//! What executes a plan decides as it goes, from what it is about to copy. Each function here asks the same questions
//! in the same order as the one that it names; the tests execute plans and look whether that is what was done.

use super::isa::{Isa, selected};
use super::permute;
use super::records::Record;
use super::tiles::Tiles;
use super::{FEWEST_WITHOUT_SEAMS, List, Op, Plan, Tables};
use crate::commit::{Blocks, Entries, Moves, Permutation, Width};

/// A routine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// One block.
    Copy,
    /// Blocks of one length at equal distances, one after another, each by these moves.
    Strided(Each),
    /// Rows of such blocks.
    Grid(Each),
    /// Columns of a matrix, several together.
    Tiles,
    /// So many records at once, by a permutation of bytes.
    Permutation { records: usize },
    /// Run by run of many records.
    Records { runs: usize },
    /// Blocks at irregular places, each by these moves.
    List(Each),
    /// Operation by operation: each has a choice of its own.
    Walk,
}

/// How a block is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Each {
    /// By so many moves of so many bytes, which overlap where they are more than the block has.
    Moves { number: u8, width: u8 },
    /// In a loop or by a call.
    Long,
    /// As the length of each demands.
    Varied,
}

impl Each {
    /// As `rows`, and `even` of a list: `in_threes` says whether there is a form of three moves.
    fn of(len: u64, in_threes: bool) -> Self {
        let (number, width) = match len {
            0..=2 | 4 | 8 | 16 | 32 => (1, len),
            3 => (2, 2),
            5..8 => (2, 4),
            9..16 => (2, 8),
            17..32 => (2, 16),
            33..=48 if in_threes => (3, 16),
            33..=64 => (2, 32),
            _ => return Self::Long,
        };
        #[expect(clippy::cast_possible_truncation, reason = "at most 32")]
        let width = width as u8;
        Self::Moves { number, width }
    }
}

/// As `blocks`.
pub(crate) fn of_blocks(all: Blocks, tables: &Tables) -> Choice {
    if all.count == 1 {
        return Choice::Copy;
    }
    if permute::may_be_for(&all)
        && let Some(permutation) = executed(tables.of_blocks(all))
    {
        return permutation;
    }
    Choice::Strided(Each::of(all.len, selected() == Isa::Portable))
}

/// As `blocks::repeated`. As there, what is copied has to have room in memory.
fn of_row(row: Blocks, tables: &Tables, count: u64, apart: i64) -> Choice {
    if let Some(all) = row.repeated(count, apart) {
        return of_blocks(all.normalized(), tables);
    }
    if Tiles::of(&row, count, apart).is_some() {
        return Choice::Tiles;
    }
    if permute::is_for(&row, tables) {
        return of_blocks(row, tables);
    }
    Choice::Grid(Each::of(row.len, selected() == Isa::Portable))
}

/// As `repeated`: `count` repetitions of operations, `stride` bytes apart.
pub(crate) fn of_repeated(ops: &[Op], tables: &Tables, count: u64, stride: i64) -> Choice {
    if let [Op::Blocks(only)] = ops {
        return of_row(*only, tables, count, stride);
    }
    if count > 1
        && let Some(permutation) = executed(tables.of_records(ops, stride, count))
    {
        return permutation;
    }
    match Record::of(ops, stride, count) {
        Some(record) => Choice::Records { runs: record.runs() },
        None => Choice::Walk,
    }
}

/// As `list`.
pub(crate) fn of_list(list: &List, tables: &Tables) -> Choice {
    Choice::List(match tables.entries(list) {
        Entries::Even(_, len) | Entries::WideEven(_, len) => Each::of(len, false),
        Entries::Varied(_) | Entries::WideVaried(_) => match list.moves() {
            Moves::Two(width) => Each::Moves { number: 2, width: bytes(width) },
            Moves::Four(width) => Each::Moves { number: 4, width: bytes(width) },
            Moves::Any => Each::Varied,
        },
    })
}

const fn bytes(width: Width) -> u8 {
    match width {
        Width::W1 => 1,
        Width::W2 => 2,
        Width::W4 => 4,
        Width::W8 => 8,
        Width::W16 => 16,
        Width::W32 => 32,
    }
}

/// As the first part of `execute`: what all instances are copied as, where an instance is blocks at equal distances.
pub(crate) fn of_single(plan: &Plan, count: u64) -> Option<(Blocks, Choice)> {
    let all = plan.tables().single()?;
    match count {
        0 => None,
        1 => Some((all, of_blocks(all, plan.tables()))),
        _ if all.count < FEWEST_WITHOUT_SEAMS => None,
        _ => Some((all, of_row(all, plan.tables(), count, plan.extent()))),
    }
}

/// As the last part of `execute`: the operations that are repeated for `turns` instances.
pub(crate) fn of_steady(plan: &Plan, turns: u64) -> Choice {
    match executed(plan.tables().of_instances(turns)) {
        Some(permutation) => permutation,
        None => of_repeated(plan.steady(), plan.tables(), turns, plan.extent()),
    }
}

/// A permutation, if the machine has the instructions.
fn executed(permutation: Option<&Permutation>) -> Option<Choice> {
    let permutation = permutation.filter(|_| selected() == Isa::Avx512)?;
    Some(Choice::Permutation { records: permutation.records() })
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::vec::Vec;

    use super::*;
    use crate::basic::Basic;
    use crate::kernel::{Direction, execute, isa};
    use crate::types::Type;

    /// What was done to copy.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Step {
        Move { memory: usize, len: usize },
        Permute { records: usize },
    }

    std::thread_local! {
        static STEPS: RefCell<Vec<Step>> = const { RefCell::new(Vec::new()) };
    }

    /// Touches no memory, and takes down what would have been.
    struct Trace;

    impl Direction for Trace {
        unsafe fn copy(memory: *mut u8, _packed: *mut u8, len: usize) {
            STEPS.with_borrow_mut(|steps| steps.push(Step::Move { memory: memory.addr(), len }));
        }

        unsafe fn permute(all: &Permutation, _: usize, _: *mut u8, _: *mut u8) -> bool {
            let has = selected() == Isa::Avx512;
            if has {
                let step = Step::Permute { records: all.records() };
                STEPS.with_borrow_mut(|steps| steps.push(step));
            }
            has
        }
    }

    /// What is done for so many instances.
    fn traced(plan: &Plan, count: u64) -> Vec<Step> {
        STEPS.take();
        let memory = core::ptr::without_provenance_mut(1 << 40);
        // SAFETY: `Trace` touches no memory.
        unsafe { execute::<Trace>(plan, count, memory, memory) };
        STEPS.take()
    }

    /// What is chosen for the whole of a plan without a prologue.
    fn chosen(plan: &Plan, count: u64) -> Choice {
        if let Some((_, choice)) = of_single(plan, count) {
            return choice;
        }
        assert!(plan.prologue().is_empty(), "{plan:?}");
        of_steady(plan, count)
    }

    fn widths(steps: &[Step]) -> Vec<usize> {
        let mut all: Vec<usize> = steps
            .iter()
            .map(|step| match step {
                Step::Move { len, .. } => *len,
                Step::Permute { .. } => 0,
            })
            .collect();
        all.dedup();
        all
    }

    fn column(len: u64, stride: i64, count: u64) -> Type {
        Type::hvector(count, len, stride, &Type::basic(Basic::U8)).unwrap()
    }

    #[test]
    fn blocks_are_copied_by_the_moves_that_are_named() {
        for len in 1..200 {
            let plan = column(len, 1000, 5).commit();
            let steps = traced(plan.plan(), 1);
            match chosen(plan.plan(), 1) {
                Choice::Strided(Each::Moves { number, width }) => {
                    assert_eq!(widths(&steps), [usize::from(width)], "{len}");
                    assert_eq!(steps.len(), 5 * usize::from(number), "{len}");
                }
                Choice::Strided(Each::Long) => assert!(len > 64, "{len}"),
                other => panic!("{len}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_matrix_is_a_grid_or_tiles() {
        // Rows of 40 bytes, every other one of two matrices.
        let rows = Type::hvector(2, 1, 5000, &column(8, 100, 3)).unwrap().commit();
        let [Op::Loop { count, stride, items: 1 }, _] = rows.plan().steady() else {
            panic!("{:?}", rows.plan())
        };
        let body = &rows.plan().steady()[1..];
        let choice = of_repeated(body, rows.plan().tables(), *count, *stride);
        assert_eq!(choice, Choice::Grid(Each::Moves { number: 1, width: 8 }));
        let steps = traced(rows.plan(), 1);
        assert!(steps.len() == 6 && widths(&steps) == [8]);

        // Columns that are neighbours: the second block that is copied is one of the next column.
        let columns = Type::resized(&column(8, 1000, 100), 0, 8).unwrap().commit();
        assert_eq!(chosen(columns.plan(), 100), Choice::Tiles);
        let steps = traced(columns.plan(), 100);
        assert_eq!(steps[1], Step::Move { memory: (1 << 40) + 8, len: 8 });
    }

    #[test]
    fn records_are_permuted_or_copied_run_by_run_or_walked() {
        let [u8, u16] = [Basic::U8, Basic::U16].map(Type::basic);
        let record = Type::structure(&[1, 1, 1], &[0, 4, 8], &[u8.clone(), u16, u8]).unwrap();
        let record = Type::resized(&record, 0, 16).unwrap().commit();
        let plan = record.plan();
        let steps = traced(plan, 1000);
        match chosen(plan, 1000) {
            Choice::Permutation { records } => {
                assert_eq!(isa::selected(), Isa::Avx512);
                assert_eq!(steps, [Step::Permute { records }]);
            }
            Choice::Records { runs } => {
                assert_ne!(isa::selected(), Isa::Avx512);
                // The second thing that is copied is the first run of the second record.
                let [Step::Move { memory: first, .. }, Step::Move { memory: second, .. }, ..] =
                    steps[..]
                else {
                    panic!("{steps:?}")
                };
                assert_eq!((second - first, runs), (16, plan.steady().len()));
            }
            other => panic!("{other:?}"),
        }
        // Too far apart for a permutation, and near enough to be copied run by run.
        let far = Type::resized(&record, 0, 2000).unwrap().commit();
        assert!(matches!(chosen(far.plan(), 1000), Choice::Records { .. }));
        let steps = traced(far.plan(), 1000);
        let Step::Move { memory, .. } = steps[1] else { panic!("{steps:?}") };
        assert!(memory >= (1 << 40) + 2000);
        // Too few.
        assert_eq!(chosen(far.plan(), 2), Choice::Walk);
    }

    #[test]
    fn lists_are_copied_by_the_moves_that_are_named() {
        let places: Vec<i64> = (0..60).map(|i| i * (i + 3)).collect();
        for len in 1..70 {
            let places: Vec<i64> = places.iter().map(|place| place * 80).collect();
            let ty = Type::hindexed_block(len, &places, &Type::basic(Basic::U8)).unwrap();
            let committed = ty.commit();
            let [Op::List(list)] = committed.plan().steady() else { panic!("{committed:?}") };
            let steps = traced(committed.plan(), 1);
            match of_list(list, committed.plan().tables()) {
                Choice::List(Each::Moves { number, width }) => {
                    assert_eq!(widths(&steps), [usize::from(width)], "{len}");
                    assert_eq!(steps.len(), 60 * usize::from(number), "{len}");
                }
                Choice::List(Each::Long) => assert!(len > 64, "{len}"),
                other => panic!("{len}: {other:?}"),
            }
        }
        let lengths: Vec<u64> = (0..60).map(|i| 3 + i % 4).collect();
        let ty = Type::hindexed(&lengths, &places, &Type::basic(Basic::U8)).unwrap();
        let committed = Type::resized(&ty, 0, 10_000).unwrap().commit();
        let [Op::List(list)] = committed.plan().steady() else { panic!("{committed:?}") };
        let choice = of_list(list, committed.plan().tables());
        let Choice::List(Each::Moves { number, width }) = choice else { panic!("{choice:?}") };
        let steps = traced(committed.plan(), 1);
        assert_eq!((widths(&steps), steps.len()), (vec![width.into()], 60 * usize::from(number)));
    }
}

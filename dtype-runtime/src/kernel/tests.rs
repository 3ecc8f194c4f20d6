//! What is chosen is what is executed.

use std::cell::RefCell;
use std::vec::Vec;

use super::*;
use crate::basic::Basic;
use crate::plan::choose::tests::{chosen, column, moves_of, record};
use crate::plan::choose::{PerBlock, Use};
use crate::types::Type;

/// Packs, and records the displacement and the length of each move. Permutations and masked moves are not among them.
pub(crate) struct Trace;

std::thread_local! {
    static MOVES: RefCell<Vec<(usize, u64)>> = const { RefCell::new(Vec::new()) };
}

impl Direction for Trace {
    const USE: Use = Use::Pack;

    unsafe fn copy(memory: *mut u8, packed: *mut u8, len: usize) {
        MOVES.with_borrow_mut(|moves| moves.push((memory.addr(), len as u64)));
        // SAFETY: passed on to the caller.
        unsafe { Pack::copy(memory, packed, len) }
    }

    unsafe fn copy_16(memory: *mut u8, packed: *mut u8) {
        // SAFETY: passed on to the caller.
        unsafe { Self::copy(memory, packed, 16) }
    }
}

impl Way for Trace {}

/// The displacement from `first` and the length of each move.
pub(crate) fn recorded(first: *const u8, copy: impl FnOnce()) -> Vec<(usize, u64)> {
    MOVES.take();
    copy();
    MOVES.take().into_iter().map(|(at, len)| (at - first.addr(), len)).collect()
}

/// The moves for `count` instances. All bytes of their data must lie in this memory.
fn traced(plan: &Plan, count: u64) -> Vec<(usize, u64)> {
    let bytes = usize::try_from(plan.size() * count).unwrap();
    let (mut memory, mut packed) = (vec![1_u8; 4 << 20], vec![0_u8; bytes]);
    let first = memory.as_mut_ptr();
    // SAFETY: the types of these tests have their data in that many bytes from their origin on, and there is room for the
    // packed bytes.
    let moves =
        recorded(first, || unsafe { execute::<Trace>(plan, count, first, packed.as_mut_ptr()) });
    assert!(packed.iter().all(|byte| *byte == 1), "each byte is packed");
    moves
}

fn lengths(moves: &[(usize, u64)]) -> Vec<u64> {
    moves.iter().map(|(_, len)| *len).collect()
}

fn pack(plan: &Plan, count: u64) -> String {
    chosen(plan, count, selected(), Use::Pack)
}

#[test]
fn blocks_are_copied_by_the_moves_that_are_chosen() {
    for len in 1..200 {
        let committed = column(len, 1000, 5).commit();
        let plan = committed.plan();
        let all = *plan.program().single().unwrap();
        let Kernel::Strided(per) = choose::blocks(&all, plan.program(), selected(), Use::Pack)
        else {
            panic!("{len}")
        };
        let found = lengths(&traced(plan, 1));
        match per {
            PerBlock::Long => assert!(found.iter().sum::<u64>() >= 5 * len, "{len}"),
            per => assert_eq!(found, moves_of(per).repeat(5), "{len}"),
        }
    }
}

#[test]
fn a_matrix_is_a_grid_or_tiles() {
    // Rows that alternate between two matrices.
    let rows = Type::hvector(2, 1, 5000, &column(8, 100, 3)).unwrap().commit();
    assert_eq!(lengths(&traced(rows.plan(), 1)), [8; 6]);
    // Adjacent columns: the second block that is copied belongs to the next column.
    let columns = Type::resized(&column(8, 4096, 100), 0, 8).unwrap().commit();
    assert_eq!(pack(columns.plan(), 100), "Tiles(16)");
    assert_eq!(traced(columns.plan(), 100)[1], (8, 8));
}

#[test]
fn records_are_permuted_or_copied_run_by_run_or_walked() {
    let near = record(&[(0, 1), (4, 2), (8, 1)], 16).commit();
    let far = record(&[(0, 1), (4, 2), (8, 1)], 2000).commit();
    for (committed, count) in [(&near, 1000), (&far, 1000), (&far, 9), (&far, 2), (&near, 2)] {
        let (plan, extent) = (committed.plan(), usize::try_from(committed.plan().extent()));
        let moves = traced(plan, count);
        match &pack(plan, count)[..] {
            "permute 4" => assert!(moves.is_empty()),
            // The second move copies the first run of the second record.
            "records 3" => assert_eq!(moves[1], (extent.unwrap(), 1)),
            "Walk" | "Copy" => assert_eq!(moves[1], (4, 2)),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn one_record_is_permuted() {
    let committed = record(&[(0, 1), (4, 2), (9, 1)], 16).commit();
    let moves = traced(committed.plan(), 1);
    match &pack(committed.plan(), 1)[..] {
        "permute 4" => assert!(moves.is_empty()),
        "Walk" => assert_eq!((moves[0], moves.last()), ((0, 1), Some(&(9, 1)))),
        other => panic!("{other}"),
    }
}

#[test]
fn lists_are_copied_by_the_moves_that_are_chosen() {
    let places: Vec<i64> = (0..60).map(|i| i * (i + 3) * 80).collect();
    let check = |lengths_of: &dyn Fn(u64) -> u64, name: &str| {
        let lens: Vec<u64> = (0..60).map(lengths_of).collect();
        let ty = Type::hindexed(&lens, &places, &Type::basic(Basic::U8)).unwrap();
        let committed = Type::resized(&ty, 0, 1_000_000).unwrap().commit();
        let [Op::List(all)] = committed.plan().ops() else { panic!("{committed:?}") };
        let lists = committed.plan().program().lists();
        let Kernel::List(per) = choose::of_list(all, lists, selected(), Use::Pack) else {
            panic!("{name}")
        };
        let found = lengths(&traced(committed.plan(), 1));
        match per {
            PerBlock::Masked32 | PerBlock::Masked64 => assert!(found.is_empty(), "{name}"),
            PerBlock::Long => assert!(found.iter().sum::<u64>() >= 60 * 65, "{name}"),
            PerBlock::Varied => assert!(found.len() >= 60, "{name}"),
            per => assert_eq!(found, moves_of(per).repeat(60), "{name} {per:?}"),
        }
        per
    };
    for len in 1..70 {
        let per = check(&|_| len, &len.to_string());
        assert!(per != PerBlock::Varied && (per != PerBlock::Long || len > 64), "{len}");
    }
    // The greatest length is twice the least one, four times, and more.
    let of = |least, number| check(&|i| least + i % number, &format!("{least}, {number}"));
    let masks = selected().masks();
    let or = |masked, otherwise| if masks { masked } else { otherwise };
    assert_eq!(of(2, 3), PerBlock::Two2);
    // One masked move is as fast as two plain ones, and faster than four.
    assert_eq!(of(4, 12), or(PerBlock::Masked32, PerBlock::Four4));
    assert_eq!(of(16, 40), PerBlock::Four16);
    assert_eq!(of(1, 30), or(PerBlock::Masked32, PerBlock::Varied));
    assert_eq!(of(2, 60), or(PerBlock::Masked64, PerBlock::Varied));
    assert_eq!(of(20, 60), PerBlock::Varied);
}

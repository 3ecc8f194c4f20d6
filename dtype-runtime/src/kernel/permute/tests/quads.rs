//! Records packed by their quads compared with the loop over single bytes.

use std::cell::RefCell;

use super::*;
use crate::kernel::permute::is_worth_a_call_with;
use crate::kernel::{is_worth_a_call, permute_or};

/// Runs of quads on one grid, and strides that suit them.
fn records() -> impl Strategy<Value = (Runs, i64)> {
    let runs = prop::collection::vec((0..8_usize, 4..13_usize, any::<u16>()), 1..6);
    let stride = prop::sample::select(&[8_i64, 16, 16, 20, 24, 32, -16, -24, 4, 0]);
    (runs, stride).prop_map(|(mut gaps_and_runs, stride)| {
        let mut end = 0;
        let mut keyed = Vec::new();
        for (gap, len, key) in gaps_and_runs.drain(..) {
            let (gap, len) = (gap / 4 * 4, len / 4 * 4);
            if end + gap + len <= 32 {
                keyed.push((key, (end + gap, len, false)));
                end += gap + len;
            }
        }
        keyed.sort_unstable();
        (keyed.into_iter().map(|(_, run)| run).collect(), stride)
    })
}

/// What [`by_bytes`] copies: the displacement of each packed byte of a record, and the bytes from one record to the next. Then
/// the numbers of bytes that it has copied.
type Naive = (Vec<usize>, isize, Vec<usize>);

std::thread_local! {
    static NAIVE: RefCell<Naive> = const { RefCell::new((Vec::new(), 0, Vec::new())) };
}

/// Packs the bytes of a range one by one.
unsafe fn by_bytes(memory: *mut u8, packed: *mut u8, range: Range<usize>) {
    NAIVE.with_borrow_mut(|(displacements, stride, copied)| {
        let size = displacements.len();
        assert!(range.start < size && !range.is_empty(), "{range:?}");
        copied.push(range.len());
        for (to, byte) in range.enumerate() {
            let record = stride.wrapping_mul((byte / size).cast_signed());
            let from = memory.wrapping_offset(record).wrapping_add(displacements[byte % size]);
            // SAFETY: a byte that the caller guarantees on both sides.
            unsafe { *packed.add(to) = *from };
        }
    });
}

/// As [`Case::check_packing`], where [`by_bytes`] packs the ends of the range.
fn check_ends(mut case: Case, permutation: &Permutation, runs: &Runs, stride: i64) {
    NAIVE.set((displacements(runs), isize::try_from(stride).unwrap(), Vec::new()));
    case.check_packing_by(permutation, |range, memory, packed| {
        // SAFETY: both sides have the bytes, which is all that `by_bytes` requires, and nothing else refers to them.
        unsafe { permute_or::<Pack>(permutation, by_bytes, memory, packed, range) };
    });
    let range = case.range;
    // No more than the rest of the first record, and less than a register at the end.
    let (_, _, mut copied) = NAIVE.take();
    if range.start > 0 && !range.is_empty() {
        assert_eq!(copied.remove(0), range.len().min(permutation.size() - range.start));
    }
    assert!(copied.len() < 2 && copied.iter().all(|&bytes| bytes < 32), "{copied:?} of {range:?}");
}

/// Whether the tests are skipped, because AVX2 is not available or not selected.
fn is_skipped() -> bool {
    let is_skipped = selected() != Isa::Avx2;
    if is_skipped {
        println!("skipped: AVX2 is not selected");
    }
    is_skipped
}

proptest! {
    #[test]
    fn quads_do_what_single_bytes_do(
        (runs, stride) in records(),
        count in 1..40_usize,
        start in any::<prop::sample::Index>(),
        end in any::<prop::sample::Index>(),
    ) {
        if !is_skipped() && !runs.is_empty() {
            let all = permutation(&runs, stride);
            if all.quads().is_some() {
                Case::new(&runs, stride, count, 0).check_packing(&all);
                check_ends(Case::new(&runs, stride, count, 0), &all, &runs, stride);
                let start = start.index(all.size());
                let end = start + end.index(count * all.size() + 1 - start);
                Case::new(&runs, stride, count, start).part(start..end).check_packing(&all);
                let part = Case::new(&runs, stride, count, 0).part(start..end);
                check_ends(part, &all, &runs, stride);
            }
        }
    }
}

#[test]
fn every_count_and_part() {
    if is_skipped() {
        return;
    }
    let shapes: [(&[(usize, usize)], i64); 8] = [
        (&[(0, 4), (8, 8)], 16),
        (&[(0, 12), (16, 12)], 32),
        (&[(8, 8), (0, 4)], 16),
        (&[(0, 8), (12, 4), (20, 8)], 28),
        (&[(0, 4)], 8),
        (&[(0, 4)], 12),
        (&[(0, 4), (8, 4), (16, 4)], 4),
        (&[(0, 4), (8, 4), (16, 8)], -24),
    ];
    for (runs, stride) in shapes {
        let runs: Runs = runs.iter().map(|&(disp, len)| (disp, len, false)).collect();
        let all = permutation(&runs, stride);
        assert!(all.quads().is_some(), "{runs:?}");
        for count in 0..=100 {
            Case::new(&runs, stride, count, count % 67).check_packing(&all);
            check_ends(Case::new(&runs, stride, count, count % 67), &all, &runs, stride);
        }
        for start in 0..all.size() {
            for end in start..=all.size() * 7 {
                Case::new(&runs, stride, 7, start).part(start..end).check_packing(&all);
                check_ends(
                    Case::new(&runs, stride, 7, start).part(start..end),
                    &all,
                    &runs,
                    stride,
                );
            }
        }
    }
}

/// What is not plain packing is left to other kernels.
#[test]
fn nothing_else_is_done_by_quads() {
    if is_skipped() {
        return;
    }
    let runs = vec![(0, 4, false), (8, 8, false)];
    let all = permutation(&runs, 16);
    assert!(all.quads().is_some());
    let (mut memory, mut packed) = ([1_u8; 32], [2_u8; 24]);
    let (memory, packed) = (memory.as_mut_ptr(), packed.as_mut_ptr());
    // SAFETY: both sides have the bytes of two records.
    unsafe {
        assert!(!permute::<Unpack>(&all, 0..24, memory, packed));
        assert!(!permute::<Move>(&all, 0..24, memory, packed));
    }
}

/// Only what instructions copy faster than inlined moves is worth a call.
#[test]
fn instructions_decide_what_is_worth_a_call() {
    // A call for 18 records, or 36.
    let both = permutation(&vec![(0, 8, false), (8, 4, false)], 16);
    assert_eq!((both.fewest(), both.fewest_by_quads()), (18, 36));
    // No quads.
    let neither = permutation(&vec![(0, 1, false), (8, 8, false)], 16);
    assert_eq!((neither.fewest(), neither.fewest_by_quads()), (18, usize::MAX));
    // Beyond the caches, moves of known lengths are as fast.
    let mut map = ByteMap::new();
    assert!(map.run(0, 53));
    let full = Permutation::new_if_faster_than_constants(&map, 56).unwrap();
    for isa in Isa::ALL {
        let [permuted, by_quads] = [*isa == Isa::Avx512, *isa == Isa::Avx2];
        for count in [0, 1, 17, 18, 35, 36, 1000] {
            let (permuted, by_quads) = (permuted && count >= 18, by_quads && count >= 36);
            let packs = |all| is_worth_a_call_with::<Pack>(*isa, all, count);
            assert_eq!(packs(&both), permuted || by_quads, "{isa} {count}");
            assert_eq!(packs(&neither), permuted, "{isa} {count}");
            let unpacks = is_worth_a_call_with::<Unpack>(*isa, &both, count);
            assert_eq!(unpacks, permuted, "{isa} {count}");
        }
        let up_to = |most| is_worth_a_call_with::<Pack>(*isa, &full, most);
        assert_eq!([full.most(), full.most() + 1].map(up_to), [permuted, false], "{isa}");
    }
    // Those that are selected decide.
    let isa = selected();
    for count in [17, 18, 36] {
        let is_worth_it = is_worth_a_call_with::<Pack>(isa, &both, count);
        assert_eq!(is_worth_a_call::<Pack>(&both, count), is_worth_it, "{isa} {count}");
    }
}

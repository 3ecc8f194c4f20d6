//! Records packed by their quads compared with the loop over single bytes.

use super::*;

/// Runs of 4 bytes and more on one grid or several, and strides that suit them.
fn records() -> impl Strategy<Value = (Runs, i64)> {
    let runs = prop::collection::vec((0..8_usize, 4..13_usize, any::<u16>()), 1..6);
    let unit = prop::sample::select(&[1_usize, 4, 4]);
    let stride = prop::sample::select(&[8_i64, 16, 16, 20, 24, 32, -16, -24, 4, 0]);
    (runs, unit, stride).prop_map(|(mut gaps_and_runs, unit, stride)| {
        let mut end = 0;
        let mut keyed = Vec::new();
        for (gap, len, key) in gaps_and_runs.drain(..) {
            let (gap, len) = (gap / unit * unit, len / unit * unit);
            if end + gap + len <= 32 {
                keyed.push((key, (end + gap, len, false)));
                end += gap + len;
            }
        }
        keyed.sort_unstable();
        (keyed.into_iter().map(|(_, run)| run).collect(), stride)
    })
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
                let start = start.index(all.size());
                let end = start + end.index(count * all.size() + 1 - start);
                Case::new(&runs, stride, count, start).part(start..end).check_packing(&all);
            }
        }
    }
}

#[test]
fn every_count_and_part() {
    if is_skipped() {
        return;
    }
    let shapes: [(&[(usize, usize)], i64); 12] = [
        (&[(0, 4), (8, 8)], 16),
        (&[(0, 12), (16, 12)], 32),
        (&[(8, 8), (0, 4)], 16),
        (&[(0, 8), (12, 4), (20, 8)], 28),
        (&[(0, 4)], 8),
        (&[(0, 4)], 12),
        (&[(0, 4), (8, 4), (16, 4)], 4),
        (&[(0, 4), (8, 4), (16, 8)], -24),
        (&[(0, 4), (4, 2)], 8),
        (&[(0, 5)], 8),
        (&[(0, 8), (8, 4), (12, 1)], 16),
        (&[(9, 7), (0, 5)], 16),
    ];
    for (runs, stride) in shapes {
        let runs: Runs = runs.iter().map(|&(disp, len)| (disp, len, false)).collect();
        let all = permutation(&runs, stride);
        assert!(all.quads().is_some(), "{runs:?}");
        for count in 0..=100 {
            Case::new(&runs, stride, count, count % 67).check_packing(&all);
        }
        for start in 0..all.size() {
            for end in start..=all.size() * 7 {
                Case::new(&runs, stride, 7, start).part(start..end).check_packing(&all);
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
        assert!(!permute::<Reversing<Pack, 4>>(&all, 0..24, memory, packed));
    }
}

//! Records unpacked line by line with AVX-512 VBMI.
//!
//! See [`Aligned`] for the idea. The records before the first round, and those after the last round whose steps may load whole
//! vectors, are unpacked by windows of whole records ([`super::permute`]).

use core::arch::x86_64::{
    _MM_HINT_T0, _mm_prefetch, _mm512_loadu_si512, _mm512_mask_storeu_epi8,
    _mm512_permutexvar_epi8, _mm512_setzero_si512,
};
use core::ops::Range;

use super::prefetch::looks_far_ahead;
use super::{WIDTH, by_vectors, permute, vector};
use crate::plan::{Aligned, Any, Permutation};

/// With fewer rounds than this, to align them costs more than it gains.
const FEWEST_ROUNDS: usize = 24;

/// Unpacks the packed bytes `range` of records line by line. Returns false without an effect if that is not faster.
///
/// # Safety
///
/// As [`Registers::permute`](super::Registers::permute) for `Unpack`.
#[inline(always)]
pub(super) unsafe fn unpack(
    all: &Permutation,
    range: &Range<usize>,
    memory: *mut u8,
    packed: *const u8,
) -> bool {
    let Some(aligned) = all.aligned() else { return false };
    if range.end - range.start < FEWEST_ROUNDS * aligned.round().1 {
        return false;
    }
    let first = memory.wrapping_offset(aligned.first());
    let Some(records) = aligned.records_to_round(first.addr()) else { return false };
    // SAFETY: passed on to the caller. A round starts after these records, of which there are fewer than a round has, and the range
    // has more rounds than two.
    unsafe { middle(all, aligned, records, range.clone(), memory, packed) };
    true
}

/// As [`unpack`], with a round that starts after `records` records.
///
/// # Safety
///
/// As [`unpack`]. The record after these must start a line, and the range must be longer than two rounds.
#[inline(never)]
unsafe fn middle(
    all: &Permutation,
    aligned: &Aligned,
    records: usize,
    range: Range<usize>,
    memory: *mut u8,
    packed: *const u8,
) {
    // Not empty if the range starts in a record.
    let records = if range.start > 0 && records == 0 { aligned.records() } else { records };
    let before = records * all.size() - range.start;
    let (start, left) =
        (memory.wrapping_offset(all.stride() * records.cast_signed()), range.len() - before);
    // SAFETY: passed on to the caller: the bytes of the records before the first round, those of the rounds, and the rest, of which
    // the first and the last may be none. The number of steps is that of the call, and `first` is where the round starts a line.
    unsafe {
        if before > 0 {
            by_windows(all, range.start..range.start + before, memory, packed);
        }
        let (first, next) = (start.wrapping_offset(aligned.first()), packed.add(before));
        let number = match aligned.steps().len() {
            2 => rounds::<2>(aligned, left, first, next),
            3 => rounds::<3>(aligned, left, first, next),
            4 => rounds::<4>(aligned, left, first, next),
            5 => rounds::<5>(aligned, left, first, next),
            6 => rounds::<6>(aligned, left, first, next),
            7 => rounds::<7>(aligned, left, first, next),
            _ => 0,
        };
        let (lines, bytes) = aligned.round();
        let rest = left - number * bytes;
        if rest > 0 {
            by_windows(all, 0..rest, start.wrapping_add(number * lines), next.add(number * bytes));
        }
    }
}

/// Unpacks records by windows of whole ones.
///
/// # Safety
///
/// As [`unpack`].
unsafe fn by_windows(all: &Permutation, range: Range<usize>, memory: *mut u8, packed: *const u8) {
    // SAFETY: passed on to the caller.
    unsafe { by_vectors!(unpack[Any](all, range, memory, packed)) }
}

/// Unpacks rounds from the line at `memory` on, as long as the packed bytes that a round loads are among the next `bytes`. Returns
/// the number of rounds.
///
/// # Safety
///
/// The data bytes of all whole rounds in the next `bytes` packed bytes must be writable, and these bytes readable. The processor must
/// have the instructions, there must be `S` steps, and `memory` must be the start of a line.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
unsafe fn rounds<const S: usize>(
    all: &Aligned,
    bytes: usize,
    memory: *mut u8,
    packed: *const u8,
) -> usize {
    debug_assert!(memory.addr().is_multiple_of(WIDTH), "{memory:?}");
    let (mut index, mut data) = ([_mm512_setzero_si512(); S], [0; S]);
    let (mut line, mut from) = ([0; S], [0; S]);
    for (number, step) in all.steps().iter().enumerate().take(S) {
        (index[number], data[number]) = (vector(&step.index), step.data);
        (line[number], from[number]) = (step.line, step.from);
    }
    let (lines, round) = all.round();
    let ahead =
        if looks_far_ahead() { Permutation::FAR } else { Permutation::NEAR * WIDTH.cast_signed() };
    let number = match bytes.checked_sub(all.reach()) {
        Some(more) => more / round + 1,
        None => 0,
    };
    let (mut memory, mut packed) = (memory, packed);
    for _ in 0..number {
        for number in 0..S {
            let place = memory.wrapping_add(line[number]);
            // SAFETY: the steps load up to `reach` bytes of those that are left, and write data of the round. The prefetch is a hint,
            // whatever the address.
            unsafe {
                let loaded = _mm512_loadu_si512(packed.add(from[number]).cast());
                _mm_prefetch::<_MM_HINT_T0>(place.wrapping_offset(ahead).cast());
                let bytes = _mm512_permutexvar_epi8(index[number], loaded);
                _mm512_mask_storeu_epi8(place.cast(), data[number], bytes);
            }
        }
        memory = memory.wrapping_add(lines);
        packed = packed.wrapping_add(round);
    }
    number
}

//! Records packed by their quads, groups of four bytes, with AVX2.
//!
//! See [`Quads`] for the idea. A store writes whole registers or halves of them, which have more bytes than the records in
//! them: 32 for 24, say. The excess is overwritten by the next store, as long as that many bytes are left. What is stored last
//! goes to a buffer instead, and is copied from there. So does the end of the first record of a fragment.
//!
//! A masked load reads the quads that its mask selects and no others, and faults for no others: so Intel documents it, AMD's
//! processors do it, and compilers rely on it for masked loads of their own.

use core::arch::x86_64::{
    __m128i, __m256i, _MM_HINT_T0, _mm_loadl_epi64, _mm_loadu_si128, _mm_maskload_epi32,
    _mm_or_si128, _mm_prefetch, _mm_shuffle_epi8, _mm_storeu_si128, _mm256_and_si256,
    _mm256_broadcastsi128_si256, _mm256_castsi256_si128, _mm256_cmpgt_epi32, _mm256_cvtepi8_epi32,
    _mm256_cvtepu8_epi32, _mm256_extracti128_si256, _mm256_maskload_epi32, _mm256_or_si256,
    _mm256_permutevar8x32_epi32, _mm256_set1_epi32, _mm256_setr_epi32, _mm256_shuffle_epi8,
    _mm256_storeu_si256,
};
use core::mem::MaybeUninit;
use core::ops::Range;

use super::Avx2;
use crate::kernel::direction::Pack;
use crate::kernel::moves::any;
use crate::plan::{Order, Permutation, Quads};

/// Bytes of a register, of half a register, and of a quad.
const REGISTER: usize = size_of::<__m256i>();
const HALF: usize = size_of::<__m128i>();
const QUAD: usize = 4;

/// Packs the packed bytes `range` of records.
///
/// # Safety
///
/// As [`Registers::permute`](super::Registers::permute) for a direction that packs bytes as they are; the quads must be those
/// of the permutation.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn pack(
    all: &Permutation,
    quads: &Quads,
    range: Range<usize>,
    memory: *const u8,
    packed: *mut u8,
) {
    let window = memory.wrapping_offset(all.first());
    // SAFETY: passed on to the caller. The records' first byte is `first` bytes from the origin.
    unsafe {
        match quads.order() {
            Order::Across(index) => across(all, quads, index, range, window, packed),
            Order::Halves(index) => in_halves(all, quads, index, range, window, packed),
        }
    }
}

/// The mask that selects quads.
#[inline]
#[target_feature(enable = "avx2")]
fn mask(quads: &[i8; REGISTER / QUAD]) -> __m256i {
    // SAFETY: the array has the 8 bytes that are loaded.
    unsafe { _mm256_cvtepi8_epi32(_mm_loadl_epi64(quads.as_ptr().cast())) }
}

/// What a mask selects among the quads of the first `bytes` bytes.
#[inline]
#[target_feature(enable = "avx2")]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "quads of a register"
)]
fn before(bytes: usize, mask: __m256i) -> __m256i {
    let numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    _mm256_and_si256(mask, _mm256_cmpgt_epi32(_mm256_set1_epi32((bytes / QUAD) as i32), numbers))
}

/// The number of records that have `bytes` packed bytes, the last of them perhaps in part.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "records of a register")]
fn records_of(bytes: usize, all: &Permutation) -> usize {
    all.record_of((bytes + all.size() - 1) as u64) as usize
}

/// As [`pack`], for quads that are moved across the register.
///
/// # Safety
///
/// As [`pack`]; `window` must be the first byte of the first record.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn across(
    all: &Permutation,
    quads: &Quads,
    index: &[u8; REGISTER / QUAD],
    range: Range<usize>,
    mut window: *const u8,
    mut packed: *mut u8,
) {
    let (stride, size) = (all.stride(), all.size());
    let (records, bytes_of_all) = (quads.records(), quads.records() * size);
    let step = stride * records.cast_signed();
    // Two registers then lie in several lines.
    let is_far = step.unsigned_abs() > REGISTER;
    let (mut from, mut left) = (range.start, range.end - range.start);
    let mask = mask(&quads.masks()[0]);
    debug_assert!(bytes_of_all <= REGISTER && (records == 1 || stride > 0 && stride % 4 == 0));
    debug_assert!(left == 0 || from < size);
    // SAFETY: `Quads` says which quads are selected: data of as many records as the load is for. All of these have bytes in the
    // range, so the caller guarantees their data: the records of a register have no more packed bytes than it, so that many are
    // left where it is stored, and what is loaded for a part is cut to the records of the part, which follow one another if
    // there are several in a register. The index has the 8 bytes that are loaded. The buffer has room for a register, and `from
    // + bytes` is no more than the packed bytes of its records, so these were stored. The pointers to memory wrap, as the gaps
    // of the last record need not lie in it, and prefetching is a hint, whatever the address.
    unsafe {
        let index = _mm256_cvtepu8_epi32(_mm_loadl_epi64(index.as_ptr().cast()));
        let load = |mask, window: *const u8| {
            _mm256_permutevar8x32_epi32(_mm256_maskload_epi32(window.cast(), mask), index)
        };
        let prefetch = |window: *const u8| {
            _mm_prefetch::<_MM_HINT_T0>(window.wrapping_offset(all.far()).cast());
        };
        while left > 0 {
            while from == 0 && left >= bytes_of_all + REGISTER {
                prefetch(window);
                _mm256_storeu_si256(packed.cast(), load(mask, window));
                window = window.wrapping_offset(step);
                packed = packed.add(bytes_of_all);
                if is_far {
                    prefetch(window);
                }
                _mm256_storeu_si256(packed.cast(), load(mask, window));
                window = window.wrapping_offset(step);
                packed = packed.add(bytes_of_all);
                left -= 2 * bytes_of_all;
            }
            if from == 0 && left >= REGISTER {
                _mm256_storeu_si256(packed.cast(), load(mask, window));
                window = window.wrapping_offset(step);
                packed = packed.add(bytes_of_all);
                left -= bytes_of_all;
                continue;
            }
            // The end of the first record, or the start of the last ones.
            let bytes = left.min(if from > 0 { size - from } else { bytes_of_all });
            let parts = records_of(from + bytes, all);
            // Several records in a register follow one another.
            let mask =
                if parts == records { mask } else { before(parts * stride.unsigned_abs(), mask) };
            let mut buffer = [MaybeUninit::<u8>::uninit(); REGISTER];
            _mm256_storeu_si256(buffer.as_mut_ptr().cast(), load(mask, window));
            any::<Pack, Avx2>(buffer.as_mut_ptr().cast::<u8>().add(from), packed, bytes);
            window = window.wrapping_offset(if from > 0 { stride } else { step });
            packed = packed.add(bytes);
            (from, left) = (0, left - bytes);
        }
    }
}

/// As [`pack`], for bytes that are moved in halves of the register.
///
/// # Safety
///
/// As [`pack`]; `window` must be the first byte of the first record.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn in_halves(
    all: &Permutation,
    quads: &Quads,
    index: &[[u8; HALF]; 2],
    range: Range<usize>,
    mut window: *const u8,
    mut packed: *mut u8,
) {
    let (stride, size) = (all.stride().unsigned_abs(), all.size());
    // Packed bytes of the records in a half.
    let bytes_of_half = quads.records() / 2 * size;
    let further = quads.further();
    let (mut from, mut left) = (range.start, range.end - range.start);
    let masks = [mask(&quads.masks()[0]), mask(&quads.masks()[1])];
    debug_assert!(bytes_of_half <= HALF && quads.records() * stride == REGISTER);
    debug_assert!(all.stride() > 0 && (left == 0 || from < size));
    // SAFETY: as in `across`: `Quads` says that both loads read data of the records of a half only, which fill it, and have no
    // more than 16 packed bytes. Each index has the 16 bytes that are loaded. A half is stored only where 16 bytes are left in
    // the range, so both are if 16 follow the records of the first.
    unsafe {
        let index = index.each_ref().map(|index| _mm_loadu_si128(index.as_ptr().cast()));
        let both = index.map(|index| _mm256_broadcastsi128_si256(index));
        let store = |window: *const u8, packed: *mut u8| {
            let load = |mask, index, window: *const u8| {
                _mm256_shuffle_epi8(_mm256_maskload_epi32(window.cast(), mask), index)
            };
            let first = load(masks[0], both[0], window);
            let second = load(masks[1], both[1], window.wrapping_add(further));
            let all = _mm256_or_si256(first, second);
            _mm_storeu_si128(packed.cast(), _mm256_castsi256_si128(all));
            _mm_storeu_si128(packed.add(bytes_of_half).cast(), _mm256_extracti128_si256(all, 1));
        };
        while left > 0 {
            while from == 0 && left >= 3 * bytes_of_half + HALF {
                _mm_prefetch::<_MM_HINT_T0>(window.wrapping_offset(all.far()).cast());
                store(window, packed);
                store(window.wrapping_add(REGISTER), packed.add(2 * bytes_of_half));
                window = window.wrapping_add(2 * REGISTER);
                packed = packed.add(4 * bytes_of_half);
                left -= 4 * bytes_of_half;
            }
            if from == 0 && left >= bytes_of_half + HALF {
                store(window, packed);
                window = window.wrapping_add(REGISTER);
                packed = packed.add(2 * bytes_of_half);
                left -= 2 * bytes_of_half;
                continue;
            }
            // The end of the first record, or the start of the last ones.
            let bytes = left.min(if from > 0 { size - from } else { bytes_of_half });
            let parts = records_of(from + bytes, all);
            let load = |mask, index, window: *const u8| {
                let mask = _mm256_castsi256_si128(before(parts * stride, mask));
                _mm_shuffle_epi8(_mm_maskload_epi32(window.cast(), mask), index)
            };
            let first = load(masks[0], index[0], window);
            let half = _mm_or_si128(first, load(masks[1], index[1], window.wrapping_add(further)));
            if from == 0 && left >= HALF {
                _mm_storeu_si128(packed.cast(), half);
            } else {
                let mut buffer = [MaybeUninit::<u8>::uninit(); HALF];
                _mm_storeu_si128(buffer.as_mut_ptr().cast(), half);
                any::<Pack, Avx2>(buffer.as_mut_ptr().cast::<u8>().add(from), packed, bytes);
            }
            window = window.wrapping_add(if from > 0 { stride } else { HALF });
            packed = packed.add(bytes);
            (from, left) = (0, left - bytes);
        }
    }
}

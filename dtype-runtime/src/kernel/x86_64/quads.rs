//! Records packed by their quads, groups of four bytes, with AVX2.
//!
//! See [`Quads`] for the idea. A store writes whole registers or halves of them, which have more bytes than the records in
//! them: 32 for 24, say. The excess is overwritten by the next store, as long as that many bytes are left. The *ends* are
//! copied in another way: the last records, for which no more bytes are left, and the rest of the record that a fragment
//! starts in. Whoever knows the records' runs as constants copies the ends himself. For others they go through a buffer,
//! which takes 3 to 5 ns for each register.
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
use crate::kernel::registers::Ends;
use crate::plan::{Order, Permutation, Quads};

/// Bytes of a register, of half a register, and of a quad.
const REGISTER: usize = size_of::<__m256i>();
const HALF: usize = size_of::<__m128i>();
const QUAD: usize = 4;

/// Packs the packed bytes `range` of records; the [ends](self) by a routine of the caller, if there is one.
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
    ends: Option<Ends>,
    mut memory: *mut u8,
    mut packed: *mut u8,
) {
    let (size, stride) = (all.size(), all.stride());
    let (start, mut left) = (range.start, range.end - range.start);
    debug_assert!(left == 0 || start < size);
    // SAFETY: bytes that the caller guarantees: the rest of the first record, whole records, and the rest of the range, each
    // record `stride` bytes after the one before. The records' first byte is `first` bytes from the origin. `ends` requires
    // nothing else. The pointers to memory wrap, as an origin need not lie in it.
    unsafe {
        let ends = |range: Range<usize>, memory: *mut u8, packed: *mut u8| match ends {
            Some(copy) => copy(memory, packed, range),
            None => by_buffer(all, quads, range, memory, packed),
        };
        if start > 0 {
            let bytes = left.min(size - start);
            ends(start..start + bytes, memory, packed);
            memory = memory.wrapping_offset(stride);
            packed = packed.add(bytes);
            left -= bytes;
        }
        let window = memory.wrapping_offset(all.first());
        let records = match quads.order() {
            Order::Across(index) => across(all, quads, index, left, window, packed),
            Order::Halves(index) => in_halves(all, quads, index, left, window, packed),
        };
        if records * size < left {
            memory = memory.wrapping_offset(stride.wrapping_mul(records.cast_signed()));
            ends(0..left - records * size, memory, packed.add(records * size));
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

/// The register whose 32-bit numbers say which quads go to its place.
#[inline]
#[target_feature(enable = "avx2")]
fn quads_of(index: &[u8; REGISTER / QUAD]) -> __m256i {
    // SAFETY: the array has the 8 bytes that are loaded.
    unsafe { _mm256_cvtepu8_epi32(_mm_loadl_epi64(index.as_ptr().cast())) }
}

/// The register whose bytes say which bytes go to its place.
#[inline]
#[target_feature(enable = "avx2")]
fn bytes_of(index: &[u8; HALF]) -> __m128i {
    // SAFETY: the array has the 16 bytes that are loaded.
    unsafe { _mm_loadu_si128(index.as_ptr().cast()) }
}

/// Packs some of the records that have `left` packed bytes, by quads that are moved across the register. Returns their number.
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
    mut left: usize,
    mut window: *const u8,
    mut packed: *mut u8,
) -> usize {
    let records = quads.records();
    let bytes_of_all = records * all.size();
    let step = all.stride() * records.cast_signed();
    // Two registers then lie in several lines.
    let is_far = step.unsigned_abs() > REGISTER;
    let (mask, index) = (mask(&quads.masks()[0]), quads_of(index));
    debug_assert!(bytes_of_all <= REGISTER);
    let mut done = 0;
    // SAFETY: `Quads` says which quads are selected: data of `records` records. These have no more packed bytes than a
    // register, and as many as a register has are left where it is stored: so the caller guarantees the data of all of them,
    // and the bytes that are written. The pointers to memory wrap, as the gaps of the last record need not lie in it, and
    // prefetching is a hint, whatever the address.
    unsafe {
        let load = |window: *const u8| {
            _mm256_permutevar8x32_epi32(_mm256_maskload_epi32(window.cast(), mask), index)
        };
        let prefetch = |window: *const u8| {
            _mm_prefetch::<_MM_HINT_T0>(window.wrapping_offset(all.far()).cast());
        };
        while left >= bytes_of_all + REGISTER {
            prefetch(window);
            _mm256_storeu_si256(packed.cast(), load(window));
            window = window.wrapping_offset(step);
            packed = packed.add(bytes_of_all);
            if is_far {
                prefetch(window);
            }
            _mm256_storeu_si256(packed.cast(), load(window));
            window = window.wrapping_offset(step);
            packed = packed.add(bytes_of_all);
            left -= 2 * bytes_of_all;
            done += 2 * records;
        }
        if left >= REGISTER {
            _mm256_storeu_si256(packed.cast(), load(window));
            done += records;
        }
    }
    done
}

/// As [`across`], by bytes that are moved in halves of the register.
///
/// # Safety
///
/// As there.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn in_halves(
    all: &Permutation,
    quads: &Quads,
    index: &[[u8; HALF]; 2],
    mut left: usize,
    mut window: *const u8,
    mut packed: *mut u8,
) -> usize {
    let records = quads.records();
    // Packed bytes of the records in a half.
    let bytes_of_half = records / 2 * all.size();
    let further = quads.further();
    let masks = quads.masks().each_ref().map(|quads| mask(quads));
    let index = index.each_ref().map(|index| _mm256_broadcastsi128_si256(bytes_of(index)));
    debug_assert!(bytes_of_half <= HALF && records * all.stride().unsigned_abs() == REGISTER);
    let mut done = 0;
    // SAFETY: as in `across`: `Quads` says that both loads read data of the records only, which fill the register, half of
    // them each half. Those of a half have no more than 16 packed bytes, and 16 bytes are left in the range where a half is
    // stored, the second right after the records of the first.
    unsafe {
        let store = |window: *const u8, packed: *mut u8| {
            let load = |mask, index, window: *const u8| {
                _mm256_shuffle_epi8(_mm256_maskload_epi32(window.cast(), mask), index)
            };
            let first = load(masks[0], index[0], window);
            let second = load(masks[1], index[1], window.wrapping_add(further));
            let all = _mm256_or_si256(first, second);
            _mm_storeu_si128(packed.cast(), _mm256_castsi256_si128(all));
            _mm_storeu_si128(packed.add(bytes_of_half).cast(), _mm256_extracti128_si256(all, 1));
        };
        while left >= 3 * bytes_of_half + HALF {
            _mm_prefetch::<_MM_HINT_T0>(window.wrapping_offset(all.far()).cast());
            store(window, packed);
            store(window.wrapping_add(REGISTER), packed.add(2 * bytes_of_half));
            window = window.wrapping_add(2 * REGISTER);
            packed = packed.add(4 * bytes_of_half);
            left -= 4 * bytes_of_half;
            done += 2 * records;
        }
        if left >= bytes_of_half + HALF {
            store(window, packed);
            done += records;
        }
    }
    done
}

/// Packs the packed bytes `range` through a buffer: the end of the first record, and then as many records at a time as a
/// register has room for, or half a register.
///
/// # Safety
///
/// As [`pack`].
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe fn by_buffer(
    all: &Permutation,
    quads: &Quads,
    range: Range<usize>,
    memory: *const u8,
    mut packed: *mut u8,
) {
    let (size, stride) = (all.size(), all.stride());
    let records = match quads.order() {
        Order::Across(_) => quads.records(),
        Order::Halves(_) => quads.records() / 2,
    };
    let masks = quads.masks().each_ref().map(|quads| mask(quads));
    let mut window = memory.wrapping_offset(all.first());
    let (mut from, mut left) = (range.start, range.end - range.start);
    debug_assert!(records * size <= REGISTER && (records == 1 || stride > 0 && stride % 4 == 0));
    // SAFETY: what is loaded is cut to the records that have bytes in the range, which follow one another if there are
    // several; so the caller guarantees their data. The buffer has room for a register or half of one, and `from + bytes` is
    // no more than the packed bytes of the records in it, so these were stored. The pointers to memory wrap, as in `across`.
    unsafe {
        while left > 0 {
            let here = if from > 0 { 1 } else { records };
            let bytes = left.min(here * size - from);
            let parts = records_of(from + bytes, all);
            // Several records in a register follow one another; a single one may span all of it.
            let cut = |mask| {
                if parts == records { mask } else { before(parts * stride.unsigned_abs(), mask) }
            };
            let mut buffer = [MaybeUninit::<u8>::uninit(); REGISTER];
            let place = buffer.as_mut_ptr();
            match quads.order() {
                Order::Across(index) => {
                    let loaded = _mm256_maskload_epi32(window.cast(), cut(masks[0]));
                    let moved = _mm256_permutevar8x32_epi32(loaded, quads_of(index));
                    _mm256_storeu_si256(place.cast(), moved);
                }
                Order::Halves(index) => {
                    let load = |mask, index, window: *const u8| {
                        let mask = _mm256_castsi256_si128(cut(mask));
                        _mm_shuffle_epi8(_mm_maskload_epi32(window.cast(), mask), bytes_of(index))
                    };
                    let first = load(masks[0], &index[0], window);
                    let second = load(masks[1], &index[1], window.wrapping_add(quads.further()));
                    _mm_storeu_si128(place.cast(), _mm_or_si128(first, second));
                }
            }
            any::<Pack, Avx2>(place.cast::<u8>().add(from), packed, bytes);
            window = window.wrapping_offset(stride.wrapping_mul(here.cast_signed()));
            packed = packed.add(bytes);
            (from, left) = (0, left - bytes);
        }
    }
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

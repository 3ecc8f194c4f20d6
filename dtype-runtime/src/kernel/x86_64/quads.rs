//! Records packed by their quads, groups of four bytes, with AVX2.
//!
//! See [`Quads`] for the idea. A store writes whole registers, which have more bytes than the records in them: 32 for 24, say.
//! The excess is overwritten by the next store, as long as that many bytes are left. The *ends* are copied in another way: the
//! last records, for which no more bytes are left, and the rest of the record that a fragment starts in. A caller that knows
//! the records' runs as constants copies the ends itself. For others they go through a buffer, which takes 3 to 5 ns for each
//! register.
//!
//! A masked load reads the quads that its mask selects and no others, and faults for no others: so Intel documents it, AMD's
//! processors do it, and compilers rely on it for masked loads of their own.

use core::arch::x86_64::{
    __m256i, _MM_HINT_T0, _mm_loadl_epi64, _mm_prefetch, _mm256_and_si256, _mm256_cmpgt_epi32,
    _mm256_cvtepi8_epi32, _mm256_cvtepu8_epi32, _mm256_maskload_epi32, _mm256_permutevar8x32_epi32,
    _mm256_set1_epi32, _mm256_setr_epi32, _mm256_storeu_si256,
};
use core::mem::MaybeUninit;
use core::ops::Range;

use super::Avx2;
use crate::kernel::direction::Pack;
use crate::kernel::moves::any;
use crate::kernel::registers::Ends;
use crate::plan::{Permutation, Quads};

/// Bytes of a register, and of a quad.
const REGISTER: usize = size_of::<__m256i>();
const QUAD: usize = 4;

/// Packs the packed bytes `range` of records; the [ends](self) by a routine of the caller, if there is one.
///
/// # Safety
///
/// As [`Registers::permute`](super::Registers::permute) for a direction that packs bytes as they are; the quads must be those
/// of the permutation.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn pack(
    permutation: &Permutation,
    quads: &Quads,
    range: Range<usize>,
    ends: Option<Ends>,
    mut memory: *mut u8,
    mut packed: *mut u8,
) {
    let (size, stride) = (permutation.size(), permutation.stride());
    let (start, mut left) = (range.start, range.end - range.start);
    let bytes_of_all = quads.records() * size;
    let step = stride * quads.records().cast_signed();
    debug_assert!((left == 0 || start < size) && bytes_of_all <= REGISTER);
    // SAFETY: bytes that the caller guarantees: the rest of the first record, whole records, and the rest of the range, each
    // record `stride` bytes after the one before. The records' first byte is `first` bytes from the origin. `ends` requires
    // nothing else. `Quads` says which quads are selected: data of the records in a register. These have no more packed bytes
    // than a register, and as many as a register has are left where it is stored: so the caller guarantees the data of all of
    // them, and the bytes that are written. The pointers to memory wrap, as an origin need not lie in it, nor the gaps of the
    // last record, and prefetching is a hint, whatever the address.
    unsafe {
        let ends = |range: Range<usize>, memory: *mut u8, packed: *mut u8| match ends {
            Some(copy) => copy(memory, packed, range),
            None => by_buffer(permutation, quads, range, memory, packed),
        };
        if start > 0 {
            let bytes = left.min(size - start);
            ends(start..start + bytes, memory, packed);
            memory = memory.wrapping_offset(stride);
            packed = packed.add(bytes);
            left -= bytes;
        }
        let (mask, index) = (mask(quads), index(quads));
        let first = |memory: *const u8| memory.wrapping_offset(permutation.first());
        let prefetch = |memory: *const u8| {
            _mm_prefetch::<_MM_HINT_T0>(first(memory).wrapping_offset(permutation.far()).cast());
        };
        let store = |memory: *const u8, packed: *mut u8| {
            let loaded = _mm256_maskload_epi32(first(memory).cast(), mask);
            _mm256_storeu_si256(packed.cast(), _mm256_permutevar8x32_epi32(loaded, index));
        };
        // Two registers that lie in one line need it prefetched only once.
        let are_far = step.unsigned_abs() > REGISTER;
        while left >= bytes_of_all + REGISTER {
            let second = memory.wrapping_offset(step);
            prefetch(memory);
            store(memory, packed);
            if are_far {
                prefetch(second);
            }
            store(second, packed.add(bytes_of_all));
            memory = second.wrapping_offset(step);
            packed = packed.add(2 * bytes_of_all);
            left -= 2 * bytes_of_all;
        }
        if left >= REGISTER {
            store(memory, packed);
            memory = memory.wrapping_offset(step);
            packed = packed.add(bytes_of_all);
            left -= bytes_of_all;
        }
        if left > 0 {
            ends(0..left, memory, packed);
        }
    }
}

/// The mask that selects the quads.
#[inline]
#[target_feature(enable = "avx2")]
fn mask(quads: &Quads) -> __m256i {
    // SAFETY: the array has the 8 bytes that are loaded.
    unsafe { _mm256_cvtepi8_epi32(_mm_loadl_epi64(quads.mask().as_ptr().cast())) }
}

/// The register whose 32-bit numbers say which quads go to its place.
#[inline]
#[target_feature(enable = "avx2")]
fn index(quads: &Quads) -> __m256i {
    // SAFETY: the array has the 8 bytes that are loaded.
    unsafe { _mm256_cvtepu8_epi32(_mm_loadl_epi64(quads.index().as_ptr().cast())) }
}

/// Packs the packed bytes `range` through a buffer, a register at a time.
///
/// # Safety
///
/// As [`pack`].
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe fn by_buffer(
    permutation: &Permutation,
    quads: &Quads,
    range: Range<usize>,
    memory: *const u8,
    mut packed: *mut u8,
) {
    let (records, stride) = (quads.records(), permutation.stride());
    let (mut window, (mask, index)) =
        (memory.wrapping_offset(permutation.first()), (mask(quads), index(quads)));
    let (mut from, mut left) = (range.start, range.end - range.start);
    // SAFETY: what is loaded is cut to the records that have bytes in the range, which follow one another if there are several;
    // so the caller guarantees their data. The buffer has room for a register, and `from + bytes` is no more than the packed
    // bytes of the records in it, so these were stored. The pointers to memory wrap, as in `pack`.
    unsafe {
        while left > 0 {
            let bytes = left.min(records * permutation.size() - from);
            let parts = records_of(from + bytes, permutation);
            // Several records in a register follow one another; a single one may span all of it.
            let mask =
                if parts < records { before(parts * stride.unsigned_abs(), mask) } else { mask };
            let mut buffer = [MaybeUninit::<u8>::uninit(); REGISTER];
            let place = buffer.as_mut_ptr();
            let loaded = _mm256_maskload_epi32(window.cast(), mask);
            _mm256_storeu_si256(place.cast(), _mm256_permutevar8x32_epi32(loaded, index));
            any::<Pack, Avx2>(place.cast::<u8>().add(from), packed, bytes);
            window = window.wrapping_offset(stride.wrapping_mul(records.cast_signed()));
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
fn records_of(bytes: usize, permutation: &Permutation) -> usize {
    permutation.record_of((bytes + permutation.size() - 1) as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::ByteMap;

    #[test]
    fn a_part_of_a_register_is_whole_records() {
        let mut map = ByteMap::new();
        assert!(map.run(0, 4) && map.run(8, 8));
        let all = Permutation::new(&map, 16).unwrap();
        assert_eq!([1, 12, 13, 24, 25].map(|bytes| records_of(bytes, &all)), [1, 1, 2, 2, 3]);
        if !std::is_x86_feature_detected!("avx2") {
            return println!("left out: no AVX2 in this machine");
        }
        let selected = |bytes| {
            // SAFETY: the machine has the instructions, and a register is eight numbers.
            unsafe {
                let quads = before(bytes, _mm256_set1_epi32(-1));
                core::mem::transmute::<__m256i, [i32; 8]>(quads)
            }
        };
        assert_eq!(selected(8), [-1, -1, 0, 0, 0, 0, 0, 0]);
        assert_eq!([selected(0), selected(32)], [[0; 8], [-1; 8]]);
    }
}

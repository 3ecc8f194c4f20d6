//! Permutations of bytes with AVX-512 VBMI.
//!
//! A period of records is loaded with a mask that leaves the gaps out, permuted in a register, and stored.
//!
//! Take records of 16 bytes with 13 bytes of data each: a period is four records, 52 packed bytes. The first store
//! writes 64 bytes to positions 0 to 63, and the last 12 of these are excess. The second store writes positions 52
//! to 115, and so overwrites the excess of the first. That is sound as long as at least `spare` records follow,
//! here one: their packed bytes lie where the excess goes. The last stores are masked. Unpacking is the mirror
//! image: whole vectors of packed bytes are loaded as long as `spare` records follow, and the stores to memory are
//! masked.
//!
//! On arrays larger than the caches, masked accesses are slow on some processors. On AMD's Zen 5 they take one and a
//! half times as long as copies of single fields, which the processor prefetches by itself; with every line of the
//! memory prefetched here, they take half of that.

use core::arch::x86_64::{
    __m512i, __mmask64, _MM_HINT_T0, _bzhi_u64, _mm_prefetch, _mm512_cmple_epu8_mask,
    _mm512_loadu_si512, _mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8, _mm512_permutex2var_epi8,
    _mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_setzero_si512, _mm512_storeu_si512,
    _mm512_sub_epi8,
};

use core::ops::Range;

use crate::plan::Permutation;

/// Bytes of a register.
const WIDTH: usize = size_of::<__m512i>();

/// How many bytes ahead memory is prefetched, and at least how many steps.
const AHEAD: usize = 2048;
const STEPS_AHEAD: usize = 4;

/// The properties of a permutation that the loops need, with `V` vectors of memory at a time.
struct Steps<const V: usize> {
    /// Which bytes of the window are data.
    data: [__mmask64; V],
    /// Records in a period.
    records: usize,
    /// Packed bytes of a record.
    size: usize,
    /// Bytes of memory from one record to the next.
    stride: isize,
    /// Bytes from one period to the next, in memory and packed.
    memory: isize,
    packed: usize,
    /// Bytes from the window to the memory that is prefetched.
    ahead: isize,
    /// How many records must follow a period so that the excess of its vector lies in their packed bytes.
    spare: usize,
}

impl<const V: usize> Steps<V> {
    #[inline(always)]
    fn of(all: &Permutation) -> Self {
        let (records, size, stride) = (all.records(), all.size(), all.stride());
        let (memory, packed) = (stride * records.cast_signed(), size * records);
        let ahead = STEPS_AHEAD.max(AHEAD / memory.unsigned_abs().max(1));
        Self {
            data: core::array::from_fn(|vector| all.data()[vector]),
            records,
            size,
            stride,
            memory,
            packed,
            ahead: memory.wrapping_mul(ahead.cast_signed()),
            spare: (WIDTH - packed).div_ceil(size),
        }
    }

    /// Prefetches the memory that lies `ahead` bytes after a window. It need not exist.
    #[inline(always)]
    fn prefetch(&self, window: *const u8) {
        for vector in 0..V {
            let place = window.wrapping_offset(self.ahead).wrapping_add(vector * WIDTH);
            // SAFETY: a hint, whatever the address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
        }
    }

    /// The data of the first `records` records of a period, in memory and packed.
    #[inline]
    #[target_feature(enable = "bmi2")]
    #[expect(clippy::cast_possible_truncation, reason = "bytes of a vector")]
    fn part(&self, records: usize) -> ([__mmask64; V], __mmask64) {
        let mut data = self.data;
        if records < self.records {
            // There are several in a period, so they lie one after another in a single vector.
            data[0] = _bzhi_u64(data[0], (records * self.stride.unsigned_abs()) as u32);
        }
        (data, _bzhi_u64(!0, (records * self.size) as u32))
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn vector(bytes: &[u8; WIDTH]) -> __m512i {
    // SAFETY: the array has the 64 bytes that are loaded.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// The packed bytes of the records whose data the masks select.
///
/// # Safety
///
/// The window's bytes that the masks select must be readable.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
unsafe fn gather<const V: usize>(
    index: __m512i,
    data: [__mmask64; V],
    window: *const u8,
) -> __m512i {
    // SAFETY: a masked load reads the bytes that its mask selects and no others.
    unsafe {
        let first = _mm512_maskz_loadu_epi8(data[0], window.cast());
        if V == 1 {
            return _mm512_permutexvar_epi8(index, first);
        }
        let second = _mm512_maskz_loadu_epi8(data[1], window.wrapping_add(WIDTH).cast());
        _mm512_permutex2var_epi8(first, index, second)
    }
}

/// Writes packed bytes to the data that the masks select.
///
/// # Safety
///
/// The window's bytes that the masks select must be writable.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
unsafe fn scatter<const V: usize>(
    index: [__m512i; V],
    data: [__mmask64; V],
    packed: __m512i,
    window: *mut u8,
) {
    for vector in 0..V {
        // SAFETY: a masked store writes the bytes that its mask selects and no others.
        unsafe {
            let place = window.wrapping_add(vector * WIDTH).cast();
            let bytes = _mm512_permutexvar_epi8(index[vector], packed);
            _mm512_mask_storeu_epi8(place, data[vector], bytes);
        }
    }
}

/// Packs `count` records, `V` vectors of memory at a time.
///
/// # Safety
///
/// As [`Registers::permute`](super::Registers::permute) for `Pack`; `V` must be the vectors that the permutation has.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi2")]
pub(super) unsafe fn pack<const V: usize>(
    all: &Permutation,
    count: usize,
    memory: *const u8,
    mut packed: *mut u8,
) {
    let steps = Steps::<V>::of(all);
    let index = vector(all.gather());
    let mut window = memory.wrapping_offset(all.first());
    let mut left = count;
    // SAFETY: each step gathers the data of records that the caller guarantees, and stores their packed bytes. It
    // stores a whole vector only if at least `spare` records follow: their packed bytes lie where the excess goes,
    // and are stored later. Otherwise it stores exactly the packed bytes. The pointers to memory wrap, because
    // neither the origin nor the gaps need to lie in it.
    unsafe {
        while left >= 2 * steps.records + steps.spare {
            steps.prefetch(window);
            _mm512_storeu_si512(packed.cast(), gather(index, steps.data, window));
            let next = window.wrapping_offset(steps.memory);
            steps.prefetch(next);
            _mm512_storeu_si512(packed.add(steps.packed).cast(), gather(index, steps.data, next));
            window = next.wrapping_offset(steps.memory);
            packed = packed.add(2 * steps.packed);
            left -= 2 * steps.records;
        }
        if left >= steps.records + steps.spare {
            _mm512_storeu_si512(packed.cast(), gather(index, steps.data, window));
            window = window.wrapping_offset(steps.memory);
            packed = packed.add(steps.packed);
            left -= steps.records;
        }
        while left > 0 {
            let records = left.min(steps.records);
            let (data, mask) = steps.part(records);
            _mm512_mask_storeu_epi8(packed.cast(), mask, gather(index, data, window));
            window = window.wrapping_offset(steps.memory);
            packed = packed.add(records * steps.size);
            left -= records;
        }
    }
}

/// Unpacks `count` records, `V` vectors of memory at a time.
///
/// # Safety
///
/// As [`Registers::permute`](super::Registers::permute) for `Unpack`; `V` must be the vectors that the permutation has.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi2")]
pub(super) unsafe fn unpack<const V: usize>(
    all: &Permutation,
    count: usize,
    memory: *mut u8,
    mut packed: *const u8,
) {
    let steps = Steps::<V>::of(all);
    let mut index = [_mm512_setzero_si512(); V];
    for (index, bytes) in index.iter_mut().zip(all.scatter()) {
        *index = vector(bytes);
    }
    let mut window = memory.wrapping_offset(all.first());
    let mut left = count;
    // SAFETY: each step loads the packed bytes of records that the caller guarantees. It loads a whole vector only
    // if at least `spare` records follow: the excess is part of their packed bytes. Otherwise it loads exactly the
    // packed bytes. It scatters them to the data of the records. The pointers to memory wrap, as in `pack`.
    unsafe {
        while left >= 2 * steps.records + steps.spare {
            steps.prefetch(window);
            scatter(index, steps.data, _mm512_loadu_si512(packed.cast()), window);
            let next = window.wrapping_offset(steps.memory);
            steps.prefetch(next);
            let bytes = _mm512_loadu_si512(packed.add(steps.packed).cast());
            scatter(index, steps.data, bytes, next);
            window = next.wrapping_offset(steps.memory);
            packed = packed.add(2 * steps.packed);
            left -= 2 * steps.records;
        }
        while left > 0 {
            let records = left.min(steps.records);
            let (data, mask) = steps.part(records);
            scatter(index, data, _mm512_maskz_loadu_epi8(mask, packed.cast()), window);
            window = window.wrapping_offset(steps.memory);
            packed = packed.add(records * steps.size);
            left -= records;
        }
    }
}

/// Copies the data of `count` records to a memory of the same layout, `V` vectors at a time.
///
/// # Safety
///
/// As [`Registers::permute`](super::Registers::permute) for `Move`; `V` must be the vectors that the permutation has.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi2")]
pub(super) unsafe fn copy<const V: usize>(
    all: &Permutation,
    count: usize,
    from: *const u8,
    to: *mut u8,
) {
    let steps = Steps::<V>::of(all);
    let mut from = from.wrapping_offset(all.first());
    let mut to = to.wrapping_offset(all.first());
    let mut left = count;
    while left > 0 {
        let records = left.min(steps.records);
        let (data, _) = steps.part(records);
        steps.prefetch(from);
        steps.prefetch(to);
        for (vector, mask) in data.into_iter().enumerate() {
            let (from, to) = (from.wrapping_add(vector * WIDTH), to.wrapping_add(vector * WIDTH));
            // SAFETY: the data of records that the caller guarantees; a masked load and a masked store access the
            // bytes that their mask selects and no others.
            unsafe {
                let bytes = _mm512_maskz_loadu_epi8(mask, from.cast());
                _mm512_mask_storeu_epi8(to.cast(), mask, bytes);
            }
        }
        from = from.wrapping_offset(steps.memory);
        to = to.wrapping_offset(steps.memory);
        left -= records;
    }
}

/// The mask of the first `bytes` bytes of a vector.
#[inline]
#[target_feature(enable = "bmi2")]
#[expect(clippy::cast_possible_truncation, reason = "bytes of a vector")]
fn first(bytes: usize) -> __mmask64 {
    _bzhi_u64(!0, bytes as u32)
}

/// Packs the packed bytes `part` of one record.
///
/// # Safety
///
/// As [`Registers::permute_part`](super::Registers::permute_part) for `Pack`; `V` must be the vectors that the
/// permutation has.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi2")]
pub(super) unsafe fn pack_part<const V: usize>(
    all: &Permutation,
    part: Range<usize>,
    memory: *const u8,
    packed: *mut u8,
) {
    debug_assert!(!part.is_empty() && part.end <= all.size(), "{part:?} of {all:?}");
    let (data, _) = Steps::<V>::of(all).part(1);
    let (from, mask) = (part.start, first(part.end - part.start));
    // SAFETY: the load of the index ends with the index of a packed byte of the record. As the caller guarantees,
    // the data of the record are readable, and the bytes of the part are writable.
    unsafe {
        let index = _mm512_maskz_loadu_epi8(mask, all.gather().as_ptr().add(from).cast());
        let bytes = gather(index, data, memory.wrapping_offset(all.first()));
        _mm512_mask_storeu_epi8(packed.cast(), mask, bytes);
    }
}

/// Unpacks the packed bytes `part` of one record, and writes no others.
///
/// # Safety
///
/// As [`Registers::permute_part`](super::Registers::permute_part) for `Unpack`; `V` must be the vectors that the
/// permutation has.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi2")]
#[expect(clippy::cast_possible_truncation, reason = "bytes of a vector")]
pub(super) unsafe fn unpack_part<const V: usize>(
    all: &Permutation,
    part: Range<usize>,
    memory: *mut u8,
    packed: *const u8,
) {
    debug_assert!(!part.is_empty() && part.end <= all.size(), "{part:?} of {all:?}");
    let (data, _) = Steps::<V>::of(all).part(1);
    let len = part.end - part.start;
    let (before, number) =
        (_mm512_set1_epi8(part.start as i8), _mm512_set1_epi8((len as i8).wrapping_sub(1)));
    // SAFETY: as the caller guarantees, the bytes of the part are readable, and the corresponding data bytes of
    // the record are writable. The masks select only these.
    unsafe {
        let bytes = _mm512_maskz_loadu_epi8(first(len), packed.cast());
        let (mut index, mut data) = ([_mm512_setzero_si512(); V], data);
        for vector_number in 0..V {
            let places = vector(&all.scatter()[vector_number]);
            // An index before the part wraps, and becomes too large.
            let places = _mm512_sub_epi8(places, before);
            data[vector_number] &= _mm512_cmple_epu8_mask(places, number);
            index[vector_number] = places;
        }
        scatter(index, data, bytes, memory.wrapping_offset(all.first()));
    }
}

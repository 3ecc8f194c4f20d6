//! Permutations of bytes with AVX-512 VBMI.
//!
//! A period of records is loaded with a mask that leaves the gaps out, permuted in a register, and stored.
//! What is packed is stored in whole vectors, the excess of which the next store overwrites, as long as
//! the bytes of records that follow are there to take it; the last stores are masked. Unpacking is the
//! mirror image: whole vectors of packed bytes are loaded as long as there are as many, and the stores to
//! memory are masked.
//!
//! Of arrays larger than the caches, masked accesses are slow on some processors: on AMD's Zen 5 they take
//! one and a half times as long as copies of single fields, which the processor fetches ahead of, and half
//! of that where the memory is prefetched, every line of it.

use core::arch::x86_64::{
    __m512i, __mmask64, _MM_HINT_T0, _bzhi_u64, _mm_prefetch, _mm512_cmple_epu8_mask,
    _mm512_loadu_si512, _mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8, _mm512_permutex2var_epi8,
    _mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_setzero_si512, _mm512_storeu_si512,
    _mm512_sub_epi8,
};

use core::ops::Range;

use crate::commit::Permutation;

/// Bytes of a register.
const WIDTH: usize = size_of::<__m512i>();

/// How many bytes of memory ahead are prefetched, and how many steps at least.
const AHEAD: usize = 2048;
const STEPS_AHEAD: usize = 4;

/// What the loops need to know of a permutation, `V` vectors of memory at a time.
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
    /// From the window to the place in memory that is prefetched.
    ahead: isize,
    /// A period that is followed by so many records is followed by the excess of its vector.
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

    /// Prefetches the memory that lies so far ahead of a window. It need not exist.
    #[inline(always)]
    fn prefetch(&self, window: *const u8) {
        for vector in 0..V {
            let place = window.wrapping_offset(self.ahead).wrapping_add(vector * WIDTH);
            // SAFETY: a hint, whatever the address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
        }
    }

    /// The data of the first so many records of a period, in memory and packed.
    #[inline]
    #[target_feature(enable = "bmi2")]
    #[expect(clippy::cast_possible_truncation, reason = "bytes of a vector")]
    fn part(&self, records: usize) -> ([__mmask64; V], __mmask64) {
        let mut data = self.data;
        if records < self.records {
            // There are several in a period, so they lie one behind the other in a single vector.
            data[0] = _bzhi_u64(data[0], (records * self.stride.unsigned_abs()) as u32);
        }
        (data, _bzhi_u64(!0, (records * self.size) as u32))
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn vector(bytes: &[u8; WIDTH]) -> __m512i {
    // SAFETY: 64 bytes.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// The packed bytes of the records whose data the masks name.
///
/// # Safety
///
/// The window's bytes that are named must be readable.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
unsafe fn gather<const V: usize>(
    index: __m512i,
    data: [__mmask64; V],
    window: *const u8,
) -> __m512i {
    // SAFETY: a masked load reads the bytes that its mask names and no others.
    unsafe {
        let first = _mm512_maskz_loadu_epi8(data[0], window.cast());
        if V == 1 {
            return _mm512_permutexvar_epi8(index, first);
        }
        let second = _mm512_maskz_loadu_epi8(data[1], window.wrapping_add(WIDTH).cast());
        _mm512_permutex2var_epi8(first, index, second)
    }
}

/// Writes packed bytes to the data that the masks name.
///
/// # Safety
///
/// The window's bytes that are named must be writable.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
unsafe fn scatter<const V: usize>(
    index: [__m512i; V],
    data: [__mmask64; V],
    packed: __m512i,
    window: *mut u8,
) {
    for vector in 0..V {
        // SAFETY: a masked store writes the bytes that its mask names and no others.
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
/// As [`super::pack`], on a processor that has the instructions; `V` must be as many as the permutation has.
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
    // SAFETY: each step gathers the data of records that the caller vouches for, and stores their packed
    // bytes: a whole vector where at least `spare` records follow, whose bytes are stored later and lie
    // where the excess goes, and else no more than these bytes. The pointers to memory wrap, as neither
    // the origin nor the gaps need lie in it.
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
/// As [`super::unpack`], on a processor that has the instructions; `V` must be as many as the permutation
/// has.
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
    // SAFETY: each step loads the packed bytes of records that the caller vouches for: a whole vector where
    // at least `spare` records follow, of whose bytes the excess is, and else no more than these bytes. It
    // scatters them to the data of the records. The pointers to memory wrap, as in `pack`.
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
/// As [`super::copy`], on a processor that has the instructions; `V` must be as many as the permutation has.
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
            // SAFETY: the data of records that the caller vouches for; a masked load and a masked store
            // access the bytes that their mask names and no others.
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

/// Which bytes, of so many in a vector, are there.
#[inline]
#[target_feature(enable = "bmi2")]
#[expect(clippy::cast_possible_truncation, reason = "bytes of a vector")]
fn first(bytes: usize) -> __mmask64 {
    _bzhi_u64(!0, bytes as u32)
}

/// Packs some bytes of one record, those of `part`.
///
/// # Safety
///
/// As [`super::pack_part`], on a processor that has the instructions; `V` must be as many vectors as the
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
    // SAFETY: the load of the index ends with that of a packed byte of the record; the data of the record are
    // readable, and as many bytes writable as the part has, by the caller's word.
    unsafe {
        let index = _mm512_maskz_loadu_epi8(mask, all.gather().as_ptr().add(from).cast());
        let bytes = gather(index, data, memory.wrapping_offset(all.first()));
        _mm512_mask_storeu_epi8(packed.cast(), mask, bytes);
    }
}

/// Unpacks some bytes of one record, those of `part`, and writes no others.
///
/// # Safety
///
/// As [`super::unpack_part`], on a processor that has the instructions; `V` must be as many vectors as the
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
    // SAFETY: as many bytes are readable as the part has, and those data of the record writable whose packed bytes
    // they are, by the caller's word.
    unsafe {
        let bytes = _mm512_maskz_loadu_epi8(first(len), packed.cast());
        let (mut index, mut data) = ([_mm512_setzero_si512(); V], data);
        for vector_number in 0..V {
            let places = vector(&all.scatter()[vector_number]);
            // What is before the part wraps, and is too large.
            let places = _mm512_sub_epi8(places, before);
            data[vector_number] &= _mm512_cmple_epu8_mask(places, number);
            index[vector_number] = places;
        }
        scatter(index, data, bytes, memory.wrapping_offset(all.first()));
    }
}

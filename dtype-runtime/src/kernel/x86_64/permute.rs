//! Permutes bytes of records with AVX-512 VBMI.
//!
//! A period of records is loaded with a mask that leaves the gaps out, permuted in a register, and stored.
//!
//! Take records of 16 bytes with 13 bytes of data each: a period is four records, 52 packed bytes. The first store writes 64
//! bytes to positions 0 to 63; the last 12 of them are excess. The second store writes positions 52 to 115, and so overwrites
//! the excess of the first. That is sound as long as at least 64 bytes are still to be written. The last stores are masked.
//! Unpacking is the mirror image: whole vectors of packed bytes are loaded as long as 64 of them are left, and the stores to
//! memory are masked.
//!
//! A fragment may begin and end anywhere in a record. If it begins at byte 5, the kernel loads the index of the first vector
//! from entry 5 on, which leaves 47 bytes of the period. To pack a part of a period, the kernel loads all data of the records
//! that the part touches. To unpack, it must not store more than the part; one comparison selects the bytes of memory whose
//! index entries lie in the part.
//!
//! If windows are adjacent, an array is unpacked from the start of a cache line on: the records before that line are copied as
//! a part of a period. For an array that does not start at a line, unpacking then takes 7 to 15 % less time on AMD's
//! processors, and up to 35 % less on Intel's. Packing gains nothing, because fewer of its stores to the packed bytes are then
//! aligned.
//!
//! A mask also keeps the last window of an array from reading or writing what comes after it. If a page that is not mapped, or
//! not yet, comes next, the processor takes long to find that the mask leaves out all bytes of the page: on Zen 5, a call takes
//! 160 ns longer. This happens with arrays that end less than 64 bytes before such a page, for example at the end of the heap.
//!
//! Memory is prefetched a few steps ahead. On processors that do not prefetch masked accesses by themselves, it is prefetched
//! further ahead: see [`FAR`].

use core::arch::x86_64::{
    __m512i, __mmask64, _MM_HINT_T0, _bzhi_u64, _mm_prefetch, _mm256_storeu_si256,
    _mm512_castsi512_si256, _mm512_cmple_epu8_mask, _mm512_loadu_si512, _mm512_mask_storeu_epi8,
    _mm512_maskz_loadu_epi8, _mm512_permutex2var_epi8, _mm512_permutexvar_epi8, _mm512_set1_epi8,
    _mm512_setzero_si512, _mm512_storeu_si512, _mm512_sub_epi8,
};

use core::ops::Range;

use super::prefetch::FAR;
use super::{WIDTH, first, vector};
use crate::plan::Permutation;

/// With fewer windows than this, aligning them costs more than it gains: if a step for part of a period is needed anyway, and
/// if it is not.
const FEWEST_ALIGNED: [usize; 2] = [16, 64];

/// The properties of a permutation that the loops need, for `V` vectors of memory at a time.
struct Steps<const V: usize> {
    /// Which bytes of the window are data.
    data: [__mmask64; V],
    /// Bytes from one period to the next, in memory and packed.
    memory: isize,
    packed: usize,
    /// Bytes from the window to the memory that is prefetched.
    ahead: isize,
}

/// The same for two steps at a time.
///
/// The loops over two steps count with the pointer to the packed bytes alone. With one vector of memory their code has 63
/// bytes, and so fits a cache line. A few bytes more, starting at a line, make them take 1.5 times as long on Zen 5.
struct Two {
    memory: isize,
    packed: usize,
    /// Bytes from the first window to the memory that is prefetched for the second.
    ahead: isize,
    /// How many packed bytes must be left: those of the first step, and those that the second step touches.
    reserve: usize,
}

impl<const V: usize> Steps<V> {
    #[inline(always)]
    fn new(permutation: &Permutation) -> Self {
        let (memory, packed) = permutation.period();
        let ahead = if FAR.is_needed() {
            permutation.far()
        } else {
            memory.wrapping_mul(Permutation::NEAR)
        };
        Self {
            data: core::array::from_fn(|vector| permutation.data()[vector]),
            memory,
            packed,
            ahead,
        }
    }

    /// The number of records in a first step, if there is one: a step that scatters from byte `start` of its first record on,
    /// with `left` packed bytes remaining. If `start` is not 0, there is one. It is a whole period, or fewer records if later
    /// windows then start where cache lines do, because a store that crosses lines takes twice as long. For many windows,
    /// alignment alone is worth such a step. Without one, 0.
    #[inline(always)]
    fn first_records(
        &self,
        permutation: &Permutation,
        window: *const u8,
        start: usize,
        left: usize,
    ) -> usize {
        // Adjacent windows: then the stride divides the width.
        if self.memory == WIDTH.cast_signed()
            && left >= FEWEST_ALIGNED[usize::from(start == 0)] * self.packed
        {
            let (stride, past) = (permutation.stride().unsigned_abs(), window.addr() % WIDTH);
            // Zen 4 stores a register as two halves, and does not gain if windows start in the middle of a line; other
            // processors do.
            if past > 0 && past & (stride - 1) == 0 {
                return (WIDTH - past) >> stride.trailing_zeros();
            }
        }
        if start > 0 { permutation.records() } else { 0 }
    }

    /// The data of the records that the first `bytes` packed bytes of a period belong to.
    #[inline]
    #[target_feature(enable = "bmi2")]
    #[expect(clippy::cast_possible_truncation, reason = "bytes of a vector")]
    fn touched(&self, all: &Permutation, bytes: usize) -> [__mmask64; V] {
        let mut data = self.data;
        if bytes >= self.packed {
            return data;
        }
        // In 32 bits, because the division is faster. Several records in a period lie one after another in a single vector;
        // with one record, nothing is cut off.
        let records = (bytes as u32).div_ceil(all.size() as u32);
        if all.records() > 1 {
            data[0] = _bzhi_u64(data[0], records * all.stride().unsigned_abs() as u32);
        }
        data
    }

    #[inline(always)]
    fn two(&self) -> Two {
        Two {
            memory: self.memory.wrapping_mul(2),
            packed: 2 * self.packed,
            ahead: self.ahead.wrapping_add(self.memory),
            reserve: self.packed + WIDTH,
        }
    }

    /// Prefetches the memory `ahead` bytes after a window. It need not be mapped.
    #[inline(always)]
    fn prefetch(window: *const u8, ahead: isize) {
        let mut place = window.wrapping_offset(ahead);
        for _ in 0..V {
            // SAFETY: a hint, whatever the address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
            place = place.wrapping_add(WIDTH);
        }
    }
}

/// How to scatter the packed bytes `from..from + len` of a period to memory: the index of the packed byte for each byte of
/// memory, and the mask of the bytes to write. The records must not overlap, and `len` must be at least 1.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
#[expect(clippy::cast_possible_truncation, reason = "bytes of a vector")]
fn part<const V: usize>(
    all: &Permutation,
    from: usize,
    len: usize,
) -> ([__m512i; V], [__mmask64; V]) {
    let (before, last) = (_mm512_set1_epi8(from as i8), _mm512_set1_epi8((len - 1) as i8));
    let (mut index, mut data) = ([_mm512_setzero_si512(); V], [0; V]);
    for number in 0..V {
        // For a byte before the part, the difference wraps to a number that is too large.
        index[number] = _mm512_sub_epi8(vector(&all.scatter()[number]), before);
        data[number] = all.data()[number] & _mm512_cmple_epu8_mask(index[number], last);
    }
    (index, data)
}

/// The packed bytes of the masked data of a window.
///
/// # Safety
///
/// The bytes of the window that the masks select must be readable.
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

/// Writes packed bytes to the masked data of a window.
///
/// # Safety
///
/// The bytes of the window that the masks select must be writable.
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

/// The index of the packed byte for each byte of memory.
#[inline]
#[target_feature(enable = "avx512f")]
fn scatter_index<const V: usize>(all: &Permutation) -> [__m512i; V] {
    let mut index = [_mm512_setzero_si512(); V];
    for (index, bytes) in index.iter_mut().zip(all.scatter()) {
        *index = vector(bytes);
    }
    index
}

/// The masks of the first record's data.
#[inline(always)]
fn data_of_one<const V: usize>(all: &Permutation) -> [__mmask64; V] {
    core::array::from_fn(|vector| all.data_of_one()[vector])
}

/// Packs a single record.
///
/// # Safety
///
/// The data of the record must be readable, and as many bytes from `packed` on writable. `V` must be the vectors that the
/// permutation has.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi2")]
pub(super) unsafe fn pack_one<const V: usize>(
    permutation: &Permutation,
    memory: *const u8,
    packed: *mut u8,
) {
    // SAFETY: the caller guarantees the data and the packed bytes of the record.
    unsafe {
        let window = memory.wrapping_offset(permutation.first());
        let bytes = gather(vector(permutation.gather()), data_of_one::<V>(permutation), window);
        _mm512_mask_storeu_epi8(packed.cast(), first(permutation.size()), bytes);
    }
}

/// Unpacks a single record.
///
/// # Safety
///
/// The data of the record must be writable, and as many bytes from `packed` on readable. `V` must be the vectors that the
/// permutation has.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi2")]
pub(super) unsafe fn unpack_one<const V: usize>(
    permutation: &Permutation,
    memory: *mut u8,
    packed: *const u8,
) {
    // SAFETY: the caller guarantees the packed bytes and the data of the record.
    unsafe {
        let bytes = _mm512_maskz_loadu_epi8(first(permutation.size()), packed.cast());
        let window = memory.wrapping_offset(permutation.first());
        scatter(scatter_index(permutation), data_of_one::<V>(permutation), bytes, window);
    }
}

/// Stores the first `W` bytes, 32 or 64.
///
/// # Safety
///
/// `to` must be valid for writing them.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn store<const W: usize>(to: *mut u8, bytes: __m512i) {
    // SAFETY: the caller guarantees the bytes.
    unsafe {
        if W == 32 {
            _mm256_storeu_si256(to.cast(), _mm512_castsi512_si256(bytes));
        } else {
            _mm512_storeu_si512(to.cast(), bytes);
        }
    }
}

/// Packs the packed bytes `range` of records, `V` vectors of memory at a time. A step stores `W` bytes: 32 if a period has no
/// more, because fewer of these stores cross a cache line, or 64.
///
/// # Safety
///
/// What [`Registers::permute`](super::Registers::permute) requires for `Pack`, of a range that is not empty; `V` must be the vectors that the permutation has, and a
/// period must have at most `W` packed bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi2")]
pub(super) unsafe fn pack<const V: usize, const W: usize>(
    permutation: &Permutation,
    range: Range<usize>,
    memory: *const u8,
    mut packed: *mut u8,
) {
    let steps = Steps::<V>::new(permutation);
    let index = vector(permutation.gather());
    let mut window = memory.wrapping_offset(permutation.first());
    let mut left = range.end - range.start;
    // SAFETY: each step gathers data of records in the range, and stores their packed bytes and excess, which the next step
    // overwrites. In the loop over two windows, `reserve` bytes are left, so both stores of whole vectors end in the range. All
    // other stores are masked and end with the step or with the range. `range` starts in the first record, so the load of its
    // index starts in the index, and it ends there, because the step ends with the period. The pointers to memory wrap, because
    // neither the origin nor the gaps need to lie in it.
    unsafe {
        if range.start > 0 {
            let bytes = left.min(steps.packed - range.start);
            Steps::<V>::prefetch(window, steps.ahead);
            let data = steps.touched(permutation, range.start + bytes);
            let index = permutation.gather().as_ptr().add(range.start);
            let index = _mm512_maskz_loadu_epi8(first(bytes), index.cast());
            _mm512_mask_storeu_epi8(packed.cast(), first(bytes), gather(index, data, window));
            window = window.wrapping_offset(steps.memory);
            packed = packed.add(bytes);
            left -= bytes;
        }
        let Two { memory, packed: bytes, ahead, reserve } = steps.two();
        if left >= reserve {
            let end = packed.add(left);
            let last = end.sub(reserve);
            while packed <= last {
                Steps::<V>::prefetch(window, steps.ahead);
                store::<W>(packed, gather(index, steps.data, window));
                Steps::<V>::prefetch(window, ahead);
                let next = window.wrapping_offset(steps.memory);
                store::<W>(packed.add(steps.packed), gather(index, steps.data, next));
                window = window.wrapping_offset(memory);
                packed = packed.add(bytes);
            }
            left = end.addr() - packed.addr();
        }
        while left >= steps.packed {
            Steps::<V>::prefetch(window, steps.ahead);
            _mm512_mask_storeu_epi8(packed.cast(), first(left), gather(index, steps.data, window));
            window = window.wrapping_offset(steps.memory);
            packed = packed.add(steps.packed);
            left -= steps.packed;
        }
        if left > 0 {
            Steps::<V>::prefetch(window, steps.ahead);
            let data = steps.touched(permutation, left);
            _mm512_mask_storeu_epi8(packed.cast(), first(left), gather(index, data, window));
        }
    }
}

/// Unpacks the packed bytes `range` of records, `V` vectors of memory at a time.
///
/// # Safety
///
/// What [`Registers::permute`](super::Registers::permute) requires for `Unpack`, of a range that is not empty; `V` must be the vectors that the permutation has.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi2")]
pub(super) unsafe fn unpack<const V: usize>(
    permutation: &Permutation,
    range: Range<usize>,
    memory: *mut u8,
    mut packed: *const u8,
) {
    let steps = Steps::<V>::new(permutation);
    let index = scatter_index::<V>(permutation);
    let mut window = memory.wrapping_offset(permutation.first());
    let mut left = range.end - range.start;
    // SAFETY: each step loads packed bytes of the range. In the loop over two windows, `reserve` bytes are left, so both loads of
    // whole vectors end in the range. All other loads are masked and end with the step or with the range. It scatters the bytes
    // of the step to their data bytes, and the masks leave out all other memory. The first step ends with a record, no later
    // than the first period does, or with the range, which starts in the first record; so each later step starts with a record.
    // The pointers to memory wrap, as in `pack`.
    unsafe {
        let records = steps.first_records(permutation, window, range.start, left);
        if records > 0 {
            let bytes = left.min(records * permutation.size() - range.start);
            Steps::<V>::prefetch(window, steps.ahead);
            let (index, data) = part::<V>(permutation, range.start, bytes);
            scatter(index, data, _mm512_maskz_loadu_epi8(first(bytes), packed.cast()), window);
            window = window.wrapping_offset(permutation.stride() * records.cast_signed());
            packed = packed.add(bytes);
            left -= bytes;
        }
        let Two { memory, packed: bytes, ahead, reserve } = steps.two();
        if left >= reserve {
            let end = packed.add(left);
            let last = end.sub(reserve);
            while packed <= last {
                Steps::<V>::prefetch(window, steps.ahead);
                scatter(index, steps.data, _mm512_loadu_si512(packed.cast()), window);
                Steps::<V>::prefetch(window, ahead);
                let second = _mm512_loadu_si512(packed.add(steps.packed).cast());
                scatter(index, steps.data, second, window.wrapping_offset(steps.memory));
                window = window.wrapping_offset(memory);
                packed = packed.add(bytes);
            }
            left = end.addr() - packed.addr();
        }
        while left >= steps.packed {
            Steps::<V>::prefetch(window, steps.ahead);
            let bytes = _mm512_maskz_loadu_epi8(first(left), packed.cast());
            scatter(index, steps.data, bytes, window);
            window = window.wrapping_offset(steps.memory);
            packed = packed.add(steps.packed);
            left -= steps.packed;
        }
        if left > 0 {
            Steps::<V>::prefetch(window, steps.ahead);
            let (index, data) = part::<V>(permutation, 0, left);
            scatter(index, data, _mm512_maskz_loadu_epi8(first(left), packed.cast()), window);
        }
    }
}

/// Copies the data of the packed bytes `range` of records to a memory of the same layout, `V` vectors at a time.
///
/// # Safety
///
/// What [`Registers::permute`](super::Registers::permute) requires for `Move`, of a range that is not empty; `V` must be the vectors that the permutation has.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi2")]
pub(super) unsafe fn copy<const V: usize>(
    permutation: &Permutation,
    range: Range<usize>,
    from: *const u8,
    to: *mut u8,
) {
    let steps = Steps::<V>::new(permutation);
    let mut from = from.wrapping_offset(permutation.first());
    let mut to = to.wrapping_offset(permutation.first());
    let (mut start, mut left) = (range.start, range.end - range.start);
    while left > 0 {
        let bytes = left.min(steps.packed - start);
        let (_, data) = part::<V>(permutation, start, bytes);
        Steps::<V>::prefetch(from, steps.ahead);
        Steps::<V>::prefetch(to, steps.ahead);
        for (vector, mask) in data.into_iter().enumerate() {
            let (from, to) = (from.wrapping_add(vector * WIDTH), to.wrapping_add(vector * WIDTH));
            // SAFETY: data of the range, which the caller guarantees; a masked load and a masked store access the
            // bytes that their mask selects and no others.
            unsafe {
                let bytes = _mm512_maskz_loadu_epi8(mask, from.cast());
                _mm512_mask_storeu_epi8(to.cast(), mask, bytes);
            }
        }
        from = from.wrapping_offset(steps.memory);
        to = to.wrapping_offset(steps.memory);
        left -= bytes;
        start = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::ByteMap;

    /// Records of 13 bytes.
    fn records(stride: i64) -> Permutation {
        let mut map = ByteMap::new();
        assert!(map.run(0, 13));
        Permutation::new(&map, stride).unwrap()
    }

    #[test]
    fn a_first_step_ends_a_record_or_aligns_windows() {
        // The records in a first step from each of these bytes of a record on, if the window starts `past` bytes after the
        // start of a line.
        let first = |stride, past: usize, left| {
            let all = records(stride);
            let window = core::ptr::without_provenance(4096 + past);
            [0, 3].map(|start| Steps::<1>::new(&all).first_records(&all, window, start, left))
        };
        // Four records fill a window. Only whole records can lie before the next line.
        let many = 1 << 20;
        assert_eq!(
            [0, 8, 16, 48].map(|past| first(16, past, many)),
            [[0, 4], [0, 4], [3, 3], [1, 1]]
        );
        let few = FEWEST_ALIGNED.map(|windows| [windows * 52 - 1, windows * 52]);
        assert_eq!(few[0].map(|left| first(16, 16, left)), [[0, 4], [0, 3]]);
        assert_eq!(few[1].map(|left| first(16, 16, left)), [[0, 3], [3, 3]]);
        // Windows of three records, which are not adjacent.
        assert_eq!(first(24, 24, many), [0, 3]);
    }

    #[test]
    fn records_without_a_packed_byte_are_not_touched() {
        if !std::is_x86_feature_detected!("bmi2") {
            return println!("left out: no BMI2 in this machine");
        }
        let touched = |stride, bytes| {
            let all = records(stride);
            let steps = Steps::<1>::new(&all);
            // SAFETY: the machine has the instruction.
            let [data] = unsafe { steps.touched(&all, bytes) };
            (steps.data[0] & data, steps.data[0] & !data)
        };
        let one = (1 << 13) - 1;
        let (two, four) = (one | one << 16, one | one << 16 | one << 32 | one << 48);
        assert_eq!([1, 13].map(|bytes| touched(16, bytes)), [(one, four ^ one); 2]);
        assert_eq!([14, 26].map(|bytes| touched(16, bytes)), [(two, four ^ two); 2]);
        assert_eq!([40, 52, 1 << 40].map(|bytes| touched(16, bytes)), [(four, 0); 3]);
        // A single record overlapped by the next one.
        assert_eq!([1, 13].map(|bytes| touched(8, bytes)), [(one, 0); 2]);
    }
}

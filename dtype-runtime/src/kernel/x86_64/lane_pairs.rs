//! Tests of values in packed records with AVX2.
//!
//! See [`Lanes`] for the idea. AVX2 permutes bytes within 16 bytes, and a register holds two such vectors. These are two
//! vectors of one period if there are several, or else the vectors of two periods.
//!
//! Take records of 17 bytes, with a `bool` at 0 and a `char` at 1: a period is one record, so bytes 0 to 15 of two records are
//! loaded at once. There are no loads under a mask of bytes, so the last records are left to the caller: those after which, for
//! the period of the last load, 16 bytes do not follow.

use core::arch::x86_64::{
    __m256i, _mm256_blendv_epi8, _mm256_cmpeq_epi8, _mm256_cmpgt_epi64, _mm256_loadu2_m128i,
    _mm256_max_epu8, _mm256_max_epu16, _mm256_max_epu32, _mm256_movemask_epi8, _mm256_set1_epi64x,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_sub_epi8, _mm256_sub_epi16, _mm256_sub_epi32,
    _mm256_sub_epi64, _mm256_xor_si256,
};

use crate::plan::{LaneVector, Lanes};

/// Bytes of a vector.
const WIDTH: usize = 16;

/// Lanes of `W` bytes, 1, 2, 4 or 8. Those of 8 bytes can only be compared as signed numbers, so all of them are kept with the
/// highest bit inverted, which orders them as unsigned numbers.
struct Wide<const W: usize>;

impl<const W: usize> Wide<W> {
    /// The form in which lanes are compared.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn comparable(a: __m256i) -> __m256i {
        if W == 8 { _mm256_xor_si256(a, _mm256_set1_epi64x(i64::MIN)) } else { a }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn subtract(a: __m256i, b: __m256i) -> __m256i {
        match W {
            1 => _mm256_sub_epi8(a, b),
            2 => _mm256_sub_epi16(a, b),
            4 => _mm256_sub_epi32(a, b),
            _ => _mm256_sub_epi64(a, b),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn greatest(a: __m256i, b: __m256i) -> __m256i {
        match W {
            1 => _mm256_max_epu8(a, b),
            2 => _mm256_max_epu16(a, b),
            4 => _mm256_max_epu32(a, b),
            _ => _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(b, a)),
        }
    }
}

/// Two vectors in a register.
#[derive(Clone, Copy)]
struct Pair<const W: usize> {
    /// Bytes from the start of the period to those that are loaded.
    from: [usize; 2],
    index: __m256i,
    flip: __m256i,
    least: __m256i,
    /// The greatest result of each lane so far.
    greatest: __m256i,
    /// The greatest that there may be.
    most: __m256i,
}

impl<const W: usize> Pair<W> {
    /// `two` says for each vector what is tested, and how many bytes further it is loaded.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of(two: [(&LaneVector<WIDTH>, usize); 2]) -> Self {
        let [first, second] = two.map(|(vector, _)| vector);
        let least = joined(&first.least, &second.least);
        Self {
            from: two.map(|(vector, further)| vector.from + further),
            index: joined(&first.index, &second.index),
            flip: joined(&first.flip, &second.flip),
            // The difference of 64 bits has its highest bit inverted if the number that is subtracted has.
            least: Wide::<W>::comparable(least),
            greatest: Wide::<W>::comparable(_mm256_setzero_si256()),
            most: Wide::<W>::comparable(joined(&first.most, &second.most)),
        }
    }

    /// Tests the values in a period, which starts where the bytes do.
    ///
    /// # Safety
    ///
    /// There must be 16 bytes after the first `from`, for both of these.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn test<const FLIPS: bool>(&mut self, bytes: &[u8]) {
        debug_assert!(self.from.iter().all(|from| from + WIDTH <= bytes.len()), "{:?}", self.from);
        let [low, high] = self.from.map(|from| bytes.as_ptr().wrapping_add(from).cast());
        // SAFETY: the bytes that the caller guarantees.
        let bytes = unsafe { _mm256_loadu2_m128i(high, low) };
        let values = _mm256_shuffle_epi8(bytes, self.index);
        let values = if FLIPS { _mm256_xor_si256(values, self.flip) } else { values };
        let moved = Wide::<W>::subtract(values, self.least);
        self.greatest = Wide::<W>::greatest(self.greatest, moved);
    }

    /// Whether all values so far lie in their ranges.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn is_valid(&self) -> bool {
        let greatest = Wide::<W>::greatest(self.greatest, self.most);
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(greatest, self.most)) == !0
    }
}

/// The register with these bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn joined(low: &[u8; WIDTH], high: &[u8; WIDTH]) -> __m256i {
    // SAFETY: each array has the 16 bytes that are loaded.
    unsafe { _mm256_loadu2_m128i(high.as_ptr().cast(), low.as_ptr().cast()) }
}

/// Tests the values of whole records, from the first on: `P` registers at a time, with lanes of `W` bytes, which must be those
/// of the tests, as must `FLIPS`: whether any range flips bits. Returns the number of records tested, or `None` if a value does
/// not lie in its range.
#[target_feature(enable = "avx2")]
pub(super) fn test<const P: usize, const W: usize, const FLIPS: bool>(
    all: &Lanes<WIDTH>,
    records: &[u8],
) -> Option<usize> {
    let (vectors, period) = (all.vectors(), all.records() * all.size());
    let is_two_periods = all.number() == 1;
    let mut pairs = [Pair::<W>::of([(&vectors[0], 0), (&vectors[0], period)]); P];
    if !is_two_periods {
        for (pair, two) in pairs.iter_mut().zip(vectors.as_chunks::<2>().0) {
            *pair = Pair::of([(&two[0], 0), (&two[1], 0)]);
        }
    }
    let periods = if is_two_periods { 2 } else { 1 };
    let furthest = all.furthest() + (periods - 1) * period;
    let mut rest = records;
    while rest.len() >= (periods * period).max(furthest + WIDTH) {
        for pair in &mut pairs {
            // SAFETY: at least `furthest + 16` bytes remain, and `from` is no more than `furthest`.
            unsafe { pair.test::<FLIPS>(rest) };
        }
        rest = &rest[periods * period..];
    }
    let is_valid = pairs.iter().all(|pair| pair.is_valid());
    is_valid.then(|| (records.len() - rest.len()) / all.size())
}

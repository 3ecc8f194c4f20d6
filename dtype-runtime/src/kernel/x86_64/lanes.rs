//! Tests of values in packed records with AVX-512 VBMI.
//!
//! See [`Lanes`] for the idea. As long as 64 bytes follow, whole vectors are loaded, with bytes that no lane asks for.
//! The last loads are masked, and in the last period only the lanes of its records count.

use core::arch::x86_64::{
    __m512i, _bzhi_u64, _mm512_cmple_epu8_mask, _mm512_cmple_epu16_mask, _mm512_cmple_epu32_mask,
    _mm512_cmple_epu64_mask, _mm512_loadu_si512, _mm512_mask_max_epu8, _mm512_mask_max_epu16,
    _mm512_mask_max_epu32, _mm512_mask_max_epu64, _mm512_maskz_loadu_epi8,
    _mm512_maskz_permutexvar_epi8, _mm512_max_epu8, _mm512_max_epu16, _mm512_max_epu32,
    _mm512_max_epu64, _mm512_setzero_si512, _mm512_sub_epi8, _mm512_sub_epi16, _mm512_sub_epi32,
    _mm512_sub_epi64, _mm512_xor_si512,
};

use super::{WIDTH, first, vector};
use crate::plan::{LaneVector, Lanes};

/// Lanes of `W` bytes, 1, 2, 4 or 8.
struct Wide<const W: usize>;

impl<const W: usize> Wide<W> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn subtract(a: __m512i, b: __m512i) -> __m512i {
        match W {
            1 => _mm512_sub_epi8(a, b),
            2 => _mm512_sub_epi16(a, b),
            4 => _mm512_sub_epi32(a, b),
            _ => _mm512_sub_epi64(a, b),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn greatest(a: __m512i, b: __m512i) -> __m512i {
        match W {
            1 => _mm512_max_epu8(a, b),
            2 => _mm512_max_epu16(a, b),
            4 => _mm512_max_epu32(a, b),
            _ => _mm512_max_epu64(a, b),
        }
    }

    /// As [`greatest`](Self::greatest), in the first `lanes` lanes; `a` in the others.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi2")]
    #[expect(clippy::cast_possible_truncation, reason = "lanes of a vector")]
    fn greatest_of(lanes: usize, a: __m512i, b: __m512i) -> __m512i {
        let mask = _bzhi_u64(!0, lanes as u32);
        match W {
            1 => _mm512_mask_max_epu8(a, mask, a, b),
            2 => _mm512_mask_max_epu16(a, mask as u32, a, b),
            4 => _mm512_mask_max_epu32(a, mask as u16, a, b),
            _ => _mm512_mask_max_epu64(a, mask as u8, a, b),
        }
    }

    /// Whether no lane of `a` is greater than that of `b`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn are_at_most(a: __m512i, b: __m512i) -> bool {
        match W {
            1 => _mm512_cmple_epu8_mask(a, b) == !0,
            2 => _mm512_cmple_epu16_mask(a, b) == !0,
            4 => _mm512_cmple_epu32_mask(a, b) == !0,
            _ => _mm512_cmple_epu64_mask(a, b) == !0,
        }
    }
}

/// One [`LaneVector`] in registers.
#[derive(Clone, Copy)]
struct Lane<const W: usize> {
    from: usize,
    index: __m512i,
    keep: u64,
    flip: __m512i,
    least: __m512i,
}

impl<const W: usize> Lane<W> {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn of(all: &LaneVector<WIDTH>) -> Self {
        let LaneVector { from, keep, .. } = *all;
        let (index, flip, least) = (vector(&all.index), vector(&all.flip), vector(&all.least));
        Self { from, index, keep, flip, least }
    }

    /// Moves each value in its lane, and its range to 0.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn moved(&self, bytes: __m512i) -> __m512i {
        let values = _mm512_maskz_permutexvar_epi8(self.keep, self.index, bytes);
        Wide::<W>::subtract(_mm512_xor_si512(values, self.flip), self.least)
    }
}

/// Whether all values in `count` whole records lie in their ranges: `V` vectors with lanes of `W` bytes for each period, which
/// must be those of the tests.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi2")]
pub(super) fn all_valid<const V: usize, const W: usize>(
    all: &Lanes<WIDTH>,
    records: &[u8],
    count: usize,
) -> bool {
    debug_assert_eq!(records.len(), count * all.size());
    let mut vectors = [Lane::<W>::of(&all.vectors()[0]); V];
    for (vector, of) in vectors.iter_mut().zip(all.vectors()) {
        *vector = Lane::of(of);
    }
    let mut greatest = [_mm512_setzero_si512(); V];
    let (mut rest, mut count) = (records, count);
    let (period, furthest) = (all.records() * all.size(), all.furthest());
    while rest.len() >= period.max(furthest + WIDTH) {
        for (greatest, vector) in greatest.iter_mut().zip(&vectors) {
            // SAFETY: at least `furthest + 64` bytes remain, and `from` is no more than `furthest`.
            let bytes = unsafe { _mm512_loadu_si512(rest.as_ptr().add(vector.from).cast()) };
            *greatest = Wide::<W>::greatest(*greatest, vector.moved(bytes));
        }
        rest = &rest[period..];
        count -= all.records();
    }
    while count > 0 {
        let records = count.min(all.records());
        for (greatest, vector) in greatest.iter_mut().zip(&vectors) {
            let left = rest.len().saturating_sub(vector.from).min(WIDTH);
            // SAFETY: the mask selects the bytes that remain, at most 64. The pointer wraps, in case that none do.
            let bytes = unsafe {
                let place = rest.as_ptr().wrapping_add(vector.from).cast();
                _mm512_maskz_loadu_epi8(first(left), place)
            };
            let lanes = records * all.of_record();
            *greatest = Wide::<W>::greatest_of(lanes, *greatest, vector.moved(bytes));
        }
        rest = rest.get(period..).unwrap_or_default();
        count -= records;
    }
    let most = all.vectors().iter().map(|of| vector(&of.most));
    greatest.into_iter().zip(most).all(|(greatest, most)| Wide::<W>::are_at_most(greatest, most))
}

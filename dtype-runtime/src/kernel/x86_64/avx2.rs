//! AVX2's registers as [`Vector`]s.

use core::arch::asm;
use core::arch::x86_64::{
    __m256i, _MM_HINT_T0, _mm_prefetch, _mm_storeu_si128, _mm256_blendv_epi8,
    _mm256_castsi256_si128, _mm256_cmpeq_epi8, _mm256_cmpgt_epi64, _mm256_extracti128_si256,
    _mm256_loadu_si256, _mm256_loadu2_m128i, _mm256_max_epi8, _mm256_max_epi16, _mm256_max_epi32,
    _mm256_movemask_epi8, _mm256_shuffle_epi8, _mm256_storeu_si256, _mm256_sub_epi8,
    _mm256_sub_epi16, _mm256_sub_epi32, _mm256_sub_epi64, _mm256_xor_si256,
};

use crate::kernel::vector::Vector;

impl Vector for __m256i {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller guarantees the bytes.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load_halves(low: *const u8, high: *const u8) -> Self {
        // SAFETY: the caller guarantees the bytes.
        unsafe { _mm256_loadu2_m128i(high.cast(), low.cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller guarantees the bytes.
        unsafe { _mm256_storeu_si256(to.cast(), self) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn store_halves(self, low: *mut u8, high: *mut u8) {
        // SAFETY: the caller guarantees the bytes.
        unsafe {
            _mm_storeu_si128(low.cast(), _mm256_castsi256_si128(self));
            _mm_storeu_si128(high.cast(), _mm256_extracti128_si256::<1>(self));
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load_shuffled(from: *const u8, index: Self) -> Self {
        let data;
        // SAFETY: it reads the 32 bytes that the caller guarantees, and no others. The results are initialised bytes, and
        // zeros. The attribute demands the instructions.
        unsafe {
            asm!(
                "vmovdqu {data}, ymmword ptr [{from}]",
                "vpshufb {data}, {data}, {index}",
                from = in(reg) from,
                index = in(ymm_reg) index,
                data = out(ymm_reg) data,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        data
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn store_shuffled(self, to: *mut u8, index: Self) {
        let data = _mm256_shuffle_epi8(self, index);
        // SAFETY: it reads and writes the 32 bytes that the caller guarantees, and no others. The attribute demands the
        // instructions.
        unsafe {
            asm!(
                "vpblendvb {data}, {data}, ymmword ptr [{to}], {index}",
                "vmovdqu ymmword ptr [{to}], {data}",
                to = in(reg) to,
                index = in(ymm_reg) index,
                data = inout(ymm_reg) data => _,
                options(nostack, preserves_flags),
            );
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn shuffle(self, index: Self) -> Self {
        _mm256_shuffle_epi8(self, index)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn xor(self, other: Self) -> Self {
        _mm256_xor_si256(self, other)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn subtract<const W: usize>(self, other: Self) -> Self {
        match W {
            1 => _mm256_sub_epi8(self, other),
            2 => _mm256_sub_epi16(self, other),
            4 => _mm256_sub_epi32(self, other),
            _ => _mm256_sub_epi64(self, other),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn max<const W: usize>(self, other: Self) -> Self {
        match W {
            1 => _mm256_max_epi8(self, other),
            2 => _mm256_max_epi16(self, other),
            4 => _mm256_max_epi32(self, other),
            _ => _mm256_blendv_epi8(self, other, _mm256_cmpgt_epi64(other, self)),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn equals(self, other: Self) -> bool {
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(self, other)) == !0
    }

    #[inline(always)]
    unsafe fn prefetch(place: *const u8) {
        // SAFETY: a hint, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) }
    }
}

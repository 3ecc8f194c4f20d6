//! Copies under a mask with AVX-512.

use core::arch::x86_64::{
    _bzhi_u32, _mm256_mask_storeu_epi8, _mm256_maskz_loadu_epi8, _mm512_mask_storeu_epi8,
    _mm512_maskz_loadu_epi8,
};

use super::first;

/// Copies `len` bytes by one load and one store of `W` bytes, 32 or 64.
///
/// # Safety
///
/// As [`Registers::masked`](super::Registers::masked).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
#[expect(clippy::cast_possible_truncation, reason = "at most 32")]
pub(super) unsafe fn copy<const W: usize>(from: *const u8, to: *mut u8, len: usize) {
    debug_assert!(len <= W, "{len} bytes of {W}");
    // SAFETY: a masked load or store accesses the bytes that its mask selects and no others: the first `len`, which the caller
    // guarantees.
    unsafe {
        if W == 32 {
            let mask = _bzhi_u32(!0, len as u32);
            _mm256_mask_storeu_epi8(to.cast(), mask, _mm256_maskz_loadu_epi8(mask, from.cast()));
        } else {
            let mask = first(len);
            _mm512_mask_storeu_epi8(to.cast(), mask, _mm512_maskz_loadu_epi8(mask, from.cast()));
        }
    }
}

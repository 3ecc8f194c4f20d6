//! Reverses values with AVX-512.

/// For each of 16 bytes, which byte replaces it when values of `W` bytes are reversed.
const fn order<const W: usize>() -> [u8; 16] {
    let mut order = [0; 16];
    let mut at = 0;
    while at < 16 {
        #[expect(clippy::cast_possible_truncation, reason = "less than 16")]
        let from = (at / W * W + W - 1 - at % W) as u8;
        order[at] = from;
        at += 1;
    }
    order
}

/// Copies `len` bytes and reverses each value of `W` bytes, 64 bytes at a time.
///
/// # Safety
///
/// `from` must be valid for reading `len` bytes and `to` for writing as many, and they must not overlap. `len` must be a multiple
/// of `W`.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) unsafe fn reverse<const W: usize>(from: *const u8, to: *mut u8, len: usize) {
    use core::arch::x86_64::{
        _mm_loadu_si128, _mm512_broadcast_i32x4, _mm512_loadu_si512, _mm512_mask_storeu_epi8,
        _mm512_maskz_loadu_epi8, _mm512_shuffle_epi8, _mm512_storeu_si512,
    };
    /// From this length on, it pays to align the stores so that they do not cross cache lines.
    const ALIGNED: usize = 512;
    let order = const { order::<W>() };
    // SAFETY: the array has 16 bytes.
    let order = unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(order.as_ptr().cast())) };
    let part = |at: usize, bytes: usize| {
        let mask = u64::MAX >> (64 - bytes);
        // SAFETY: `bytes` of the `len` bytes that the caller guarantees; the mask selects 1 to 64 of them.
        unsafe {
            let values = _mm512_maskz_loadu_epi8(mask, from.add(at).cast());
            let values = _mm512_shuffle_epi8(values, order);
            _mm512_mask_storeu_epi8(to.add(at).cast(), mask, values);
        }
    };
    let mut at = 0;
    if len >= ALIGNED {
        let before = to.addr().wrapping_neg() % 64;
        if before > 0 && before.is_multiple_of(W) {
            part(0, before);
            at = before;
        }
    }
    while at + 64 <= len {
        // SAFETY: the caller guarantees the bytes; these are 64 of them.
        unsafe {
            let values = _mm512_shuffle_epi8(_mm512_loadu_si512(from.add(at).cast()), order);
            _mm512_storeu_si512(to.add(at).cast(), values);
        }
        at += 64;
    }
    if at < len {
        part(at, len - at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_each_value_are_reversed() {
        /// In a value whose width is a power of two, the bits of a byte's place are inverted.
        fn inverted(bits: u8) -> [u8; 16] {
            core::array::from_fn(|at| at.to_le_bytes()[0] ^ bits)
        }
        assert_eq!([order::<2>(), order::<4>()], [1, 3].map(inverted));
        assert_eq!([order::<8>(), order::<16>()], [7, 15].map(inverted));
    }
}

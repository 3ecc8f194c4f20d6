//! Columns of arrays of structs with AVX-512 VBMI.
//!
//! A store writes a whole vector, of which the piece may be the first part. The next store overwrites the excess, so there
//! are stores as long as a vector is still to be written.

use core::arch::x86_64::{
    __m512i, __mmask64, _mm512_loadu_si512, _mm512_maskz_loadu_epi8,
    _mm512_maskz_permutex2var_epi8, _mm512_or_si512, _mm512_setzero_si512, _mm512_storeu_si512,
};

use crate::plan::Gather;

/// Bytes of a register.
const WIDTH: usize = size_of::<__m512i>();

/// Copies the first values by `P` pairs of windows, and returns their number.
///
/// # Safety
///
/// The values of `count` records must be readable, and as many writable from `packed` on, and the two must not overlap. `P`
/// must be the number of pairs.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) unsafe fn gather<const P: usize>(
    all: &Gather,
    count: usize,
    memory: *const u8,
    packed: *mut u8,
) -> usize {
    let (len, records) = (all.len(), all.records());
    let step = records * all.stride();
    let mut index = [_mm512_setzero_si512(); P];
    let (mut keep, mut data): ([__mmask64; P], [[__mmask64; 2]; P]) = ([0; P], [[0; 2]; P]);
    for (pair, (bytes, kept, of)) in all.pairs().enumerate().take(P) {
        // SAFETY: the array has the 64 bytes that are loaded.
        index[pair] = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
        (keep[pair], data[pair]) = (kept, of);
    }
    let (mut done, mut memory, mut packed) = (0, memory, packed);
    // A piece is not larger than a vector.
    while (count - done) * len >= WIDTH {
        let mut piece = _mm512_setzero_si512();
        for pair in 0..P {
            let window = memory.wrapping_add(pair * 2 * WIDTH);
            // SAFETY: the masks select values of the records of this piece, which are among those that the caller
            // guarantees: a piece has no more records than fit into a vector, and as many are still to come.
            unsafe {
                let low = _mm512_maskz_loadu_epi8(data[pair][0], window.cast());
                let high =
                    _mm512_maskz_loadu_epi8(data[pair][1], window.wrapping_add(WIDTH).cast());
                let part = _mm512_maskz_permutex2var_epi8(keep[pair], low, index[pair], high);
                piece = _mm512_or_si512(piece, part);
            }
        }
        // SAFETY: at least a vector is still to be written, and what follows the piece is written after it.
        unsafe { _mm512_storeu_si512(packed.cast(), piece) };
        memory = memory.wrapping_add(step);
        packed = packed.wrapping_add(records * len);
        done += records;
    }
    done
}

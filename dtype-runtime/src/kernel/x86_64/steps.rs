//! Copies records in steps with AVX-512 VBMI: see [`Step`].

use core::arch::x86_64::{
    __m512i, _mm512_loadu_si512, _mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8,
    _mm512_permutexvar_epi8, _mm512_storeu_si512,
};

use super::{WIDTH, first, vector};
use crate::plan::Step;

/// How many of `count` records can be copied by moves of whole registers of packed bytes: those with a register's bytes of other
/// records after them.
#[inline(always)]
fn whole(size: usize, count: usize) -> usize {
    count.saturating_sub(WIDTH.div_ceil(size))
}

/// Packs records.
///
/// # Safety
///
/// The data of the records, relative to `memory`, must be readable, and as many bytes from `packed` on writable. The two must not
/// overlap. The steps must be those of a record of `size` packed bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi2")]
pub(super) unsafe fn pack(
    steps: &[Step],
    (size, stride): (usize, isize),
    count: usize,
    memory: *const u8,
    packed: *mut u8,
) {
    let (mut memory, mut packed) = (memory, packed);
    // SAFETY: the masked load reads data of the record, which the caller guarantees. A store of a whole register ends before the
    // packed bytes do: after each such record come others with at least a register's bytes. Its excess is overwritten by the
    // next step. The other stores are masked. The pointers to memory wrap, because an origin need not lie in it.
    unsafe {
        let gather = |step: &Step, memory: *const u8| -> __m512i {
            let window = memory.wrapping_offset(step.window);
            let bytes = _mm512_maskz_loadu_epi8(step.data, window.cast());
            _mm512_permutexvar_epi8(vector(&step.gather), bytes)
        };
        let whole = whole(size, count);
        for record in 0..count {
            for step in steps {
                let (bytes, to) = (gather(step, memory), packed.add(step.position));
                if record < whole {
                    _mm512_storeu_si512(to.cast(), bytes);
                } else {
                    _mm512_mask_storeu_epi8(to.cast(), first(step.len), bytes);
                }
            }
            memory = memory.wrapping_offset(stride);
            packed = packed.wrapping_add(size);
        }
    }
}

/// Unpacks records.
///
/// # Safety
///
/// The data of the records, relative to `memory`, must be writable, and as many bytes from `packed` on readable. The two must not
/// overlap. The steps must be those of a record of `size` packed bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi2")]
pub(super) unsafe fn unpack(
    steps: &[Step],
    (size, stride): (usize, isize),
    count: usize,
    memory: *mut u8,
    packed: *const u8,
) {
    let (mut memory, mut packed) = (memory, packed);
    // SAFETY: the masked store writes data of the record, which the caller guarantees. A load of a whole register ends before
    // the packed bytes do, as in `pack`. The other loads are masked.
    unsafe {
        let whole = whole(size, count);
        for record in 0..count {
            for step in steps {
                let from = packed.add(step.position);
                let bytes = if record < whole {
                    _mm512_loadu_si512(from.cast())
                } else {
                    _mm512_maskz_loadu_epi8(first(step.len), from.cast())
                };
                let bytes = _mm512_permutexvar_epi8(vector(&step.scatter), bytes);
                let window = memory.wrapping_offset(step.window);
                _mm512_mask_storeu_epi8(window.cast(), step.data, bytes);
            }
            memory = memory.wrapping_offset(stride);
            packed = packed.wrapping_add(size);
        }
    }
}

//! Values whose bytes are reversed on the way.

use core::marker::PhantomData;
use core::ops::Range;

use super::blocks::{Direction, Pack, Steps, Unpack, each};
use super::isa::compiled_for_selected;
use crate::commit::Permutation;

/// A [`Direction`] between memory and the packed stream.
pub(crate) trait Way: Direction {
    /// Whether it goes from memory to the packed stream.
    const PACKS: bool;

    /// Source and destination.
    fn ends(memory: *mut u8, packed: *mut u8) -> (*const u8, *mut u8);
}

impl Way for Pack {
    const PACKS: bool = true;

    #[inline(always)]
    fn ends(memory: *mut u8, packed: *mut u8) -> (*const u8, *mut u8) {
        (memory, packed)
    }
}

impl Way for Unpack {
    const PACKS: bool = false;

    #[inline(always)]
    fn ends(memory: *mut u8, packed: *mut u8) -> (*const u8, *mut u8) {
        (packed, memory)
    }
}

/// As `D`, with the bytes of each value of `W` bytes reversed: blocks have to be whole numbers of such values.
///
/// The kernels cut a block into moves of a power of two of bytes, which may overlap. As no move is shorter than a
/// value, and the moves start at the block's start or end at its end, each is a whole number of values, too.
pub(crate) struct Reversing<D, const W: usize>(PhantomData<D>);

impl<D: Way, const W: usize> Direction for Reversing<D, W> {
    const IS_COPY: bool = false;

    #[inline(always)]
    unsafe fn copy(memory: *mut u8, packed: *mut u8, len: usize) {
        /// The longest block that is worth no call.
        const SHORT: usize = 64;
        debug_assert!(len.is_multiple_of(W), "whole values");
        let (from, to) = D::ends(memory, packed);
        // SAFETY: `D` copies from the one to the other, so the caller vouches for both.
        unsafe {
            if len <= SHORT {
                reverse::<W>(from, to, len);
            } else {
                Self::copy_long(len, 1, Steps { memory: 0, packed: 0 }, memory, packed);
            }
        }
    }

    unsafe fn permute(all: &Permutation, count: usize, memory: *mut u8, packed: *mut u8) -> bool {
        // SAFETY: the same bytes of memory and of the packed stream; whole values, as the records are.
        unsafe { D::permute(&all.reversed::<W>(), count, memory, packed) }
    }

    unsafe fn permute_part(
        all: &Permutation,
        part: Range<usize>,
        memory: *mut u8,
        packed: *mut u8,
    ) -> bool {
        // SAFETY: likewise.
        unsafe { D::permute_part(&all.reversed::<W>(), part, memory, packed) }
    }

    unsafe fn copy_long(len: usize, count: usize, steps: Steps, memory: *mut u8, packed: *mut u8) {
        // SAFETY: as the caller vouches.
        unsafe { long::<D, W>(len, count, steps, memory, packed) }
    }
}

compiled_for_selected! {
    /// Copies blocks and reverses their values.
    ///
    /// # Safety
    ///
    /// As [`Direction::copy_long`].
    unsafe fn long[D: Way, const W: usize][D, W](
        len: usize, count: usize, steps: Steps, memory: *mut u8, packed: *mut u8,
    ) {
        portable: blocks::<D, W>(len, count, steps, memory, packed),
        avx2: blocks::<D, W>(len, count, steps, memory, packed),
        avx512: each(count, steps, memory, packed, |memory, packed| {
            let (from, to) = D::ends(memory, packed);
            reverse_in_vectors::<W>(from, to, len);
        }),
    }
}

/// # Safety
///
/// As [`Direction::copy_long`].
#[inline(always)]
unsafe fn blocks<D: Way, const W: usize>(
    len: usize,
    count: usize,
    steps: Steps,
    memory: *mut u8,
    packed: *mut u8,
) {
    each(count, steps, memory, packed, |memory, packed| {
        let (from, to) = D::ends(memory, packed);
        // SAFETY: one of the blocks that the caller vouches for.
        unsafe { reverse::<W>(from, to, len) }
    });
}

/// Copies `len` bytes, and reverses each `W` of them. What is behind the last whole value is left out.
///
/// # Safety
///
/// `from` must be valid for reading `len` bytes and `to` for writing as many, and they must not overlap.
#[inline(always)]
unsafe fn reverse<const W: usize>(from: *const u8, to: *mut u8, len: usize) {
    for value in 0..len / W {
        let at = value * W;
        // SAFETY: the `W` bytes of one value, no more than `len` from the start; an array of bytes has no
        // alignment.
        unsafe {
            let mut bytes = from.add(at).cast::<[u8; W]>().read();
            bytes.reverse();
            to.add(at).cast::<[u8; W]>().write(bytes);
        }
    }
}

/// Where each byte of 16 goes when values of `W` are reversed.
#[cfg(target_arch = "x86_64")]
const fn places<const W: usize>() -> [u8; 16] {
    let mut places = [0; 16];
    let mut at = 0;
    while at < 16 {
        #[expect(clippy::cast_possible_truncation, reason = "less than 16")]
        let place = (at / W * W + W - 1 - at % W) as u8;
        places[at] = place;
        at += 1;
    }
    places
}

/// As [`reverse`], 64 bytes at a time.
///
/// # Safety
///
/// As [`reverse`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
unsafe fn reverse_in_vectors<const W: usize>(from: *const u8, to: *mut u8, len: usize) {
    use core::arch::x86_64::{
        _mm_loadu_si128, _mm512_broadcast_i32x4, _mm512_loadu_si512, _mm512_mask_storeu_epi8,
        _mm512_maskz_loadu_epi8, _mm512_shuffle_epi8, _mm512_storeu_si512,
    };
    /// From this length on it pays that the stores do not cross the lines of the cache.
    const ALIGNED: usize = 512;
    let places = const { places::<W>() };
    // SAFETY: the array has 16 bytes.
    let places = unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(places.as_ptr().cast())) };
    let part = |at: usize, bytes: usize| {
        let mask = u64::MAX >> (64 - bytes);
        // SAFETY: `bytes` of the `len` that the caller vouches for, 1 to 64 of them, by the mask.
        unsafe {
            let values = _mm512_maskz_loadu_epi8(mask, from.add(at).cast());
            let values = _mm512_shuffle_epi8(values, places);
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
        // SAFETY: 64 of the bytes that the caller vouches for.
        unsafe {
            let values = _mm512_shuffle_epi8(_mm512_loadu_si512(from.add(at).cast()), places);
            _mm512_storeu_si512(to.add(at).cast(), values);
        }
        at += 64;
    }
    if at < len {
        part(at, len - at);
    }
}

//! Values whose bytes are reversed on the way.

use core::marker::PhantomData;

use super::blocks::{Direction, Pack, Unpack};

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
    #[inline(always)]
    unsafe fn copy(memory: *mut u8, packed: *mut u8, len: usize) {
        /// The longest block that is worth no call.
        const SHORT: usize = 64;
        debug_assert!(len.is_multiple_of(W), "whole values");
        let (from, to) = D::ends(memory, packed);
        // SAFETY: `D` copies from the one to the other, so the caller vouches for both.
        unsafe {
            if len <= SHORT { reverse::<W>(from, to, len) } else { reverse_run::<W>(from, to, len) }
        }
    }
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

/// As [`reverse`], for many values.
///
/// # Safety
///
/// As [`reverse`].
#[inline(never)]
unsafe fn reverse_run<const W: usize>(from: *const u8, to: *mut u8, len: usize) {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    {
        if std::arch::is_x86_feature_detected!("avx512bw") {
            // SAFETY: as the caller vouches; the processor has the instructions.
            return unsafe { avx512::<W>(from, to, len) };
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: likewise.
            return unsafe { avx2::<W>(from, to, len) };
        }
    }
    // SAFETY: as the caller vouches.
    unsafe { reverse::<W>(from, to, len) }
}

/// The loop of [`reverse`], as the compiler makes it when it may use AVX-512.
///
/// # Safety
///
/// As [`reverse`].
#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[target_feature(enable = "avx512bw,avx512vl,avx2")]
unsafe fn avx512<const W: usize>(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: as the caller vouches.
    unsafe { reverse::<W>(from, to, len) }
}

/// Likewise when it may use AVX2.
///
/// # Safety
///
/// As [`reverse`].
#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[target_feature(enable = "avx2")]
unsafe fn avx2<const W: usize>(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: as the caller vouches.
    unsafe { reverse::<W>(from, to, len) }
}

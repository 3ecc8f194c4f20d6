//! Copying one block by a few moves, where a call would take longer.
//!
//! A move is a load and a store of a width that is known when the kernel is compiled. One or two moves cover any
//! length from 1 to 64, because two moves may overlap: 13 bytes are two moves of 8, the first at 0 and the second
//! at 5. (Registers of 16 bytes take three moves for most lengths from 33 to 48 bytes.) Copying bytes 5 to 7 twice costs
//! little; a loop over the bytes, or a branch on the remaining length, would cost more.
//!
//! For blocks of three or five values, the moves touch instead of overlapping: 12 bytes (three `f32`) are moves of 8 and 4. A
//! short store crosses the end of a cache line less often than a long one, so such blocks take 5 to 15 % less time than with
//! moves that overlap.
//!
//! A kernel whose blocks all have one length is told the moves once, and has a loop for each in [`by_block!`]. [`any`] is for a kernel whose blocks differ in length. It has fewer arms, because the processor
//! would mispredict more arms more often.

use super::direction::Direction;
use super::registers::Registers;
use crate::plan::choose::LONG;

/// The moves of a [`PerBlock`], for registers of `$R`.
///
/// Expands to a `match` on how each block of `$len` bytes is copied. Each arm is `$with!` applied to a closure that copies one
/// block, or `$with_one!` where that is a single move. The closure is sound if `choose` returned `$per` for blocks of this length, and they are valid for `$D`; the macro
/// must be called in an `unsafe` block.
///
/// [`PerBlock`]: crate::plan::choose::PerBlock
macro_rules! by_block {
    ($D:ident, $R:ident, $per:expr, $len:ident, $with:ident, $with_one:ident) => {
        match $per {
            PerBlock::None => $with!(|m, p| { let _ = (m, p); }),
            PerBlock::One1 => $with_one!(|m, p| $D::copy(m, p, 1)),
            PerBlock::One2 => $with_one!(|m, p| $D::copy(m, p, 2)),
            PerBlock::One4 => $with_one!(|m, p| $D::copy(m, p, 4)),
            PerBlock::One8 => $with_one!(|m, p| $D::copy(m, p, 8)),
            PerBlock::One16 => $with_one!(|m, p| $D::copy(m, p, 16)),
            PerBlock::One32 => $with_one!(|m, p| $D::copy(m, p, 32)),
            PerBlock::Touching2_1 => $with!(|m, p| touching::<$D, 2, 1>(m, p)),
            PerBlock::Touching4_2 => $with!(|m, p| touching::<$D, 4, 2>(m, p)),
            PerBlock::Touching8_2 => $with!(|m, p| touching::<$D, 8, 2>(m, p)),
            PerBlock::Touching8_4 => $with!(|m, p| touching::<$D, 8, 4>(m, p)),
            PerBlock::Touching16_4 => $with!(|m, p| touching::<$D, 16, 4>(m, p)),
            PerBlock::Touching16_8 => $with!(|m, p| touching::<$D, 16, 8>(m, p)),
            PerBlock::Touching32_8 => $with!(|m, p| touching::<$D, 32, 8>(m, p)),
            PerBlock::Two4 => $with!(|m, p| two::<$D, 4>(m, p, $len)),
            PerBlock::Two8 => $with!(|m, p| two::<$D, 8>(m, p, $len)),
            PerBlock::Two16 => $with!(|m, p| two::<$D, 16>(m, p, $len)),
            PerBlock::Two32 => $with!(|m, p| two::<$D, 32>(m, p, $len)),
            PerBlock::Three16 if $R::WIDTH == 16 => $with!(|m, p| three::<$D, 16>(m, p, $len)),
            // Hides the length from the compiler, which would otherwise merge the two stores into one.
            PerBlock::Halves2 if !$D::PACKS => {
                let opaque = core::hint::black_box($len);
                $with!(|m, p| two::<$D, 2>(m, p, opaque))
            }
            PerBlock::Halves4 if !$D::PACKS => {
                let opaque = core::hint::black_box($len);
                $with!(|m, p| two::<$D, 4>(m, p, opaque))
            }
            PerBlock::Halves8 if !$D::PACKS => {
                let opaque = core::hint::black_box($len);
                $with!(|m, p| two::<$D, 8>(m, p, opaque))
            }
            _ => $with!(|m, p| long::<$D, $R>(m, p, $len)),
        }
    };
}

pub(super) use by_block;

/// Copies `len` bytes by two moves.
///
/// # Safety
///
/// As [`Direction::copy`]; `len` must be between `W` and `2 · W`.
#[inline(always)]
pub(super) unsafe fn two<D: Direction, const W: usize>(
    memory: *mut u8,
    packed: *mut u8,
    len: usize,
) {
    let second = len - W;
    // SAFETY: the first and the last `W` of the bytes that the caller guarantees. They overlap, and write the same
    // bytes there.
    unsafe {
        D::copy(memory, packed, W);
        D::copy(memory.add(second), packed.wrapping_add(second), W);
    }
}

/// Copies `V + W` bytes by two moves that touch.
///
/// # Safety
///
/// As [`Direction::copy`].
#[inline(always)]
pub(super) unsafe fn touching<D: Direction, const V: usize, const W: usize>(
    memory: *mut u8,
    packed: *mut u8,
) {
    // SAFETY: the caller guarantees the bytes: the first `V`, and the `W` after these.
    unsafe {
        D::copy(memory, packed, V);
        D::copy(memory.add(V), packed.wrapping_add(V), W);
    }
}

/// Copies `len` bytes by three moves.
///
/// # Safety
///
/// As [`Direction::copy`]; `len` must be between `2 · W` and `3 · W`.
#[inline(always)]
pub(super) unsafe fn three<D: Direction, const W: usize>(
    memory: *mut u8,
    packed: *mut u8,
    len: usize,
) {
    let third = len - W;
    // SAFETY: the first, the second and the last `W` of the bytes that the caller guarantees. The last two
    // overlap, and write the same bytes there.
    unsafe {
        D::copy(memory, packed, W);
        D::copy(memory.add(W), packed.wrapping_add(W), W);
        D::copy(memory.add(third), packed.wrapping_add(third), W);
    }
}

/// Copies `len` bytes by four moves. That is faster than a branch on the number of moves, which the processor would mispredict.
///
/// # Safety
///
/// As [`Direction::copy`]; `len` must be between `W` and `4 · W`.
#[inline(always)]
pub(super) unsafe fn four<D: Direction, const W: usize>(
    memory: *mut u8,
    packed: *mut u8,
    len: usize,
) {
    let last = len - W;
    let (second, third) = (last.min(W), last.saturating_sub(W));
    // SAFETY: the moves cover the first `2 · W` and the last `2 · W` of the bytes that the caller guarantees; with fewer bytes,
    // all of them. No move covers other bytes, because each starts no later than `last`. Where moves overlap, they write the
    // same bytes.
    unsafe {
        D::copy(memory, packed, W);
        D::copy(memory.add(second), packed.wrapping_add(second), W);
        D::copy(memory.add(third), packed.wrapping_add(third), W);
        D::copy(memory.add(last), packed.wrapping_add(last), W);
    }
}

/// Copies more than 64 bytes, with the registers `R`.
///
/// # Safety
///
/// As [`Direction::copy`]; `len` must be more than 64.
#[inline(always)]
pub(super) unsafe fn long<D: Direction, R: Registers>(
    memory: *mut u8,
    packed: *mut u8,
    len: usize,
) {
    if len > if R::WIDTH > 16 { LONG } else { 128 } {
        // SAFETY: passed on to the caller.
        return unsafe { D::copy(memory, packed, len) };
    }
    if R::WIDTH < 64 && len <= 128 {
        // SAFETY: passed on to the caller; `len` is from 65 to 128.
        return unsafe { four::<D, 32>(memory, packed, len) };
    }
    let last = len - 64;
    let mut at = 0;
    // Stores from here on are aligned, so each stays in one line. Of unaligned stores of 32 bytes, every second one crosses
    // lines, which is so slow on a Zen 3 that blocks at odd addresses took up to half as long again.
    if R::WIDTH == 32 && D::IS_PACKED {
        let (_, to) = D::ends(memory, packed);
        // SAFETY: the first 32 of the bytes that the caller guarantees.
        unsafe { D::copy(memory, packed, 32) };
        at = to.addr().wrapping_neg() % 32;
    }
    // Four moves for each round: a Xeon makes a move in each cycle, but a round of the loop takes two cycles.
    while at + 256 < len {
        for part in [at, at + 64, at + 128, at + 192] {
            // SAFETY: 64 of the bytes that the caller guarantees, all of which lie before byte `at + 256`.
            unsafe { D::copy(memory.add(part), packed.wrapping_add(part), 64) };
        }
        at += 256;
    }
    while at < last {
        // SAFETY: 64 of the bytes that the caller guarantees, as `last` is 64 before their end.
        unsafe { D::copy(memory.add(at), packed.wrapping_add(at), 64) };
        at += 64;
    }
    // SAFETY: as above, the last 64 bytes. Where they were copied before, the same bytes are written.
    unsafe { D::copy(memory.add(last), packed.wrapping_add(last), 64) };
}

/// Copies `len` bytes, with the registers `R`.
///
/// # Safety
///
/// As [`Direction::copy`].
#[inline(always)]
pub(super) unsafe fn any<D: Direction, R: Registers>(memory: *mut u8, packed: *mut u8, len: usize) {
    // SAFETY: each arm covers the `len` bytes that the caller guarantees, and no others.
    unsafe {
        // Most runs of a record are one or two values, so these lengths come first.
        if len >= 8 {
            if len < 16 {
                two::<D, 8>(memory, packed, len);
            } else if len < 32 {
                two::<D, 16>(memory, packed, len);
            } else if len <= 64 {
                two::<D, 32>(memory, packed, len);
            } else {
                long::<D, R>(memory, packed, len);
            }
        } else if len >= 4 {
            two::<D, 4>(memory, packed, len);
        } else if len >= 2 {
            two::<D, 2>(memory, packed, len);
        } else if len == 1 {
            D::copy(memory, packed, 1);
        }
    }
}

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
//! [`by_length!`] is the table from a length to its moves. A kernel whose blocks all have one length looks up the length once,
//! and has a loop for each arm. [`any`] is for a kernel whose blocks differ in length. It has fewer arms, because the processor
//! would mispredict more arms more often.

use super::direction::Direction;
use super::registers::Registers;

/// The longest block that is copied by moves instead of a call, where registers are wider than 16 bytes.
pub(super) const LONG: usize = 1024;

/// The table from the length of a block to the moves that copy it, for registers of `$R`.
///
/// Expands to a `match` on the length. Each arm is `$with!` applied to the moves, as a [`PerBlock`], and to a closure that
/// executes them. The closure is sound for blocks of that length that are valid for `$D`; the macro must be called in an
/// `unsafe` block.
///
/// [`PerBlock`]: super::chosen::PerBlock
macro_rules! by_length {
    (@touching $D:ident, $with:ident, $first:literal, $second:literal) => {
        $with!(PerBlock::Touching { first: $first, second: $second }, |m, p| {
            touching::<$D, $first, $second>(m, p)
        })
    };
    ($D:ident, $R:ident, $len:ident, $with:ident) => {
        match $len {
            0 => $with!(PerBlock::Moves { number: 1, width: 0 }, |m, p| { let _ = (m, p); }),
            1 => $with!(PerBlock::Moves { number: 1, width: 1 }, |m, p| $D::copy(m, p, 1)),
            2 => $with!(PerBlock::Moves { number: 1, width: 2 }, |m, p| $D::copy(m, p, 2)),
            3 => by_length!(@touching $D, $with, 2, 1),
            4 => $with!(PerBlock::Moves { number: 1, width: 4 }, |m, p| $D::copy(m, p, 4)),
            6 => by_length!(@touching $D, $with, 4, 2),
            5..8 => $with!(PerBlock::Moves { number: 2, width: 4 }, |m, p| two::<$D, 4>(m, p, $len)),
            8 => $with!(PerBlock::Moves { number: 1, width: 8 }, |m, p| $D::copy(m, p, 8)),
            10 => by_length!(@touching $D, $with, 8, 2),
            12 => by_length!(@touching $D, $with, 8, 4),
            9..16 => {
                $with!(PerBlock::Moves { number: 2, width: 8 }, |m, p| two::<$D, 8>(m, p, $len))
            }
            16 => $with!(PerBlock::Moves { number: 1, width: 16 }, |m, p| $D::copy(m, p, 16)),
            20 => by_length!(@touching $D, $with, 16, 4),
            24 => by_length!(@touching $D, $with, 16, 8),
            17..32 => {
                $with!(PerBlock::Moves { number: 2, width: 16 }, |m, p| two::<$D, 16>(m, p, $len))
            }
            32 => $with!(PerBlock::Moves { number: 1, width: 32 }, |m, p| $D::copy(m, p, 32)),
            40 => by_length!(@touching $D, $with, 32, 8),
            33..48 if $R::WIDTH == 16 => {
                $with!(PerBlock::Moves { number: 3, width: 16 }, |m, p| three::<$D, 16>(m, p, $len))
            }
            33..=64 => {
                $with!(PerBlock::Moves { number: 2, width: 32 }, |m, p| two::<$D, 32>(m, p, $len))
            }
            _ => $with!(PerBlock::Long, |m, p| long::<$D, $R>(m, p, $len)),
        }
    };
}

pub(super) use by_length;

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

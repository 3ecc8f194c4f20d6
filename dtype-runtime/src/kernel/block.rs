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
//! A kernel whose blocks all have one length looks the moves up once, and has a loop for each in [`by_block!`]. [`any`] is for
//! a kernel whose blocks differ in length. It has fewer arms, because the processor would mispredict more arms more often.
//! [`constant`] is for a length that the compiler knows.

use super::direction::Direction;
use super::registers::{Portable, Registers};
use crate::isa::{Isa, selected};
use crate::plan::choose::{LONG, MAX_PIECES};

/// The moves of a [`PerBlock`], for registers of `$R`.
///
/// Expands to a `match` on how each block of `$len` bytes is copied. Each arm is `$with!` applied to a closure that copies one
/// block, or `$with_one!` where that is a single move. The closure is sound if `choose` returned `$per` for blocks of this
/// length, and they are valid for `$D`; the macro must be called in an `unsafe` block.
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
/// `len` bytes must be valid for `D` on both sides, and `len` must be between `W` and `2 · W`.
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
/// `V + W` bytes must be valid for `D` on both sides.
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
/// `len` bytes must be valid for `D` on both sides, and `len` must be between `2 · W` and `3 · W`.
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
/// `len` bytes must be valid for `D` on both sides, and `len` must be between `W` and `4 · W`.
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
/// `len` bytes must be valid for `D` on both sides, and `len` must be more than 64.
#[inline(always)]
pub(super) unsafe fn long<D: Direction, R: Registers>(
    memory: *mut u8,
    packed: *mut u8,
    len: usize,
) {
    if len > if R::WIDTH > 16 { LONG } else { 128 } {
        // SAFETY: the block as a whole, which the caller guarantees on both sides.
        return unsafe { D::copy(memory, packed, len) };
    }
    if R::WIDTH < 64 && len <= 128 {
        // SAFETY: the block as a whole; `len` is from 65 to 128, which is between 32 and 4 · 32.
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
/// `len` bytes must be valid for `D` on both sides.
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

/// Copies one run of bytes.
///
/// # Safety
///
/// `len` bytes must be valid for `D` on both sides.
#[inline]
pub(crate) unsafe fn run<D: Direction>(memory: *mut u8, packed: *mut u8, len: usize) {
    // SAFETY: the run as a whole, which the caller guarantees on both sides.
    unsafe { any::<D, Portable>(memory, packed, len) }
}

/// The longest run that is cut into pieces where registers are narrower than 64 bytes. For 129 to 256 bytes, a call makes eight
/// moves of 32, many of which cross a cache line: on a Zen 3, 9 pieces take half as long as the call, and 14 take three
/// quarters. With registers of 64 bytes, the call is faster.
const MAX_LEN_NARROW: usize = 224;

/// Whether runs of more than [`MAX_PIECES`] bytes are cut into pieces.
#[inline(always)]
fn are_cut(isa: Isa) -> bool {
    isa != Isa::Avx512
}

/// Copies a run whose length the compiler knows, so that only one arm remains: a few moves in ascending order.
///
/// On its own, the compiler splits a copy of constant length into stores in any order. For 12 bytes it prefers the last four
/// first, which takes a third more time on current processors than the same stores from front to back. So the pieces are
/// written out here: 12 bytes are 8 and 4, 13 bytes are 8 and an overlapping 8, 40 bytes are 16, 16 and 8.
///
/// An unoptimized build keeps all arms. Inlined into every caller, they would be most of the code to compile, so there they are
/// not.
///
/// # Safety
///
/// `len` bytes must be valid for `D` on both sides.
#[cfg_attr(debug_assertions, inline)]
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn constant<D: Direction>(memory: *mut u8, packed: *mut u8, len: usize) {
    // SAFETY: each arm covers the `len` bytes that the caller guarantees, and no others.
    unsafe {
        match len {
            0 | 1 | 2 | 4 | 8 | 16 => D::copy(memory, packed, len),
            3 => head_and_tail::<D, 2>(memory, packed, len),
            5..8 => head_and_tail::<D, 4>(memory, packed, len),
            9..16 => head_and_tail::<D, 8>(memory, packed, len),
            17..=MAX_LEN_NARROW if len <= MAX_PIECES || are_cut(selected()) => {
                let mut at = 0;
                while at + 32 <= len {
                    D::copy(memory.add(at), packed.add(at), 16);
                    at += 16;
                }
                let rest = len - at;
                if rest == 16 {
                    D::copy(memory.add(at), packed.add(at), 16);
                } else {
                    head_and_tail::<D, 16>(memory.add(at), packed.add(at), rest);
                }
            }
            _ => D::copy(memory, packed, len),
        }
    }
}

/// Copies the first `W` bytes, and then the rest: by a move of that width if there is one, otherwise by a move of `W` bytes
/// that overlaps the first.
///
/// # Safety
///
/// `len` bytes must be valid for `D` on both sides, and `len` must be more than `W` and less than `2 · W`.
#[inline(always)]
unsafe fn head_and_tail<D: Direction, const W: usize>(
    memory: *mut u8,
    packed: *mut u8,
    len: usize,
) {
    let rest = len - W;
    // SAFETY: the first `W` bytes, and the last `rest` or `W` of the `len` that the caller
    // guarantees. Where the two overlap, the same bytes are written twice.
    unsafe {
        if rest.is_power_of_two() {
            D::copy(memory, packed, W);
            D::copy(memory.add(W), packed.add(W), rest);
        } else if W == 16 {
            D::copy_16(memory, packed);
            D::copy_16(memory.add(rest), packed.add(rest));
        } else {
            two::<D, W>(memory, packed, len);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Pack, Unpack};

    #[test]
    fn every_length_is_covered_and_nothing_else_is_touched() {
        for len in 0..MAX_LEN_NARROW + 32 {
            let mut from: Vec<u8> = (1..=len).map(|i| i.to_le_bytes()[0]).collect();
            let mut to = vec![0; len + 2];
            // SAFETY: both have the bytes.
            unsafe { constant::<Pack>(from.as_mut_ptr(), to.as_mut_ptr().add(1), len) };
            assert_eq!((to[0], to[len + 1], &to[1..=len]), (0, 0, &*from));
            let mut back = vec![0; len + 2];
            // SAFETY: as above.
            unsafe { constant::<Unpack>(back.as_mut_ptr().add(1), from.as_mut_ptr(), len) };
            assert_eq!(back, to);
        }
    }

    #[test]
    fn long_runs_are_cut_where_registers_are_narrow() {
        assert!([Isa::Portable, Isa::Avx2, Isa::Neon].into_iter().all(are_cut));
        assert!(!are_cut(Isa::Avx512));
    }
}

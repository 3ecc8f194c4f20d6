//! A run whose length is a constant, as a few moves in ascending order.
//!
//! On its own, the compiler splits a copy of constant length into stores in any order. For 12 bytes it prefers the last four
//! first, which takes a third more time on current processors than the same stores from front to back. So the pieces are
//! written out here: 12 bytes are 8 and 4, 13 bytes are 8 and an overlapping 8, 40 bytes are 16, 16 and 8. (The moves of blocks
//! whose length is known only at run time are in `moves`.)

use super::direction::Direction;
use crate::isa::{Isa, selected};
use crate::plan::choose::MAX_PIECES;

/// The longest run that is cut into pieces where registers are narrower than 64 bytes. For 129 to 256 bytes, a call makes eight
/// moves of 32, many of which cross a cache line: on a Zen 3, 9 pieces take half as long as the call, and 14 take three
/// quarters. With registers of 64 bytes, the call is faster.
const MAX_LEN_NARROW: usize = 224;

/// Whether runs of more than [`MAX_LEN`] bytes are cut into pieces.
#[inline(always)]
fn are_cut(isa: Isa) -> bool {
    isa != Isa::Avx512
}

/// Copies `len` bytes. If the compiler knows `len`, only one arm remains.
///
/// An unoptimized build keeps all arms. Inlined into every caller, they would be most of the code to compile, so there they are
/// not.
///
/// # Safety
///
/// As [`Direction::copy`].
#[cfg_attr(debug_assertions, inline)]
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn copy<D: Direction>(memory: *mut u8, packed: *mut u8, len: usize) {
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
/// As [`Direction::copy`]; `len` must be more than `W` and less than `2 · W`.
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
            D::copy(memory, packed, W);
            D::copy(memory.add(rest), packed.add(rest), W);
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
            unsafe { copy::<Pack>(from.as_mut_ptr(), to.as_mut_ptr().add(1), len) };
            assert_eq!((to[0], to[len + 1], &to[1..=len]), (0, 0, &*from));
            let mut back = vec![0; len + 2];
            // SAFETY: as above.
            unsafe { copy::<Unpack>(back.as_mut_ptr().add(1), from.as_mut_ptr(), len) };
            assert_eq!(back, to);
        }
    }

    #[test]
    fn long_runs_are_cut_where_registers_are_narrow() {
        assert!([Isa::Portable, Isa::Avx2, Isa::Neon].into_iter().all(are_cut));
        assert!(!are_cut(Isa::Avx512));
    }
}

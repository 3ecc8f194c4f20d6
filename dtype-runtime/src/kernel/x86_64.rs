//! The sets of instructions of `x86_64`.

mod permute;
mod reverse;

use core::ops::Range;

use super::direction::{Direction, Transfer};
use super::registers::Registers;
use crate::plan::Permutation;

/// AVX2: registers of 32 bytes.
pub(super) struct Avx2;

impl Registers for Avx2 {
    const WIDTH: usize = 32;
}

/// AVX-512 with F, BW, VL and VBMI, and BMI2: registers of 64 bytes, whose bytes one instruction permutes.
pub(super) struct Avx512;

/// Calls a routine for the number of vectors that the permutation has.
macro_rules! by_vectors {
    ($routine:ident($all:ident, $what:ident, $from:ident, $to:ident)) => {
        match $all.vectors() {
            1 => permute::$routine::<1>($all, $what, $from, $to),
            _ => permute::$routine::<2>($all, $what, $from, $to),
        }
    };
}

impl Registers for Avx512 {
    const WIDTH: usize = 64;

    const REVERSES: bool = true;

    #[inline(always)]
    unsafe fn reverse<const W: usize>(from: *const u8, to: *mut u8, len: usize) {
        // SAFETY: the caller guarantees the bytes and the instructions.
        unsafe { reverse::reverse::<W>(from, to, len) }
    }

    #[inline(always)]
    unsafe fn permute<D: Direction>(
        all: &Permutation,
        count: usize,
        memory: *mut u8,
        packed: *mut u8,
    ) -> bool {
        // SAFETY: the caller guarantees the instructions, and both sides as `D` reads and writes them.
        unsafe {
            match D::TRANSFER {
                Transfer::Pack => by_vectors!(pack(all, count, memory, packed)),
                Transfer::Unpack => by_vectors!(unpack(all, count, memory, packed)),
                Transfer::Move => by_vectors!(copy(all, count, memory, packed)),
                Transfer::Zero => return false,
            }
        }
        true
    }

    #[inline(always)]
    unsafe fn permute_part<D: Direction>(
        all: &Permutation,
        part: Range<usize>,
        memory: *mut u8,
        packed: *mut u8,
    ) -> bool {
        // SAFETY: the caller guarantees the instructions, and both sides as `D` reads and writes them.
        unsafe {
            match D::TRANSFER {
                Transfer::Pack => by_vectors!(pack_part(all, part, memory, packed)),
                Transfer::Unpack => by_vectors!(unpack_part(all, part, memory, packed)),
                Transfer::Move | Transfer::Zero => return false,
            }
        }
        true
    }
}

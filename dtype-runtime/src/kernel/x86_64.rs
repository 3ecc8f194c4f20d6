//! The instruction sets of `x86_64`: AVX2 and AVX-512.

mod avx2;
mod gather;
mod masked;
mod permute;
mod prefetch;
mod reverse;
mod steps;

use core::arch::x86_64::{__m512i, __mmask64, _bzhi_u64, _mm512_loadu_si512};
use core::ops::Range;

use super::direction::{Direction, Transfer, Way};
use super::registers::Registers;
use crate::isa::Isa;
use crate::plan::{Constant, MAX_COLUMNS, Permutation, Step};

/// AVX2: registers of 32 bytes. MOVBE, which every processor with AVX2 has, reverses a value while loading or storing it.
pub(super) struct Avx2;

impl Registers for Avx2 {
    const ISA: Isa = Isa::Avx2;
}

/// Bytes of a register of AVX-512.
const WIDTH: usize = size_of::<__m512i>();

/// The register with these bytes.
#[inline]
#[target_feature(enable = "avx512f")]
fn vector(bytes: &[u8; WIDTH]) -> __m512i {
    // SAFETY: the array has the 64 bytes that the instruction loads.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// The mask of the first `bytes` bytes of a register. For more bytes than a register has, up to 255, it is the mask of all.
#[inline]
#[target_feature(enable = "bmi2")]
#[expect(clippy::cast_possible_truncation, reason = "bytes of a few registers")]
fn first(bytes: usize) -> __mmask64 {
    // The instruction looks at the low 8 bits only.
    debug_assert!(bytes < 256, "{bytes} bytes");
    _bzhi_u64(!0, bytes as u32)
}

/// AVX-512 with F, BW, VL and VBMI, BMI2 and MOVBE: registers of 64 bytes, whose bytes one instruction permutes.
pub(super) struct Avx512;

/// Calls a routine for the permutation's number of vectors.
macro_rules! by_vectors {
    ($routine:ident($all:ident, $($argument:expr),*)) => {
        match $all.vectors() {
            1 => permute::$routine::<1>($all, $($argument),*),
            _ => permute::$routine::<2>($all, $($argument),*),
        }
    };
}

/// [`Registers::permute`], once it is known how far ahead to prefetch.
///
/// # Safety
///
/// As for [`Registers::permute`].
#[inline(always)]
unsafe fn permute_prepared<D: Direction>(
    permutation: &Permutation,
    range: Range<usize>,
    memory: *mut u8,
    packed: *mut u8,
) {
    // SAFETY: the caller guarantees the instructions, and both sides for the reads and writes of `D`.
    unsafe {
        match D::TRANSFER {
            Transfer::Pack => match (permutation.vectors(), permutation.period().1) {
                (1, ..=32) => permute::pack::<1, 32>(permutation, range, memory, packed),
                (1, _) => permute::pack::<1, 64>(permutation, range, memory, packed),
                _ => permute::pack::<2, 64>(permutation, range, memory, packed),
            },
            Transfer::Unpack => by_vectors!(unpack(permutation, range, memory, packed)),
            Transfer::Move => by_vectors!(copy(permutation, range, memory, packed)),
            Transfer::Zero => {}
        }
    }
}

/// [`Registers::permute`] for the first time. It does the whole copy, so that its caller ends with this call and saves no
/// registers.
///
/// # Safety
///
/// As for [`Registers::permute`].
#[cold]
#[inline(never)]
unsafe fn prepare_and_permute<D: Direction>(
    permutation: &Permutation,
    range: Range<usize>,
    memory: *mut u8,
    packed: *mut u8,
) {
    prefetch::FAR.ask();
    // SAFETY: passed on to the caller.
    unsafe { permute_prepared::<D>(permutation, range, memory, packed) };
}

impl Registers for Avx512 {
    const ISA: Isa = Isa::Avx512;

    #[inline(always)]
    unsafe fn masked<const W: usize>(from: *const u8, to: *mut u8, len: usize) {
        // SAFETY: the caller guarantees the bytes and the instructions.
        unsafe { masked::copy::<W>(from, to, len) }
    }

    #[inline(always)]
    unsafe fn reverse<const W: usize>(from: *const u8, to: *mut u8, len: usize) {
        // SAFETY: the caller guarantees the bytes and the instructions.
        unsafe { reverse::reverse::<W>(from, to, len) }
    }

    #[inline(always)]
    unsafe fn permute<D: Direction>(
        all: &Permutation,
        range: Range<usize>,
        memory: *mut u8,
        packed: *mut u8,
    ) {
        // SAFETY: passed on to the caller.
        unsafe {
            if prefetch::FAR.is_known() {
                permute_prepared::<D>(all, range, memory, packed);
            } else {
                prepare_and_permute::<D>(all, range, memory, packed);
            }
        }
    }

    #[inline(always)]
    unsafe fn steps<D: Direction>(
        steps: &[Step],
        record: (usize, isize),
        count: usize,
        memory: *mut u8,
        packed: *mut u8,
    ) -> bool {
        // SAFETY: the caller guarantees the instructions, and both sides for the reads and writes of `D`.
        unsafe {
            match D::TRANSFER {
                Transfer::Pack => steps::pack(steps, record, count, memory, packed),
                Transfer::Unpack => steps::unpack(steps, record, count, memory, packed),
                Transfer::Move | Transfer::Zero => return false,
            }
        }
        true
    }

    #[inline(always)]
    unsafe fn permute_one<D: Direction>(
        permutation: &Permutation,
        memory: *mut u8,
        packed: *mut u8,
    ) {
        // SAFETY: the caller guarantees the instructions, and both sides for the reads and writes of `D`.
        unsafe {
            match D::TRANSFER {
                Transfer::Pack => by_vectors!(pack_one(permutation, memory, packed)),
                Transfer::Unpack => by_vectors!(unpack_one(permutation, memory, packed)),
                Transfer::Move | Transfer::Zero => {}
            }
        }
    }

    #[inline(always)]
    unsafe fn columns<D: Way, G: Constant>(
        count: usize,
        memory: *mut u8,
        columns: &[*mut u8; MAX_COLUMNS],
    ) -> bool {
        // SAFETY: the caller guarantees the instructions, and both sides for the reads and writes of `D`.
        unsafe {
            if D::PACKS {
                gather::gather::<G>(count, memory, columns);
            } else {
                gather::scatter::<G>(count, memory, columns);
            }
        }
        true
    }
}

//! The instruction sets of `x86_64`: AVX2 and AVX-512.

mod avx2;
mod gather;
mod permute;
mod prefetch;
mod reverse;
mod steps;

use core::arch::x86_64::{
    __m512i, __mmask64, _bzhi_u32, _bzhi_u64, _mm256_mask_storeu_epi8, _mm256_maskz_loadu_epi8,
    _mm512_loadu_si512, _mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8,
};
use core::ops::Range;

use super::direction::{Direction, Way};
use super::registers::Registers;
use crate::isa::Isa;
use crate::plan::choose::Use;
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

/// Copies `len` bytes by one load and one store of `W` bytes, 32 or 64.
///
/// # Safety
///
/// `from` must be valid for reading `len` bytes and `to` for writing as many. `len` must be at most `W`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
#[expect(clippy::cast_possible_truncation, reason = "at most 32")]
unsafe fn masked<const W: usize>(from: *const u8, to: *mut u8, len: usize) {
    debug_assert!(len <= W, "{len} bytes of {W}");
    // SAFETY: a masked load or store accesses the bytes that its mask selects and no others: the first `len`, which the caller
    // guarantees.
    unsafe {
        if W == 32 {
            let mask = _bzhi_u32(!0, len as u32);
            _mm256_mask_storeu_epi8(to.cast(), mask, _mm256_maskz_loadu_epi8(mask, from.cast()));
        } else {
            let mask = first(len);
            _mm512_mask_storeu_epi8(to.cast(), mask, _mm512_maskz_loadu_epi8(mask, from.cast()));
        }
    }
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
/// What [`Registers::permute`] requires, of a range that is not empty.
#[inline(always)]
unsafe fn permute_prepared<D: Direction>(
    permutation: &Permutation,
    range: Range<usize>,
    memory: *mut u8,
    packed: *mut u8,
) {
    // SAFETY: the caller guarantees the instructions, and both sides for the reads and writes of `D`.
    unsafe {
        match D::USE {
            Use::Pack => match (permutation.vectors(), permutation.period().1) {
                (1, ..=32) => permute::pack::<1, 32>(permutation, range, memory, packed),
                (1, _) => permute::pack::<1, 64>(permutation, range, memory, packed),
                _ => permute::pack::<2, 64>(permutation, range, memory, packed),
            },
            Use::Unpack | Use::Keep => by_vectors!(unpack(permutation, range, memory, packed)),
            Use::Move => by_vectors!(copy(permutation, range, memory, packed)),
            Use::Zero => {}
        }
    }
}

/// [`Registers::permute`] for the first time. It does the whole copy, so that its caller ends with this call and saves no
/// registers.
///
/// # Safety
///
/// What [`Registers::permute`] requires, of a range that is not empty.
#[cold]
#[inline(never)]
unsafe fn prepare_and_permute<D: Direction>(
    permutation: &Permutation,
    range: Range<usize>,
    memory: *mut u8,
    packed: *mut u8,
) {
    prefetch::FAR.ask();
    // SAFETY: the same range of the same records.
    unsafe { permute_prepared::<D>(permutation, range, memory, packed) };
}

impl Registers for Avx512 {
    const ISA: Isa = Isa::Avx512;

    #[inline(always)]
    unsafe fn masked<const W: usize>(from: *const u8, to: *mut u8, len: usize) {
        // SAFETY: the caller guarantees the bytes and the instructions.
        unsafe { masked::<W>(from, to, len) }
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
    ) -> bool {
        debug_assert!(range.is_empty() || range.start < all.size(), "{range:?} of {all:?}");
        if matches!(D::USE, Use::Zero) {
            return false;
        }
        if range.is_empty() {
            return true;
        }
        // SAFETY: the range is not empty, so it starts in the first record. Both functions require what the caller guarantees.
        unsafe {
            if prefetch::FAR.is_known() {
                permute_prepared::<D>(all, range, memory, packed);
            } else {
                prepare_and_permute::<D>(all, range, memory, packed);
            }
        }
        true
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
            match D::USE {
                Use::Pack => steps::pack(steps, record, count, memory, packed),
                Use::Unpack | Use::Keep => steps::unpack(steps, record, count, memory, packed),
                Use::Move | Use::Zero => return false,
            }
        }
        true
    }

    #[inline(always)]
    unsafe fn permute_one<D: Direction>(
        permutation: &Permutation,
        memory: *mut u8,
        packed: *mut u8,
    ) -> bool {
        // SAFETY: the caller guarantees the instructions, and both sides for the reads and writes of `D`.
        unsafe {
            match D::USE {
                Use::Pack => by_vectors!(pack_one(permutation, memory, packed)),
                Use::Unpack | Use::Keep => by_vectors!(unpack_one(permutation, memory, packed)),
                Use::Move | Use::Zero => return false,
            }
        }
        true
    }

    #[inline(always)]
    unsafe fn columns<D: Way, G: Constant>(
        count: usize,
        memory: *mut u8,
        columns: &[*mut u8; MAX_COLUMNS],
    ) -> bool {
        // SAFETY: the caller guarantees the instructions, and both sides for the reads and writes of `D`.
        unsafe { gather::columns::<D, G>(count, memory, columns) };
        true
    }
}

//! Small records, several at a time, by a permutation of their bytes.
//!
//! Take records of 16 bytes with data in bytes 0 to 12: 13 packed bytes. Four of them lie in
//! a window of 64 bytes. One load fetches the window, masked so that the gaps are not read; one instruction moves the 52 bytes
//! of data to the front of the register; one store writes them. That is three instructions for four records; run by run, they
//! take eight loads and eight stores. The [`Permutation`], computed once for each plan, says which byte goes where. Unpacking is
//! the mirror image, with another index and a masked store.

#[cfg(test)]
mod tests;

use core::ops::Range;

use super::direction::Direction;
use super::registers::{Registers, compiled_for_selected};
use crate::isa::selected;
use crate::plan::{Blocks, Permutation, Program, choose};

/// Copies blocks, the first of them at `memory`, if the machine can execute their permutation. Returns the end of the packed
/// bytes.
///
/// # Safety
///
/// All of the blocks, counted from `memory` on whatever their displacement, and as many bytes from `packed` on must be valid for
/// `D`. If `D` writes memory, the blocks must not overlap.
#[inline(never)]
pub(crate) unsafe fn permuted_blocks<D: Direction>(
    all: &Blocks,
    program: &Program,
    memory: *mut u8,
    packed: *mut u8,
) -> Option<*mut u8> {
    let permutation = choose::column(all, all.count, program, selected(), D::USE)?;
    // SAFETY: the permutation was computed for blocks of this length and stride, which the caller guarantees.
    unsafe { permuted::<D>(permutation, all.count, memory, packed) }
}

/// Copies `count` records by their permutation. Returns the end of the packed bytes, or `None` without an effect if the machine
/// lacks the instructions.
///
/// # Safety
///
/// As [`permute`] requires of all bytes of these records.
#[inline(always)]
pub(super) unsafe fn permuted<D: Direction>(
    permutation: &Permutation,
    count: u64,
    memory: *mut u8,
    packed: *mut u8,
) -> Option<*mut u8> {
    let count = usize::try_from(count).ok()?;
    let bytes = permutation.size().wrapping_mul(count);
    // SAFETY: these are all bytes of the records, from the start of the first on.
    let done = unsafe { permute::<D>(permutation, 0..bytes, memory, packed) };
    done.then(|| packed.wrapping_add(D::advance(bytes)))
}

compiled_for_selected! {
    /// Copies the packed bytes `range` of records, counted from the start of the first, by their permutation. Returns
    /// false without an effect if the machine lacks the instructions; the records must be copied in another way then.
    ///
    /// # Safety
    ///
    /// `memory + displacement` must be valid for `D` on every data byte of the range, and `packed` on as many bytes as
    /// these are. If memory is read, all data of the records in the range must be readable; if it is written, the
    /// records must not overlap. The range must start in the first record, or be empty. The two sides must not overlap;
    /// if `D` moves, no byte may be read after it was written.
    pub(crate) unsafe fn permute[D: Direction][D](
        all: &Permutation, range: Range<usize>, memory: *mut u8, packed: *mut u8,
    ) -> bool = R => R::permute::<D>(all, range, memory, packed);
}

compiled_for_selected! {
    /// Copies the packed bytes `range` of records by their permutation, or by `otherwise` if the machine lacks the
    /// instructions.
    ///
    /// This function ends with the call of `otherwise`. So a caller that ends with a call of this function saves no registers,
    /// which would take a nanosecond.
    ///
    /// # Safety
    ///
    /// What [`permute`] requires. This must also satisfy `otherwise`, whose arguments are the last three.
    pub(crate) unsafe fn permute_or[D: Direction][D](
        permutation: &Permutation,
        otherwise: unsafe fn(*mut u8, *mut u8, Range<usize>),
        memory: *mut u8,
        packed: *mut u8,
        range: Range<usize>,
    ) = R => if !R::permute::<D>(permutation, range.clone(), memory, packed) {
        otherwise(memory, packed, range);
    };
}

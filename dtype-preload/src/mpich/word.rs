//! Handles as arguments: a register, of which MPICH uses a half.

use super::numbers::Handle;

/// A handle: an `int` in this library, an address in Open MPI.
pub(super) type Word = usize;

/// The lower half, where a library with integers has its handle.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the upper half of the register is unspecified"
)]
pub(super) fn handle(word: Word) -> Handle {
    (word as u32).cast_signed()
}

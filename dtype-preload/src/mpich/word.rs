//! Handles as arguments. They come in a register, of which MPICH uses only half.

use super::numbers::Handle;

/// A handle: an `int` in this library, an address in Open MPI.
pub(super) type Word = usize;

/// The lower half, which has the handle in a library whose handles are integers.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the upper half of the register is unspecified"
)]
pub(super) fn handle(word: Word) -> Handle {
    (word as u32).cast_signed()
}

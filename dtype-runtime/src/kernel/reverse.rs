//! Values whose bytes are reversed while they are copied.

use core::marker::PhantomData;

use super::chosen::Kernel;
use super::direction::{Direction, Steps, Transfer, Way, each};
use super::registers::{Portable, Registers, compiled_for_selected};
use crate::plan::Permutation;

/// As `D`, with the bytes of each value of `W` bytes reversed. A block must be a whole number of such values.
///
/// # Lemma WHOLE-VALUES
///
/// The kernels cut a block into moves, which may overlap. Each of these moves is a whole number of values, too: a
/// block of 28 bytes with values of 4, for example, is two moves of 16 bytes, at 0 and at 12. In general:
///
/// - `W` and the width `w` of a move are powers of two. The table in `moves` makes moves with `len < 2 * w`, moves of at
///   least 16 bytes, or moves of two widths whose sum is the length. As a value is no longer than its block, `W < 2 * w` in
///   the first case, and so `W <= w`. In the second case `W <= 16 <= w`. In the third, `W` divides the sum of two different
///   powers of two, and so is not greater than the lesser. In any case a move is at least as long as a value, and a
///   multiple of it.
/// - A move starts a multiple of `w` after the start of its block, or ends where the block ends, and the length of the
///   block is a multiple of `W`. Either way it starts at the start of a value.
///
/// For lists whose blocks have different lengths, `Moves::of` (`plan/list.rs`) chooses the width, and says there why no
/// move is shorter than a value. That the blocks of a plan are whole numbers of values is lemma WHOLE-RUNS
/// (`commit/convert.rs`).
pub(crate) struct Reversing<D, const W: usize>(PhantomData<D>);

/// Calls a function for the direction that reverses values of this width: 2, 4, 8 or 16 bytes.
macro_rules! reversing {
    ($function:ident::<$d:ident>($width:expr) $arguments:tt) => {
        match $width {
            2 => $function::<$crate::kernel::Reversing<$d, 2>> $arguments,
            4 => $function::<$crate::kernel::Reversing<$d, 4>> $arguments,
            8 => $function::<$crate::kernel::Reversing<$d, 8>> $arguments,
            _ => $function::<$crate::kernel::Reversing<$d, 16>> $arguments,
        }
    };
}

pub(crate) use reversing;

impl<D: Way, const W: usize> Direction for Reversing<D, W> {
    const TRANSFER: Transfer = D::TRANSFER;

    const IS_COPY: bool = false;

    const UNIT: usize = W;

    #[inline(always)]
    unsafe fn copy(memory: *mut u8, packed: *mut u8, len: usize) {
        /// The longest block that is copied without a call.
        const SHORT: usize = 64;
        debug_assert!(len.is_multiple_of(W), "whole values");
        let (from, to) = D::ends(memory, packed);
        // SAFETY: the caller guarantees both sides, as `D` copies from one to the other.
        unsafe {
            if len <= SHORT {
                Portable::reverse::<W>(from, to, len);
            } else {
                Self::copy_long(len, 1, Steps { memory: 0, packed: 0 }, memory, packed);
            }
        }
    }

    unsafe fn copy_long(len: usize, count: usize, steps: Steps, memory: *mut u8, packed: *mut u8) {
        // SAFETY: passed on to the caller.
        unsafe { long::<D, W>(len, count, steps, memory, packed) }
    }

    #[inline(always)]
    fn permutation(all: &Permutation) -> Option<Permutation> {
        Some(all.reversed::<W>())
    }

    #[inline(always)]
    unsafe fn chosen(kernel: impl FnOnce() -> Kernel, packed: *mut u8) -> bool {
        // SAFETY: passed on to the caller.
        unsafe { D::chosen(kernel, packed) }
    }
}

impl<D: Way, const W: usize> Way for Reversing<D, W> {}

compiled_for_selected! {
    /// Copies blocks and reverses their values.
    ///
    /// # Safety
    ///
    /// As [`Direction::copy_long`].
    unsafe fn long[D: Way, const W: usize][D, W](
        len: usize, count: usize, steps: Steps, memory: *mut u8, packed: *mut u8,
    ) = R => each(count, steps, memory, packed, |memory, packed| {
        let (from, to) = D::ends(memory, packed);
        R::reverse::<W>(from, to, len);
    });
}

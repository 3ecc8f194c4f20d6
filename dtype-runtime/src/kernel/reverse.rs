//! Values whose bytes are reversed while they are copied: numbers in the other byte order.

use super::direction::{Steps, Way, each};
use super::registers::{Portable, Registers, compiled_for_selected};

/// Copies `count` blocks of `len` bytes, and reverses each value of `width` bytes.
///
/// # Safety
///
/// For each block, `len` bytes from `memory` and from `packed` on, advanced by the steps, must be valid for `D`, and must not
/// overlap. `width` must be 2, 4, 8 or 16, and `len` a multiple of it.
pub(crate) unsafe fn reverse<D: Way>(
    width: u8,
    len: usize,
    count: usize,
    steps: Steps,
    memory: *mut u8,
    packed: *mut u8,
) {
    // SAFETY: `W` is the width, and the blocks are those that the caller guarantees.
    unsafe {
        match width {
            2 => blocks::<D, 2>(len, count, steps, memory, packed),
            4 => blocks::<D, 4>(len, count, steps, memory, packed),
            8 => blocks::<D, 8>(len, count, steps, memory, packed),
            _ => blocks::<D, 16>(len, count, steps, memory, packed),
        }
    }
}

compiled_for_selected! {
    /// [`reverse`] for values of `W` bytes.
    ///
    /// # Safety
    ///
    /// For each block, `len` bytes from `memory` and from `packed` on, advanced by the steps, must be valid for `D`. `len` must
    /// be a multiple of `W`.
    unsafe fn blocks[D: Way, const W: usize][D, W](
        len: usize, count: usize, steps: Steps, memory: *mut u8, packed: *mut u8,
    ) = R => each(count, steps, memory, packed, |memory, packed| {
        let (from, to) = D::ends(memory, packed);
        if len == W { Portable::reverse::<W>(from, to, W) } else { R::reverse::<W>(from, to, len) }
    });
}

/// Copies the bytes of one value in reverse order.
///
/// # Safety
///
/// `width` bytes at `memory` and at `packed` must be valid for `D`. `width` must be 2, 4, 8 or 16.
#[inline(always)]
pub(crate) unsafe fn reverse_value<D: Way>(width: u8, memory: *mut u8, packed: *mut u8) {
    let (from, to) = D::ends(memory, packed);
    // SAFETY: one value of `width` bytes, which the caller guarantees on both sides. Every machine has these instructions.
    unsafe {
        match width {
            2 => Portable::reverse::<2>(from, to, 2),
            4 => Portable::reverse::<4>(from, to, 4),
            8 => Portable::reverse::<8>(from, to, 8),
            _ => Portable::reverse::<16>(from, to, 16),
        }
    }
}

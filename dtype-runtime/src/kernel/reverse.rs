//! Values whose bytes are reversed while they are copied: numbers in the other byte order.

use super::direction::{Steps, Way};
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
    let (from, to) = D::ends(memory, packed);
    let steps = [steps.memory, steps.packed.cast_signed()];
    let [from_step, to_step] = if D::PACKS { steps } else { [steps[1], steps[0]] };
    // SAFETY: passed on to the caller.
    unsafe {
        match width {
            2 => blocks::<2>(len, count, from, from_step, to, to_step),
            4 => blocks::<4>(len, count, from, from_step, to, to_step),
            8 => blocks::<8>(len, count, from, from_step, to, to_step),
            _ => blocks::<16>(len, count, from, from_step, to, to_step),
        }
    }
}

compiled_for_selected! {
    /// [`reverse`] for values of `W` bytes.
    ///
    /// # Safety
    ///
    /// As there; the steps are the bytes from one block to the next.
    unsafe fn blocks[const W: usize][W](
        len: usize, count: usize, from: *const u8, from_step: isize, to: *mut u8, to_step: isize,
    ) = R => {
        let (mut from, mut to) = (from, to);
        if len == W {
            for _ in 0..count {
                Portable::reverse::<W>(from, to, W);
                from = from.wrapping_offset(from_step);
                to = to.wrapping_offset(to_step);
            }
        } else {
            for _ in 0..count {
                R::reverse::<W>(from, to, len);
                from = from.wrapping_offset(from_step);
                to = to.wrapping_offset(to_step);
            }
        }
    };
}

/// Copies the bytes of one value in reverse order.
///
/// # Safety
///
/// `width` bytes at `memory` and at `packed` must be valid for `D`. `width` must be 2, 4, 8 or 16.
#[inline(always)]
pub(crate) unsafe fn reverse_value<D: Way>(width: u8, memory: *mut u8, packed: *mut u8) {
    let (from, to) = D::ends(memory, packed);
    // SAFETY: passed on to the caller.
    unsafe {
        match width {
            2 => Portable::reverse::<2>(from, to, 2),
            4 => Portable::reverse::<4>(from, to, 4),
            8 => Portable::reverse::<8>(from, to, 8),
            _ => Portable::reverse::<16>(from, to, 16),
        }
    }
}

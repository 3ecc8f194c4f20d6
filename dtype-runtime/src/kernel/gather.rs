//! One field of many records as a column.
//!
//! See [`Gather`] for the idea. The last records, and all of them without the instructions, are copied one by one.

use super::direction::{Pack, Steps};
use super::registers::{Registers, compiled_for_selected};
use super::rows::strided;
use crate::kernels::selected;
use crate::plan::Gather;

/// Copies the values of `count` records; the first is at `memory`.
///
/// # Safety
///
/// The values must be readable, and `count` of them writable from `packed` on. The two must not overlap.
#[inline]
pub(crate) unsafe fn gather(all: &Gather, count: usize, memory: *mut u8, packed: *mut u8) {
    // SAFETY: passed on to the caller; what the pieces leave are the last records.
    unsafe {
        let done = if selected().permutes() { pieces(all, count, memory, packed) } else { 0 };
        if done < count {
            let steps = Steps { memory: all.stride().cast_signed(), packed: all.len() };
            let (memory, packed) =
                (memory.wrapping_add(done * all.stride()), packed.wrapping_add(done * all.len()));
            strided::<Pack>(all.len(), count - done, steps, memory, packed);
        }
    }
}

compiled_for_selected! {
    /// Copies the first values, and returns their number.
    ///
    /// # Safety
    ///
    /// As [`gather`].
    unsafe fn pieces[][](all: &Gather, count: usize, memory: *mut u8, packed: *mut u8) -> usize
        = R => R::gather(all, count, memory, packed);
}

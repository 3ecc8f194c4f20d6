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

/// Asks for memory that is read soon, which need not exist.
///
/// Masked loads make some processors prefetch less by themselves.
#[inline]
pub(crate) fn prefetch(memory: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for at in (0..bytes).step_by(64) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(memory.wrapping_add(at).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (memory, bytes);
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

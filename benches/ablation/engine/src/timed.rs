//! What is timed.

use core::fmt::Display;

use crate::class::Work;
use crate::interface::Sizes;

/// A type, and the loops over it.
pub(crate) trait Timed {
    /// What this number of instances takes.
    fn sizes(&self, count: usize) -> Sizes;

    /// Writes the values of as many instances as the memory has.
    ///
    /// # Safety
    ///
    /// The memory must be aligned to 16 bytes, have a length of [`sizes`](Self::sizes), and be zeros.
    unsafe fn fill(&self, memory: &mut [u8], seed: u64);

    /// Repeats the work on `count` instances.
    ///
    /// # Safety
    ///
    /// The memory must be aligned to 16 bytes, and be zeros or what [`fill`](Self::fill) wrote. Both must have the lengths of
    /// [`sizes`](Self::sizes).
    unsafe fn run(
        &self,
        work: Work,
        memory: &mut [u8],
        packed: &mut [u8],
        count: usize,
        repetitions: u32,
    );
}

/// The value of a call that does not fail: the error is handled out of the code that is timed.
#[inline(always)]
pub(crate) fn done<T, E: Display>(result: Result<T, E>) -> T {
    #[cold]
    #[inline(never)]
    fn failed(error: &dyn Display) -> ! {
        panic!("a call failed: {error}")
    }
    match result {
        Ok(value) => value,
        Err(error) => failed(&error),
    }
}

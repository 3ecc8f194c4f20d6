//! The loops that are timed.

use core::fmt::Display;

use crate::class::Work;
use crate::interface::Sizes;

/// A type, and the loops over its instances.
pub(crate) trait Timed {
    /// The lengths of the buffers for this number of instances.
    fn sizes(&self, count: usize) -> Sizes;

    /// Writes the values of the instances that the memory has room for.
    ///
    /// # Safety
    ///
    /// The memory must be aligned to 16 bytes, have a length of [`sizes`](Self::sizes), and be zeros.
    unsafe fn fill(&self, memory: &mut [u8], seed: u64);

    /// Does the work on `count` instances this number of times.
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

/// The value of a call that cannot fail. Errors are handled in a function of their own, outside of the timed code.
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

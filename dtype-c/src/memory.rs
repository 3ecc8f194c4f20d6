//! The memory that instances lie in.

use dtype_runtime::Committed;

use crate::error::Failure;

/// Of a `memory_size` without a bound.
const UNBOUNDED: usize = usize::MAX;

/// The memory around the origin of the first instance, as a caller passes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    pub(crate) origin: *mut u8,
    size: usize,
}

// SAFETY: an address. What is accessed there, and when, is decided where it is used.
unsafe impl Send for Memory {}

impl Memory {
    /// The bytes from the origin on are accessed only where data of instances lie that [`check`](Self::check) accepted.
    pub(crate) fn new<T>(origin: *const T, size: usize) -> Self {
        Self { origin: origin.cast_mut().cast(), size }
    }

    /// Checks that the data of `count` instances lie in the memory.
    #[inline]
    pub(crate) fn check(self, ty: &Committed, count: usize) -> Result<(), Failure> {
        if self.size != UNBOUNDED {
            ty.check_span(self.size as u64, 0, count)?;
        }
        if self.origin.is_null() && ty.span(count).is_some() {
            return Err(Failure::Null("memory"));
        }
        Ok(())
    }

    /// Refuses bytes that lie between the first and the last byte of data of `count` instances.
    #[inline]
    pub(crate) fn check_apart(
        self,
        ty: &Committed,
        count: usize,
        bytes: *const u8,
        len: usize,
    ) -> Result<(), Failure> {
        let Some(span) = ty.span(count) else { return Ok(()) };
        let (origin, bytes) = (self.origin.addr() as i128, bytes.addr() as i128);
        let is_before = bytes + len as i128 <= origin + span.start;
        if len == 0 || is_before || bytes >= origin + span.end {
            return Ok(());
        }
        // A count that memory cannot address reaches everywhere.
        ty.packed_size(count)?;
        Err(Failure::overlap())
    }
}

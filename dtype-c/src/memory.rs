//! The memory that instances lie in.

use dtype_runtime::Committed;

use crate::error::Failure;

/// Of a `memory_size` without a bound.
const UNBOUNDED: usize = usize::MAX;

/// The memory around the origin of the first instance, as a caller passes it.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    pub(crate) origin: *mut u8,
    size: usize,
}

/// The addresses from the first to the last byte of data of some instances.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data {
    start: i128,
    end: i128,
}

impl Memory {
    /// # Safety
    ///
    /// The origin must be null, or memory of `size` bytes, or without a bound memory wherever data of instances lie that
    /// [`check`](Self::check) accepts, which may be accessed as `dtype.h` says of the argument.
    pub(crate) unsafe fn new<T>(origin: *const T, size: usize) -> Self {
        Self { origin: origin.cast_mut().cast(), size }
    }

    /// Checks that the data of `count` instances lie in the memory, and returns where.
    #[inline(always)]
    pub(crate) fn check(self, ty: &Committed, count: usize) -> Result<Data, Failure> {
        let Some(span) = ty.span(count) else { return Ok(Data { start: 0, end: 0 }) };
        let is_within = span.start >= 0 && span.end <= self.size as i128;
        if !is_within && self.size != UNBOUNDED {
            ty.check_span(self.size as u64, 0, count)?;
        }
        if self.origin.is_null() {
            return Err(Failure::null("memory"));
        }
        let origin = self.origin.addr() as i128;
        Ok(Data { start: origin + span.start, end: origin + span.end })
    }
}

impl Data {
    /// Refuses bytes that lie between the first and the last byte of the data, which are those of `count` instances.
    #[inline(always)]
    pub(crate) fn check_apart(
        self,
        ty: &Committed,
        count: usize,
        (bytes, len): (*const u8, usize),
    ) -> Result<(), Failure> {
        let bytes = bytes.addr() as i128;
        if len == 0 || bytes + len as i128 <= self.start || bytes >= self.end {
            return Ok(());
        }
        // A count that memory cannot address reaches everywhere.
        ty.packed_size(count)?;
        Err(Failure::overlap())
    }
}

//! The usual message: instances of a committed type.

use dtype_runtime::{Committed, Error};

use crate::operations::{Message, Status};

/// Instances of a committed type in memory that the code which made the value guarantees.
#[derive(Clone, Debug)]
pub struct Instances {
    committed: Committed,
    origin: *mut u8,
    count: usize,
    /// Packed bytes of all instances.
    size: usize,
}

// SAFETY: the memory is plain bytes, whose owner leaves them to this message, whatever thread calls.
unsafe impl Send for Instances {}

impl Instances {
    /// `count` instances to be packed; displacement 0 of the first one is at `origin`.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`].
    ///
    /// # Safety
    ///
    /// Every byte of data that the instances name must be initialised, readable and in the same allocation as `origin`,
    /// and not be written while the value is used.
    pub unsafe fn to_pack(
        committed: &Committed,
        origin: *const u8,
        count: usize,
    ) -> Result<Self, Error> {
        let size = committed.packed_size(count)?;
        Ok(Self { committed: committed.clone(), origin: origin.cast_mut(), count, size })
    }

    /// `count` instances to be unpacked into.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`]; [`Error::Overlap`] if they name a byte more than once.
    ///
    /// # Safety
    ///
    /// Every byte of data that the instances name must be writable and in the same allocation as `origin`, and not be
    /// accessed by anything else while the value is used.
    pub unsafe fn to_unpack(
        committed: &Committed,
        origin: *mut u8,
        count: usize,
    ) -> Result<Self, Error> {
        let size = committed.packed_size(count)?;
        committed.check_overlap(count)?;
        Ok(Self { committed: committed.clone(), origin, count, size })
    }

    /// The type of an instance.
    pub fn committed(&self) -> &Committed {
        &self.committed
    }

    /// The range of a fragment, if it lies in the message.
    fn range(&self, offset: usize, len: usize) -> Option<core::ops::Range<u64>> {
        let end = offset.checked_add(len).filter(|&end| end <= self.size)?;
        Some(offset as u64..end as u64)
    }
}

impl Message for Instances {
    fn packed_size(&self) -> usize {
        self.size
    }

    unsafe fn pack(&mut self, offset: usize, out: *mut u8, room: usize) -> usize {
        let len = room.min(self.size.saturating_sub(offset));
        let Some(range) = self.range(offset, len) else { return 0 };
        // SAFETY: `to_pack` promises the elements, the caller the fragment.
        match unsafe { self.committed.pack_range_raw(self.origin, self.count, range, out) } {
            Ok(()) => len,
            Err(_) => 0,
        }
    }

    unsafe fn unpack(
        &mut self,
        offset: usize,
        packed: *const u8,
        len: usize,
    ) -> Result<(), Status> {
        let range = self.range(offset, len).ok_or(Status::INVALID_PARAM)?;
        // SAFETY: `to_unpack` promises the elements, the caller the fragment.
        unsafe { self.committed.unpack_range_raw(packed, range, self.origin, self.count) }
            .map_err(|_| Status::INVALID_PARAM)
    }
}

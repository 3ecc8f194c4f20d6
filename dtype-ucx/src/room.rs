//! Memory for the records of a message whose length is known.

use std::mem;

use dtype_runtime::Datatype;

use crate::allocation::with_room;
use crate::elements::PackedBytes;
use crate::error::Error;

/// Memory for a message. While UCX may write to it, it holds no records: UCX may drop it in any thread, while it holds the
/// worker's lock, and later than the lifetime of `T`.
pub(crate) enum Room<T> {
    /// An empty vector, and the number of records that it has room for. The records have no padding, and any bytes are valid.
    InPlace(Vec<T>, usize),
    /// Packed bytes of values that must be checked or moved to their places. They are unpacked when all have arrived.
    Packed(PackedBytes),
}

impl<T: Datatype> Room<T> {
    /// Room for `count` records, which are `length` packed bytes.
    pub(crate) fn new(count: usize, length: usize) -> Result<Self, Error> {
        if const { T::TYPE_MAP.is_packed() && !T::TYPE_MAP.is_restricted() } {
            return Ok(Self::InPlace(with_room::<T>(count)?, count));
        }
        Ok(Self::Packed(PackedBytes::try_with_room(length)?))
    }

    /// Records that have arrived: nothing is left to receive.
    pub(crate) fn received(items: Vec<T>) -> Self {
        let count = items.len();
        Self::InPlace(items, count)
    }

    /// Where the message goes, and how many bytes may be written there.
    pub(crate) fn memory(&mut self) -> (*mut u8, usize) {
        match self {
            // The packed records are as long as the records in memory.
            Self::InPlace(items, count) => (items.as_mut_ptr().cast(), *count * size_of::<T>()),
            Self::Packed(bytes) => bytes.memory(),
        }
    }

    /// Takes the room, and leaves an empty one.
    pub(crate) fn take(&mut self) -> Self {
        mem::replace(self, Self::InPlace(Vec::new(), 0))
    }

    /// The records.
    ///
    /// # Safety
    ///
    /// UCX must have written all bytes of the [`memory`](Self::memory), and must not write any more; or the records arrived
    /// before.
    pub(crate) unsafe fn into_records(self) -> Result<Vec<T>, Error> {
        match self {
            Self::InPlace(mut items, count) => {
                // SAFETY: all bytes of `count` records were written. All of them are data, at their positions in the packed
                // record, and all bit patterns are valid. By the promise of `Datatype`, these are values.
                unsafe { items.set_len(count) };
                Ok(items)
            }
            Self::Packed(mut bytes) => {
                let (_, length) = bytes.memory();
                // SAFETY: the caller guarantees the bytes.
                Ok(dtype_runtime::unpack(unsafe { bytes.written(length) })?)
            }
        }
    }
}

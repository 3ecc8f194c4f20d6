//! The memory of a column, which can become a vector.

use alloc::alloc::{alloc, dealloc};
use alloc::vec::Vec;
use core::alloc::Layout;
use core::mem::ManuallyDrop;
use core::num::NonZero;
use core::ptr::NonNull;
use core::slice;

/// Bytes with an alignment. They must be written right after they are allocated.
#[derive(Debug)]
pub(super) struct Storage {
    memory: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the bytes belong to the storage alone.
unsafe impl Send for Storage {}
// SAFETY: a shared reference only reads the bytes.
unsafe impl Sync for Storage {}

impl Storage {
    /// Memory that must be written before it is read; `None` if it cannot be allocated.
    #[inline]
    pub(super) fn uninitialised(bytes: usize, align: usize) -> Option<Self> {
        let layout = Layout::from_size_align(bytes, align).ok()?;
        let memory = match layout.size() {
            0 => NonNull::without_provenance(NonZero::new(layout.align())?),
            // SAFETY: the size is not zero.
            _ => NonNull::new(unsafe { alloc(layout) })?,
        };
        Some(Self { memory, layout })
    }

    /// Writes zeros.
    pub(super) fn zero(&mut self) {
        // SAFETY: as many bytes were allocated, and belong to the storage alone.
        unsafe { self.memory.write_bytes(0, self.layout.size()) };
    }

    /// The first byte.
    #[inline]
    pub(super) fn start(&mut self) -> *mut u8 {
        self.memory.as_ptr()
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: as many bytes were allocated, and are initialised; the result borrows the storage.
        unsafe { slice::from_raw_parts(self.memory.as_ptr(), self.layout.size()) }
    }

    #[inline]
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and the storage is borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.memory.as_ptr(), self.layout.size()) }
    }

    /// The bytes as a vector without a copy, if the alignment is that of `F`.
    ///
    /// # Safety
    ///
    /// The bytes must be whole values of `F`.
    #[expect(clippy::same_length_and_capacity, reason = "the memory is full")]
    pub(super) unsafe fn into_vec<F>(self) -> Result<Vec<F>, Self> {
        let fits = self.layout.align() == align_of::<F>() && size_of::<F>() > 0;
        if !fits {
            return Err(self);
        }
        let all = ManuallyDrop::new(self);
        let count = all.layout.size() / size_of::<F>();
        // SAFETY: the global allocator has allocated this memory with the alignment of `F`, and its size is that of `count`
        // values, which are valid by the caller's guarantee; or the pointer is dangling and aligned, and there are no bytes.
        // Nothing else owns the memory any more.
        Ok(unsafe { Vec::from_raw_parts(all.memory.as_ptr().cast(), count, count) })
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: allocated with this layout, and not freed before.
            unsafe { dealloc(self.memory.as_ptr(), self.layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn becomes_a_vector_of_its_alignment() {
        let mut storage = Storage::uninitialised(16, 8).unwrap();
        storage.zero();
        storage.bytes_mut()[0] = 1;
        // SAFETY: any bytes are numbers.
        let storage = unsafe { storage.into_vec::<u16>() }.unwrap_err();
        // SAFETY: any bytes are numbers.
        let numbers = unsafe { storage.into_vec::<u64>() }.unwrap();
        assert_eq!(numbers, [u64::from_le(1), 0]);
        // SAFETY: there are no bytes.
        let none = unsafe { Storage::uninitialised(0, 4).unwrap().into_vec::<u32>() }.unwrap();
        assert!(none.is_empty());
    }
}

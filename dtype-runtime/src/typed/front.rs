//! Whole records from the front of a slice.

use core::marker::PhantomData;

use super::pack_records;
use crate::datatype::Datatype;

/// Packs records piece by piece. A [`Packer`](crate::Packer) stops and resumes inside a record, which requires the engine; a
/// `RecordPacker` packs whole records with the code for their type alone.
#[derive(Debug)]
pub struct RecordPacker<'a> {
    /// The first of `count` values.
    next: *const u8,
    count: usize,
    /// Bytes of a value in memory, and packed.
    stride: usize,
    size: usize,
    /// Packs values, given a pointer to the first one.
    pack: unsafe fn(*const u8, usize, *mut u8),
    memory: PhantomData<&'a [u8]>,
}

// SAFETY: the values are borrowed for `'a` and only packed: their data are plain bytes, which nothing writes meanwhile,
// whatever thread reads them. Skipped fields, which may be cells, are not read.
unsafe impl Send for RecordPacker<'_> {}
// SAFETY: as above; a shared reference reads nothing.
unsafe impl Sync for RecordPacker<'_> {}

impl<'a> RecordPacker<'a> {
    /// A packer of the items, which starts with the first.
    pub fn new<T: Datatype>(items: &'a [T]) -> Self {
        /// # Safety
        ///
        /// `items` must be the first of `count` readable values of `T`. `out` must be valid for writing their packed bytes, and
        /// not overlap them.
        unsafe fn pack<T: Datatype>(items: *const u8, count: usize, out: *mut u8) {
            // SAFETY: the caller guarantees `count` readable values, and a destination for their packed bytes that does not
            // overlap them.
            unsafe { pack_records::<T>(core::slice::from_raw_parts(items.cast(), count), out) }
        }
        let (stride, size) = (size_of::<T>(), T::TYPE_MAP.size());
        let (next, count) = (items.as_ptr().cast(), items.len());
        Self { next, count, stride, size, pack: pack::<T>, memory: PhantomData }
    }

    /// Packs as many of the remaining records as `out` has room for, and returns the number of bytes. Records without data need
    /// no room.
    pub fn pack(&mut self, out: &mut [u8]) -> usize {
        let fitting = out.len().checked_div(self.size).unwrap_or(usize::MAX);
        let count = fitting.min(self.count);
        // SAFETY: `count` more values of the type that `pack` was made for are borrowed for `'a`, from `next` on. `out` has room for
        // their packed bytes, and is borrowed exclusively, so it does not overlap them.
        unsafe {
            (self.pack)(self.next, count, out.as_mut_ptr());
            self.next = self.next.add(count * self.stride);
        }
        self.count -= count;
        count * self.size
    }
}

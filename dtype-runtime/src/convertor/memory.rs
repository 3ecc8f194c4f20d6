//! Packing from memory and unpacking into memory, a whole message at a time.

use alloc::vec::Vec;
use core::ops::Range;

use super::buffer::{Buffer, BufferMut};
use super::checks::{allocate, check_length, check_room, lies_within, packed_size};
use super::copier::copy_range;
use super::cursor::Instances;
use crate::commit::{Committed, Single};
use crate::error::Error;
use crate::kernel::{self, Pack, Unpack, Way};

impl Committed {
    /// Packs `count` instances from memory to the front of `out`, and returns the number of bytes written.
    ///
    /// `out` may be longer than needed. Gaps are not read. To pack in fragments, use a [`packer`](Self::packer).
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`]; [`Error::OutOfBounds`] if the data reach outside the memory;
    /// [`Error::DestinationTooSmall`]. Nothing is written then.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Buffer, Type};
    /// let column = Type::vector(3, 1, 4, &Type::basic(Basic::U8))?.commit();
    /// let matrix = b"abcdefghijkl";
    /// let mut out = [0; 3];
    /// assert_eq!(column.pack(matrix, 1, &mut out)?, 3);
    /// assert_eq!(&out, b"aei");
    /// // The column after it.
    /// column.pack(Buffer::new(matrix).origin(1), 1, &mut out)?;
    /// assert_eq!(&out, b"bfj");
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Pack")]
    #[inline(always)]
    pub fn pack<'a>(
        &self,
        from: impl Into<Buffer<'a>>,
        count: usize,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        let from = from.into();
        let (memory, len, origin) = (from.pointer().cast_mut(), from.len(), from.origin);
        let (packed, capacity) = (out.as_mut_ptr(), out.len());
        // SAFETY: `len` is the length of the memory. The memory is borrowed, so nothing writes to it, and it does not overlap
        // `out`, which is borrowed exclusively.
        match unsafe { self.copy_if_within::<Pack>(count, memory, len, origin, packed, capacity) } {
            Some(size) => Ok(size),
            None => self.pack_buffer(from, count, out),
        }
    }

    /// Copies `count` instances. `size` is the number of their packed bytes.
    ///
    /// # Safety
    ///
    /// `memory` must be valid for `D` on every byte that the instances name, and `packed` on `size` bytes, which must be the
    /// number of their packed bytes. The two must not overlap.
    #[inline(always)]
    unsafe fn execute_whole<D: Way>(
        &self,
        memory: *mut u8,
        packed: *mut u8,
        count: usize,
        size: usize,
    ) {
        match self.single() {
            &Single { run: Some(disp), touches_next, .. } if touches_next || count == 1 => {
                // SAFETY: all bytes of the instances, which are one run, packed in the order of the addresses.
                unsafe { kernel::one_run::<D>(memory.wrapping_offset(disp), packed, size) };
            }
            // SAFETY: the plan names the bytes of the only instance, for which the caller guarantees both pointers.
            _ if count == 1 => unsafe { kernel::one::<D>(self.plan(), memory, packed) },
            // SAFETY: the plan names the bytes of each instance, for which the caller guarantees both pointers.
            _ => unsafe { kernel::execute::<D>(self.plan(), count as u64, memory, packed) },
        }
    }

    /// Copies `count` instances, and returns the number of packed bytes. Copies nothing and returns `None` if the copy may have
    /// to be refused: if the data do not lie in a memory of `len` bytes with this origin, or 64 bits are not enough to tell; if
    /// `capacity` is less than the packed bytes; or, to unpack, if it is not known that the instances name no byte twice.
    ///
    /// Copies are often so short that a call of a function that finds out more takes longer than the copy. Arguments and result
    /// of this function are in registers, and it saves few of them; an error in memory would make copies of a few instances
    /// take 2 ns longer.
    ///
    /// # Safety
    ///
    /// `memory` must be the origin in a memory of `len` bytes that is valid for `D`, and `packed` must be valid for `capacity`
    /// bytes. The two must not overlap.
    #[inline(always)]
    unsafe fn copy_if_within<D: Way>(
        &self,
        count: usize,
        memory: *mut u8,
        len: usize,
        origin: i64,
        packed: *mut u8,
        capacity: usize,
    ) -> Option<usize> {
        // SAFETY: both functions check the same as this one promises, and the caller guarantees the two memories.
        unsafe {
            if count == 1 {
                self.copy_one_if_within::<D>(memory, len, origin, packed, capacity)
            } else {
                self.copy_several_if_within::<D>(count, memory, len, origin, packed, capacity)
            }
        }
    }

    /// As [`copy_if_within`](Self::copy_if_within), for a count of 1.
    ///
    /// # Safety
    ///
    /// `memory` must be the origin in a memory of `len` bytes that is valid for `D`, and `packed` must be valid for `capacity`
    /// bytes. The two must not overlap.
    #[inline(always)]
    unsafe fn copy_one_if_within<D: Way>(
        &self,
        memory: *mut u8,
        len: usize,
        origin: i64,
        packed: *mut u8,
        capacity: usize,
    ) -> Option<usize> {
        let &Single { reach, size, .. } = self.single();
        let within = if origin == 0 {
            len >= reach
        } else {
            lies_within(self.data()?, 0, origin, len as u64)?
        };
        let fits = if D::PACKS { capacity >= size } else { capacity == size };
        if !within || !fits || !D::PACKS && !self.is_disjoint(1, || false) {
            return None;
        }
        // SAFETY: the bytes of the instance lie in the memory, and there is room for the packed ones, as just checked; if
        // memory is written, no byte of it is named twice.
        unsafe { self.execute_whole::<D>(memory, packed, 1, size) };
        Some(size)
    }

    /// As [`copy_if_within`](Self::copy_if_within), for any count.
    ///
    /// # Safety
    ///
    /// `memory` must be the origin in a memory of `len` bytes that is valid for `D`, and `packed` must be valid for `capacity`
    /// bytes. The two must not overlap.
    #[inline(never)]
    unsafe fn copy_several_if_within<D: Way>(
        &self,
        count: usize,
        memory: *mut u8,
        len: usize,
        origin: i64,
        packed: *mut u8,
        capacity: usize,
    ) -> Option<usize> {
        let last = self.last(count)?;
        if lies_within(self.data()?, last, origin, len as u64) != Some(true) {
            return None;
        }
        let size = usize::try_from(self.size()).ok()?.checked_mul(count)?;
        let fits = if D::PACKS { capacity >= size } else { capacity == size };
        if !fits || !D::PACKS && !self.is_disjoint(count, || false) {
            return None;
        }
        // SAFETY: the bytes of the instances lie in the memory, and there is room for the packed ones, as just checked; if
        // memory is written, no byte of it is named twice.
        unsafe { self.execute_whole::<D>(memory, packed, count, size) };
        Some(size)
    }

    /// As [`pack`](Self::pack), for a copy that may have to be refused.
    #[cold]
    #[inline(never)]
    fn pack_buffer(&self, from: Buffer<'_>, count: usize, out: &mut [u8]) -> Result<usize, Error> {
        self.packed_size(count)?;
        self.check_span(from.len() as u64, from.origin.into(), count)?;
        // SAFETY: all bytes that the instances name lie in the memory, as just checked. The memory is borrowed, so nothing
        // writes to it, and it does not overlap `out`, which is borrowed exclusively.
        unsafe { self.pack_raw(from.pointer(), count, out) }
    }

    /// The packed bytes of `count` instances in memory, as [`pack`](Self::pack) writes them.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`]; [`Error::OutOfBounds`] if the data reach outside the memory; [`Error::Allocation`].
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let column = Type::vector(3, 1, 4, &Type::basic(Basic::U8))?.commit();
    /// assert_eq!(column.pack_to_vec(b"abcdefghijkl", 1)?, b"aei");
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Pack")]
    pub fn pack_to_vec<'a>(
        &self,
        from: impl Into<Buffer<'a>>,
        count: usize,
    ) -> Result<Vec<u8>, Error> {
        let from = from.into();
        let size = self.packed_size(count)?;
        self.check_span(from.len() as u64, from.origin.into(), count)?;
        let mut out = allocate(count, size.checked_div(count).unwrap_or(0))?;
        // SAFETY: all bytes that the instances name lie in the memory, as just checked, and the memory is borrowed. The vector
        // was just allocated, so it does not overlap the memory. It has room for `size` bytes, and exactly `size` bytes are
        // written.
        unsafe {
            self.execute_whole::<Pack>(from.pointer().cast_mut(), out.as_mut_ptr(), count, size);
            out.set_len(size);
        }
        Ok(out)
    }

    /// Unpacks `count` instances from `packed` into memory, and returns the number of bytes read: the mirror image of
    /// [`pack`](Self::pack). Gaps are not written.
    ///
    /// `packed` must be exactly as long as the packed instances. For a message that may be shorter, or arrives in
    /// fragments, use an [`unpacker`](Self::unpacker), which takes any number of bytes at a time.
    ///
    /// The memory consists of bytes, so any packed bytes are accepted. Code that reads the memory must decide what the bytes
    /// mean, and whether a `bool` among them is valid.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`]; [`Error::PackedLength`] if `packed` is not exactly as long as the packed instances;
    /// [`Error::OutOfBounds`] if the data reach outside the memory; [`Error::Overlap`] if they name a byte more than once.
    /// Nothing is written then.
    ///
    /// ```
    /// use dtype_runtime::{Basic, BufferMut, Type};
    /// let column = Type::vector(2, 1, 3, &Type::basic(Basic::U8))?.commit();
    /// let mut matrix = *b"......";
    /// column.unpack(b"xy", BufferMut::new(&mut matrix).origin(1), 1)?;
    /// assert_eq!(&matrix, b".x..y.");
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Unpack")]
    #[inline(always)]
    pub fn unpack<'a>(
        &self,
        packed: &[u8],
        to: impl Into<BufferMut<'a>>,
        count: usize,
    ) -> Result<usize, Error> {
        let mut to = to.into();
        let (memory, len, origin) = (to.pointer(), to.len(), to.origin);
        let (from, capacity) = (packed.as_ptr().cast_mut(), packed.len());
        // SAFETY: `len` is the length of the memory. The memory is borrowed exclusively, so nothing else accesses it, and it
        // does not overlap `packed`, which is only read. It holds bytes, any of which are valid.
        match unsafe { self.copy_if_within::<Unpack>(count, memory, len, origin, from, capacity) } {
            Some(size) => Ok(size),
            None => self.unpack_buffer(packed, to, count),
        }
    }

    /// As [`unpack`](Self::unpack), for a copy that may have to be refused, or if it is not known whether the instances
    /// overlap.
    #[cold]
    #[inline(never)]
    fn unpack_buffer(
        &self,
        packed: &[u8],
        mut to: BufferMut<'_>,
        count: usize,
    ) -> Result<usize, Error> {
        self.packed_size(count)?;
        self.check_span(to.len() as u64, to.origin.into(), count)?;
        // SAFETY: all bytes that the instances name lie in the memory, as just checked. The memory is borrowed exclusively, so
        // nothing else accesses it, and it does not overlap `packed`. It holds bytes, any of which are valid.
        unsafe { self.unpack_raw(packed, to.pointer(), count) }
    }

    /// [`pack`](Self::pack) from a raw origin, for memory that cannot be borrowed as bytes: memory with
    /// uninitialised gaps, or memory of another language.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`], [`Error::DestinationTooSmall`]. Nothing is written then.
    ///
    /// # Safety
    ///
    /// Every byte of data that `count` instances name, at its displacement from `origin`, must be initialised, readable
    /// and in the same allocation as `origin`, and must not be written during the call; `out` must not
    /// overlap them.
    #[inline(always)]
    pub unsafe fn pack_raw(
        &self,
        origin: *const u8,
        count: usize,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        let size = self.packed_size(count)?;
        check_room(size, out)?;
        // SAFETY: the data of `count` instances are readable and do not overlap `out`: the caller guarantees that. `out` has
        // room for `size` bytes, as just checked.
        unsafe { self.execute_whole::<Pack>(origin.cast_mut(), out.as_mut_ptr(), count, size) };
        Ok(size)
    }

    /// [`unpack`](Self::unpack) to a raw origin.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`], [`Error::PackedLength`], [`Error::Overlap`]. Nothing is written
    /// then.
    ///
    /// # Safety
    ///
    /// Every byte of data that `count` instances name, at its displacement from `origin`, must be writable and in the
    /// same allocation as `origin`, and must not be accessed by anything else during the call; `packed` must not overlap
    /// them. If the memory holds Rust values, the bytes must make valid ones.
    #[inline(always)]
    pub unsafe fn unpack_raw(
        &self,
        packed: &[u8],
        origin: *mut u8,
        count: usize,
    ) -> Result<usize, Error> {
        let size = self.packed_size(count)?;
        check_length(size, packed)?;
        self.check_overlap(count)?;
        // SAFETY: the data of `count` instances are writable and do not overlap `packed`: the caller guarantees that. No byte
        // is named twice and `packed` has `size` bytes, as just checked; it is only read.
        unsafe {
            self.execute_whole::<Unpack>(origin, packed.as_ptr().cast_mut(), count, size);
        }
        Ok(size)
    }

    /// Packs a range of the packed bytes of `count` instances: one fragment of a message. For callers that keep the position
    /// themselves and whose memory is not borrowed; for borrowed memory, use a [`Packer`](crate::Packer).
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`]; [`Error::Position`] if the range ends past the last byte, or before it starts. Nothing
    /// is written then.
    ///
    /// # Safety
    ///
    /// The memory is as for [`pack_raw`](Self::pack_raw). `out` must be writable for the length of the range, and must
    /// not overlap the data.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let column = Type::vector(3, 1, 4, &Type::basic(Basic::U16))?.commit();
    /// let (matrix, mut out) = ([7_u16, 0, 0, 0, 8, 0, 0, 0, 9], [0_u8; 2]);
    /// // SAFETY: the column lies in the matrix, and the range is as long as `out`.
    /// unsafe { column.pack_range_raw(matrix.as_ptr().cast(), 1, 2..4, out.as_mut_ptr())? };
    /// assert_eq!(u16::from_ne_bytes(out), 8);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub unsafe fn pack_range_raw(
        &self,
        origin: *const u8,
        count: usize,
        range: Range<u64>,
        out: *mut u8,
    ) -> Result<(), Error> {
        self.check_range(count, &range)?;
        // SAFETY: the caller guarantees the memory of all instances, and the range is a part of them, as just checked.
        unsafe { self.execute_range::<Pack>(range, origin.cast_mut(), count, out) };
        Ok(())
    }

    /// Unpacks a range of the packed bytes of `count` instances: the mirror image of
    /// [`pack_range_raw`](Self::pack_range_raw).
    ///
    /// # Errors
    ///
    /// As [`pack_range_raw`](Self::pack_range_raw), and [`Error::Overlap`] if the instances name a byte more than once.
    ///
    /// # Safety
    ///
    /// The memory is as for [`unpack_raw`](Self::unpack_raw), but only the bytes that the range names are written, so other
    /// threads may write other ranges at the same time. `packed` must be initialised and readable for the length of the range,
    /// and must not overlap the data.
    pub unsafe fn unpack_range_raw(
        &self,
        packed: *const u8,
        range: Range<u64>,
        origin: *mut u8,
        count: usize,
    ) -> Result<(), Error> {
        self.check_range(count, &range)?;
        self.check_overlap(count)?;
        // SAFETY: the caller guarantees the bytes that the range names, and `packed`, which is only read. The range lies in the
        // packed bytes, and no byte is named twice, as just checked.
        unsafe { self.execute_range::<Unpack>(range, origin, count, packed.cast_mut()) };
        Ok(())
    }

    /// # Safety
    ///
    /// The range must lie in the packed bytes of `count` instances. The bytes that it names must be valid for `D`, and so must
    /// `packed` for its length; the two must not overlap. If `D` reads memory, all data of the instances must be readable; if
    /// it writes memory, they must not overlap.
    unsafe fn execute_range<D: Way>(
        &self,
        range: Range<u64>,
        origin: *mut u8,
        count: usize,
        packed: *mut u8,
    ) {
        let instances = Instances::of_plan(self.plan(), count as u64);
        // SAFETY: the plan names the bytes of the instances, and displacements are relative to the origin: the range on both
        // sides is what the caller guarantees.
        unsafe { copy_range::<D>(&instances, range, origin, packed, &mut 0) };
    }

    /// The number of packed bytes of `count` instances.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`] if the bytes cannot be addressed.
    #[doc(alias = "MPI_Pack_size")]
    #[inline]
    pub fn packed_size(&self, count: usize) -> Result<usize, Error> {
        packed_size(self.size(), count)
    }
}

//! Packing from and unpacking into plain memory.

use crate::commit::Committed;
use crate::error::Error;
use crate::kernel::{self, Pack, Unpack};
use crate::types::{Interval, overlaps};

impl Committed {
    /// Packs `count` instances from `memory` to the front of `out`, and returns how many bytes that
    /// were. The origin of the first instance, displacement 0, is `origin` bytes into `memory`, which
    /// leaves room for negative displacements; it may lie outside, as long as the data do not.
    ///
    /// `out` may be longer than needed. Gaps are not read.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`]; [`Error::OutOfBounds`] when the data reach outside `memory`;
    /// [`Error::DestinationTooSmall`]. Nothing is written then.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let backwards = Type::vector(4, 1, -1, &Type::basic(Basic::U8))?.commit();
    /// let mut out = [0; 4];
    /// assert_eq!(backwards.pack(b"abcd", 3, 1, &mut out)?, 4);
    /// assert_eq!(&out, b"dcba");
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Pack")]
    pub fn pack(
        &self,
        memory: &[u8],
        origin: usize,
        count: usize,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        self.packed_size(count)?;
        self.check_span(memory.len() as u64, origin as u64, count)?;
        // SAFETY: all bytes that the instances name lie in `memory`, as just checked. It is borrowed,
        // so nobody writes to it, and does not overlap `out`, which is borrowed exclusively.
        unsafe { self.pack_raw(memory.as_ptr().wrapping_add(origin), count, out) }
    }

    /// Unpacks `count` instances from `packed` into `memory`, the mirror image of
    /// [`pack`](Self::pack), and returns how many bytes that were. Gaps are not written.
    ///
    /// The memory consists of bytes, so any packed bytes are accepted; what they mean, and whether a
    /// `bool` among them is one, is up to who reads them.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`]; [`Error::PackedLength`] when `packed` is not exactly as long as the
    /// instances take; [`Error::OutOfBounds`] when the data reach outside `memory`;
    /// [`Error::Overlap`] when they name a byte more than once. Nothing is written then.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let column = Type::vector(2, 1, 3, &Type::basic(Basic::U8))?.commit();
    /// let mut matrix = *b"......";
    /// column.unpack(b"xy", &mut matrix, 1, 1)?;
    /// assert_eq!(&matrix, b".x..y.");
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Unpack")]
    pub fn unpack(
        &self,
        packed: &[u8],
        memory: &mut [u8],
        origin: usize,
        count: usize,
    ) -> Result<usize, Error> {
        self.packed_size(count)?;
        self.check_span(memory.len() as u64, origin as u64, count)?;
        // SAFETY: all bytes that the instances name lie in `memory`, as just checked. It is borrowed
        // exclusively, so nobody else accesses it, and does not overlap `packed`. It holds bytes, of
        // which any are valid.
        unsafe { self.unpack_raw(packed, memory.as_mut_ptr().wrapping_add(origin), count) }
    }

    /// [`pack`](Self::pack) from a raw origin, for memory that cannot be borrowed as bytes: memory
    /// with uninitialised gaps, or memory of another language.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`], [`Error::DestinationTooSmall`]. Nothing is written then.
    ///
    /// # Safety
    ///
    /// Every byte of data that `count` instances name, at its displacement from `origin`, must be
    /// initialised, readable and in the same allocation as `origin`, and not be written by anyone
    /// meanwhile; `out` must not overlap them.
    #[inline(always)]
    pub unsafe fn pack_raw(
        &self,
        origin: *const u8,
        count: usize,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        let size = self.packed_size(count)?;
        if out.len() < size {
            let (needed, available) = (size as u64, out.len() as u64);
            return Err(Error::DestinationTooSmall { needed, available });
        }
        // SAFETY: the caller vouches for the memory; `out` was just checked.
        unsafe {
            kernel::execute::<Pack>(self.plan(), count as u64, origin.cast_mut(), out.as_mut_ptr());
        }
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
    /// Every byte of data that `count` instances name, at its displacement from `origin`, must be
    /// writable and in the same allocation as `origin`, and not be accessed by anyone else
    /// meanwhile; `packed` must not overlap them. If the memory holds Rust values, the bytes must
    /// make valid ones.
    #[inline(always)]
    pub unsafe fn unpack_raw(
        &self,
        packed: &[u8],
        origin: *mut u8,
        count: usize,
    ) -> Result<usize, Error> {
        let size = self.packed_size(count)?;
        if packed.len() != size {
            let (expected, actual) = (size as u64, packed.len() as u64);
            return Err(Error::PackedLength { expected, actual });
        }
        self.check_overlap(count)?;
        // SAFETY: the caller vouches for the memory; `packed` was just checked and is only read.
        unsafe {
            kernel::execute::<Unpack>(
                self.plan(),
                count as u64,
                origin,
                packed.as_ptr().cast_mut(),
            );
        }
        Ok(size)
    }

    /// Packed bytes of `count` instances.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`] when they cannot be addressed.
    #[doc(alias = "MPI_Pack_size")]
    #[inline]
    pub fn packed_size(&self, count: usize) -> Result<usize, Error> {
        usize::try_from(self.size())
            .ok()
            .and_then(|size| size.checked_mul(count))
            .ok_or(Error::CountTooLarge { count: count as u64, size: self.size() })
    }

    /// Checks that the data of `count` instances lie in a memory of `len` bytes.
    #[inline]
    pub(super) fn check_span(&self, len: u64, origin: u64, count: usize) -> Result<(), Error> {
        // Nearly always: numbers of 64 bits are enough, and everything is in place.
        let lies_within = |data: Interval| {
            let last = match count {
                1 => 0,
                _ => i64::try_from(count).ok()?.checked_sub(1)?.checked_mul(self.extent())?,
            };
            let origin = i64::try_from(origin).ok()?;
            let start = origin.checked_add(data.start)?.checked_add(last.min(0))?;
            let end = origin.checked_add(data.end)?.checked_add(last.max(0))?;
            Some(start >= 0 && end.cast_unsigned() <= len)
        };
        match self.data() {
            Some(data) if lies_within(data) != Some(true) => {
                self.check_wide_span(data, len, origin, count)
            }
            _ => Ok(()),
        }
    }

    /// [`check_span`](Self::check_span) with numbers that are wide enough for everything.
    #[cold]
    fn check_wide_span(
        &self,
        data: Interval,
        len: u64,
        origin: u64,
        count: usize,
    ) -> Result<(), Error> {
        if count == 0 {
            return Ok(());
        }
        // Less than 2⁶⁴ · 2⁶³ in magnitude, by more than 2⁶⁴: room for what is added.
        let last = (count as i128 - 1) * i128::from(self.extent());
        let start = i128::from(origin) + i128::from(data.start) + last.min(0);
        let end = i128::from(origin) + i128::from(data.end) + last.max(0);
        if start < 0 || end > i128::from(len) {
            return Err(Error::OutOfBounds { start, end, len });
        }
        Ok(())
    }

    /// Checks that `count` instances name no byte twice. Proving it may take as long as unpacking, so
    /// what was proved once is remembered.
    #[inline(always)]
    pub(super) fn check_overlap(&self, count: usize) -> Result<(), Error> {
        if self.is_disjoint(count, || !self.instances_overlap(count as u64)) {
            return Ok(());
        }
        Err(Error::Overlap { count: count as u64 })
    }

    fn instances_overlap(&self, count: u64) -> bool {
        if self.self_overlap() {
            return true;
        }
        // Instances that clear one another need no look at their blocks.
        if count <= 1 || self.extent().unsigned_abs() >= self.true_extent().unsigned_abs() {
            return false;
        }
        // More bytes than there is room for: one must be named twice.
        let steps = i128::from(count) - 1;
        let room = i128::from(self.true_extent()) + steps * i128::from(self.extent()).abs();
        i128::from(count) * i128::from(self.size()) > room
            || overlaps(self.description().entries(), count, self.extent())
    }
}

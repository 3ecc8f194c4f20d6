//! The checks before instances are copied: their data lie in the memory and do not overlap, and the packed bytes have the
//! right length.

use alloc::vec::Vec;
use core::ops::Range;

use crate::commit::Committed;
use crate::error::Error;
use crate::types::{Interval, overlaps};

impl Committed {
    /// Bytes from the first of `count` instances to the last, if the number fits 64 bits.
    #[inline(always)]
    pub(super) fn last(&self, count: usize) -> Option<i64> {
        i64::try_from(count).ok()?.checked_sub(1)?.checked_mul(self.extent())
    }

    /// The displacements between which the data of `count` instances lie, in bytes from the origin of the first: from the first
    /// byte of data to the end of the last. `None` if there are no data.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let pair = Type::hindexed(&[1, 1], &[4, 12], &Type::basic(Basic::U16))?;
    /// let back = Type::resized(&pair, 0, -16)?.commit();
    /// assert_eq!(back.span(1), Some(4..14));
    /// assert_eq!(back.span(3), Some(-28..14));
    /// assert_eq!(back.span(0), None);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[inline]
    pub fn span(&self, count: usize) -> Option<Range<i128>> {
        let Interval { start, end } = self.data().filter(|_| count > 0)?;
        // The magnitude is less than 2⁶⁴ · 2⁶³ by more than 2⁶⁴, which leaves room for the additions.
        let last = (count as i128 - 1) * i128::from(self.extent());
        Some(i128::from(start) + last.min(0)..i128::from(end) + last.max(0))
    }

    /// Checks that the data of `count` instances lie in a memory of `len` bytes, if displacement 0 of the first instance is
    /// `origin` bytes into it. Every safe method checks this before it touches memory. The method is public for code that
    /// passes pointers on.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`].
    ///
    /// ```
    /// use dtype_runtime::{Basic, Error, Type};
    /// let column = Type::vector(3, 1, 4, &Type::basic(Basic::U8))?.commit();
    /// assert_eq!(column.check_span(12, 3, 1), Ok(()));
    /// assert_eq!(column.check_span(12, 4, 1), Err(Error::OutOfBounds { start: 4, end: 13, len: 12 }));
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn check_span(&self, len: u64, origin: i128, count: usize) -> Result<(), Error> {
        let Some(Range { start, end }) = self.span(count) else { return Ok(()) };
        // The sums may not fit; then they are far outside any memory.
        let (start, end) = (origin.saturating_add(start), origin.saturating_add(end));
        if start < 0 || end > i128::from(len) {
            return Err(Error::OutOfBounds { start, end, len });
        }
        Ok(())
    }

    /// Whether all displacements in `count` instances fit 64 bits.
    #[inline]
    pub(super) fn displacements_fit(&self, count: usize) -> bool {
        let fits = |displacement: i128| i64::try_from(displacement).is_ok();
        self.span(count).is_none_or(|Range { start, end }| fits(start) && fits(end))
    }

    /// Checks that a range lies in the packed bytes of `count` instances.
    #[inline]
    pub(super) fn check_range(&self, count: usize, range: &Range<u64>) -> Result<(), Error> {
        let end = self.packed_size(count)? as u64;
        if range.end > end || range.start > range.end {
            return Err(Error::Position { position: range.end.max(range.start), end });
        }
        Ok(())
    }

    /// Checks that `count` instances name no byte twice. Every safe method checks this before it unpacks. The method is public
    /// for code that unpacks by other means. The proof may take as long as unpacking, so its result is cached.
    ///
    /// # Errors
    ///
    /// [`Error::Overlap`].
    ///
    /// ```
    /// use dtype_runtime::{Basic, Error, Type};
    /// let twice = Type::resized(&Type::basic(Basic::F64), 0, 4)?.commit();
    /// assert_eq!(twice.check_overlap(1), Ok(()));
    /// assert_eq!(twice.check_overlap(2), Err(Error::Overlap { count: 2 }));
    /// # Ok::<(), Error>(())
    /// ```
    #[inline(always)]
    pub fn check_overlap(&self, count: usize) -> Result<(), Error> {
        let overlap = || self.is_overlapping(count, || self.instances_overlap(count as u64));
        if self.is_disjoint(count, || !overlap()) {
            return Ok(());
        }
        Err(Error::Overlap { count: count as u64 })
    }

    #[inline(never)]
    fn instances_overlap(&self, count: u64) -> bool {
        if self.self_overlap() {
            return true;
        }
        // If the instances are disjoint from one another, their blocks need not be checked.
        if count <= 1 || self.extent().unsigned_abs() >= self.true_extent().unsigned_abs() {
            return false;
        }
        // More bytes than fit between the first and the last: at least one is named twice.
        let steps = i128::from(count) - 1;
        let span = i128::from(self.true_extent()) + steps * i128::from(self.extent()).abs();
        i128::from(count) * i128::from(self.size()) > span
            || overlaps(self.description().entries(), count, self.extent())
    }
}

/// Whether the data of instances, the last of them displaced by `last` bytes, lie in a memory of `len` bytes. `None` if 64 bits
/// are not enough for the computation.
#[inline(always)]
pub(super) fn lies_within(data: Interval, last: i64, origin: i64, len: u64) -> Option<bool> {
    let Interval { start, end } = data;
    let (start, end) =
        if last >= 0 { (start, end.checked_add(last)?) } else { (start.checked_add(last)?, end) };
    let (start, end) = (start.checked_add(origin)?, end.checked_add(origin)?);
    Some(start >= 0 && end.cast_unsigned() <= len)
}

/// Packed bytes of `count` instances of `size` bytes each, if they can be addressed.
#[inline]
pub(super) fn packed_size(size: u64, count: usize) -> Result<usize, Error> {
    usize::try_from(size)
        .ok()
        .and_then(|size| size.checked_mul(count))
        .ok_or_else(|| Error::count_too_large(count as u64, size))
}

/// Checks that `out` has room for all packed bytes.
#[inline]
pub(super) fn check_room(size: usize, out: &[u8]) -> Result<(), Error> {
    if out.len() < size {
        let (needed, available) = (size as u64, out.len() as u64);
        return Err(Error::DestinationTooSmall { needed, available });
    }
    Ok(())
}

/// Checks that `packed` is exactly as long as the packed instances.
#[inline]
pub(crate) fn check_length(size: usize, packed: &[u8]) -> Result<(), Error> {
    if packed.len() != size {
        let (expected, actual) = (size as u64, packed.len() as u64);
        return Err(Error::PackedLength { expected, actual });
    }
    Ok(())
}

/// An empty vector with room for `count` records of `stride` bytes.
pub(crate) fn allocate(count: usize, stride: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(count.saturating_mul(stride))
        .map_err(|_| Error::Allocation { count, stride })?;
    Ok(bytes)
}

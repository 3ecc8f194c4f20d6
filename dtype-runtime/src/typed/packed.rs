//! Packed records, read one by one or field by field without unpacking all of them.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::ops::{Bound, RangeBounds};

use super::{
    check_length, checked, clean_copy, is_clean, packed_size, refuse_skipped_fields, unpack_new,
    unpack_record, unpack_records, whole_records, with_room,
};
use crate::datatype::Datatype;
use crate::error::Error;

/// Packed records of type `T`, checked once and then read in any order.
///
/// [`pack`](crate::pack) makes the bytes. [`get`](Self::get) and [`iter`](Self::iter) unpack single
/// records, and [`column`](Self::column) reads one field of all records. They make no copy of the bytes and
/// allocate nothing.
///
/// ```
/// use dtype_runtime::Packed;
///
/// #[derive(dtype_runtime::Datatype, Clone, Copy, Debug, PartialEq)]
/// struct Trade {
///     time: u64,
///     price: f64,
///     buy: bool,
/// }
///
/// let trades = [
///     Trade { time: 1, price: 9.5, buy: true },
///     Trade { time: 4, price: 9.0, buy: false },
///     Trade { time: 7, price: 8.5, buy: true },
/// ];
/// let bytes = dtype_runtime::pack(&trades);
///
/// let packed = Packed::<Trade>::new(&bytes)?;
/// assert_eq!(packed.len(), 3);
/// assert_eq!(packed.get(1), Some(trades[1]));
/// assert_eq!(packed.iter().rev().next(), Some(trades[2]));
/// assert_eq!(packed.partition_point(|trade| trade.time < 4), 1);
///
/// let prices = packed.column::<f64>("price")?;
/// assert_eq!(prices.iter().sum::<f64>(), 27.0);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
pub struct Packed<'a, T> {
    /// `count` packed records, all of them valid. Empty if `count` is 0.
    bytes: &'a [u8],
    count: usize,
    is_clean: bool,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Packed<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Packed<'_, T> {}

impl<T: Datatype> fmt::Debug for Packed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packed")
            .field("of", &format_args!("{}", T::TYPE_MAP))
            .field("len", &self.count)
            .finish()
    }
}

impl<'a, T: Datatype> Packed<'a, T> {
    /// The records in `bytes`. Checks all of them, in time linear in their number; for a type that accepts
    /// all bytes, in constant time. A type without data gives no record.
    ///
    /// # Errors
    ///
    /// - [`Error::PartialRecord`] if the length is not a multiple of the packed record size;
    /// - [`Error::InvalidValue`] if a record has an invalid `bool`, `char`, `NonZero` or enum;
    /// - [`Error::CheckFailed`] if the function of `#[dtype(check = …)]`, or a type of this crate, refuses a record.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        let count = whole_records::<T>(bytes)?;
        let is_clean = is_clean::<T>(bytes, count)?;
        Ok(Self { bytes, count, is_clean, of: PhantomData })
    }

    /// The number of records.
    #[inline]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no records.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The packed bytes of the records.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Unpacks the record at `index`; `None` if `index` is not less than [`len`](Self::len).
    ///
    /// A type that skips fields does not compile here, because nothing would initialise them.
    #[inline]
    pub fn get(&self, index: usize) -> Option<T> {
        const { refuse_skipped_fields::<T>(NOT_INITIALISED) }
        let record = self.slice(index..index.checked_add(1)?)?.bytes;
        // SAFETY: `bytes` is valid, so this is one valid record, and so is a clean copy; a type that skips fields was refused.
        Some(unsafe {
            if self.is_clean {
                unpack_record(record)
            } else {
                unpack_record(&clean_copy::<T>(record))
            }
        })
    }

    /// Unpacks the records one by one, from either end.
    ///
    /// A type that skips fields does not compile here, because nothing would initialise them.
    #[inline]
    pub fn iter(&self) -> PackedIter<'a, T> {
        const { refuse_skipped_fields::<T>(NOT_INITIALISED) }
        PackedIter { rest: *self }
    }

    /// The records in a range of indices; `None` if it ends after [`len`](Self::len) or starts after its
    /// end.
    ///
    /// ```
    /// let packed = dtype_runtime::Packed::<u8>::new(&[1, 2, 3, 4])?;
    /// assert!(packed.slice(1..=2).unwrap().iter().eq([2, 3]));
    /// assert!(packed.slice(2..5).is_none());
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[inline]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Option<Self> {
        let start = match range.start_bound() {
            Bound::Included(start) => *start,
            Bound::Excluded(before) => before.checked_add(1)?,
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(last) => last.checked_add(1)?,
            Bound::Excluded(end) => *end,
            Bound::Unbounded => self.count,
        };
        if start > end || end > self.count {
            return None;
        }
        // No overflow: `end` records are part of the bytes.
        let bytes = self.bytes.get(packed_size::<T>(start)..packed_size::<T>(end))?;
        Some(Self { bytes, count: end - start, ..*self })
    }

    /// The number of records at the start for which `pred` is true, found by binary search. All of these must come before the
    /// others.
    #[inline]
    pub fn partition_point(&self, mut pred: impl FnMut(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.get(middle).is_some_and(|record| pred(&record)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Unpacks all records, as [`unpack`](crate::unpack) does, without checking them again.
    ///
    /// A type that skips fields does not compile here, because nothing would initialise them.
    ///
    /// # Errors
    ///
    /// [`Error::Allocation`] if the records do not fit in memory.
    pub fn unpack(&self) -> Result<Vec<T>, Error> {
        const { refuse_skipped_fields::<T>(NOT_INITIALISED) }
        let mut items = with_room(self.count)?;
        let records = self.clean_records()?;
        // SAFETY: the vector has room for `count` records, and there are as many valid ones. All data bytes are
        // written, and a type that skips fields was refused: by the promise of `Datatype` these are `count` values.
        unsafe {
            unpack_new::<T>(&records, items.as_mut_ptr(), self.count);
            items.set_len(self.count);
        }
        Ok(items)
    }

    /// Unpacks all records over `items`, as [`unpack_into`](crate::unpack_into) does, without checking them
    /// again.
    ///
    /// # Errors
    ///
    /// [`Error::PackedLength`] if there are not as many records as items; nothing is written then.
    pub fn unpack_into(&self, items: &mut [T]) -> Result<usize, Error> {
        check_length::<T>(self.bytes, items.len())?;
        let records = self.clean_records()?;
        // SAFETY: there are as many valid records as items; the bytes are borrowed, so they do not overlap the items, which are
        // borrowed exclusively.
        unsafe { unpack_records::<T>(&records, items.as_mut_ptr(), items.len()) };
        Ok(self.bytes.len())
    }

    #[inline]
    fn clean_records(&self) -> Result<Cow<'a, [u8]>, Error> {
        if self.is_clean {
            Ok(Cow::Borrowed(self.bytes))
        } else {
            checked::<T>(self.bytes, self.count)
        }
    }
}

impl<'a, T: Datatype> IntoIterator for Packed<'a, T> {
    type Item = T;
    type IntoIter = PackedIter<'a, T>;

    fn into_iter(self) -> PackedIter<'a, T> {
        self.iter()
    }
}

impl<'a, T: Datatype> IntoIterator for &Packed<'a, T> {
    type Item = T;
    type IntoIter = PackedIter<'a, T>;

    fn into_iter(self) -> PackedIter<'a, T> {
        self.iter()
    }
}

/// Iterator over the records of a [`Packed`].
pub struct PackedIter<'a, T> {
    rest: Packed<'a, T>,
}

impl<T> Clone for PackedIter<'_, T> {
    fn clone(&self) -> Self {
        Self { rest: self.rest }
    }
}

impl<T: Datatype> fmt::Debug for PackedIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PackedIter").field("rest", &self.rest).finish()
    }
}

impl<T: Datatype> Iterator for PackedIter<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        let record = self.rest.get(0)?;
        self.rest = self.rest.slice(1..)?;
        Some(record)
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<T> {
        let record = self.rest.get(n);
        let from = n.saturating_add(1).min(self.rest.len());
        self.rest = self.rest.slice(from..)?;
        record
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.rest.len(), Some(self.rest.len()))
    }
}

impl<T: Datatype> DoubleEndedIterator for PackedIter<'_, T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        let last = self.rest.len().checked_sub(1)?;
        let record = self.rest.get(last);
        self.rest = self.rest.slice(..last)?;
        record
    }
}

impl<T: Datatype> ExactSizeIterator for PackedIter<'_, T> {}
impl<T: Datatype> FusedIterator for PackedIter<'_, T> {}

const NOT_INITIALISED: &str =
    "this type skips fields, which nothing would initialise: use `unpack_into` or `column`";

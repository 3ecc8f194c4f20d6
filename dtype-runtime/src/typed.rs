//! Packing and unpacking slices of Rust types, compiled for each type.
//!
//! The runs of a type are constants, so the loop over them is unrolled, and the compiler knows the length of each copy. The
//! result is the code that a person would have written, with fewer copies where fields touch.

mod append;
mod check;
mod converted;
mod front;
mod layout;
mod moves;
mod packed;
mod ranges;
mod records;
mod stream;
mod validate;
mod view;

use alloc::vec::Vec;

use core::mem::MaybeUninit;

use crate::datatype::Datatype;
use crate::error::Error;
use crate::kernel::{self, Pack, Unpack, Zero};

pub use append::AppendBytes;
pub use check::call_check;
pub use converted::{pack_as, unpack_as};
pub use front::RecordPacker;
pub(crate) use layout::{Layout, assert_stride};
pub use packed::{Packed, PackedIter};
pub use ranges::{ByteRanges, gaps, runs};
pub use records::Records;
pub(crate) use validate::{
    are_clean, checked, clean, clean_copy, cleaned, find_in, has_invariants, has_spare, is_clean,
    validate, without_dot,
};
pub use view::{bytes_of, bytes_of_mut, view, view_memory, view_mut};

/// The packed size of `count` records of type `T`, in bytes; `usize::MAX` if that cannot be addressed.
///
/// ```
/// assert_eq!(dtype_runtime::packed_size::<(f64, u8)>(1000), 9000);
/// ```
#[inline]
pub const fn packed_size<T: Datatype>(count: usize) -> usize {
    T::TYPE_MAP.size().saturating_mul(count)
}

/// Packs the records: their data, without padding and skipped fields, one record after another.
///
/// The fields of a record are packed in the order of their declaration.
///
/// ```
/// #[derive(dtype_runtime::Datatype)]
/// struct Sample {
///     value: u16,
///     flag: bool,
/// }
/// let samples = [Sample { value: 0x0201, flag: true }, Sample { value: 0x0403, flag: false }];
/// # #[cfg(target_endian = "little")]
/// assert_eq!(dtype_runtime::pack(&samples), [1, 2, 1, 3, 4, 0]);
/// ```
#[must_use]
pub fn pack<T: Datatype>(items: &[T]) -> Vec<u8> {
    // No overflow: the items' data are part of their memory.
    let size = packed_size::<T>(items.len());
    let mut out = Vec::with_capacity(size);
    // SAFETY: the vector has room for `size` bytes, which is what `pack_records` writes, all of them; it was
    // just allocated, so it does not overlap the items.
    unsafe {
        pack_records(items, out.as_mut_ptr());
        out.set_len(size);
    }
    out
}

/// Packs the records as [`pack`] does, appends the bytes to `out`, and returns the number of bytes appended.
///
/// ```
/// let mut message = vec![b'#'];
/// assert_eq!(dtype_runtime::pack_onto(&mut message, &[1_u8, 2]), 2);
/// assert_eq!(message, [b'#', 1, 2]);
/// ```
#[inline]
pub fn pack_onto<T: Datatype>(out: &mut impl AppendBytes, items: &[T]) -> usize {
    // No overflow: the items' data are part of their memory.
    let size = packed_size::<T>(items.len());
    let start = out.reserve(size);
    // SAFETY: there is room for `size` bytes, which is what `pack_records` writes, all of them. What they are appended to is
    // borrowed exclusively, so its memory does not overlap the items.
    unsafe {
        pack_records(items, start);
        out.grow(size);
    }
    size
}

/// As [`pack_onto`], for some bytes followed by one record, which may have just been made: see `Layout::execute_one`.
#[inline]
pub fn pack_one_onto<T: Datatype, const BEFORE: usize>(
    out: &mut impl AppendBytes,
    before: [u8; BEFORE],
    record: &T,
) {
    let size = const { BEFORE + T::TYPE_MAP.size() };
    let start = out.reserve(size);
    let memory = core::ptr::from_ref(record).cast::<u8>().cast_mut();
    // SAFETY: `Pack` only reads the memory. By the promise of `Datatype` the moves lie within the record and are
    // initialised. There is room for `size` bytes, which is what is written, all of them. What they are appended to is
    // borrowed exclusively, so its memory does not overlap the record.
    unsafe {
        start.cast::<[u8; BEFORE]>().write(before);
        Layout::<T>::execute_one::<Pack>(memory, start.add(BEFORE));
        out.grow(size);
    }
}

/// Packs the records that an iterator returns, one after another, as [`pack`] would pack a slice of them.
///
/// ```
/// let bytes = dtype_runtime::pack_iter((1..4_u8).map(|i| (i, i == 2)));
/// assert_eq!(bytes, [1, 0, 2, 1, 3, 0]);
/// ```
#[must_use]
pub fn pack_iter<T: Datatype>(records: impl IntoIterator<Item = T>) -> Vec<u8> {
    /// The maximum number of bytes to reserve ahead, however many records an iterator promises.
    const MAX_RESERVED: usize = 1 << 20;
    let records = records.into_iter();
    let mut out = Vec::with_capacity(packed_size::<T>(records.size_hint().0).min(MAX_RESERVED));
    for record in records {
        pack_one_onto(&mut out, [], &record);
    }
    out
}

/// Packs the records as [`pack`] does, into the front of `out`, and returns the number of bytes written.
/// `out` may be longer than needed.
///
/// # Errors
///
/// [`Error::DestinationTooSmall`] if `out` is shorter than the packed records; nothing is written.
///
/// ```
/// let mut out = [0; 8];
/// assert_eq!(dtype_runtime::pack_into(&[1_u8, 2, 3], &mut out)?, 3);
/// assert_eq!(out, [1, 2, 3, 0, 0, 0, 0, 0]);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
#[inline]
pub fn pack_into<T: Datatype>(items: &[T], out: &mut [u8]) -> Result<usize, Error> {
    let size = packed_size::<T>(items.len());
    if out.len() < size {
        let (needed, available) = (size as u64, out.len() as u64);
        return Err(Error::DestinationTooSmall { needed, available });
    }
    // SAFETY: `out` has room for `size` bytes; a shared and an exclusive borrow do not overlap.
    unsafe { pack_records(items, out.as_mut_ptr()) };
    Ok(size)
}

/// Unpacks the records that [`pack`] packed into `bytes`.
///
/// A type that skips fields does not compile here, because nothing would initialise them: use
/// [`unpack_into`] with existing records. For a type without data the result is empty.
///
/// # Errors
///
/// - [`Error::PartialRecord`] if the length is not a multiple of the packed record size;
/// - [`Error::InvalidValue`] if the bytes would make an invalid `bool`, `char`, `NonZero` or enum;
/// - [`Error::CheckFailed`] if the function of `#[dtype(check = …)]`, or a type of this crate, refuses a record;
/// - [`Error::Allocation`] if the records do not fit in memory.
///
/// ```
/// let flags: Vec<(u8, bool)> = dtype_runtime::unpack(&[7, 1, 8, 0])?;
/// assert_eq!(flags, [(7, true), (8, false)]);
/// assert!(dtype_runtime::unpack::<(u8, bool)>(&[7, 2]).is_err());
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
pub fn unpack<T: Datatype>(bytes: &[u8]) -> Result<Vec<T>, Error> {
    const { refuse_skipped_fields::<T>(NOT_INITIALISED) }
    let count = whole_records::<T>(bytes)?;
    let mut items = with_room(count)?;
    // SAFETY: the vector has room for `count` records, the bytes are as many, and a type that skips fields was refused.
    unsafe { append_checked(bytes, count, &mut items)? };
    Ok(items)
}

/// Unpacks one record.
///
/// A type that skips fields does not compile here: use [`unpack_into`] with an existing record.
///
/// # Errors
///
/// [`Error::PackedLength`] if `bytes` is not exactly as long as a packed record; [`Error::InvalidValue`] and
/// [`Error::CheckFailed`] as for [`unpack`].
///
/// ```
/// assert_eq!(dtype_runtime::unpack_one::<(u8, bool)>(&[7, 1])?, (7, true));
/// assert!(dtype_runtime::unpack_one::<(u8, bool)>(&[7, 1, 8, 0]).is_err());
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
#[inline]
pub fn unpack_one<T: Datatype>(bytes: &[u8]) -> Result<T, Error> {
    const { refuse_skipped_fields::<T>(NOT_INITIALISED) }
    check_length::<T>(bytes, 1)?;
    let record = checked::<T>(bytes, 1)?;
    // SAFETY: the bytes are one packed record, which was just checked, and a type that skips fields was refused.
    Ok(unsafe { unpack_record(&record) })
}

/// Unpacks `count` records and appends them to `items`, which are unchanged on an error. In an error, records are numbered from
/// the start of `items`.
///
/// `count` is an argument because for a type without data, the bytes do not determine it.
///
/// # Errors
///
/// As for [`unpack`], and [`Error::PackedLength`].
#[inline]
pub fn unpack_onto<T: Datatype>(
    bytes: &[u8],
    count: usize,
    items: &mut Vec<T>,
) -> Result<(), Error> {
    const { refuse_skipped_fields::<T>(NOT_READ) }
    let before = items.len();
    unpack_after(bytes, count, items).map_err(|error| error.records_later(before))
}

/// As [`unpack_onto`], but in an error, records are numbered from the first new one.
///
/// # Errors
///
/// As for [`unpack_onto`].
#[inline]
pub fn unpack_after<T: Datatype>(
    bytes: &[u8],
    count: usize,
    items: &mut Vec<T>,
) -> Result<(), Error> {
    const { refuse_skipped_fields::<T>(NOT_READ) }
    check_length::<T>(bytes, count)?;
    let stride = size_of::<T>();
    if items.capacity() == 0 {
        *items = with_room(count)?;
    } else {
        items.try_reserve_exact(count).map_err(|_| Error::Allocation { count, stride })?;
    }
    // SAFETY: the vector has room for `count` more records, the bytes are as many, and a type that skips fields was refused.
    unsafe { append_checked(bytes, count, items) }
}

/// An empty vector with room for `count` records.
///
/// `Vec::try_reserve_exact` takes as long as the allocation itself, because it also handles vectors that grow.
#[inline]
pub(crate) fn with_room<T>(count: usize) -> Result<Vec<T>, Error> {
    let refused = || Error::Allocation { count, stride: size_of::<T>() };
    let layout = alloc::alloc::Layout::array::<T>(count).map_err(|_| refused())?;
    if layout.size() == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the size is not zero.
    let memory = unsafe { alloc::alloc::alloc(layout) };
    if memory.is_null() {
        return Err(refused());
    }
    // SAFETY: the global allocator has just allocated `count` elements of `T` there, none of which is in use.
    Ok(unsafe { Vec::from_raw_parts(memory.cast(), 0, count) })
}

/// Unpacks `count` records and appends them to `items`, which are unchanged on an error.
///
/// Each batch of records is checked right before it is unpacked, and is small enough to stay in the first-level cache in
/// between. So valid records may be written before an invalid one is found. They are not visible: they lie after the end of the
/// vector, where memory need not be a value, until all are valid and the length is set.
///
/// # Safety
///
/// `bytes` must be `count` packed records, `items` have room for them, and the type must not skip fields.
#[inline]
unsafe fn append_checked<T: Datatype>(
    bytes: &[u8],
    count: usize,
    items: &mut Vec<T>,
) -> Result<(), Error> {
    /// How many packed bytes are checked at a time.
    const BATCH_BYTES: usize = 8192;
    let size = T::TYPE_MAP.size();
    let batch = match BATCH_BYTES.checked_div(size) {
        _ if !const { T::TYPE_MAP.is_restricted() } => count,
        // Records without data are all the same: one of them is checked, whatever number a message announces.
        None => count,
        Some(records) => records.max(1),
    };
    let (mut done, len) = (0, items.len());
    while done < count {
        let number = batch.min(count - done);
        let records = &bytes[done * size..(done + number) * size];
        let records = checked::<T>(records, number).map_err(|error| error.records_later(done))?;
        // SAFETY: there is room for `count` records after the vector's `len`, and `done + number` is no more than that.
        // The records were just checked. The vector is borrowed exclusively, so it does not overlap the bytes.
        unsafe { unpack_new::<T>(&records, items.as_mut_ptr().add(len + done), number) };
        done += number;
    }
    // SAFETY: all data bytes of `count` more records are written, and the type skips no fields: by the promise of
    // `Datatype` these are values.
    unsafe { items.set_len(len + count) };
    Ok(())
}

/// Checks that the bytes are as long as `count` packed records.
#[inline]
fn check_length<T: Datatype>(bytes: &[u8], count: usize) -> Result<(), Error> {
    let (expected, actual) = (packed_size::<T>(count), bytes.len());
    if expected == actual {
        Ok(())
    } else {
        Err(Error::PackedLength { expected: expected as u64, actual: actual as u64 })
    }
}

/// Overwrites the data of `items` with the packed records in `bytes`, and returns the number of bytes read. Padding and
/// skipped fields are unchanged.
///
/// # Errors
///
/// [`Error::PackedLength`] if `bytes` is not exactly as long as the packed `items`; [`Error::InvalidValue`] and
/// [`Error::CheckFailed`] as for [`unpack`]. Nothing is written then.
///
/// ```
/// let mut numbers = [0_u8; 3];
/// dtype_runtime::unpack_into(&[1, 2, 3], &mut numbers)?;
/// assert_eq!(numbers, [1, 2, 3]);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
#[inline]
pub fn unpack_into<T: Datatype>(bytes: &[u8], items: &mut [T]) -> Result<usize, Error> {
    check_length::<T>(bytes, items.len())?;
    let (to, count) = (items.as_mut_ptr(), items.len());
    // SAFETY: `bytes` has the length of the packed items; a shared and an exclusive borrow do not overlap.
    if unsafe { unpack_valid::<T>(bytes, to, count) } {
        return Ok(bytes.len());
    }
    unpack_or_refuse(bytes, items)
}

/// As [`unpack_into`], for records that may be invalid, or not clean.
#[cold]
#[inline(never)]
fn unpack_or_refuse<T: Datatype>(bytes: &[u8], items: &mut [T]) -> Result<usize, Error> {
    check_length::<T>(bytes, items.len())?;
    let records = cleaned(T::TYPE_MAP, bytes, items.len())?;
    // SAFETY: the bytes have the length of the packed items, and were just checked; a shared and an exclusive borrow do not
    // overlap.
    unsafe { unpack_records::<T>(&records, items.as_mut_ptr(), items.len()) };
    Ok(bytes.len())
}

/// Zeroes the padding of the records in place and returns their memory as bytes, all initialised: for hashing, encryption, or
/// shared memory.
///
/// A type that skips fields does not compile here, because zeroing would overwrite these fields.
///
/// ```
/// let mut records = [(1_u32, 2_u8), (3, 4)];
/// let bytes = dtype_runtime::zero_gaps(&mut records);
/// assert_eq!(bytes.len(), 16);
/// assert_eq!(bytes.iter().filter(|&&byte| byte != 0).count(), 4);
/// ```
pub fn zero_gaps<T: Datatype>(items: &mut [T]) -> &[u8] {
    const {
        refuse_skipped_fields::<T>(NOT_PADDING);
        layout::assert_stride::<T>();
    }
    let len = size_of_val(items);
    let base = items.as_mut_ptr().cast::<u8>();
    // SAFETY: the gaps lie inside the items, which are borrowed exclusively. By the promise of `Datatype` they are padding, as
    // the type skips no fields, so writing them changes no value. The data bytes are initialised in every value and the gaps
    // are written here, so all bytes are initialised. The result keeps the items borrowed, so nothing else writes to them while
    // it lives.
    unsafe {
        let (ops, count) = (gaps::<T>().ops(), items.len() as u64);
        kernel::program::<Zero>(ops, count, size_of::<T>() as i64, base, base);
        core::slice::from_raw_parts(base, len)
    }
}

pub(crate) const NOT_INITIALISED: &str =
    "this type skips fields, which `unpack` could not initialise: use `unpack_into`";

const NOT_READ: &str =
    "this type skips fields, which `read` could not initialise: use `read_into` or `read_reusing`";

const NOT_PADDING: &str =
    "this type skips fields: its gaps are not padding, and zeroing them would destroy values";

/// Refuses a type that skips fields, at compile time.
#[track_caller]
pub(crate) const fn refuse_skipped_fields<T: Datatype>(why: &'static str) {
    assert!(!T::TYPE_MAP.skips_fields(), "{}", why);
}

/// The number of records in the bytes.
fn whole_records<T: Datatype>(bytes: &[u8]) -> Result<usize, Error> {
    let (actual, record) = (bytes.len(), T::TYPE_MAP.size());
    let rest = actual.checked_rem(record).unwrap_or(actual);
    if rest != 0 {
        return Err(Error::PartialRecord { actual: actual as u64, record: record as u64 });
    }
    Ok(actual.checked_div(record).unwrap_or(0))
}

/// # Safety
///
/// `out` must be valid for writing the packed bytes of the items, and not overlap them.
#[inline]
unsafe fn pack_records<T: Datatype>(items: &[T], out: *mut u8) {
    // SAFETY: the items are borrowed, so all their bytes may be read. By the promise of `Datatype` the runs lie within each
    // item and are initialised; the caller guarantees the destination.
    unsafe { Layout::<T>::values::<Pack>(items.as_ptr().cast::<u8>().cast_mut(), out, items.len()) }
}

/// # Safety
///
/// `bytes` must be `count` packed records that [`validate`] accepts, and `items`
/// valid for reading and writing `count` values, initialised or not, and not overlap `bytes`.
#[inline]
pub(crate) unsafe fn unpack_records<T: Datatype>(bytes: &[u8], items: *mut T, count: usize) {
    // SAFETY: `bytes` has the length of `count` records, and is only read. The caller guarantees that the memory of the items
    // is valid for `count` values and does not overlap `bytes`.
    unsafe { Layout::<T>::values::<Unpack>(items.cast(), bytes.as_ptr().cast_mut(), count) }
}

/// As [`unpack_records`], to memory without values: padding may be written, too.
///
/// # Safety
///
/// `bytes` must be `count` packed records that [`validate`] accepts, and `items`
/// valid for reading and writing `count` values, initialised or not, and not overlap `bytes`.
#[inline]
unsafe fn unpack_new<T: Datatype>(bytes: &[u8], items: *mut T, count: usize) {
    // SAFETY: `bytes` has the length of `count` records, and is only read. The caller guarantees that the memory of the items
    // may be written and does not overlap `bytes`.
    unsafe { Layout::<T>::new_values(items.cast(), bytes.as_ptr().cast_mut(), count) }
}

/// Overwrites the spare bytes of records in memory with zeros.
pub(crate) fn clear_spare<T: Datatype>(items: &mut [T]) {
    if T::TYPE_MAP.size() == 0 || !has_spare(T::TYPE_MAP) {
        return;
    }
    let mut packed = alloc::vec![0; T::TYPE_MAP.size()];
    for item in items {
        if pack_into(core::slice::from_ref(&*item), &mut packed).is_ok() {
            clean(T::TYPE_MAP, &mut packed);
            // SAFETY: the bytes are the item itself, packed, with zeros in bytes that it does not use, so they are valid. The item
            // is borrowed exclusively, and does not overlap a vector of this function.
            unsafe { unpack_records::<T>(&packed, item, 1) };
        }
    }
}

/// Unpacks the records and returns true if they are known to be valid and clean. Otherwise returns false without an effect;
/// [`cleaned`] must then decide.
///
/// # Safety
///
/// `bytes` must be `count` packed records, and `items` valid for reading and writing `count` values, initialised or not, and
/// not overlap `bytes`.
#[inline]
unsafe fn unpack_valid<T: Datatype>(bytes: &[u8], items: *mut T, count: usize) -> bool {
    /// # Safety
    ///
    /// `bytes` must be `count` packed records, and `items` valid for reading and writing `count` values, initialised or not,
    /// and not overlap `bytes`.
    #[inline(always)]
    unsafe fn of_count<T: Datatype>(bytes: &[u8], items: *mut T, count: usize) -> bool {
        let clean = are_clean::<T>(bytes, count);
        if clean {
            // SAFETY: the records were just found to be valid. The caller guarantees that they are `count`, and the memory of
            // the items.
            unsafe { unpack_records::<T>(bytes, items, count) };
        }
        clean
    }
    // SAFETY: `of_count` requires of `count` records and items what the caller guarantees for them.
    unsafe {
        // With a constant count, no loop is left.
        if count == 1 { of_count::<T>(bytes, items, 1) } else { of_count::<T>(bytes, items, count) }
    }
}

/// Unpacks one record.
///
/// # Safety
///
/// `bytes` must be one packed record that [`validate`] accepts, and the type must not
/// skip fields.
#[inline]
pub(crate) unsafe fn unpack_record<T: Datatype>(bytes: &[u8]) -> T {
    let mut record = MaybeUninit::<T>::uninit();
    // SAFETY: the caller guarantees the bytes, which `Unpack` only reads. By the promise of `Datatype` the moves lie
    // within the record. All data bytes are written, and the type skips no fields: by the same promise this is a value.
    unsafe {
        let memory = record.as_mut_ptr().cast();
        Layout::<T>::execute_one::<Unpack>(memory, bytes.as_ptr().cast_mut());
        record.assume_init()
    }
}

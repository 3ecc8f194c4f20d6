//! Packing and unpacking slices of Rust types, compiled for each type.
//!
//! The runs of a type are constants, so the loop over them unrolls and each copy has a length that
//! the compiler knows: what is left is the code that a person would have written by hand, with fewer
//! copies where fields touch.

mod layout;
mod ranges;
mod stream;
mod validate;

use alloc::vec::Vec;

use crate::datatype::Datatype;
use crate::error::Error;
use crate::kernel::{self, Pack, Unpack, Zero};
use layout::Layout;

pub use ranges::{ByteRanges, gaps, runs};
#[cfg(feature = "ndarray")]
pub(crate) use validate::validate;

/// Packed bytes of `count` records of type `T`; `usize::MAX` if that is more than can be addressed.
///
/// ```
/// assert_eq!(dtype_runtime::packed_size::<(f64, u8)>(1000), 9000);
/// ```
pub const fn packed_size<T: Datatype>(count: usize) -> usize {
    T::TYPE_MAP.size().saturating_mul(count)
}

/// The records without their padding and skipped fields, one after another, the fields in the order
/// of their declaration.
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
    // SAFETY: the vector has room for `size` bytes, which is what `pack_records` writes, all of
    // them; it was just allocated, so it does not overlap the items.
    unsafe {
        pack_records(items, out.as_mut_ptr());
        out.set_len(size);
    }
    out
}

/// As [`pack`], to the front of `out`, which may be longer than needed. Returns how many bytes were
/// written.
///
/// # Errors
///
/// [`Error::DestinationTooSmall`]; nothing is written then.
///
/// ```
/// let mut out = [0; 8];
/// assert_eq!(dtype_runtime::pack_into(&[1_u8, 2, 3], &mut out)?, 3);
/// assert_eq!(out, [1, 2, 3, 0, 0, 0, 0, 0]);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
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

/// The records that [`pack`] made `bytes` of.
///
/// A type that skips fields does not compile here, because nothing would initialise them: use
/// [`unpack_into`] with records that exist. A type without data gives no record.
///
/// # Errors
///
/// [`Error::PartialRecord`] when the bytes are no whole number of records; [`Error::InvalidValue`]
/// when they would make an invalid `bool`, `char`, `NonZero` or enum; [`Error::Allocation`].
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
    let mut items = Vec::new();
    // SAFETY: a type that skips fields was refused.
    unsafe { append(bytes, count, &mut items)? };
    Ok(items)
}

/// As [`unpack`], `count` records, behind those that are there already. Nothing is added on an error.
///
/// The number says how many there are of a type without data, too.
#[cfg(feature = "message")]
#[inline]
pub(crate) fn unpack_behind<T: Datatype>(
    bytes: &[u8],
    count: usize,
    items: &mut Vec<T>,
) -> Result<(), Error> {
    const { refuse_skipped_fields::<T>(NOT_READ) }
    // SAFETY: a type that skips fields was refused.
    unsafe { append(bytes, count, items) }
}

/// Unpacks `count` records behind those that are there already. Nothing is added on an error.
///
/// # Safety
///
/// The type must not skip fields.
#[inline]
unsafe fn append<T: Datatype>(bytes: &[u8], count: usize, items: &mut Vec<T>) -> Result<(), Error> {
    let size = packed_size::<T>(count);
    if bytes.len() != size {
        return Err(Error::PackedLength { expected: size as u64, actual: bytes.len() as u64 });
    }
    validate::validate::<T>(bytes, count)?;
    let stride = size_of::<T>();
    items.try_reserve_exact(count).map_err(|_| Error::Allocation { count, stride })?;
    let len = items.len();
    // SAFETY: the vector has room for `count` more records, and `bytes` holds the data of as many. Every
    // byte that is data is written, the bytes are valid, and the type skips no fields: by the
    // promise of `Datatype` these are `count` values.
    unsafe {
        unpack_records::<T>(bytes, items.as_mut_ptr().add(len), count);
        items.set_len(len + count);
    }
    Ok(())
}

/// Writes the data of the records that [`pack`] made `bytes` of into `items`, and returns how many
/// bytes that were. Padding and skipped fields stay as they are.
///
/// # Errors
///
/// [`Error::PackedLength`] when `bytes` is not exactly as long as the data of all `items`;
/// [`Error::InvalidValue`] as for [`unpack`]. Nothing is written then.
///
/// ```
/// let mut numbers = [0_u8; 3];
/// dtype_runtime::unpack_into(&[1, 2, 3], &mut numbers)?;
/// assert_eq!(numbers, [1, 2, 3]);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
pub fn unpack_into<T: Datatype>(bytes: &[u8], items: &mut [T]) -> Result<usize, Error> {
    let size = packed_size::<T>(items.len());
    if bytes.len() != size {
        return Err(Error::PackedLength { expected: size as u64, actual: bytes.len() as u64 });
    }
    validate::validate::<T>(bytes, items.len())?;
    // SAFETY: `bytes` holds the data of all items, and is valid for them; a shared and an exclusive
    // borrow do not overlap.
    unsafe { unpack_records::<T>(bytes, items.as_mut_ptr(), items.len()) };
    Ok(size)
}

/// Zeroes the padding of the records in place and lends them as bytes, all of which are initialised
/// then: for hashing, encryption, shared memory.
///
/// A type that skips fields does not compile here: the gaps would hold what the fields hold.
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
    // SAFETY: the gaps lie inside the items, which are borrowed exclusively, and are padding by the
    // promise of `Datatype`, so that writing them changes no value. With them written and the data
    // initialised in every value, all bytes are initialised; they stay borrowed as long as the result
    // lives, so nobody can write to them.
    unsafe {
        let (ops, count) = (gaps::<T>().ops(), items.len() as u64);
        kernel::program::<Zero>(ops, count, size_of::<T>() as i64, base, base);
        core::slice::from_raw_parts(base, len)
    }
}

pub(crate) const NOT_INITIALISED: &str =
    "this type skips fields, which `unpack` could not initialise: use `unpack_into`";

#[cfg(feature = "message")]
const NOT_READ: &str =
    "this type skips fields, which `read` could not initialise: use `read_into` or `read_over`";

const NOT_PADDING: &str =
    "this type skips fields: its gaps are not padding, and zeroing them would destroy values";

/// Keeps a type that skips fields from being compiled.
#[track_caller]
pub(crate) const fn refuse_skipped_fields<T: Datatype>(why: &'static str) {
    assert!(!T::TYPE_MAP.skips_fields(), "{}", why);
}

/// How many records the bytes hold.
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
    let memory = items.as_ptr().cast::<u8>().cast_mut();
    // SAFETY: the items' bytes are readable, and only read.
    // By the promise of `Datatype` the runs lie within each item.
    unsafe { Layout::<T>::execute::<Pack>(memory, out, items.len()) }
}

/// # Safety
///
/// `bytes` must be the packed and validated bytes of `count` records, and `items` valid for writing
/// as many.
#[inline]
unsafe fn unpack_records<T: Datatype>(bytes: &[u8], items: *mut T, count: usize) {
    // SAFETY: as the caller vouches; the packed bytes are only read. By the promise of `Datatype` the
    // runs lie within each item.
    unsafe { Layout::<T>::execute::<Unpack>(items.cast(), bytes.as_ptr().cast_mut(), count) }
}

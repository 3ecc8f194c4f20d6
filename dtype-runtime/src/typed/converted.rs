//! Packing and unpacking in the representation of another machine, in one call.

use alloc::vec;
use alloc::vec::Vec;

use super::{NOT_INITIALISED, refuse_skipped_fields, unpack};
use crate::convertor::{Packer, RecordConversion, allocate};
use crate::datatype::Datatype;
use crate::error::Error;
use crate::representation::Representation;
use crate::types::Type;

/// Packs the records as [`pack`](crate::pack) does, with the values in another representation.
///
/// # Errors
///
/// - [`Error::NoConversion`] if the representation cannot hold the values of a basic datatype;
/// - [`Error::IntegerRange`] and [`Error::FloatRange`] if a value does not fit where it goes;
/// - [`Error::Allocation`] if the bytes do not fit in memory.
///
/// ```
/// use dtype_runtime::{Representation, pack_as, unpack_as};
///
/// let bytes = pack_as(&[(0x0102_u16, true)], Representation::External32)?;
/// assert_eq!(bytes, [1, 2, 1]);
/// assert_eq!(unpack_as::<(u16, bool)>(&bytes, Representation::External32)?, [(0x0102, true)]);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
pub fn pack_as<T: Datatype>(items: &[T], representation: Representation) -> Result<Vec<u8>, Error> {
    let mut packer = Packer::new(items).with_representation(representation)?;
    let too_large = |_| Error::CountTooLarge {
        count: items.len() as u64,
        size: packer.remaining() / items.len().max(1) as u64,
    };
    let size = usize::try_from(packer.remaining()).map_err(too_large)?;
    let mut out = allocate(items.len(), size / items.len().max(1))?;
    out.resize(size, 0);
    packer.pack(&mut out)?;
    Ok(out)
}

/// Unpacks records whose values are in another representation, as [`pack_as`] packs them.
///
/// A type that skips fields does not compile here: use [`Unpacker::with_representation`](crate::Unpacker::with_representation)
/// with existing records.
///
/// # Errors
///
/// - [`Error::PartialRecord`] if the length is not a multiple of the packed record size, in this
///   representation;
/// - [`Error::InvalidValue`] and [`Error::CheckFailed`] as for [`unpack`](crate::unpack);
/// - [`Error::NoConversion`] if this machine lacks a type of number, [`Error::IntegerRange`] and [`Error::FloatRange`] if it
///   lacks a value;
/// - [`Error::Allocation`] if the records do not fit in memory.
pub fn unpack_as<T: Datatype>(
    bytes: &[u8],
    representation: Representation,
) -> Result<Vec<T>, Error> {
    const { refuse_skipped_fields::<T>(NOT_INITIALISED) }
    let records = RecordConversion::new(&Type::of::<T>(), representation)?;
    let (actual, record) = (bytes.len() as u64, records.size());
    let rest = actual.checked_rem(record).unwrap_or(actual);
    if rest != 0 {
        return Err(Error::PartialRecord { actual, record });
    }
    let count = actual.checked_div(record).unwrap_or(0);
    // At most the length of a slice.
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let mut native = vec![];
    records.convert(bytes, &mut native, count)?;
    unpack(&native)
}

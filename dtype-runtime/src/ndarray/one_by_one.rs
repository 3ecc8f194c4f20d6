//! Packs and unpacks the elements of small arrays one by one, with the code of their type.

use core::slice;

use ::ndarray::{ArrayRef, Dimension};

use crate::datatype::Datatype;
use crate::error::Error;
use crate::typed;

/// Packs to the front of `out`, and returns the number of bytes written.
pub(super) fn pack<T: Datatype, D: Dimension>(
    array: &ArrayRef<T, D>,
    out: &mut [u8],
) -> Result<usize, Error> {
    let size = typed::packed_size::<T>(array.len());
    let available = out.len() as u64;
    let Some(out) = out.get_mut(..size) else {
        return Err(Error::DestinationTooSmall { needed: size as u64, available });
    };
    if size > 0 {
        for (element, out) in array.iter().zip(out.chunks_exact_mut(T::TYPE_MAP.size())) {
            typed::pack_into(slice::from_ref(element), out)?;
        }
    }
    Ok(size)
}

/// Unpacks all elements, once their bytes are known to be valid, and returns the number of bytes read.
pub(super) fn unpack<T: Datatype, D: Dimension>(
    bytes: &[u8],
    array: &mut ArrayRef<T, D>,
) -> Result<usize, Error> {
    let (size, count) = (typed::packed_size::<T>(array.len()), array.len());
    if bytes.len() != size {
        return Err(Error::PackedLength { expected: size as u64, actual: bytes.len() as u64 });
    }
    typed::validate::<T>(bytes, count)?;
    if size > 0 {
        for (element, bytes) in array.iter_mut().zip(bytes.chunks_exact(T::TYPE_MAP.size())) {
            typed::unpack_into(bytes, slice::from_mut(element))?;
        }
    }
    Ok(size)
}

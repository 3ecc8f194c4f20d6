//! Allocations whose size a peer or the program chooses. They fail with an error instead of an abort.

use dtype_runtime::Error as DatatypeError;

use crate::error::Error;

/// An empty vector with room for `count` elements.
pub(crate) fn with_room<T>(count: usize) -> Result<Vec<T>, Error> {
    let mut items = Vec::new();
    let stride = size_of::<T>();
    items.try_reserve_exact(count).map_err(|_| DatatypeError::Allocation { count, stride })?;
    Ok(items)
}

/// Bytes for a copy.
pub(crate) fn zeros(len: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = with_room(len)?;
    bytes.resize(len, 0);
    Ok(bytes)
}

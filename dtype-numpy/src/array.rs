//! Arrays from records, and records from arrays.

use dtype_runtime::npy::{Dtype, NumpyOptions};
use dtype_runtime::{Buffer, Datatype, Error, pack, packed_size, unpack};
use numpy::{PyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::dtype::{check_data, item_dtype_of, packed_item_dtype_of, read_dtype};
use crate::error::ArrayError;
use crate::record::Record;

/// The vector's memory as an array with one axis, without a copy. The padding of the records is zeroed, so that Python sees
/// no uninitialised byte.
///
/// A type that skips fields does not compile here, nor does one that needs to be dropped.
///
/// # Errors
///
/// As for [`dtype_of`](crate::dtype_of); [`ArrayError::Subarray`] if `T` is an array, [`ArrayError::NoData`].
pub fn into_array<T: Datatype + Send + Sync>(
    py: Python<'_>,
    records: Vec<T>,
) -> Result<Bound<'_, PyArray1<Record<T>>>, ArrayError> {
    check_data::<T>()?;
    // So that the array's own call finds it.
    item_dtype_of::<T>(py)?;
    Ok(PyArray1::from_vec(py, Record::from_vec(records)))
}

/// The packed records as an array with one axis, whose dtype has no padding. It may have skipped fields: these are not in the
/// dtype.
///
/// # Errors
///
/// As for [`into_array`].
pub fn packed_array<'py, T: Datatype>(
    py: Python<'py>,
    records: &[T],
) -> Result<Bound<'py, PyUntypedArray>, ArrayError> {
    check_data::<T>()?;
    let dtype = packed_item_dtype_of::<T>(py)?;
    let bytes = PyArray1::from_vec(py, pack(records));
    let array = bytes.call_method1("view", (dtype,))?;
    Ok(array.cast_into::<PyUntypedArray>().map_err(PyErr::from)?)
}

/// The array, if the object is one.
pub(crate) fn array<'a, 'py>(
    object: &'a Bound<'py, PyAny>,
) -> Result<&'a Bound<'py, PyUntypedArray>, ArrayError> {
    match object.cast::<PyUntypedArray>() {
        Ok(array) => Ok(array),
        Err(_) => Err(ArrayError::NotAnArray { found: object.get_type().name()?.to_string() }),
    }
}

/// Refuses items in descending order and items that overlap.
pub(crate) fn check_strides(array: &Bound<'_, PyUntypedArray>) -> Result<(), ArrayError> {
    let itemsize = array.dtype().getattr("itemsize")?.extract::<isize>()?;
    let lengths = array.shape().iter().copied();
    let mut axes: Vec<_> = lengths.zip(array.strides().iter().copied()).enumerate().collect();
    if axes.iter().any(|(_, (length, _))| *length == 0) {
        return Ok(());
    }
    axes.retain(|(_, (length, _))| *length > 1);
    if let Some((axis, (_, stride))) = axes.iter().find(|(_, (_, stride))| *stride < 0) {
        return Err(ArrayError::NegativeStride { axis: *axis, stride: *stride });
    }
    axes.sort_by_key(|(_, (_, stride))| *stride);
    let mut span = itemsize;
    for (axis, (length, stride)) in axes {
        if stride < span {
            return Err(ArrayError::OverlappingStride { axis, stride, span });
        }
        span = stride.saturating_mul(length.cast_signed() - 1).saturating_add(span);
    }
    Ok(())
}

/// The records of an array, in C order whatever the number of its axes. The fields may be at any offset, so packed arrays
/// and arrays of an aligned dtype will do, and items may have gaps between them. Of a masked array, these are the values below
/// the mask, as in `numpy.asarray`.
///
/// A type that skips fields does not compile here, because nothing would initialise them.
///
/// # Errors
///
/// - [`ArrayError::NotAnArray`];
/// - [`ArrayError::Dtype`] if the fields are not those of `T`, by name, or have the other byte order;
/// - [`ArrayError::NoData`];
/// - [`ArrayError::NegativeStride`], [`ArrayError::OverlappingStride`];
/// - [`ArrayError::Records`] for an invalid `bool`, `char`, `NonZero` or enum, and if the records do not fit in memory.
pub fn to_vec<T: Datatype>(object: &Bound<'_, PyAny>) -> Result<Vec<T>, ArrayError> {
    check_data::<T>()?;
    let array = array(object)?;
    let dtype = read_dtype(&array.dtype())?;
    dtype.check_byte_order::<T>()?;
    let (item, _) = dtype.item_type::<T>()?;
    check_strides(array)?;
    // NumPy copies the items one after another, whatever the strides are. A subclass may have a `tobytes` of its own, which
    // returns other bytes: that of a masked array puts a fill value in the place of what is masked.
    let bytes = object.py().get_type::<PyUntypedArray>().call_method1("tobytes", (array,))?;
    let bytes = bytes.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes();
    if dtype == Dtype::of::<T>(&NumpyOptions::packed()) {
        return Ok(unpack(bytes)?);
    }
    let count = array.len();
    let mut packed = Vec::new();
    let refused = |_| Error::Allocation { count, stride: packed_size::<T>(1) };
    packed.try_reserve_exact(packed_size::<T>(count)).map_err(refused)?;
    packed.resize(packed_size::<T>(count), 0);
    item.commit().pack(Buffer::new(bytes), count, &mut packed)?;
    Ok(unpack(&packed)?)
}

//! Converts records to arrays, and arrays to records.

use dtype_npy::{Dtype, NumpyOptions, ReadOptions};
use dtype_runtime::{Datatype, pack, unpack, view_memory};
use numpy::{PyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::dtype::{check_data, check_item, item_dtype_of, make_dtype, read_dtype};
use crate::error::ArrayError;
use crate::memory::{array, count, with_memory};
use crate::record::Record;

/// The vector's memory as an array with one axis, without a copy. The padding of the records is zeroed, so that Python sees no
/// uninitialised byte. A [`FixedStr`](dtype_runtime::FixedStr) appears as in memory, with `len` and `bytes`:
/// `a['name']['bytes'].view('S8')` is the text of a `FixedStr<8>`, in UTF-8.
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
    // Checked here, because the array's own call would panic.
    item_dtype_of::<T>(py)?;
    Ok(PyArray1::from_vec(py, Record::from_vec(records)))
}

/// A copy of the records as an array with one axis. Its dtype has no padding, as in a [new file](dtype_npy::write()): a
/// [`FixedStr`](dtype_runtime::FixedStr) is a `U`, which Python reads as a `str`. `T` may have skipped fields; these are not in
/// the dtype.
///
/// # Errors
///
/// As for [`into_array`]; [`ArrayError::Records`] for a text that ends with a zero byte, because NumPy would take the byte for
/// padding.
pub fn packed_array<'py, T: Datatype>(
    py: Python<'py>,
    records: &[T],
) -> Result<Bound<'py, PyUntypedArray>, ArrayError> {
    check_data::<T>()?;
    let dtype = Dtype::of::<T>(&NumpyOptions::file());
    let items = check_item(make_dtype(py, &dtype)?)?;
    let bytes = PyArray1::from_vec(py, dtype.pack(records)?);
    let array = bytes.call_method1("view", (items,))?;
    Ok(array.cast_into::<PyUntypedArray>().map_err(PyErr::from)?)
}

/// The records of an array, in C order whatever its axes and strides: it may be sliced, reversed or broadcast. The fields may
/// be at any offset and in either byte order, so packed arrays and arrays of an aligned dtype are accepted. For a masked array,
/// the records are the values below the mask, as in `numpy.asarray`. An `S` or a `U` becomes a
/// [`FixedStr`](dtype_runtime::FixedStr).
///
/// A type that skips fields does not compile here, because nothing would initialise them.
///
/// # Errors
///
/// - [`ArrayError::NotAnArray`];
/// - [`ArrayError::Dtype`] if the fields are not those of `T`, by name, or have both byte orders;
/// - [`ArrayError::NoData`];
/// - [`ArrayError::Records`] for an invalid `bool`, `char`, `NonZero` or enum, and if the records do not fit in memory.
pub fn to_vec<T: Datatype>(object: &Bound<'_, PyAny>) -> Result<Vec<T>, ArrayError> {
    check_data::<T>()?;
    let array = array(object)?;
    let dtype = read_dtype(&array.dtype())?;
    let count = count(array);
    if array.is_c_contiguous() {
        let is_memory = dtype.check_memory::<T>().is_ok();
        return with_memory(array, |bytes| {
            // Not a view if the items are not aligned, or a value is invalid, which the error below names.
            if is_memory && let Ok(records) = view_memory::<T>(bytes) {
                return Ok(unpack(&pack(records))?);
            }
            Ok(dtype.unpack(bytes, count, &ReadOptions::strict())?.records)
        });
    }
    // NumPy copies the items one after another, whatever the strides. A subclass may have its own `tobytes`, which returns
    // other bytes: for a masked array, it replaces masked values by a fill value.
    let bytes = object.py().get_type::<PyUntypedArray>().call_method1("tobytes", (array,))?;
    let bytes = bytes.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes();
    Ok(dtype.unpack(bytes, count, &ReadOptions::strict())?.records)
}

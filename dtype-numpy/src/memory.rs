//! Python objects as arrays, and their memory.

use std::slice;

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods, npyffi};
use pyo3::prelude::*;

use crate::error::ArrayError;

/// The array, if the object is an array.
pub(crate) fn array<'a, 'py>(
    object: &'a Bound<'py, PyAny>,
) -> Result<&'a Bound<'py, PyUntypedArray>, ArrayError> {
    match object.cast::<PyUntypedArray>() {
        Ok(array) => Ok(array),
        Err(_) => Err(ArrayError::NotAnArray { found: object.get_type().name()?.to_string() }),
    }
}

/// The number of items. If an axis is empty, NumPy allows other axes whose lengths overflow when multiplied.
pub(crate) fn count<'py>(array: &impl PyUntypedArrayMethods<'py>) -> usize {
    if array.is_empty() { 0 } else { array.len() }
}

/// Calls a function with the memory of a contiguous array.
pub(crate) fn with_memory<R>(
    array: &Bound<'_, PyUntypedArray>,
    call: impl FnOnce(&[u8]) -> R,
) -> R {
    let len = count(array) * array.dtype().itemsize();
    if len == 0 || !array.is_c_contiguous() {
        return call(&[]);
    }
    // SAFETY: the pointer is that of an array, whose fields can be read. Its items are contiguous, so `len` bytes from the first one
    // on belong to the array, which the caller's reference keeps alive during the call. They are NumPy's memory, which is
    // initialised as far as this program can tell. The functions in this crate that are called run no code of Python, which could
    // write to the memory.
    call(unsafe {
        let origin = (*npyffi::_PyArray_GET_ITEM_DATA(array.as_array_ptr())).data;
        slice::from_raw_parts(origin.cast(), len)
    })
}

//! Records in an array, borrowed.

use std::fmt;
use std::slice;

use dtype_runtime::{Datatype, pack, unpack, view_memory};
use numpy::{PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::dtype::{check_data, item_dtype_of, read_dtype};
use crate::error::ArrayError;
use crate::memory::{array, count};
use crate::record::Record;

/// The records of an array in place. Its items are the memory of `T`, contiguous in C order and aligned, and they were valid
/// when they were borrowed.
///
/// Rust code that respects `numpy`'s borrows cannot write to the array meanwhile. Python code can.
pub struct Records<'py, T: Datatype + Send + Sync> {
    array: PyReadonlyArray1<'py, Record<T>>,
}

impl<'py, T: Datatype + Send + Sync> Records<'py, T> {
    /// Borrows the array.
    ///
    /// # Errors
    ///
    /// - [`ArrayError::NotAnArray`];
    /// - [`ArrayError::Dtype`] if the dtype is not that of the memory of `T`: another field, offset, size or byte order;
    /// - [`ArrayError::NoData`], [`ArrayError::Subarray`] if `T` is an array;
    /// - [`ArrayError::NotContiguous`];
    /// - [`ArrayError::Records`] if the items are not aligned for `T`, or a value is invalid;
    /// - [`ArrayError::Python`] if the array is borrowed for writing.
    pub fn new(object: &Bound<'py, PyAny>) -> Result<Self, ArrayError> {
        let py = object.py();
        check_data::<T>()?;
        let dtype = item_dtype_of::<T>(py)?;
        let array = array(object)?;
        read_dtype(&array.dtype())?.check_memory::<T>()?;
        // The same memory with the fields in the order of the struct; if the array's dtype has that order, it is unchanged.
        // This array is not an instance of a subclass, nor made by a subclass's `view`: either would run Python code, which
        // could keep the array, and change its shape or dtype after the checks. No other code has this array.
        let ndarray = py.get_type::<PyUntypedArray>();
        let same = ndarray.call_method1("view", (array, dtype, &ndarray))?;
        let same = same.cast_into::<PyArrayDyn<Record<T>>>().map_err(PyErr::from)?;
        check_contiguous(&same)?;
        // With one axis. The crate `numpy` multiplies strides to compare borrows, and an axis of one item may have any stride.
        let flat = same.reshape([count(&same)])?;
        let array = flat.try_readonly().map_err(|error| ArrayError::Python(error.into()))?;
        let records = Self { array };
        view_memory::<T>(records.bytes())?;
        Ok(records)
    }

    /// The number of records.
    pub fn len(&self) -> usize {
        self.array.len()
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A copy of the records, checked again.
    ///
    /// # Errors
    ///
    /// [`ArrayError::Records`] if Python code has written an invalid value since the array was borrowed.
    pub fn to_vec(&self) -> Result<Vec<T>, ArrayError> {
        Ok(unpack(&pack(view_memory::<T>(self.bytes())?))?)
    }

    /// The records, without a copy.
    ///
    /// # Errors
    ///
    /// [`ArrayError::Records`] if Python code has written an invalid value since the array was borrowed.
    ///
    /// # Safety
    ///
    /// The caller must guarantee that no Python code writes to the array's memory, in any thread, as long as the slice is in
    /// use.
    pub unsafe fn as_slice(&self) -> Result<&[T], ArrayError> {
        Ok(view_memory(self.bytes())?)
    }

    /// The memory of the array.
    fn bytes(&self) -> &[u8] {
        let len = self.len() * size_of::<T>();
        if len == 0 {
            return &[];
        }
        // SAFETY: `new` has checked that the items are contiguous, and no Python code has its array, so they still are. They
        // are `len` bytes from the first one on, which belong to the array as long as it lives. They are NumPy's memory, which
        // is initialised as far as this program can tell. It is used before other code runs, or under the promise of
        // `as_slice`.
        unsafe { slice::from_raw_parts(self.array.data().cast(), len) }
    }
}

impl<T: Datatype + Send + Sync> fmt::Debug for Records<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records")
            .field("of", &format_args!("{}", T::TYPE_MAP))
            .field("len", &self.len())
            .finish()
    }
}

/// Checks that the items of an array follow one another, with a record's size from each to the next.
fn check_contiguous<T>(array: &Bound<'_, PyArrayDyn<Record<T>>>) -> Result<(), ArrayError> {
    let mut expected = size_of::<T>().cast_signed();
    for (axis, (length, stride)) in array.shape().iter().zip(array.strides()).enumerate().rev() {
        if *length > 1 && *stride != expected && !array.is_empty() {
            return Err(ArrayError::NotContiguous { axis, stride: *stride, expected });
        }
        expected = expected.saturating_mul(length.cast_signed());
    }
    Ok(())
}

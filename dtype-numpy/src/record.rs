//! The element type of an array of records.

use std::fmt;
use std::mem::MaybeUninit;

use dtype_runtime::Datatype;
use numpy::{Element, PyArrayDescr};
use pyo3::prelude::*;

use crate::dtype::item_dtype_of;

/// The memory of a `T` in an array, with any bytes: Python code may write any bytes to it. It has the size and the alignment of
/// `T`.
///
/// It is the element type of the arrays that [`into_array`](crate::into_array) makes. [`Records`](crate::Records) and
/// [`to_vec`](crate::to_vec) check the bytes and return the values.
#[repr(transparent)]
pub struct Record<T>(MaybeUninit<T>);

impl<T: Datatype> Record<T> {
    /// The records of a vector in the same memory.
    ///
    /// The padding is zeroed. A type that skips fields does not compile here, nor does one that needs to be dropped.
    pub fn from_vec(mut records: Vec<T>) -> Vec<Self> {
        const {
            assert!(!std::mem::needs_drop::<T>(), "Python would not drop this type");
        }
        dtype_runtime::zero_gaps(&mut records);
        let (start, len, capacity) = {
            let mut records = std::mem::ManuallyDrop::new(records);
            (records.as_mut_ptr(), records.len(), records.capacity())
        };
        // SAFETY: the vector's memory, which nothing else owns any more. `Record<T>` has the size and the alignment of `T`,
        // and any bytes are one.
        unsafe { Vec::from_raw_parts(start.cast::<Self>(), len, capacity) }
    }
}

impl<T: Datatype> fmt::Debug for Record<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Record<{}>", T::TYPE_MAP)
    }
}

// SAFETY: a record has no Python object in it, is copied byte by byte, and any bytes that Python writes are a record. The dtype
// has the size `size_of::<T>()`, even if `T` is resized as a datatype. NumPy does not replace it by the dtype of smaller items.
unsafe impl<T: Datatype + Send + Sync> Element for Record<T> {
    const IS_COPY: bool = true;

    /// # Panics
    ///
    /// If the type is an array, whose axes NumPy would make axes of the whole array, or too large for NumPy, or if there is no
    /// NumPy. [`into_array`](crate::into_array) returns an error instead.
    fn get_dtype(py: Python<'_>) -> Bound<'_, PyArrayDescr> {
        match item_dtype_of::<T>(py) {
            Ok(dtype) => dtype,
            Err(error) => panic!("{}: {error}", T::TYPE_MAP),
        }
    }

    fn clone_ref(&self, _: Python<'_>) -> Self {
        // SAFETY: the memory of a record, which consists of bytes, and any bytes may be copied.
        unsafe { std::ptr::read(self) }
    }
}

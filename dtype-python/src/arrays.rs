//! Arrays and buffers that Python hands over, and new ones.

use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods, npyffi};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyBytes;

use crate::memory::Memory;

/// An array, or a scalar as an array without axes.
pub(crate) fn array<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    if let Ok(array) = object.cast::<PyUntypedArray>() {
        return Ok(array.clone());
    }
    let numpy = numpy(object.py())?;
    if object.is_instance(&numpy.getattr("generic")?)? {
        return Ok(numpy.call_method1("asarray", (object,))?.cast_into()?);
    }
    let found = object.get_type().name()?;
    Err(PyTypeError::new_err(format!("expected a NumPy array, found {found}")))
}

/// The module `numpy`.
pub(crate) fn numpy(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static NUMPY: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = NUMPY.get_or_try_init(py, || py.import("numpy").map(Bound::unbind))?;
    Ok(module.bind(py).clone().into_any())
}

#[inline]
fn has_flag(array: &Bound<'_, PyUntypedArray>, flag: i32) -> bool {
    // SAFETY: the pointer is that of an array, whose flags can be read.
    unsafe { (*npyffi::_PyArray_GET_ITEM_DATA(array.as_array_ptr())).flags & flag != 0 }
}

/// Checks that an array can be written to.
#[inline]
pub(crate) fn check_writable(array: &Bound<'_, PyUntypedArray>, name: &str) -> PyResult<()> {
    if has_flag(array, npyffi::NPY_ARRAY_WRITEABLE) {
        return Ok(());
    }
    Err(PyBufferError::new_err(format!("{name} is read-only")))
}

/// Bytes that an object lends, and what keeps them there.
pub(crate) struct Lent<'py> {
    /// An array or `bytes`. It holds the export of any other object's buffer, which refuses to change its size meanwhile.
    owner: Bound<'py, PyAny>,
    /// The array, unless the object is `bytes`.
    array: Option<Bound<'py, PyUntypedArray>>,
    pub(crate) memory: Memory,
}

impl<'py> Lent<'py> {
    /// The bytes of `bytes`, of a contiguous array, or of any object with a contiguous buffer.
    pub(crate) fn new(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            let origin = bytes.as_bytes().as_ptr().cast_mut();
            let memory = Memory::items(origin, bytes.as_bytes().len(), 1);
            return Ok(Self { owner: object.clone(), array: None, memory });
        }
        let array = match object.cast::<PyUntypedArray>() {
            Ok(array) => array.clone(),
            Err(_) => numpy(object.py())?
                .call_method1("frombuffer", (object, PyArrayDescr::of::<u8>(object.py())))?
                .cast_into()?,
        };
        if !array.is_c_contiguous() {
            return Err(PyBufferError::new_err(format!("{name} is not contiguous")));
        }
        let dtype = array.dtype();
        if dtype.has_object() {
            return Err(PyTypeError::new_err(format!(
                "{name} holds Python objects, expected bytes"
            )));
        }
        let items = Memory::of(&array, dtype.itemsize());
        let memory = Memory::items(items.origin, items.count * items.itemsize, 1);
        Ok(Self { owner: array.clone().into_any(), array: Some(array), memory })
    }

    /// The array or `bytes`.
    pub(crate) fn owner(&self) -> &Bound<'py, PyAny> {
        &self.owner
    }

    /// The bytes to write to, of which there must be `len`.
    pub(crate) fn writable(object: &Bound<'py, PyAny>, len: usize) -> PyResult<Self> {
        let lent = Self::new(object, "out")?;
        match &lent.array {
            None => return Err(PyBufferError::new_err("out is read-only")),
            Some(array) => check_writable(array, "out")?,
        }
        let found = lent.memory.count;
        if found == len {
            return Ok(lent);
        }
        Err(PyValueError::new_err(format!("out has {found} bytes, expected {len}")))
    }
}

/// The dtype of the elements, of an array of arrays too.
pub(crate) fn element<'py>(dtype: &Bound<'py, PyArrayDescr>) -> Bound<'py, PyArrayDescr> {
    let mut dtype = dtype.clone();
    while dtype.has_subarray() {
        dtype = dtype.base();
    }
    dtype
}

/// A new array whose memory is not initialised.
pub(crate) fn empty<'py>(
    dtype: Bound<'py, PyArrayDescr>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = dtype.py();
    // SAFETY: NumPy's own call, with its type of arrays, a dtype that it takes over, and as many lengths as it is told. It copies the
    // lengths. What it returns is an array or null with an exception.
    unsafe {
        let array = npyffi::PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            npyffi::get_type_object(py, npyffi::NpyTypes::PyArray_Type),
            dtype.into_dtype_ptr(),
            i32::try_from(shape.len())?,
            shape.as_ptr().cast_mut().cast(),
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            0,
            std::ptr::null_mut(),
        );
        Bound::from_owned_ptr_or_err(py, array).map(|array| array.cast_into_unchecked())
    }
}

//! Layouts from text.

use dtype_npy::Dtype;
use numpy::PyArrayDescr;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::numpy;

/// The dtype that an object describes: what `numpy.dtype` takes, or a text.
pub(crate) fn dtype_of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArrayDescr>> {
    let py = object.py();
    let made = numpy(py)?.call_method1("dtype", (object,));
    let Ok(text) = object.extract::<String>() else { return Ok(made?.cast_into()?) };
    if let Ok(dtype) = made {
        return Ok(dtype.cast_into()?);
    }
    match Dtype::parse(&text) {
        Ok(dtype) => dtype_numpy::make_dtype(py, &dtype).map_err(PyErr::from),
        Err(error) => Err(PyValueError::new_err(error.to_string())),
    }
}

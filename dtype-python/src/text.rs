//! Layouts from text.

use dtype_npy::Dtype;
use dtype_text::declaration::{Language, numpy_dtype, parse, recognize};
use numpy::PyArrayDescr;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::numpy;

/// The dtype that an object describes: what `numpy.dtype` takes, or a text.
pub(crate) fn dtype_of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArrayDescr>> {
    let py = object.py();
    let made = numpy(py)?.call_method1("dtype", (object,));
    let Ok(text) = object.extract::<String>() else { return Ok(made?.cast_into()?) };
    match made {
        Ok(dtype) => Ok(dtype.cast_into()?),
        Err(_) => Ok(dtype_numpy::make_dtype(py, &read(&text).map_err(PyValueError::new_err)?)?),
    }
}

/// The dtype that a text describes in NumPy's, C's or Rust's words, or why it does not.
fn read(text: &str) -> Result<Dtype, String> {
    let language = recognize(text);
    if language == Language::Numpy {
        return Dtype::parse(text).map_err(|error| error.to_string());
    }
    let problem = |all: Vec<dtype_text::problem::Problem>| {
        let all = all.into_iter().map(|one| match one.help {
            Some(help) => format!("{}: {help}", one.message),
            None => one.message,
        });
        all.collect::<Vec<_>>().join("; ")
    };
    let parsed = parse(text, language, None).map_err(problem)?;
    let dtype = numpy_dtype(&parsed).map_err(|error| format!("NumPy has {error}"))?;
    Dtype::parse(&dtype.expression).map_err(|error| error.to_string())
}

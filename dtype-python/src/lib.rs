//! The extension module of the Python package `dtype`. Everything it does is in the crates below it: the engine, `dtype-numpy`,
//! `dtype-npy`, `dtype-show` and `dtype-message`.

#![deny(unsafe_code)]

#[expect(unsafe_code, reason = "reads the fields of NumPy's arrays, and makes arrays")]
mod arrays;
#[expect(unsafe_code, reason = "takes a stream out of a capsule, and fills new arrays")]
mod arrow;
mod column;
#[expect(unsafe_code, reason = "copies between arrays")]
mod columns;
#[expect(unsafe_code, reason = "copies between arrays")]
mod copy;
mod correspondence;
mod error;
#[expect(unsafe_code, reason = "packs the memory of arrays, and reads buffers")]
mod frames;
#[expect(unsafe_code, reason = "copies from and to arrays")]
mod layout;
#[expect(unsafe_code, reason = "packs from and unpacks to the memory of arrays")]
mod memory;
mod picture;
mod remembered;
mod text;
#[expect(unsafe_code, reason = "copies between arrays")]
mod transfer;
mod types;

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Calls a function of the module in Python beside this one: what is said more shortly in Python.
fn helper<'py>(
    py: Python<'py>,
    name: &str,
    arguments: impl PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    static HELPER: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let helper = HELPER.get_or_try_init(py, || py.import("dtype._dtypes").map(Bound::unbind))?;
    helper.bind(py).call_method1(name, arguments)
}

/// The extension module.
#[pymodule(gil_used = false)]
mod _dtype {
    #[pymodule_export]
    use crate::arrow::arrow_columns;
    #[pymodule_export]
    use crate::columns::{columns, new_records};
    #[pymodule_export]
    use crate::copy::copy;
    #[pymodule_export]
    use crate::frames::Frames;
    #[pymodule_export]
    use crate::layout::Layout;
}

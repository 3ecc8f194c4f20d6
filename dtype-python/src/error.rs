//! Errors as Python's own exceptions.

use dtype_numpy::ArrayError;
use dtype_runtime::Error;
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// An error of the engine.
#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(crate) fn of_engine(error: Error) -> PyErr {
    match error {
        Error::Allocation { .. } => PyMemoryError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// A dtype that no layout has: its values are not in the items.
pub(crate) fn of_dtype(error: ArrayError) -> PyErr {
    match error {
        ArrayError::Foreign { ref field, ref kind } => {
            let field = crate::types::named(field);
            PyTypeError::new_err(match kind.as_str() {
                "O" => format!("{field} holds Python objects, expected data in place"),
                "T" => format!(
                    "{field} holds strings of any length, expected data in place: `S` or `U`"
                ),
                _ => error.to_string(),
            })
        }
        other => other.into(),
    }
}

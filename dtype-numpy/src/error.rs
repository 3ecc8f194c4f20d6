//! Errors in converting arrays and records.

use dtype_npy::{DtypeError, NpyError};
use dtype_runtime::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyTypeError, PyValueError};

/// Why an array is not an array of records, or why no array can be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayError {
    /// The object is not a NumPy array.
    #[error("expected a NumPy array, found {found}")]
    NotAnArray {
        /// The name of the object's type.
        found: String,
    },
    /// The dtype has a kind of value that records cannot have: Python objects, for example.
    #[error("{} has values of the kind `{kind}`, which records do not have", named(field))]
    Foreign {
        /// The path of the field; empty for the item itself.
        field: String,
        /// NumPy's letter for the kind.
        kind: String,
    },
    /// The dtype nests deeper than the limit.
    #[error("{} is more than {limit} dtypes deep", named(field))]
    TooDeep {
        /// The path of the field.
        field: String,
        /// The limit.
        limit: usize,
    },
    /// The dtype is not that of the records.
    #[error("{0}")]
    Dtype(#[from] DtypeError),
    /// The dtype does not describe an item: offsets and sizes contradict one another.
    #[error("{} of the dtype reaches past the end of its item", named(field))]
    Layout {
        /// The path of the field; empty for the item itself.
        field: String,
    },
    /// The records have no data.
    #[error("records without data cannot be in an array")]
    NoData,
    /// The records are arrays, such as `[f64; 3]`. Their axes would become axes of the whole array, and its items would be the
    /// elements and not the records.
    #[error(
        "records that are arrays cannot be the items of an array: make them a field of a struct"
    )]
    Subarray,
    /// The items have gaps between them, or are in another order than C's, so they cannot be borrowed.
    #[error(
        "axis {axis} has a stride of {stride} bytes, expected {expected} as in a contiguous array"
    )]
    NotContiguous {
        /// The first axis that is not contiguous, counted from the outermost.
        axis: usize,
        /// Bytes from one item to the next.
        stride: isize,
        /// The stride of a contiguous array.
        expected: isize,
    },
    /// The values are not records.
    #[error("{0}")]
    Records(#[from] Error),
    /// Python raised an exception.
    #[error("{0}")]
    Python(#[from] PyErr),
}

/// The item itself has no name.
fn named(field: &str) -> String {
    if field.is_empty() { "the item".to_owned() } else { format!("field `{field}`") }
}

impl From<NpyError> for ArrayError {
    fn from(error: NpyError) -> Self {
        match error {
            NpyError::Dtype(error) => Self::Dtype(error),
            NpyError::Records(error) => Self::Records(error),
            other => Self::Python(PyValueError::new_err(other.to_string())),
        }
    }
}

impl From<ArrayError> for PyErr {
    fn from(error: ArrayError) -> Self {
        match error {
            ArrayError::Python(error) => error,
            ArrayError::NotAnArray { .. } => PyTypeError::new_err(error.to_string()),
            _ => PyValueError::new_err(error.to_string()),
        }
    }
}

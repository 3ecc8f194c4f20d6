//! Errors in converting arrays and records.

use std::fmt;

use dtype_npy::{DtypeError, NpyError};
use dtype_runtime::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyTypeError, PyValueError};

/// Why an array is not an array of records, or why no array can be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum ArrayError {
    /// The object is not a NumPy array.
    NotAnArray {
        /// The name of the object's type.
        found: String,
    },
    /// The dtype has a kind of value that records cannot have: Python objects, for example.
    Foreign {
        /// The path of the field; empty for the item itself.
        field: String,
        /// NumPy's letter for the kind.
        kind: String,
    },
    /// The dtype nests deeper than the limit.
    TooDeep {
        /// The path of the field.
        field: String,
        /// The limit.
        limit: usize,
    },
    /// The dtype is not that of the records.
    Dtype(DtypeError),
    /// The dtype does not describe an item: offsets and sizes contradict one another.
    Layout {
        /// The path of the field; empty for the item itself.
        field: String,
    },
    /// The records have no data.
    NoData,
    /// The records are arrays, such as `[f64; 3]`. Their axes would become axes of the whole array, and its items would be the
    /// elements and not the records.
    Subarray,
    /// The items have gaps between them, or are in another order than C's, so they cannot be borrowed.
    NotContiguous {
        /// The first axis that is not contiguous, counted from the outermost.
        axis: usize,
        /// Bytes from one item to the next.
        stride: isize,
        /// The stride of a contiguous array.
        expected: isize,
    },
    /// The values are not records.
    Records(Error),
    /// Python raised an exception.
    Python(PyErr),
}

impl fmt::Display for ArrayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |field: &str| match field {
            "" => "the item".to_owned(),
            field => format!("field `{field}`"),
        };
        match self {
            Self::NotAnArray { found } => write!(f, "expected a NumPy array, found {found}"),
            Self::Foreign { field, kind } => {
                write!(
                    f,
                    "{} has values of the kind `{kind}`, which records do not have",
                    named(field)
                )
            }
            Self::TooDeep { field, limit } => {
                write!(f, "{} is more than {limit} dtypes deep", named(field))
            }
            Self::Dtype(error) => write!(f, "{error}"),
            Self::Layout { field } => {
                write!(f, "{} of the dtype reaches past the end of its item", named(field))
            }
            Self::NoData => f.write_str("records without data cannot be in an array"),
            Self::Subarray => {
                f.write_str("records that are arrays cannot be the items of an array: make them a field of a struct")
            }
            Self::NotContiguous { axis, stride, expected } => write!(
                f,
                "axis {axis} has a stride of {stride} bytes, expected {expected} as in a contiguous array"
            ),
            Self::Records(error) => write!(f, "{error}"),
            Self::Python(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for ArrayError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Dtype(error) => Some(error),
            Self::Records(error) => Some(error),
            Self::Python(error) => Some(error),
            _ => None,
        }
    }
}

impl From<PyErr> for ArrayError {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<Error> for ArrayError {
    fn from(error: Error) -> Self {
        Self::Records(error)
    }
}

impl From<DtypeError> for ArrayError {
    fn from(error: DtypeError) -> Self {
        Self::Dtype(error)
    }
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

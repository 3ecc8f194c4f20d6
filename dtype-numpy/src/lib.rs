//! Arrays of derived structs as NumPy structured arrays and back.
//!
//! | from | to | function | copy |
//! |---|---|---|---|
//! | `Vec<T>` | array with the dtype of the memory | [`into_array`] | no |
//! | `&[T]` | array with the packed dtype | [`packed_array`] | yes |
//! | array | `Vec<T>` | [`to_vec`] | yes |
//! | array with the dtype of the memory | `&[T]` | [`Records`] | no |
//!
//! The dtype has the names of the struct's fields. Nested structs are nested dtypes, arrays are fields with a shape, a `bool`
//! is `?`, complex numbers are complex numbers, an enum is its integer; types for which NumPy has no number, such as a `u128`,
//! are raw bytes. An array from Python is compared with the struct field by field, and its values are checked, so a `bool` is 0
//! or 1 and an enum has one of its values. [`ArrayError`] describes the difference, and becomes a `ValueError` or a `TypeError`
//! in Python.
//!
//! ```ignore
//! # // Needs a Python to run in: see `examples/particles.rs`, which a test imports.
//! use dtype_runtime::Datatype;
//! use pyo3::prelude::*;
//!
//! #[derive(Datatype, Clone)]
//! #[repr(C)]
//! struct Particle {
//!     charge: i8,
//!     position: [f64; 3],
//! }
//!
//! #[pyfunction]
//! fn mirrored<'py>(py: Python<'py>, array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
//!     let mut particles: Vec<Particle> = dtype_numpy::to_vec(array)?;
//!     particles.iter_mut().for_each(|particle| particle.position[0] *= -1.0);
//!     Ok(dtype_numpy::into_array(py, particles)?.into_any())
//! }
//! ```

#![deny(unsafe_code)]

mod array;
mod dtype;
mod error;
#[expect(unsafe_code, reason = "reads an array's memory")]
mod memory;
#[expect(unsafe_code, reason = "casts between vectors of one layout")]
mod record;
#[expect(unsafe_code, reason = "reads an array's memory")]
mod records;

pub use array::{into_array, packed_array, to_vec};
pub use dtype::{dtype_of, make_dtype, packed_dtype_of, read_dtype};
pub use error::ArrayError;
pub use record::Record;
pub use records::Records;

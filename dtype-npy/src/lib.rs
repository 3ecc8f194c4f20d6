//! NumPy's `.npy` files: records that Python reads with `np.load`, and arrays that it wrote with `np.save`.
//!
//! A file has a header with the dtype and the shape, and then the items. [`write()`] writes the packed records.
//! [`read`] reads records from any dtype that has the same fields by name, at any offset and in either byte order.
//! [`view`] and [`view_packed`] return the records of a memory-mapped file in place. [`Reader`] and [`Writer`] read and write a file
//! piece by piece. [`read_next`] reads the arrays of a stream, one after another, and [`Npz`] those of a `.npz` file (feature `npz`). With [`ReadOptions`], [`read_with`] leaves out other fields, and converts numbers of another width.
//!
//! ```
//! use dtype_runtime::Datatype;
//!
//! #[derive(Datatype, Clone, Debug, PartialEq)]
//! struct Particle {
//!     charge: i8,
//!     position: [f64; 3],
//! }
//!
//! let particles = [Particle { charge: -1, position: [1.0, 2.0, 3.0] }];
//! let mut file = Vec::new();
//! dtype_npy::write(&mut file, &particles)?;
//! // np.load(file)['position'][0] is array([1., 2., 3.])
//! assert_eq!(dtype_npy::read::<Particle>(&file[..])?, particles);
//! # Ok::<(), dtype_npy::NpyError>(())
//! ```
//!
//! Header and items may come from an untrusted source: any mistake is a typed error that names the field, and memory is
//! allocated only for bytes that exist. Pickled objects are never read.
//!
//! # Dtypes
//!
//! | Rust | NumPy |
//! |---|---|
//! | integers, floats, `bool`, complex numbers | `i1`…`u8`, `f2`…`f8`, `b1`, `c8`, `c16` |
//! | `char`, C's `char` | `U1`, `S1` |
//! | an enum | its integer |
//! | a struct or tuple | a structure with the names of the fields |
//! | `[[T; N]; M]` | a field of shape `(M, N)`; of the file itself, two more axes |
//! | [`FixedStr<N>`](dtype_runtime::FixedStr) | `U`, of `N` characters in a new file; `S` is read as well, and written by [`NumpyText::Bytes`] |
//! | [`Timestamp`](dtype_runtime::Timestamp), [`TimeSpan`](dtype_runtime::TimeSpan) | `M8` and `m8` of the unit; others are read by [`with_number_conversion`](ReadOptions::with_number_conversion) |
//! | [`Maybe<T>`](dtype_runtime::Maybe) | a structure of `present` and `value` |
//! | 128-bit integers, `bf16` | raw bytes, `V16`, `V2`, in this machine's byte order |
//!
//! [`write_as`] writes the records in any other dtype that has their fields, such as that of the file from which they come.
//!
//! Fields without data and skipped fields are not in the dtype.

#![forbid(unsafe_code)]

mod compare;
mod datatype;
mod descr;
mod dtype;
mod error;
mod format;
#[expect(clippy::result_large_err, reason = "a text has one mistake at most")]
mod grammar;
mod header;
mod literal;
mod notation;
#[cfg(feature = "npz")]
mod npz;
mod options;
mod read;
mod repr;
mod scalar;
mod unit;
mod view;
mod write;

pub use dtype::{Dtype, DtypeField, Kind};
pub use dtype_stored::{Budget, Exceeded, Loaded, ReadOptions};
pub use error::{DtypeError, GrammarError, NpyError};
pub use header::Header;
pub use notation::{NumpyDtype, NumpyError, numpy_dtype};
#[cfg(feature = "npz")]
pub use npz::Npz;
pub use options::{NumpyLayout, NumpyOptions, NumpyText};
pub use read::{Batches, Reader, read, read_next, read_next_with, read_with};
pub use unit::DateUnit;
pub use view::{view, view_packed};
pub use write::{Writer, write, write_as, write_with};

/// The code in the README is compiled and run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

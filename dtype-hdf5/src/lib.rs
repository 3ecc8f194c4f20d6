//! Arrays of derived structs in HDF5 files, as datasets of a compound type.
//!
//! `#[derive(Datatype)]` is enough: the compound has the names of the fields, and what h5py reads is a structured array.
//!
//! ```
//! use dtype_runtime::Datatype;
//! use hdf5_metno::File;
//!
//! #[derive(Datatype, Clone, Debug, PartialEq)]
//! struct Particle {
//!     charge: i8,
//!     position: [f64; 3],
//!     fixed: bool,
//! }
//!
//! let particles = vec![Particle { charge: -1, position: [1.0, 2.0, 3.0], fixed: true }; 10];
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("particles.h5");
//! let file = File::create(path)?;
//! let dataset = dtype_hdf5::create(&file, "particles", &particles)?;
//! // h5py.File(path)['particles']['position'] has the shape (10, 3)
//! assert_eq!(dtype_hdf5::read::<Particle>(&dataset)?, particles);
//! # Ok::<(), dtype_hdf5::Error>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | write records to a new dataset | [`create`] |
//! | write to a dataset with chunks, filters or several axes | [`packed_datatype`], [`datatype`], [`write()`], [`write_at`] |
//! | add records to a resizable dataset | [`append`] |
//! | read records | [`read`], [`read_range`] |
//! | read some of the fields, or numbers of another width | [`read_with`], [`read_range_with`] |
//! | read records piece by piece | [`batches`] |
//! | read any items, without a Rust type | [`items`](items()), [`items_with`] |
//! | open a dataset, without links to other files | [`open`] |
//! | describe records | [`descriptor`], [`packed_descriptor`] |
//!
//! # Datatypes
//!
//! | Rust | HDF5 |
//! |---|---|
//! | integers, floats | the same, in this machine's byte order; a bit field is read as an unsigned integer |
//! | `bool` | h5py's enumeration of `FALSE` and `TRUE`; a byte is read as well, and so is the bit field of pandas |
//! | complex numbers | h5py's compound of `r` and `i` |
//! | an enum | its integer; an enumeration of HDF5 is read as well, by name |
//! | `char`, C's `char` | an unsigned integer of four bytes, a string of one byte |
//! | [`FixedStr<N>`](dtype_runtime::FixedStr) | a string of `N` bytes in UTF-8; any string is read, of variable length, too |
//! | [`Maybe<T>`](dtype_runtime::Maybe) | a compound of `present` and `value` |
//! | [`Timestamp`](dtype_runtime::Timestamp), [`TimeSpan`](dtype_runtime::TimeSpan) | their integer: HDF5 has no such unit |
//! | a struct or tuple | a compound with the names of the fields |
//! | `[[T; N]; M]` | an array of shape `[M, N]` |
//! | 128-bit integers, `bf16` | none: [`Error::NoEquivalent`] |
//!
//! Fields without data and skipped fields are not in the compound.
//!
//! In an enumeration of HDF5, a value is identified by its name. So members and the variants of an enum are compared by name,
//! and values whose numbers differ are converted. A dataset is read only if all its members are variants, and written only if
//! all variants are members. The integers must have the same width and sign. An enumeration can also be read and written as its
//! integers.
//!
//! A dataset is compared with the records field by field before anything is read or written, and values are checked before they
//! become records, so a `bool` is 0 or 1 and an enum has one of its values. [`Error`] names the field. Fields may be at any
//! offset and in any order, and of either byte order. The number of items is compared with the memory and with the bytes in the
//! file, and a [`Budget`] in proportion to the file limits the rest. Other files, of which a file may name any, are neither read
//! nor written unless [`ReadOptions::with_other_files`] says so. The HDF5 library parses the file itself; it is a large C library that is not designed for files from untrusted
//! sources.
//!
//! # Building
//!
//! The crate needs the HDF5 library, 1.8.13 or newer: `apt install libhdf5-dev` on Debian and Ubuntu.

#![deny(unsafe_code)]

mod compare;
mod dataset;
mod descriptor;
mod error;
mod items;
mod leaf;
#[expect(unsafe_code, reason = "calls the HDF5 library, which reads and writes memory")]
mod library;
mod part;
mod storage;
mod stored;

pub use dataset::{
    Batches, append, batches, create, open, read, read_range, read_range_with, read_with, write,
    write_at,
};
pub use descriptor::{datatype, descriptor, packed_datatype, packed_descriptor};
pub use dtype_stored::{Budget, Exceeded, Loaded, ReadOptions};
pub use error::Error;
pub use items::{ItemReader, items, items_with};

/// The code in the README is compiled with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

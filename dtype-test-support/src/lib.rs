//! What the tests of several crates share. A dev-dependency of theirs, and in no registry.
//!
//! The unit tests in `dtype-runtime/src` may use only [`numbers`]: for them the crate is compiled a second time, and its types
//! are others than those that this crate names.

#![allow(
    missing_docs,
    reason = "names that say it: of a record's fields, and of the calls that make a type"
)]
#![allow(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    reason = "a panic is a failed test, and errors are those of the engine's functions"
)]

pub mod case;
pub mod cases;
pub mod counting;
pub mod extreme;
pub mod frames;
pub mod fused;
pub mod linear;
pub mod model;
pub mod mpi_library;
#[cfg(feature = "foreign-numbers")]
pub mod number_pairs;
pub mod numbers;
pub mod odd_names;
#[cfg(feature = "foreign-numbers")]
pub mod particles;
pub mod python;
#[cfg(unix)]
pub mod ranks;
pub mod seeds;
pub mod tags;

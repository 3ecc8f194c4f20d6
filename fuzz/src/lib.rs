//! The fuzz targets as functions of an input, so that any compiler can replay the corpora without the fuzzer. A panic is a
//! finding.
//!
//! Each target compares the crate with something simpler: an accepted frame with the writer's frame, the records of a file with
//! those that a loop finds, a type with its decoded form, and the convertor with type maps written out byte by byte.

pub mod convertor;
pub mod decoder;
pub mod frames;
pub mod npy;
pub mod types;

/// Counts allocations, as in the tests of memory.
#[path = "../../dtype-runtime/tests/counting/mod.rs"]
mod counting;

/// The naive reference of the property tests.
#[path = "../../dtype-runtime/tests/model/tree.rs"]
#[allow(dead_code, reason = "no target uses all of it")]
mod model;

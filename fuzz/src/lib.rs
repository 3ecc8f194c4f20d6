//! What the fuzz targets do with an input, as functions, so that any compiler can replay the corpora without the
//! fuzzer. A panic is a finding.
//!
//! Each target compares the crate with something simpler: an accepted frame with the frame that the writer writes,
//! records of a file with those that a loop finds, a type with its decoded form, the convertor with type maps written out byte by byte.

pub mod convertor;
pub mod decoder;
pub mod frames;
pub mod npy;
pub mod types;

/// Counts allocations, as for the tests of memory.
#[path = "../../dtype-runtime/tests/counting/mod.rs"]
mod counting;

/// The reference, which the property tests use too.
#[path = "../../dtype-runtime/tests/model/tree.rs"]
#[allow(dead_code, reason = "no target uses all of it")]
mod model;

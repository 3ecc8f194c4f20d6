//! What the fuzz targets do with an input, as functions, so that the corpora can be replayed by any compiler and
//! without the fuzzer. A panic is a finding.
//!
//! Each target compares the crate with something that is simpler than it: a frame that is accepted with the frame
//! that the writer writes, a type with what it decodes to, the convertor with type maps written out byte by byte.

mod allocations;
pub mod convertor;
pub mod frames;
pub mod types;

/// The reference that the property tests have as well.
#[path = "../../dtype-runtime/tests/model/tree.rs"]
#[allow(dead_code, reason = "no target uses all of it")]
mod model;

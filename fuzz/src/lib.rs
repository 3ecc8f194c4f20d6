//! The fuzz targets as functions of an input, so that any compiler can replay the corpora without the fuzzer. A panic is a
//! finding.
//!
//! Each target compares the crate with something simpler: an accepted frame with the writer's frame, the records of a file with
//! those that a loop finds, a type with its decoded form, and the convertor with type maps written out byte by byte.

pub mod c;
pub mod convertor;
pub mod decoder;
pub mod frames;
pub mod npy;
pub mod types;

use dtype_test_support::counting::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

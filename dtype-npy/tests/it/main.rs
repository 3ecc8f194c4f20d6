//! The tests, a module for each subject.

mod arrays;
mod conversions;
mod dtypes;
mod files;
mod grammar;
mod memory;
mod names;
#[cfg(target_endian = "little")]
mod notation;
mod numbers;
mod program;

use dtype_test_support::counting::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

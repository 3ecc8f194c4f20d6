//! The tests, a module for each subject.

mod claims;
mod datasets;
mod elsewhere;
mod enumerations;
mod numbers;
mod texts;

use dtype_test_support::counting::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

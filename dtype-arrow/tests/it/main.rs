//! The tests, a module for each subject.

mod batch;
mod columns;
mod names;
mod numbers;

use dtype_test_support::counting::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

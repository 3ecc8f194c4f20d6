//! The tests, a module for each subject.

mod batch;
mod columns;
mod names;
mod numbers;

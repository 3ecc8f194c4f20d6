//! The parts of the examples that have tests of their own.

#![forbid(unsafe_code)]

pub mod airports;

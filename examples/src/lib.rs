//! The parts of the examples that have tests of their own.

pub mod airports;

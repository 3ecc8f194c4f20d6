//! The parts of the examples that are worth testing by themselves.

pub mod airports;

//! What the command `dtype` is made of.
pub mod notation;
pub mod problem;

//! Tests that start Python, in a process of their own: Python inherits the files that its parent has open, with their locks.

mod python;
#[path = "../records/mod.rs"]
mod records;

mod conversions;
mod files;
mod names;

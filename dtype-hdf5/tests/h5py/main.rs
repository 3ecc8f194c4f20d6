//! Tests that start Python, which inherits the files that its parent has open, with their locks. So no other test is in this process.

mod python;
#[path = "../records/mod.rs"]
mod records;

mod files;
mod names;

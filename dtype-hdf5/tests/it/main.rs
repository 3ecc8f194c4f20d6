//! The tests, a module for each subject.

#[path = "../records/mod.rs"]
mod records;

mod claims;
mod datasets;
mod enumerations;

//! The tests, a module for each subject.

#[path = "../../../dtype-runtime/tests/counting/mod.rs"]
mod counting;
#[path = "../records/mod.rs"]
mod records;

mod claims;
mod datasets;
mod elsewhere;
mod enumerations;
mod texts;

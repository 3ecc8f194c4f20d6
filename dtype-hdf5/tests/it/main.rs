//! The tests, a module for each subject.

#[path = "../../../dtype-runtime/tests/counting/mod.rs"]
mod counting;
#[path = "../../../dtype-runtime/tests/number_pairs/mod.rs"]
mod number_pairs;
#[path = "../records/mod.rs"]
mod records;

mod claims;
mod datasets;
mod elsewhere;
mod enumerations;
mod numbers;
mod texts;

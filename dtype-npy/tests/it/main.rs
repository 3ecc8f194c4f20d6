//! The tests, a module for each subject.

#[path = "../../../dtype-runtime/tests/counting/mod.rs"]
mod counting;
#[path = "../../../dtype-runtime/tests/model/mod.rs"]
mod model;
#[path = "../../../dtype-runtime/tests/number_pairs/mod.rs"]
mod number_pairs;
#[path = "../../../dtype-runtime/tests/odd_names/mod.rs"]
mod odd_names;
#[path = "../python/program.rs"]
mod program;
#[path = "../python/mod.rs"]
mod python;
#[path = "../../../dtype-runtime/tests/tags/mod.rs"]
mod tags;

mod conversions;
mod dtypes;
mod files;
mod grammar;
mod memory;
mod names;
#[cfg(target_endian = "little")]
mod notation;
mod numbers;

//! The tests, a module for each subject.

#[path = "../../../dtype-runtime/tests/extreme/mod.rs"]
mod extreme;
#[path = "../../../dtype-runtime/tests/model/mod.rs"]
mod model;
#[path = "../../../dtype-runtime/tests/odd_names/mod.rs"]
mod odd_names;
#[path = "../../../dtype-runtime/tests/seeds/mod.rs"]
mod seeds;

mod calls;
mod diagram;
mod names;
mod pictures;

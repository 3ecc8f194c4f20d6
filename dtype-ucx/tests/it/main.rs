//! The tests, a module for each subject.

#[path = "../alone/mod.rs"]
mod alone;
#[path = "../encoded/mod.rs"]
mod encoded;
#[path = "../../../dtype-runtime/tests/numbers/mod.rs"]
mod numbers;

mod active;
mod loopback;
mod printed;
mod remote;
mod served;
mod threads;

//! The tests, a module for each subject.

#[path = "../alone/mod.rs"]
mod alone;

mod active;
mod loopback;
mod remote;
mod served;
mod threads;

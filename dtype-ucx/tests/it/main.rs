//! The tests, a module for each subject.

mod active;
mod alone;
mod encoded;
mod loopback;
mod printed;
mod remote;
mod served;
mod threads;

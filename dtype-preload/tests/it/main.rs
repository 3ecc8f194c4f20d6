//! The tests, a module for each subject.

#[path = "../launch/mod.rs"]
mod launch;

mod examples;
mod layout;
mod mpi4py;
mod operations;
mod random;
mod reports;
mod requests;
mod scalapack;
mod segments;
mod symbols;
mod threads;

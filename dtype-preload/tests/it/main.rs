//! The tests, a module for each subject.

mod examples;
mod layout;
mod mpi4py;
mod operations;
mod random;
mod reports;
mod scalapack;
mod segments;
mod symbols;
mod threads;

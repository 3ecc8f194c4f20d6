//! The tests, a module for each subject.

mod collectives;
mod examples;
mod layout;
mod mpi4py;
mod operations;
mod outstanding;
mod random;
mod reports;
mod requests;
mod scalapack;
mod segments;
mod symbols;
mod threads;

//! The tests, a module for each subject.

mod figures;
mod links;
mod mpi_calls;

//! Below MPICH: UCX calls this engine for the types that MPICH gives to it, and so does `MPI_Pack`.

mod calls;
mod decode;
mod generic;
mod handles;
mod library;
pub mod numbers;
mod pack;
mod types;

//! The part for MPICH: UCX calls this engine for the types that MPICH gives it, and so do `MPI_Pack` and `MPI_Pack_external`.

mod calls;
mod communicators;
mod decode;
mod external;
mod generic;
mod handle_set;
mod handles;
mod library;
pub mod numbers;
mod originals;
mod pack;
mod types;
mod word;

//! The part for libraries with the ABI of MPICH or of the standard: calls of MPI are taken over with packed bytes.

#![allow(clippy::too_many_arguments, reason = "those of MPI's functions")]

pub mod abi;
mod buffers;
mod collectives;
mod commit;
mod completion;
mod decode;
mod exported;
mod external;
mod freed;
mod get_status;
mod library;
mod messages;
mod neighbours;
mod pack;
mod packing;
mod part;
mod reference;
mod requests;
mod status;
mod types;
mod ucx;
mod verified;

//! dtype's datatypes as those of a real MPI library, and back; and messages of them, with the [`mpi`] crate.
//!
//! A struct with `#[derive(Datatype)]` goes wherever the [`mpi`] crate takes a type of its own:
//!
//! ```
//! use dtype_mpi::traits::*;
//! use dtype_mpi::{Element, Error};
//! use mpi::traits::*;
//!
//! #[derive(dtype_runtime::Datatype, Clone, Debug, PartialEq)]
//! struct Particle {
//!     position: [f64; 3],
//!     charge: i8,
//! }
//!
//! let universe = mpi::initialize().expect("MPI runs once");
//! let world = universe.world();
//! let (next, before) = ((world.rank() + 1) % world.size(), world.rank() - 1);
//! let next = world.process_at_rank(next);
//! let before = world.process_at_rank((before + world.size()) % world.size());
//! let particles = vec![Particle { position: [1.0, 2.0, 3.0], charge: -1 }; 100];
//!
//! // Packed here, as one message, and received with the library's datatype: the two are the same on the wire.
//! let request = next.immediate_send_packed(&particles, 0)?;
//! let (came, _) = before.receive_vec::<Element<Particle>>();
//! request.wait()?;
//! assert_eq!(Element::into_vec(came), particles);
//! # Ok::<(), Error>(())
//! ```
//!
//! # What to use when
//!
//! | to do | use |
//! |---|---|
//! | anything that the [`mpi`] crate does, with a type that accepts any bytes | [`Element`] |
//! | send any type by it: one with a `bool` or an enum, one that skips fields | [`SendBuffer::of`] |
//! | receive into values that exist, whose skipped fields stay | [`ReceiveBuffer::of`] |
//! | send and receive parts of arrays: columns, faces, lists of indices | [`Layout`], [`SendBuffer::of_layout`], [`ReceiveBuffer::of_layout`] |
//! | receive values that have to be checked; have errors back | [`recv_packed`](traits::PackedSource::recv_packed) and its kin |
//! | pack here, faster than the library does | [`send_packed`](traits::PackedDestination::send_packed), also to peers with a datatype of the library |
//! | look at a message before it is received | [`incoming`](traits::PackedSource::incoming) |
//! | go on meanwhile | [`immediate_send_packed`](traits::PackedDestination::immediate_send_packed), [`immediate_recv_packed_into`](traits::PackedSource::immediate_recv_packed_into) |
//! | send long messages between two programs with this crate | [`Pipeline`] |
//! | broadcast, gather, scatter, all-to-all, any type and any counts | [`PackedCollectives`](traits::PackedCollectives) |
//! | reduce by a function | [`Operation`], [`all_reduce_packed`](traits::PackedCollectives::all_reduce_packed) |
//! | reduce structs of numbers by the library's operations | [`flatten`], [`flatten_mut`] |
//! | know how many elements came | [`received_count`], [`Received`] |
//! | pack and unpack types made at run time, in messages | [`Layout::packer`], [`Layout::unpacker`], [`send_stream`](traits::PackedDestination::send_stream), [`recv_stream`](traits::PackedSource::recv_stream) |
//! | call the library with a datatype of one's own | [`Datatype::of`], [`Datatype::new`], [`Memory`] |
//! | have a library's datatype as a [`Type`](dtype_runtime::Type) | [`Datatype::to_type`], [`decode`] |
//!
//! # Conversions
//!
//! [`Datatype::new`] calls the library's constructors as a [`Type`](dtype_runtime::Type) was made by its own, and
//! [`Datatype::to_type`] takes a library's datatype apart by its envelope and contents.
//!
//! What MPI has no datatype for is another one of the same size: a `char` is an `MPI_UINT32_T`, and Rust's `i128`,
//! `u128`, `f16` and `bf16` are bytes, which come back as that, and which no library converts between byte orders.
//! Pairs of a value and an index without a name, and in some libraries a few of Fortran's types and the markers of
//! MPI-1 have no counterpart: [`Error::NoSuchType`] and [`Error::NoSuchCall`] say so. Arguments of more than 32
//! bits need the calls of MPI-4, which are used where they are: [`Error::LargeCounts`] says where they are not,
//! and [`Error::Count`] for messages.
//!
//! Numbers have the library's predefined datatypes, for which its operations of reductions are defined. In memory
//! that is not aligned as Rust's numbers, in a packed struct or a [`Layout`] at an odd origin, say, they have a
//! duplicate (`MPI_Type_dup`), because the [`mpi`] crate takes memory for Rust's numbers where the handle is theirs.
//!
//! The datatype of a Rust type ([`Datatype::of`], [`Element`], [`SendBuffer`]) is made once in a process and freed
//! when MPI is finalized; a [`Datatype`] that is dropped later than that makes no call.
//!
//! # Errors
//!
//! The functions of this crate return errors where the error handler of the communicator would end the program.
//! It is put aside during the call, and put back. Other threads that call MPI on the same communicator meanwhile
//! get errors returned, too, and so does a datatype's call on `MPI_COMM_WORLD` and `MPI_COMM_SELF`. A handler that
//! the program sets meanwhile is lost. The functions of the [`mpi`] crate, with an [`Element`] or not, end the
//! program.
//!
//! # Building
//!
//! The library is the one that the `mpi` crate finds: the environment variable `MPICC` names its compiler
//! wrapper, `mpicc` by default. With two libraries on a machine, use one target folder for each
//! (`cargo --target-dir`): neither crate is compiled again when only `MPICC` changes.

mod arguments;
mod buffer;
mod cache;
mod collective;
mod decode;
mod element;
mod encode;
mod error;
mod memory;
mod names;
mod operation;
mod packed;
mod pipeline;
mod raw;
pub mod traits;
mod values;

pub use buffer::{Layout, ReceiveBuffer, SendBuffer};
pub use collective::Gathered;
pub use decode::decode;
pub use element::{Element, flatten, flatten_mut};
pub use error::Error;
pub use memory::Memory;
pub use operation::Operation;
pub use packed::{Incoming, PackedReceive, PackedSend, Received, received_count};
pub use pipeline::Pipeline;
pub use raw::{Contents, Datatype};

/// The code in the book is compiled and run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/src/on-mpi.md")]
mod book {}

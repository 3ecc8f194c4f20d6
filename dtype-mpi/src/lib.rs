//! Converts dtype's datatypes to a real MPI library's and back, and sends and receives them with the [`mpi`] crate.
//!
//! The crate calls the library through `mpi::ffi`. The safe functions of the [`mpi`] crate end the program on an error and
//! count with 32 bits. The functions of this crate return errors, and use the calls with large counts where the library has
//! them.
//!
//! A slice of structs with `#[derive(Datatype)]` is sent and received in one call, or passed as a buffer to the [`mpi`] crate:
//!
//! ```
//! use dtype_mpi::traits::*;
//! use dtype_mpi::{Error, ReceiveBuffer, received_count};
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
//! let request = next.immediate_send_packed(&particles, 0)?;
//! let (came, _) = before.recv_packed::<Particle>(0)?;
//! request.wait()?;
//! assert_eq!(came, particles);
//!
//! // Packed here, and received with the library's datatype: the two are the same on the wire.
//! let mut came = vec![Particle { position: [0.0; 3], charge: 0 }; 200];
//! let request = next.immediate_send_packed(&particles, 0)?;
//! let status = before.receive_into(&mut ReceiveBuffer::new(&mut came)?);
//! request.wait()?;
//! came.truncate(received_count::<Particle>(&status)?);
//! assert_eq!(came, particles);
//! # Ok::<(), Error>(())
//! ```
//!
//! # What to use when
//!
//! | to do | use |
//! |---|---|
//! | send any values, packed faster than the library packs them, also to peers that use a datatype of the library | [`send_packed`](traits::PackedDestination::send_packed) |
//! | receive any values, checked, with errors returned | [`recv_packed`](traits::PackedSource::recv_packed) and its variants |
//! | pass values to the functions of the [`mpi`] crate | [`SendBuffer::new`]; [`ReceiveBuffer::new`] for types that accept any bytes |
//! | send and receive parts of arrays: columns, faces, lists of indices | [`Layout`], [`send_layout`](traits::PackedDestination::send_layout), [`recv_layout`](traits::PackedSource::recv_layout) |
//! | exchange many parts of one grid at once: halos, `MPI_Alltoallw`, `MPI_Neighbor_alltoallw` | [`Exchange`] |
//! | the same in other calls of the [`mpi`] crate | [`SendBuffer::from_layout`], [`ReceiveBuffer::from_layout`] |
//! | be sure that both ranks mean the same type | [`send_checked`](traits::CheckedDestination::send_checked), [`recv_checked`](traits::CheckedSource::recv_checked) |
//! | look at a message before it is received | [`incoming`](traits::PackedSource::incoming) |
//! | continue while a message is in transit | [`immediate_send_packed`](traits::PackedDestination::immediate_send_packed), [`immediate_recv_packed_into`](traits::PackedSource::immediate_recv_packed_into) |
//! | send long messages between two programs with this crate | [`Pipeline`] |
//! | broadcast, gather, scatter or exchange all-to-all, with any type and any counts | [`PackedCollectives`](traits::PackedCollectives) |
//! | reduce with a function | [`Operation`], [`all_reduce_packed`](traits::PackedCollectives::all_reduce_packed) |
//! | reduce structs of numbers with the library's operations | [`flatten`], [`flatten_mut`] |
//! | count the elements that were received | [`Received`]; [`received_count`] for the status of the [`mpi`] crate |
//! | send and receive types made at run time | [`Layout::packer`], [`Layout::unpacker`], [`send_stream`](traits::PackedDestination::send_stream), [`recv_stream`](traits::PackedSource::recv_stream) |
//! | send and receive what is in the memory of a device | `DeviceMessage`, with the feature `gpu`; for all parts of a grid at once `Exchange::on_device` |
//! | call the library with your own datatype | [`Datatype::of`], [`Datatype::new`], [`Memory`] |
//! | convert a library's datatype to a [`Type`](dtype_runtime::Type) | [`Datatype::to_type`], [`decode`] |
//!
//! # Conversions
//!
//! [`Datatype::new`] repeats with the library the constructor calls that made a [`Type`](dtype_runtime::Type).
//! [`Datatype::to_type`] rebuilds the type from the envelope and contents of a library's datatype.
//!
//! A basic datatype that MPI lacks becomes another one of the same size: a `char` becomes an `MPI_UINT32_T`, and Rust's
//! `i128`, `u128`, `f16` and `bf16` become bytes, which decode to bytes, and which no library converts between byte
//! orders. Pairs of a value and an index without an MPI name have no counterpart, nor do a few Fortran types and the
//! MPI-1 markers in some libraries. Conversions then return [`Error::NoSuchType`] or [`Error::NoSuchCall`]. Arguments
//! of more than 32 bits need the calls of MPI-4. If the library lacks them, conversions return [`Error::LargeCounts`]
//! and messages [`Error::Count`].
//!
//! Numbers use the library's predefined datatypes, on which its reduction operations are defined. Memory that is
//! not aligned for Rust's numbers (in a packed struct, or in a [`Layout`] at an odd origin) uses a duplicate of the
//! datatype (`MPI_Type_dup`), because the [`mpi`] crate takes memory with the predefined handle for Rust numbers.
//!
//! The datatype of a Rust type ([`Datatype::of`], [`SendBuffer`], [`ReceiveBuffer`]) is made once per process and freed
//! when MPI is finalized. A [`Datatype`] that is dropped after that makes no call.
//!
//! # Errors
//!
//! The functions of this crate return errors where the communicator's error handler would end the program. They
//! replace the handler during the call and restore it afterwards. During that time, other threads that call MPI on
//! the same communicator also get errors returned. The same holds for `MPI_COMM_WORLD` and `MPI_COMM_SELF` during
//! calls on datatypes. A handler that the program sets during such a call is lost. The functions of the [`mpi`]
//! crate end the program, also with the buffers of this crate.
//!
//! # Safety
//!
//! No type of this crate implements [`Equivalence`](mpi::traits::Equivalence): functions of the [`mpi`] crate such as `receive`
//! make a new value for such a type, and the part of it that the message does not fill is uninitialised. [`ReceiveBuffer`]
//! lends memory that holds values; its documentation says what the functions that receive into it do not check. A program that
//! implements the trait for its own type, with the datatype of [`Datatype::of`], must use `unsafe`, and promises that no peer
//! sends part of a value.
//!
//! # Building
//!
//! The library is the one that the `mpi` crate finds: the environment variable `MPICC` names its compiler wrapper,
//! `mpicc` by default. With two libraries on a machine, use a separate target folder for each (`cargo
//! --target-dir`): the `mpi` crate is not recompiled when only `MPICC` changes.
//!
//! A program for the standard ABI of MPI 5 runs with any library that has it, without being compiled again: MPICH from 5.0 on,
//! Intel MPI, and what follows. `MPICC` then names `abi/mpicc` in the folder of this crate, and `MPICC_ABI` the library's compiler
//! wrapper for the ABI (`mpicc_abi` by default). That script adds to the library's header the few functions that the `mpi` crate
//! calls and the ABI lacks.
//!
//! A program finds the library when it starts: in the folders of `LD_LIBRARY_PATH`, in its run path, and in the system's. A
//! compiler wrapper of a library elsewhere sets the run path for C programs, but cargo lets no dependency set it for the
//! programs of others. A build script of your crate can, with the folders that this crate hands on:
//!
//! ```no_run
//! // build.rs
//! let folders = std::env::var_os("DEP_DTYPE_MPI_RUN_PATH").unwrap_or_default();
//! for folder in std::env::split_paths(&folders) {
//!     println!("cargo::rustc-link-arg=-Wl,-rpath,{}", folder.display());
//! }
//! ```
//!
//! The first call of this crate compares the library with the header, and returns [`Error::Library`] if the library is older or
//! another one.

#![deny(unsafe_code)]

mod agreement;
#[expect(unsafe_code, reason = "lends memory and a datatype to MPI")]
mod buffer;
#[expect(unsafe_code, reason = "lends memory and a datatype to MPI")]
mod cache;
mod checked;
#[expect(unsafe_code, reason = "lends memory and a datatype to MPI")]
mod collective;
#[expect(unsafe_code, reason = "uses handles that MPI returned")]
mod decode;
#[cfg(feature = "gpu")]
#[expect(unsafe_code, reason = "lends pinned memory to MPI")]
mod device;
mod elements;
mod encode;
mod error;
mod exchange;
#[expect(unsafe_code, reason = "casts between slices of one layout")]
mod flatten;
#[expect(unsafe_code, reason = "shares handles of datatypes between threads")]
mod handle;
#[expect(unsafe_code, reason = "accesses the bytes of a slice that a type names")]
mod instances;
#[expect(unsafe_code, reason = "reads the version of the header")]
mod library;
#[expect(unsafe_code, reason = "casts between slices of one layout")]
mod memory;
#[expect(unsafe_code, reason = "reads the library's constants")]
mod names;
mod operation;
#[expect(unsafe_code, reason = "lends memory and a datatype to MPI")]
mod packed;
mod pipeline;
#[expect(unsafe_code, reason = "calls the MPI library")]
mod raw;
mod received;
mod signature;
mod spare;
pub mod traits;
#[expect(unsafe_code, reason = "casts between vectors of one layout; elements of zeros")]
mod values;

pub use buffer::{Layout, ReceiveBuffer, SendBuffer};
pub use collective::Gathered;
pub use decode::decode;
#[cfg(feature = "gpu")]
pub use device::DeviceMessage;
pub use error::{Difference, Error};
#[cfg(feature = "gpu")]
pub use exchange::{DeviceExchange, DeviceStarted};
pub use exchange::{Exchange, Neighbours, Part, Started};
pub use flatten::{flatten, flatten_mut};
pub use memory::Memory;
pub use operation::Operation;
pub use packed::{Incoming, PackedReceive, PackedSend, any_tag, received_count};
pub use pipeline::Pipeline;
pub use raw::{Contents, Datatype};
pub use received::Received;

/// The arguments of a call, prepared once so that the call can be repeated. For this project's benchmarks.
#[doc(hidden)]
pub mod __calls {
    pub use crate::raw::Arguments;
}

/// The code in the book is compiled and run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/src/on-mpi.md")]
mod book {}

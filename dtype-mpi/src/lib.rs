//! dtype's datatypes as those of a real MPI library, and back.
//!
//! [`Datatype::new`] calls the library's constructors as a [`Type`](dtype_runtime::Type) was made by its own,
//! and [`Datatype::to_type`] takes a library's datatype apart by its envelope and contents. A program that
//! uses the [`mpi`] crate can so send what `#[derive(Datatype)]` describes:
//!
//! ```no_run
//! use dtype_mpi::{Datatype, Memory};
//! use dtype_runtime::Type;
//! use mpi::datatype::{MutView, View};
//! use mpi::traits::*;
//!
//! #[derive(dtype_runtime::Datatype, Clone, Copy, Default)]
//! struct Particle {
//!     position: [f64; 3],
//!     charge: i8,
//! }
//!
//! let universe = mpi::initialize().expect("MPI runs once");
//! let world = universe.world();
//! let particle = Datatype::new(&Type::of::<Particle>())?;
//! let mut particles = [Particle::default(); 100];
//! if world.rank() == 0 {
//!     // SAFETY: the datatype is that of the elements, and there are 100 of them.
//!     let view = unsafe { View::with_count_and_datatype(Memory::of(&particles), 100, &particle) };
//!     world.process_at_rank(1).send(&view);
//! } else {
//!     let memory = Memory::of_mut(&mut particles);
//!     // SAFETY: as above; every bit pattern of a number is one.
//!     let mut view = unsafe { MutView::with_count_and_datatype(memory, 100, &particle) };
//!     world.process_at_rank(0).receive_into(&mut view);
//! }
//! // The way back: the same constructors, with the same arguments.
//! assert_eq!(particle.to_type()?.size(), 25);
//! # Ok::<(), dtype_mpi::Error>(())
//! ```
//!
//! # What a library lacks
//!
//! Rust's `i128`, `u128`, `f16`, `bf16` and `char`, pairs of a value and an index without a name, and in some
//! libraries a few of Fortran's types and the markers of MPI-1 have no counterpart: [`Error::NoSuchType`] and
//! [`Error::NoSuchCall`] say so. Arguments of more than 32 bits need the calls of MPI-4, which are used
//! where they are: [`Error::LargeCounts`] says where they are not.
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

//! Packs committed types in the memory of a GPU: what [`dtype_runtime`] does in host memory, with the same layouts and the same
//! packed bytes.
//!
//! ```
//! use dtype_gpu::opencl::OpenCl;
//! use dtype_gpu::{Device, PrepareOn};
//! use dtype_runtime::{Basic, Type};
//!
//! # if OpenCl::first().is_err() { return Ok(()) }
//! let device = Device::new(OpenCl::first()?);
//! let queue = device.queue()?;
//!
//! // The second column of a 3 × 4 matrix.
//! let column = Type::vector(3, 1, 4, &Type::basic(Basic::U8))?.commit();
//! let column = column.prepare_on(&device)?;
//!
//! let matrix = device.buffer(12)?;
//! matrix.write(&queue, 0, b"abcdefghijkl")?;
//! let packed = device.buffer(3)?;
//! column.pack(&queue, (&matrix, 1), 1, (&packed, 0))?;
//!
//! let mut bytes = [0; 3];
//! packed.read(&queue, 0, &mut bytes)?;
//! assert_eq!(&bytes, b"bfj");
//! # Ok::<(), dtype_gpu::Error>(())
//! ```
//!
//! # What to use when
//!
//! | to do | use |
//! |---|---|
//! | open a device | [`opencl::OpenCl`] or `cuda::Cuda`, and [`Device::new`] |
//! | prepare a type | [`PrepareOn::prepare_on`] |
//! | pack and unpack | [`Packing::pack`], [`Packing::unpack`] |
//! | send a long message in fragments | [`Packing::pack_range`], [`Packing::unpack_range`] |
//! | use a socket or a file, or any position of the stream | [`Packing::packer`], [`Packing::unpacker`] |
//! | copy from one layout to another | [`Packing::copy_to`] |
//! | receive records with a `bool`, a `char` or an enum | [`Packing::unpack_checked`] |
//! | pack straight into memory that a network card or an MPI library reads | [`Device::host_buffer`], [`Buffer::map`] |
//! | know when it is done | [`Queue::wait`], [`Queue::event`]; between queues [`Queue::start_after`] |
//! | see the kernels | [`forms::sources`] |
//!
//! A call checks on the host that the instances and the packed bytes lie in their buffers, and queues kernels. No safe call
//! reaches outside a buffer, reads freed memory, or lends host memory that a kernel still writes. Bytes in gaps are not
//! written; kernels read them where that is faster, and ignore them.
//!
//! # Kernels
//!
//! Each type has kernels of its own, generated from its plan and compiled by the driver when they are first used; a device
//! keeps those that were used last. Records of up to 256 bytes pass through local memory, as do matrices whose columns are
//! packed one by one. Lists of unequal blocks are moved in chunks of words. Types of a few loops, blocks and equal lists become
//! code in which all divisors are constants. Any other type, however deeply nested, becomes a table that one kernel walks.
//!
//! # Drivers
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `opencl` | yes | [`opencl`]: any device of OpenCL 1.2 or later, also the CPU through PoCL |
//! | `cuda` | no | `cuda`: devices of NVIDIA, with the run-time compiler NVRTC |
//!
//! Both libraries are loaded when a device is opened. Without them the crate still builds, but opening a device returns an
//! error.
#![deny(unsafe_code)]
#![allow(
    clippy::cast_possible_truncation,
    reason = "what is cut was compared with the length of a buffer, or is a number of a small record"
)]

#[allow(unsafe_code, reason = "launches a kernel whose arguments it has checked")]
mod check;
mod chunks;
#[cfg(feature = "cuda")]
#[allow(unsafe_code, reason = "calls the driver")]
pub mod cuda;
#[allow(unsafe_code, reason = "lends host memory, and ranges of memory that it has checked")]
mod device;
#[allow(unsafe_code, reason = "declares what drivers must trust")]
pub mod driver;
mod error;
pub mod forms;
mod layout;
mod nest;
#[cfg(feature = "opencl")]
#[allow(unsafe_code, reason = "calls the driver")]
pub mod opencl;
#[allow(unsafe_code, reason = "launches kernels whose arguments it has checked")]
mod packing;
mod records;
pub mod source;
mod special;
mod stream;
mod transpose;

pub use device::{Buffer, Device, Event, Mapped, Queue};
pub use error::Error;
pub use packing::{Packing, PrepareOn};
pub use stream::DeviceMemory;

/// The code in the book is compiled and run with the documentation tests.
#[cfg(all(doctest, feature = "opencl"))]
#[doc = include_str!("../../docs/src/on-a-gpu.md")]
mod book {}

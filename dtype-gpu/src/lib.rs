//! Packs committed types in the memory of a GPU.
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
mod transpose;

pub use device::{Buffer, Device, Event, Mapped, Queue};
pub use error::Error;
pub use packing::{Packing, PrepareOn};

//! Packs committed types in the memory of a GPU.

#[cfg(feature = "cuda")]
pub mod cuda;
pub mod driver;
mod error;
pub mod source;

pub use error::Error;

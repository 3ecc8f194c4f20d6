//! Packs committed types in the memory of a GPU.

pub mod driver;
mod error;
pub mod source;

pub use error::Error;

//! The part for Open MPI: this engine takes the place of Open MPI's convertor.

mod advance;
mod copy;
mod decode;
mod exports;
pub mod layout;
mod originals;
mod raw;
mod shadow;
mod supported;
mod types;

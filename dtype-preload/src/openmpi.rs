//! Below Open MPI: its convertor is driven by this engine.

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

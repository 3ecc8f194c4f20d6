//! Moving data between memory and the packed stream.
//!
//! The whole-message forms are here; the streaming convertor of seed `opal_convertor_t` has its place
//! beside them, over the same plan.

mod copier;
mod cursor;
mod iov;
mod memory;
mod mover;
mod packer;
mod source;
mod stack;
mod transfer;
mod unpacker;

pub use iov::{Iov, Segment};
pub use packer::Packer;
pub(crate) use source::{Constant, Program, Source};
pub use stack::{StackFrame, StackType};
pub use unpacker::Unpacker;
pub(crate) use unpacker::Validate;

//! Moving data between memory and the packed stream.
//!
//! The whole-message forms are here; the streaming convertor of seed `opal_convertor_t` has its place
//! beside them, over the same plan.

mod memory;
mod stack;

pub use stack::{StackFrame, StackType};

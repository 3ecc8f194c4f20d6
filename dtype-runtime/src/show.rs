//! Layouts for people to look at, and types as the programs that make them.

mod calls;
mod diagram;

pub use calls::{CallingSequence, Language};
pub use diagram::Diagram;

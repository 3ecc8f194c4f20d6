//! Layouts for people to look at.

mod diagram;

pub use diagram::Diagram;

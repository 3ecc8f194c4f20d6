//! Names used by the output of `#[derive(Messages)]`. They are not public API, and may change with any version of the derive.

pub use core;

pub use dtype_runtime::AppendBytes;

pub use crate::parser::Whole;
pub use crate::quick::quick_tag;

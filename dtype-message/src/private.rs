//! Names used by the output of `#[derive(Messages)]`. They are not public API, and may change with any version of the derive.

pub use core;

pub use dtype_runtime::__private::{
    HasLayout, IsInitialised, IsNotAddress, IsNotBitflags, IsNotCell, IsNotOpaque, IsNotTime,
    OwnsNoHeap,
};
pub use dtype_runtime::AppendBytes;

use crate::limits::Limits;
pub use crate::messages::{Headed, List, Maps};
pub use crate::parser::Whole;
pub use crate::quick::quick_tag;

/// The receiver's limits and those of a variant: the stricter one of each.
pub fn narrowed(limits: &Limits, payload_bytes: u64, records: u64, text_bytes: u64) -> Limits {
    limits.and(payload_bytes, records, text_bytes)
}

//! The interface of a kernel for one kind of layout.

use core::ops::Range;

use crate::source::{Direction, Source};

/// A kernel that moves whole granules of packed bytes, such as whole records.
pub(crate) trait Special: Send + Sync {
    /// Packed bytes of a granule.
    fn granule(&self) -> u64;

    /// The addresses of both sides must be multiples of this many bytes.
    fn alignment(&self) -> u64;

    /// The launch that moves granules, at least one. `origin` is the offset of displacement 0 of the first instance in the
    /// memory; the stream starts at offset `start` of the packed buffer.
    fn launch(&self, direction: Direction, origin: u64, start: u64, range: Range<u64>) -> Launch;

    /// A variant of the kernel.
    fn source(&self, direction: Direction, variant: u64) -> Source;

    /// The table for the last argument of the kernel, if it has one.
    fn table(&self) -> &[u32] {
        &[]
    }
}

/// How a kernel is launched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Launch {
    /// The variant of the kernel.
    pub(crate) variant: u64,
    /// The number of groups of threads.
    pub(crate) groups: u64,
    /// The kernel's argument for the offset in the memory, modulo 2⁶⁴.
    pub(crate) origin: u64,
    /// The kernel's argument for the offset in the packed buffer.
    pub(crate) at: u64,
    /// The arguments after these two.
    pub(crate) numbers: Vec<u64>,
}

//! The names by which kernels report themselves before they copy.

/// A routine that copies data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// One or two blocks.
    Copy,
    /// Blocks of one length at equal distances, one after another.
    Strided(PerBlock),
    /// Rows of such blocks.
    Grid(PerBlock),
    /// Columns of a matrix, several at a time.
    Tiles,
    /// `records` records at once, by a permutation of bytes.
    Permutation { records: usize },
    /// Many records: one run of all of them, then the next.
    Records { runs: usize },
    /// Blocks at irregular displacements.
    List(PerBlock),
    /// Operation by operation: each has a kernel of its own.
    Walk,
}

/// How a kernel copies each of its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PerBlock {
    /// By `number` moves of `width` bytes. If together they are longer than the block, they overlap.
    Moves { number: u8, width: u8 },
    /// By two moves of these lengths, which touch.
    Touching { first: u8, second: u8 },
    /// In a loop or by a call.
    Long,
    /// By one move of `width` bytes under a mask that leaves out bytes beyond the block.
    Masked { width: u8 },
    /// By moves chosen by the length of each block.
    Varied,
}

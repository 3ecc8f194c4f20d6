//! The names of the kernels, as they report themselves before they copy.

/// A routine that copies data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// A block, or two.
    Copy,
    /// Blocks of one length at equal distances, one after another.
    Strided(PerBlock),
    /// Rows of such blocks.
    Grid(PerBlock),
    /// Columns of a matrix, several together.
    Tiles,
    /// This number of records at once, by a permutation of bytes.
    Permutation { records: usize },
    /// Many records, one of their runs after another.
    Records { runs: usize },
    /// Blocks at irregular displacements.
    List(PerBlock),
    /// Operation by operation: each has a kernel of its own.
    Walk,
}

/// How a kernel copies each of its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PerBlock {
    /// By `number` moves of `width` bytes. They overlap where together they are longer than the block.
    Moves { number: u8, width: u8 },
    /// By two moves, of these numbers of bytes.
    Touching { first: u8, second: u8 },
    /// In a loop or by a call.
    Long,
    /// By one move of at most `width` bytes, whose mask leaves out those that a block does not have.
    Masked { width: u8 },
    /// By the moves that cover the length of each block.
    Varied,
}

//! What both libraries do alike with arrays: the elements of a dimension that a process has.

use dtype_runtime::types::{Distribution, Order};

/// The dimensions from the one whose index runs fastest to the slowest.
pub(crate) fn fastest_first(dimensions: usize, order: Order) -> Vec<usize> {
    match order {
        Order::C => (0..dimensions).rev().collect(),
        Order::Fortran => (0..dimensions).collect(),
    }
}

/// The elements of one dimension that a process has.
pub(crate) struct Share {
    /// Whether blocks are dealt out cyclically; otherwise there is one.
    pub(crate) cyclic: bool,
    /// The number of elements in a block.
    pub(crate) length: i64,
    /// The start of the first block.
    pub(crate) begin: i64,
    /// Number of elements.
    pub(crate) mine: i64,
}

impl Share {
    /// The share of process `at` of `processes`.
    pub(crate) fn of(size: i64, distribution: Distribution, processes: i64, at: i64) -> Self {
        let (length, cyclic) = match distribution {
            Distribution::None => (size, false),
            Distribution::Block(length) => {
                (length.map_or((size + processes - 1) / processes, |n| n as i64), false)
            }
            Distribution::Cyclic(length) => (length.unwrap_or(1) as i64, true),
        };
        let begin = at * length;
        let left = (size - begin).max(0);
        let round = processes * length;
        let mine = if cyclic {
            left / round * length + (left % round).min(length)
        } else {
            length.min(left)
        };
        Self { cyclic, length, begin, mine }
    }
}

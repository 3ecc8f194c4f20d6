//! The rule by which both libraries assign elements of an array to processes.

use dtype_runtime::types::{Distribution, Order};

/// The dimensions from the one whose index runs fastest to the slowest.
pub(crate) fn fastest_first(dimensions: usize, order: Order) -> Vec<usize> {
    match order {
        Order::C => (0..dimensions).rev().collect(),
        Order::Fortran => (0..dimensions).collect(),
    }
}

/// The elements of one dimension that a process owns.
pub(crate) struct Share {
    /// Whether blocks are dealt out cyclically. If not, there is one block.
    pub(crate) cyclic: bool,
    /// The number of elements in a block.
    pub(crate) length: i64,
    /// The start of the first block.
    pub(crate) begin: i64,
    /// The number of elements that the process owns.
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

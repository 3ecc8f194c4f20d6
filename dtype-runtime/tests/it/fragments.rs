//! Fragments of a message: the cuts, and the order of the fragments.

use std::ops::Range;

use dtype_test_support::numbers::Numbers;
use proptest::prelude::*;

/// Cuts `0..end` into pieces of these lengths, which repeat.
pub(crate) fn fragments(end: usize, lengths: &[usize]) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for length in lengths.iter().cycle() {
        if at == end {
            break;
        }
        let to = end.min(at + length);
        pieces.push(at..to);
        at = to;
    }
    pieces
}

/// The pieces in a shuffled order.
pub(crate) fn shuffled<T>(mut pieces: Vec<T>, seed: u64) -> Vec<T> {
    let mut numbers = Numbers(seed);
    for i in (1..pieces.len()).rev() {
        pieces.swap(i, numbers.index(i + 1));
    }
    pieces
}

pub(crate) fn lengths() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![
        Just(vec![1]),
        proptest::collection::vec(1..8_usize, 1..6),
        proptest::collection::vec(1..200_usize, 1..6),
    ]
}

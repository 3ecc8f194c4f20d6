//! Fragments of a message: where it is cut, and in which order they come.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]

use std::ops::Range;

use proptest::prelude::*;

/// Cuts `0..end` into pieces of these lengths, over and over.
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

/// The pieces in an order of their own.
pub(crate) fn shuffled<T>(mut pieces: Vec<T>, seed: u64) -> Vec<T> {
    let mut state = seed | 1;
    for i in (1..pieces.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        pieces.swap(i, (state >> 33) as usize % (i + 1));
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

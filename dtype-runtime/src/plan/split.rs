//! A range of packed bytes over items of equal size: less than an item at the start, whole items, less than an item at the end.
//!
//! An item is an instance, an iteration, a block, or a value. With items of 8 bytes, the range `6..21` is:
//!
//! ```text
//! packed    0        8        16       24
//! items     |   0    |   1    |   2    |
//! range           [6               21)
//! head 6..8 of item 0, whole items 1..2, tail 0..5 of item 2
//! ```

use core::ops::Range;

/// A range over items of equal size. Any of the three may be missing; together they are the range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    /// The end of the item that the range starts in, if the range lacks its start. A range inside one item is all head.
    pub(crate) head: Option<Part>,
    /// The items that lie in the range as a whole.
    pub(crate) whole: Range<u64>,
    /// The start of the item that the range ends in, if the range lacks its end.
    pub(crate) tail: Option<Part>,
}

/// Some, but not all bytes of an item, counted from its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) item: u64,
    pub(crate) bytes: Range<u64>,
}

/// Splits a range over items of `size` bytes, at least one.
#[inline(always)]
pub(crate) fn split(range: Range<u64>, size: u64) -> Split {
    let (mut item, into, mut left) =
        (range.start / size, range.start % size, range.end.saturating_sub(range.start));
    let mut head = None;
    if left > 0 && (into > 0 || left < size) {
        let bytes = left.min(size - into);
        head = Some(Part { item, bytes: into..into + bytes });
        (item, left) = (item + 1, left - bytes);
        if left == 0 {
            // The common case of fragments within large items skips the division, which takes as long as several cache lines.
            return Split { head, whole: item..item, tail: None };
        }
    }
    let whole = item..item + left / size;
    let rest = left % size;
    let tail = (rest > 0).then_some(Part { item: whole.end, bytes: 0..rest });
    Split { head, whole, tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_at_most_two_ends_and_whole_items() {
        type Expected = (Option<(u64, Range<u64>)>, Range<u64>, Option<(u64, Range<u64>)>);
        let table: &[(Range<u64>, u64, Expected)] = &[
            (0..24, 8, (None, 0..3, None)),
            (8..16, 8, (None, 1..2, None)),
            (6..21, 8, (Some((0, 6..8)), 1..2, Some((2, 0..5)))),
            (6..16, 8, (Some((0, 6..8)), 1..2, None)),
            (8..21, 8, (None, 1..2, Some((2, 0..5)))),
            (15..17, 8, (Some((1, 7..8)), 2..2, Some((2, 0..1)))),
            // All head, up to the end of the item or not.
            (6..8, 8, (Some((0, 6..8)), 1..1, None)),
            (9..12, 8, (Some((1, 1..4)), 2..2, None)),
            (8..12, 8, (Some((1, 0..4)), 2..2, None)),
            (0..7, 8, (Some((0, 0..7)), 1..1, None)),
            (5..9, 1, (None, 5..9, None)),
            (0..u64::MAX, u64::MAX, (None, 0..1, None)),
            (1..u64::MAX, u64::MAX, (Some((0, 1..u64::MAX)), 1..1, None)),
        ];
        for (range, size, (head, whole, tail)) in table.iter().cloned() {
            let part = |(item, bytes)| Part { item, bytes };
            let expected = Split { head: head.map(part), whole, tail: tail.map(part) };
            assert_eq!(split(range.clone(), size), expected, "{range:?} by {size}");
        }
        for start in [0, 3, 8] {
            let Split { head, whole, tail } = split(start..start, 8);
            assert_eq!((head, whole.is_empty(), tail), (None, true, None), "{start}");
        }
    }
}

//! Lists: many blocks at irregular displacements as one operation, with their displacements in a table.
//!
//! An operation for each block would take ten times the memory of the displacements, and a decision per block on how to copy
//! it. So the displacements are in tables, one for each [`EntryKind`], and an operation refers to a part of a table.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem;

/// Blocks at irregular displacements: a part of a table of the plan.
///
/// [`Plan::blocks_of`](super::Plan::blocks_of) yields the blocks one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List {
    /// The displacement in bytes that the table's offsets are relative to.
    pub(crate) disp: i64,
    /// Bytes of each block; unspecified where the lengths differ.
    pub(crate) len: u64,
    /// Index of the first entry.
    pub(crate) first: usize,
    /// Number of blocks. It fits: a type has at most 2²⁴ entries in its description, and an entry adds only a few
    /// blocks on average.
    pub(crate) count: u32,
    pub(crate) kind: EntryKind,
    pub(crate) moves: Moves,
}

/// What an entry of the table contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// The offset of the block. All blocks have one length.
    Even,
    /// The offset of the block, and the number of packed bytes of the list before it. One further entry after the
    /// last block says where that block ends.
    Varied,
    /// As `Even`, beyond 32 bits.
    WideEven,
    /// As `Varied`, beyond 32 bits.
    WideVaried,
}

/// Moves that copy blocks of any length in a list without looking at the length: a fixed number of moves of one width, which
/// overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moves {
    /// Two moves cover lengths from one width to two widths.
    Two(Width),
    /// Four moves cover lengths from one width to four widths.
    Four(Width),
    /// The lengths are too different; none is more than 32 bytes.
    UpTo32,
    /// The lengths are too different; none is more than 64 bytes.
    UpTo64,
    /// The lengths are too different, or too long.
    Any,
}

/// Bytes of one move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    W1,
    W2,
    W4,
    W8,
    W16,
    W32,
}

impl Moves {
    /// The moves for lengths from `least` to `greatest`.
    pub(crate) fn for_lengths(least: u64, greatest: u64) -> Self {
        let widths = [
            (1, Width::W1),
            (2, Width::W2),
            (4, Width::W4),
            (8, Width::W8),
            (16, Width::W16),
            (32, Width::W32),
        ];
        let covering = |moves: u64| {
            widths.iter().find(|(width, _)| *width <= least && greatest <= moves * width)
        };
        match (covering(2), covering(4)) {
            (Some((_, width)), _) => Self::Two(*width),
            (None, Some((_, width))) => Self::Four(*width),
            (None, None) if greatest <= 32 => Self::UpTo32,
            (None, None) if greatest <= 64 => Self::UpTo64,
            (None, None) => Self::Any,
        }
    }
}

/// The entries of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entries<'a> {
    /// Offsets of the blocks, and the length in bytes that all of them share.
    Even(&'a [u32], u64),
    /// Offsets and packed positions, one more than there are blocks.
    Varied(&'a [[u32; 2]]),
    /// As `Even`.
    WideEven(&'a [u64], u64),
    /// As `Varied`.
    WideVaried(&'a [[u64; 2]]),
}

impl Entries<'_> {
    /// The block that holds a position in the list's packed bytes, and the position where the block's packed bytes
    /// start. `near` is a guess, and may be any number.
    pub(crate) fn find(&self, position: u64, near: usize) -> (usize, u64) {
        fn varied<W: Number>(entries: &[[W; 2]], position: u64, near: usize) -> (usize, u64) {
            if holds(entries, near, position) {
                return (near, span(entries, near));
            }
            find(entries, position, expected(entries, position))
        }
        match *self {
            Self::Even(_, len) | Self::WideEven(_, len) => find_even(position, len),
            Self::Varied(entries) => varied(entries, position, near),
            Self::WideVaried(entries) => varied(entries, position, near),
        }
    }

    /// As [`find`](Self::find), for a position at or after the start of `block`, which is `start`.
    pub(crate) fn find_from(&self, position: u64, block: usize, start: u64) -> (usize, u64) {
        match *self {
            Self::Even(_, len) | Self::WideEven(_, len) => find_even(position, len),
            Self::Varied(entries) => find_after(entries, position, block, start),
            Self::WideVaried(entries) => find_after(entries, position, block, start),
        }
    }

    /// Packed bytes of the blocks before one of them.
    pub(crate) fn start(&self, block: usize) -> u64 {
        match *self {
            Self::Even(_, len) | Self::WideEven(_, len) => block as u64 * len,
            Self::Varied(entries) => span(entries, block),
            Self::WideVaried(entries) => span(entries, block),
        }
    }

    /// Offset and length of block `index`.
    pub(crate) fn get(&self, index: usize) -> Option<(u64, u64)> {
        fn varied<W: Number>(entries: &[[W; 2]], index: usize) -> Option<(u64, u64)> {
            let ([offset, packed], [_, end]) = (*entries.get(index)?, *entries.get(index + 1)?);
            // With entries of another list's table, an end may come before its start.
            Some((offset.into(), end.into().checked_sub(packed.into())?))
        }
        match *self {
            Self::Even(offsets, len) => Some((u64::from(*offsets.get(index)?), len)),
            Self::WideEven(offsets, len) => Some((*offsets.get(index)?, len)),
            Self::Varied(entries) => varied(entries, index),
            Self::WideVaried(entries) => varied(entries, index),
        }
    }
}

/// A number in an entry.
trait Number: Copy + Into<u64> {}

impl<T: Copy + Into<u64>> Number for T {}

/// In a list of blocks of `len` bytes, the block that holds a position, and where that block starts.
fn find_even(position: u64, len: u64) -> (usize, u64) {
    let block = position.checked_div(len).unwrap_or(0);
    // At most the number of offsets, which are in memory.
    (usize::try_from(block).unwrap_or(usize::MAX), block * len)
}

/// Whether a block holds a position. There may be no such block.
fn holds<W: Number>(entries: &[[W; 2]], block: usize, position: u64) -> bool {
    let (Some([_, origin]), Some([[_, start], [_, end], ..])) =
        (entries.first(), entries.get(block..))
    else {
        return false;
    };
    let [start, end] = [*start, *end].map(|at| at.into() - (*origin).into());
    (start..end).contains(&position)
}

/// The number of blocks in this many packed bytes, if they are as long as the average.
fn expected<W: Number>(entries: &[[W; 2]], bytes: u64) -> usize {
    /// Bits of the fraction of an average length. A list has fewer than 2³² blocks, so the number fits.
    const FRACTION: u32 = 32;
    // The last entry is the end.
    let blocks = entries.len().saturating_sub(1);
    let average = ((blocks as u64) << FRACTION).checked_div(span(entries, blocks)).unwrap_or(0);
    (bytes.wrapping_mul(average) >> FRACTION) as usize
}

/// The block that holds a position, and where that block starts. The position must be at or after `start`, the start of
/// `block`.
fn find_after<W: Number>(
    entries: &[[W; 2]],
    position: u64,
    block: usize,
    start: u64,
) -> (usize, u64) {
    find(entries, position, block + expected(entries, position.saturating_sub(start)))
}

/// The last block that starts at or before a position, and where that block starts. The search doubles its steps from the hint
/// on, and then bisects the last step.
fn find<W: Number>(entries: &[[W; 2]], position: u64, hint: usize) -> (usize, u64) {
    let Some([_, origin]) = entries.first() else { return (0, 0) };
    let origin = (*origin).into();
    let is_before = |index: usize| entries[index][1].into() - origin <= position;
    let hint = hint.min(entries.len() - 1);
    let (mut before, mut behind, mut step) = (hint, hint, 1);
    if is_before(hint) {
        behind = loop {
            let next = before + step;
            if next >= entries.len() {
                break entries.len();
            }
            if !is_before(next) {
                break next;
            }
            (before, step) = (next, 2 * step);
        };
    } else {
        before = loop {
            let next = behind.saturating_sub(step);
            // The first block starts at 0.
            if next == 0 || is_before(next) {
                break next;
            }
            (behind, step) = (next, 2 * step);
        };
    }
    let between = &entries[before..behind];
    let block =
        before + between.partition_point(|[_, start]| (*start).into() - origin <= position) - 1;
    (block, span(entries, block))
}

/// Packed bytes of the first `blocks` blocks.
fn span<W: Number>(entries: &[[W; 2]], blocks: usize) -> u64 {
    match (entries.first(), entries.get(blocks)) {
        (Some([_, start]), Some([_, end])) => (*end).into() - (*start).into(),
        _ => 0,
    }
}

impl List {
    /// The blocks from index `from` to before `to`.
    pub(crate) fn part(&self, from: usize, to: usize) -> Self {
        debug_assert!(from <= to && to <= self.count as usize, "blocks of this list");
        #[expect(clippy::cast_possible_truncation, reason = "no more than there are")]
        let count = (to - from) as u32;
        Self { first: self.first + from, count, ..*self }
    }

    /// Number of blocks.
    pub const fn count(&self) -> u64 {
        self.count as u64
    }

    /// Bytes of each block, or `None` where they differ.
    pub const fn block_len(&self) -> Option<u64> {
        match self.kind {
            EntryKind::Even | EntryKind::WideEven => Some(self.len),
            EntryKind::Varied | EntryKind::WideVaried => None,
        }
    }

    /// The displacement in bytes that the table's offsets are relative to.
    pub(crate) const fn disp(&self) -> i64 {
        self.disp
    }

    pub(crate) const fn moves(&self) -> Moves {
        self.moves
    }

    pub(crate) const fn shifted(self, by: i64) -> Self {
        Self { disp: self.disp.wrapping_add(by), ..self }
    }
}

/// The tables of lists: one for each kind of entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lists {
    pub(crate) even: Vec<u32>,
    pub(crate) varied: Vec<[u32; 2]>,
    pub(crate) wide_even: Vec<u64>,
    pub(crate) wide_varied: Vec<[u64; 2]>,
}

impl Lists {
    pub(crate) const fn new() -> Self {
        Self {
            even: Vec::new(),
            varied: Vec::new(),
            wide_even: Vec::new(),
            wide_varied: Vec::new(),
        }
    }

    /// The entries of a list in these tables. For a list of other tables there may be none.
    pub(crate) fn entries(&self, list: &List) -> Entries<'_> {
        fn part<T>(table: &[T], first: usize, count: usize) -> &[T] {
            table.get(first..).and_then(|rest| rest.get(..count)).unwrap_or(&[])
        }
        let (first, count) = (list.first, list.count as usize);
        match list.kind {
            EntryKind::Even => Entries::Even(part(&self.even, first, count), list.len),
            EntryKind::Varied => Entries::Varied(part(&self.varied, first, count + 1)),
            EntryKind::WideEven => Entries::WideEven(part(&self.wide_even, first, count), list.len),
            EntryKind::WideVaried => Entries::WideVaried(part(&self.wide_varied, first, count + 1)),
        }
    }

    /// Tables without entries, for operations without lists.
    pub(crate) const fn none() -> &'static Self {
        static NONE: Lists = Lists::new();
        &NONE
    }

    /// Displacement and length in bytes of each block of a list.
    pub(crate) fn blocks(&self, list: &List) -> impl Iterator<Item = (i64, u64)> {
        self.entries(list).blocks(*list)
    }

    /// Moves the tables to the heap, without unused capacity; `None` if they are empty.
    pub(crate) fn finish(&mut self) -> Option<Box<Self>> {
        let is_empty = self.even.is_empty()
            && self.varied.is_empty()
            && self.wide_even.is_empty()
            && self.wide_varied.is_empty();
        (!is_empty).then(|| Box::new(mem::replace(self, Self::new()).shrunk()))
    }

    fn shrunk(mut self) -> Self {
        self.even.shrink_to_fit();
        self.varied.shrink_to_fit();
        self.wide_even.shrink_to_fit();
        self.wide_varied.shrink_to_fit();
        self
    }
}

impl Entries<'_> {
    /// Packed bytes of all blocks.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Even(offsets, len) => offsets.len() as u64 * len,
            Self::WideEven(offsets, len) => offsets.len() as u64 * len,
            Self::Varied(entries) => span(entries, entries.len().saturating_sub(1)),
            Self::WideVaried(entries) => span(entries, entries.len().saturating_sub(1)),
        }
    }

    /// Displacement and length in bytes of each block of `list`, to which these entries belong.
    pub(crate) fn blocks(self, list: List) -> impl Iterator<Item = (i64, u64)> {
        (0..list.count as usize).map_while(move |index| {
            let (offset, len) = self.get(index)?;
            Some((list.disp.wrapping_add(offset.cast_signed()), len))
        })
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;

    #[test]
    fn a_position_is_found_from_any_guess() {
        // A part of a table, so its packed positions do not count from 0.
        let lengths = [3_u32, 1, 1, 40, 2, 1, 7, 7, 1];
        let mut starts = vec![5_u32];
        for len in lengths {
            starts.push(starts[starts.len() - 1] + len);
        }
        let table: Vec<[u32; 2]> = starts.iter().map(|start| [0, *start]).collect();
        let wide: Vec<[u64; 2]> = starts.iter().map(|start| [0, u64::from(*start)]).collect();
        for entries in [Entries::Varied(&table), Entries::WideVaried(&wide)] {
            for position in 0..entries.size() {
                let block = starts.iter().rposition(|start| u64::from(start - 5) <= position);
                let expected = block.map(|block| (block, u64::from(starts[block] - 5)));
                for near in (0..12).chain([usize::MAX]) {
                    assert_eq!(Some(entries.find(position, near)), expected, "{near}");
                }
                for (before, start) in starts.iter().map(|start| u64::from(start - 5)).enumerate() {
                    if start <= position {
                        let found = entries.find_from(position, before, start);
                        assert_eq!(Some(found), expected, "{before}");
                    }
                }
            }
        }
    }

    #[test]
    fn moves_are_whole_values_where_one_block_is_longer_than_a_value() {
        for value in [1_u64, 2, 4, 8, 16] {
            let lengths = |most: u64| (1..=most).map(move |values| values * value);
            for (least, greatest) in lengths(40)
                .skip(1)
                .flat_map(|greatest| lengths(greatest / value).map(move |least| (least, greatest)))
            {
                let moves = Moves::for_lengths(least, greatest);
                let (Moves::Two(width) | Moves::Four(width)) = moves else { continue };
                let width = 1_u64 << width as u32;
                assert!(width.is_multiple_of(value), "{moves:?} for values of {value} bytes");
                assert!(width <= least, "{moves:?} for {least} bytes");
            }
        }
    }

    #[test]
    fn a_few_moves_of_one_width_cover_similar_lengths() {
        use Moves::{Any, Four, Two, UpTo32, UpTo64};
        use Width::{W1, W4, W8, W16, W32};
        let moves = |(least, greatest)| Moves::for_lengths(least, greatest);
        assert_eq!([(1, 2), (4, 8), (32, 64)].map(moves), [W1, W4, W32].map(Two));
        assert_eq!([(1, 4), (8, 17), (16, 64), (32, 65)].map(moves), [W1, W8, W16, W32].map(Four));
        assert_eq!([(1, 5), (3, 32)].map(moves), [UpTo32; 2]);
        assert_eq!([(1, 33), (15, 64)].map(moves), [UpTo64; 2]);
        assert_eq!([(1, 65), (31, 200)].map(moves), [Any; 2]);
    }

    #[test]
    fn a_search_takes_few_steps() {
        thread_local! {
            static LOOKS: Cell<u32> = const { Cell::new(0) };
        }
        /// A number that counts the comparisons of all such numbers.
        #[derive(Clone, Copy)]
        struct Counted(u32);
        impl From<Counted> for u64 {
            fn from(number: Counted) -> Self {
                LOOKS.set(LOOKS.get() + 1);
                number.0.into()
            }
        }
        // Blocks of one byte.
        let table: Vec<[Counted; 2]> = (0..1 << 16).map(|k| [Counted(0), Counted(k)]).collect();
        let looks = |position: u64, find: &dyn Fn() -> (usize, u64)| {
            LOOKS.set(0);
            assert_eq!(find(), (usize::try_from(position).unwrap(), position));
            LOOKS.get()
        };
        // At most twice the binary digits of the distance, and a few for the ends.
        for distance in [0, 1, 100, 10_000_usize] {
            let most = 2 * (usize::BITS - distance.leading_zeros()) + 8;
            for hint in [20_000 - distance, 20_000 + distance] {
                let looks = looks(20_000, &|| find(&table, 20_000, hint));
                assert!(looks <= most, "{looks} for a distance of {distance}");
            }
        }
        assert!(looks(60_000, &|| find_after(&table, 60_000, 50_000, 50_000)) <= 12);
    }

    #[test]
    fn a_search_starts_where_the_average_length_leads() {
        // 10 blocks of 4 and 12 bytes in turn: 8 on average. Their packed positions count from 5.
        let starts = (0..=10_u32).map(|block| 5 + 8 * block - 4 * (block % 2));
        let table: Vec<[u32; 2]> = starts.map(|start| [0, start]).collect();
        let blocks = [0, 7, 8, 31, 32, 79, 80].map(|bytes| expected(&table, bytes));
        assert_eq!(blocks, [0, 0, 1, 3, 4, 9, 10]);
        // Block 1 is bytes 4 to 15.
        let held = (0..20).filter(|position| holds(&table, 1, *position));
        assert!(held.eq(4..16));
        assert!(!holds(&table, 10, 80) && !holds(&table, usize::MAX, 0));
        assert!(!holds::<u32>(&[], 0, 0) && expected::<u32>(&[], 9) == 0);
    }

    #[test]
    fn blocks_may_be_far_apart() {
        let far = 1 << 40;
        let lists = Lists {
            wide_even: vec![0, far],
            wide_varied: vec![[0, 0], [far, 3], [0, 8]],
            ..Lists::new()
        };
        let list = |kind| List { disp: 5, len: 4, first: 0, count: 2, kind, moves: Moves::Any };
        let all =
            |list: List| (lists.entries(&list).size(), lists.blocks(&list).collect::<Vec<_>>());
        let second = 5 + far.cast_signed();
        assert_eq!(all(list(EntryKind::WideEven)), (8, vec![(5, 4), (second, 4)]));
        assert_eq!(all(list(EntryKind::WideVaried)), (8, vec![(5, 3), (second, 5)]));
    }
}

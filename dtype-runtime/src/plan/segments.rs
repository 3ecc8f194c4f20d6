//! The number of segments of operations.
//!
//! A *segment* is a maximal range of memory that is also contiguous in the packed stream: what [`Iov`](crate::convertor::Iov)
//! yields. The last segment of one operation and the first segment of the next are a single segment if they touch, so the
//! segment counts of two operations cannot simply be added. Three numbers together can be combined: where the first segment
//! starts, where the last one ends, and how many there are. [`Segments`] holds these three. [`then`](Segments::then) joins two
//! of them, and [`repeated`](Segments::repeated) repeats one for the iterations of a loop, in constant time.
//!
//! An example: a loop of 3 iterations, stride 12, over the runs `0..4` and `8..12`.
//!
//! ```text
//! one iteration     first 0, end 12, count 2          0..4  8..12
//! the next starts at 12, where this one ends: joined = 1
//! three iterations  first 0, end 36, count 2·3 − 1·2 = 4
//!                                                     0..4  8..16  20..28  32..36
//!                                            numbers  0     1      2       3
//! ```
//!
//! Iteration 0 starts 2 segments, and each further iteration starts `step = 2 − 1 = 1`, because its first run continues the
//! segment before. Iteration `i` begins in the segment with the number `i · step`: iteration 2 begins at displacement 24, in
//! segment 2, which starts at 20.

use super::list::{List, Lists};
use super::op::{Blocks, Op, items};

/// The segments of some operations: what their neighbours need to know about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segments {
    /// Displacement of the first byte.
    first: i64,
    /// Displacement past the last byte.
    end: i64,
    /// Number of segments. If it is 0 there are no bytes, and the displacements are unspecified.
    pub(crate) count: u64,
}

impl Segments {
    /// No segments.
    pub(crate) const EMPTY: Self = Self { first: 0, end: 0, count: 0 };

    /// The segments of operations, executed once.
    pub(crate) fn from_ops(ops: &[Op], lists: &Lists) -> Self {
        items(ops).fold(Self::EMPTY, |before, (op, body)| {
            before.then(match *op {
                Op::Blocks(Blocks { disp, len, count, stride }) => {
                    let end = disp.wrapping_add(len.cast_signed());
                    Self { first: disp, end, count: 1 }.repeated(count, stride)
                }
                Op::List(list) => Self::of_list(&list, lists),
                // Converted values are not in memory as they are in the stream.
                Op::Elements(_) => Self::EMPTY,
                Op::Loop { count, stride, .. } => {
                    Self::from_ops(body, lists).repeated(count, stride)
                }
            })
        })
    }

    /// Each block is a segment: neighbours that touch would be one block.
    fn of_list(list: &List, lists: &Lists) -> Self {
        let entries = lists.entries(list);
        let block = |index| {
            let (offset, len) = entries.get(index)?;
            Some((list.disp().wrapping_add(offset.cast_signed()), len.cast_signed()))
        };
        let last =
            usize::try_from(list.count()).ok().and_then(|count| block(count.checked_sub(1)?));
        match (block(0), last) {
            (Some((first, _)), Some((last, len))) => {
                Self { first, end: last.wrapping_add(len), count: list.count() }
            }
            _ => Self::EMPTY,
        }
    }

    /// 1 if the first segment of `next`, moved by `by`, continues the last segment of `self`, else 0.
    pub(crate) fn joined(&self, next: &Self, by: i64) -> u64 {
        u64::from(self.count > 0 && self.end == next.first.wrapping_add(by))
    }

    /// The segments of `self` followed by `next`.
    pub(crate) fn then(self, next: Self) -> Self {
        if self.count == 0 {
            return next;
        }
        if next.count == 0 {
            return self;
        }
        let count = self.count + next.count - self.joined(&next, 0);
        Self { count, end: next.end, ..self }
    }

    /// The number of segments that each iteration over these adds to the one before it.
    pub(crate) fn step(&self, stride: i64) -> u64 {
        self.count - self.joined(self, stride)
    }

    /// `count` iterations over these segments.
    pub(crate) fn repeated(self, count: u64, stride: i64) -> Self {
        let Some(more) = count.checked_sub(1) else { return Self::EMPTY };
        let distance = stride.wrapping_mul(more.cast_signed());
        let count = self.count + self.step(stride) * more;
        Self { count, end: self.end.wrapping_add(distance), ..self }
    }
}

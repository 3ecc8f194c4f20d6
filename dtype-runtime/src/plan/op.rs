//! The operations of a plan: their bodies and sizes, and how to shift, repeat and join them.

use super::list::{List, Lists};
use crate::representation::Form;
use crate::types::Level;

/// One operation of a [`Plan`](super::Plan).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Op {
    /// Copies blocks at equal distances.
    Blocks(Blocks),
    /// Copies blocks at irregular displacements, which [`Plan::blocks_of`](super::Plan::blocks_of) looks up.
    List(List),
    /// Converts values at equal distances. Only in plans whose packed stream is not in this machine's representation.
    Elements(Elements),
    /// Repeats the operations that follow: its body.
    Loop {
        /// Number of iterations.
        count: u64,
        /// Bytes that the displacements advance with each iteration.
        stride: i64,
        /// Number of operations in the body, counting those of inner loops.
        items: usize,
    },
}

/// `count` blocks of `len` bytes, their starts `stride` bytes apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Blocks {
    /// Displacement in bytes of the first block.
    pub disp: i64,
    /// Bytes of each block.
    pub len: u64,
    /// Number of blocks.
    pub count: u64,
    /// Bytes from the start of one block to the start of the next; 0 for a single block.
    pub stride: i64,
}

/// Values at equal distances, all converted in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Elements {
    /// The displacements of the values. The length of a block is the length of one value in the packed stream.
    pub blocks: Blocks,
    /// The conversion of each value.
    pub form: Form,
}

/// The operations of a body, each with its own body: empty unless the operation is a [`Op::Loop`].
///
/// Operations inside a loop are not yielded; call `items` on the loop's body for these.
///
/// ```
/// use dtype_runtime::plan::{Op, items};
/// use dtype_runtime::{Basic, Type};
/// let grid = Type::vector(4, 1, 2, &Type::basic(Basic::U16))?;
/// let grid = Type::hvector(3, 1, 100, &grid)?.commit();
/// let mut ops = items(grid.plan().ops());
/// let Some((Op::Loop { count: 3, stride: 100, .. }, [Op::Blocks(row)])) = ops.next() else {
///     panic!("{:?}", grid.plan())
/// };
/// assert_eq!((row.len, row.count, row.stride), (2, 4, 4));
/// assert!(ops.next().is_none());
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
#[inline]
pub fn items(ops: &[Op]) -> impl Iterator<Item = (&Op, &[Op])> {
    let mut rest = ops;
    core::iter::from_fn(move || {
        let (op, body, after) = split_first(rest)?;
        rest = after;
        Some((op, body))
    })
}

/// As [`items`], with the index of each operation in `ops`. Operations inside loops count in the index.
#[inline]
pub(crate) fn numbered_items(ops: &[Op]) -> impl Iterator<Item = (usize, &Op, &[Op])> {
    let mut next = 0;
    items(ops).map(move |(op, body)| {
        let at = next;
        next += 1 + body.len();
        (at, op, body)
    })
}

/// The first operation, its body, and the operations after the body: one step of [`items`], usable in `const` evaluation.
#[inline(always)]
pub(crate) const fn split_first(ops: &[Op]) -> Option<(&Op, &[Op], &[Op])> {
    let Some((op, rest)) = ops.split_first() else { return None };
    let items = match op {
        Op::Loop { items, .. } => *items,
        Op::Blocks(_) | Op::List(_) | Op::Elements(_) => return Some((op, &[], rest)),
    };
    match rest.split_at_checked(items) {
        Some((body, after)) => Some((op, body, after)),
        // The loop was cut off: its body is the operations that are present.
        None => Some((op, rest, &[])),
    }
}

/// Packed bytes of operations executed once. `lists` holds the tables of their lists.
pub(crate) fn size(ops: &[Op], lists: &Lists) -> u64 {
    let (mut sum, mut rest) = (0, ops);
    while let Some((op, body, after)) = split_first(rest) {
        rest = after;
        sum += match op {
            Op::Blocks(blocks) | Op::Elements(Elements { blocks, .. }) => blocks.len * blocks.count,
            Op::List(list) => lists.entries(list).size(),
            Op::Loop { count, .. } => count * size(body, lists),
        };
    }
    sum
}

impl Op {
    /// Fills the unused part of an array of operations.
    pub(crate) const NONE: Self = Self::Blocks(Blocks::run(0, 0));

    pub(crate) const fn shifted(self, by: i64) -> Self {
        match self {
            Self::Blocks(blocks) => Self::Blocks(blocks.shifted(by)),
            Self::List(list) => Self::List(list.shifted(by)),
            Self::Elements(elements) => Self::Elements(elements.shifted(by)),
            Self::Loop { .. } => self,
        }
    }
}

// Displacements of data fit 64 bits. A displacement computed on the way to data may wrap and wraps back, so the arithmetic
// wraps.
impl Blocks {
    /// A single block.
    pub(crate) const fn run(disp: i64, len: u64) -> Self {
        Self { disp, len, count: 1, stride: 0 }
    }

    /// The blocks of a loop level; there must be at least one.
    #[inline(always)]
    pub(crate) const fn of_level(level: &Level) -> Self {
        let Level { base: disp, length: len, count, stride } = *level;
        Self { disp, len, count, stride }.normalized()
    }

    /// Displacement of block `index`.
    pub const fn block(&self, index: u64) -> i64 {
        self.disp.wrapping_add(self.stride.wrapping_mul(index.cast_signed()))
    }

    /// One past the last byte of the last block.
    pub(crate) const fn last_end(&self) -> i64 {
        self.block(self.count.saturating_sub(1)).wrapping_add(self.len.cast_signed())
    }

    /// The widest unit, in bytes, that divides the length of every block and its displacement from the origin: 8, 4,
    /// 2 or 1.
    pub const fn unit(&self) -> u64 {
        let all = self.disp.cast_unsigned() | self.len | self.stride.cast_unsigned() | 8;
        1 << all.trailing_zeros()
    }

    pub(crate) const fn shifted(self, by: i64) -> Self {
        Self { disp: self.disp.wrapping_add(by), ..self }
    }

    /// The same bytes in canonical form: blocks that touch are one block, and a single block has stride 0.
    pub(crate) const fn normalized(self) -> Self {
        if self.count == 1 {
            Self { stride: 0, ..self }
        } else if self.stride >= 0 && self.stride.cast_unsigned() == self.len {
            Self::run(self.disp, self.len * self.count)
        } else {
            self
        }
    }

    /// `self` and `next` as one, if `next` continues `self` at the same stride.
    pub(crate) const fn followed_by(self, next: Self) -> Option<Self> {
        if self.len != next.len {
            return None;
        }
        let Some(stride) = next.disp.checked_sub(self.block(self.count - 1)) else { return None };
        let fits = (self.count == 1 || self.stride == stride)
            && (next.count == 1 || next.stride == stride);
        if fits { Some(Self { count: self.count + next.count, stride, ..self }) } else { None }
    }

    /// `count` iterations over these blocks, if the result is blocks at equal distances.
    pub(crate) const fn repeated(self, count: u64, stride: i64) -> Option<Self> {
        if count == 1 {
            Some(self)
        } else if self.count == 1 {
            Some(Self { count, stride, ..self })
        } else if stride as i128 == self.stride as i128 * self.count as i128 {
            Some(Self { count: self.count * count, ..self })
        } else {
            None
        }
    }
}

impl Elements {
    pub(crate) const fn shifted(self, by: i64) -> Self {
        Self { blocks: self.blocks.shifted(by), ..self }
    }

    /// `count` of the values, from value `first` on.
    pub(crate) fn part(self, first: u64, count: u64) -> Self {
        let blocks = Blocks { disp: self.blocks.block(first), count, ..self.blocks };
        Self { blocks, ..self }
    }

    /// `self` and `next` as one, if `next` continues `self` at the same stride.
    pub(crate) fn followed_by(self, next: Self) -> Option<Self> {
        if self.form != next.form {
            return None;
        }
        Some(Self { blocks: self.blocks.followed_by(next.blocks)?, ..self })
    }

    /// `count` iterations over these values, if the result is values at equal distances.
    pub(crate) fn repeated(self, count: u64, stride: i64) -> Option<Self> {
        Some(Self { blocks: self.blocks.repeated(count, stride)?, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_divides_lengths_and_displacements() {
        let unit = |disp, len, stride| Blocks { disp, len, count: 3, stride }.unit();
        assert_eq!([unit(16, 32, 24), unit(8, 8, 8), unit(0, 8, 0)], [8; 3]);
        assert_eq!([unit(4, 8, 16), unit(8, 4, 16), unit(8, 8, -12)], [4; 3]);
        assert_eq!([unit(4, 4, 8), unit(8, 4, 4), unit(4, 8, 4)], [4; 3]);
        assert_eq!([unit(-2, 8, 16), unit(8, 6, 16), unit(8, 8, 10)], [2; 3]);
        assert_eq!([unit(1, 8, 16), unit(8, 3, 16), unit(8, 8, 15)], [1; 3]);
    }

    #[test]
    fn a_part_of_the_values_starts_at_its_first() {
        let blocks = Blocks { disp: 5, len: 4, count: 9, stride: 12 };
        let all = Elements { blocks, form: Form::Reversed { width: 4 } };
        assert_eq!(all.part(2, 3).blocks, Blocks { disp: 29, count: 3, ..blocks });
        assert_eq!(all.repeated(4, 108).unwrap().blocks, Blocks { count: 36, ..blocks });
        assert_eq!(all.repeated(4, 109), None);
    }
}

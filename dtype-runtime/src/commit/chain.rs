//! How many segments operations make: pieces of memory that do not touch the next one in the packed stream.
//!
//! Segments of two operations are one where they touch, so a count alone cannot be added up. What has to be known
//! besides is where the first starts and where the last ends: these add up, and multiply, however many segments
//! there are.

use super::list::List;
use super::plan::{Blocks, Op};
use super::tables::Tables;

/// The segments of operations, one behind the other, as those before and behind see them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chain {
    /// Displacement of the first byte.
    first: i64,
    /// Displacement behind the last.
    end: i64,
    /// Number of segments. None means no bytes, and the displacements have no meaning.
    pub(crate) segments: u64,
}

impl Chain {
    /// No segments.
    pub(crate) const EMPTY: Self = Self { first: 0, end: 0, segments: 0 };

    /// Of operations, executed once.
    pub(crate) fn of(ops: &[Op], tables: &Tables) -> Self {
        let (mut at, mut chain) = (0, Self::EMPTY);
        while let Some(op) = ops.get(at) {
            chain = chain.then(Self::at(ops, at, tables));
            at += 1 + op.items();
        }
        chain
    }

    /// Of the operation at an index, a loop with all of its repetitions.
    pub(crate) fn at(ops: &[Op], at: usize, tables: &Tables) -> Self {
        match ops[at] {
            Op::Blocks(Blocks { disp, len, count, stride }) => {
                let end = disp.wrapping_add(len.cast_signed());
                Self { first: disp, end, segments: 1 }.repeated(count, stride)
            }
            Op::List(list) => Self::of_list(&list, tables),
            // What is converted is nowhere in memory as it is in the stream.
            Op::Elements(_) => Self::EMPTY,
            Op::Loop { count, stride, items } => {
                Self::of(&ops[at + 1..=at + items], tables).repeated(count, stride)
            }
        }
    }

    /// No two neighbours in a list touch: they would be one block.
    fn of_list(list: &List, tables: &Tables) -> Self {
        let entries = tables.entries(list);
        let place = |index| {
            let (offset, len) = entries.get(index)?;
            Some((list.disp().wrapping_add(offset.cast_signed()), len.cast_signed()))
        };
        let last =
            usize::try_from(list.count()).ok().and_then(|count| place(count.checked_sub(1)?));
        match (place(0), last) {
            (Some((first, _)), Some((last, len))) => {
                Self { first, end: last.wrapping_add(len), segments: list.count() }
            }
            _ => Self::EMPTY,
        }
    }

    /// 1 if the first of the next segments continues the last of these, 0 if it does not.
    pub(crate) fn joined(&self, next: &Self) -> u64 {
        let touch = self.end == next.first && self.segments > 0 && next.segments > 0;
        u64::from(touch)
    }

    /// These, and others behind.
    pub(crate) fn then(self, next: Self) -> Self {
        if self.segments == 0 {
            return next;
        }
        if next.segments == 0 {
            return self;
        }
        let segments = self.segments + next.segments - self.joined(&next);
        Self { segments, end: next.end, ..self }
    }

    /// The same, further on.
    pub(crate) fn shifted(self, by: i64) -> Self {
        Self { first: self.first.wrapping_add(by), end: self.end.wrapping_add(by), ..self }
    }

    /// These, so many times, each so many bytes further.
    pub(crate) fn repeated(self, count: u64, stride: i64) -> Self {
        let Some(more) = count.checked_sub(1) else { return Self::EMPTY };
        let joined = if more > 0 { self.joined(&self.shifted(stride)) } else { 0 };
        let way = stride.wrapping_mul(more.cast_signed());
        let segments = self.segments * count - joined * more;
        Self { segments, end: self.end.wrapping_add(way), ..self }
    }
}

/// How the segments of repetitions are numbered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turns {
    /// Segments of one repetition, were it alone.
    alone: u64,
    /// How many of them are no continuation of the repetition before.
    step: u64,
}

impl Turns {
    /// Of repetitions so many bytes apart.
    pub(crate) fn of(once: &Chain, stride: i64) -> Self {
        let alone = once.segments;
        Self { alone, step: alone - once.joined(&once.shifted(stride)) }
    }

    /// Of all segments of so many repetitions: either no two repetitions are joined or all are, by one segment.
    pub(crate) fn of_all(segments: u64, count: u64) -> Self {
        let count = count.max(1);
        Self { alone: segments.div_ceil(count), step: segments / count }
    }

    /// The number of the segment that a repetition starts in.
    pub(crate) fn first(&self, turn: u64) -> u64 {
        turn * self.step
    }

    /// The repetition that a segment starts in, and the number that it has there.
    pub(crate) fn find(&self, number: u64) -> (u64, u64) {
        let Some(behind) = number.checked_sub(self.alone) else { return (0, number) };
        // There is more than one segment, so a repetition adds some.
        let turn = behind.checked_div(self.step).map_or(0, |more| more + 1);
        (turn, number - self.first(turn))
    }
}

//! The runs of a record: a few operations with their loops written out.

use super::op::{Elements, Op, split_first};
use crate::representation::Form;

/// A range of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Displacement in bytes from the record's origin.
    pub(crate) disp: isize,
    /// Number of bytes.
    pub(crate) len: usize,
}

/// The runs of one record, in packed order.
#[derive(Debug)]
pub(crate) struct RunList {
    runs: [Run; Self::MAX_RUNS],
    len: usize,
    /// Which runs are packed with the last byte first, one bit each.
    reversed: u64,
    /// How many more runs may be added. A run that touches the run before it needs no entry, but its step takes time.
    left: usize,
}

impl RunList {
    /// A record with at most this many runs is copied run by run; one with more runs is copied by walking its operations.
    pub(crate) const MAX_RUNS: usize = 64;

    pub(crate) const EMPTY: Self = Self {
        runs: [Run { disp: 0, len: 0 }; Self::MAX_RUNS],
        len: 0,
        reversed: 0,
        left: 4 * Self::MAX_RUNS,
    };

    /// The runs of operations that copy bytes; `None` if there are too many, or if values are converted.
    pub(crate) const fn expand(ops: &[Op]) -> Option<Self> {
        let mut list = Self::EMPTY;
        if list.add(ops, 0, false) { Some(list) } else { None }
    }

    /// As [`expand`](Self::expand), but values may have their bytes reversed.
    pub(super) const fn expand_values(ops: &[Op]) -> Option<Self> {
        let mut list = Self::EMPTY;
        if list.add(ops, 0, true) { Some(list) } else { None }
    }

    /// The runs.
    #[inline]
    pub(crate) const fn all(&self) -> &[Run] {
        self.runs.split_at(self.len).0
    }

    /// The bytes of all runs; `None` if the number does not fit. (Runs that overlap can have more bytes than there is memory.)
    pub(crate) fn size(&self) -> Option<usize> {
        self.all().iter().try_fold(0_usize, |sum, run| sum.checked_add(run.len))
    }

    /// The last run joined to the first run of the next record, if the two touch.
    pub(super) fn link(&self, stride: isize) -> Option<Run> {
        let [first, .., last] = self.all() else { return None };
        let touches = last.disp.wrapping_add_unsigned(last.len) == first.disp.wrapping_add(stride);
        touches.then(|| Run { disp: last.disp, len: last.len + first.len })
    }

    /// The runs from behind the first one to the end of the first one of the next record, `stride` bytes further, if that run
    /// touches the last one; `None` if it does not.
    pub(crate) const fn linked(&self, stride: usize) -> Option<Self> {
        if self.len < 2 {
            return None;
        }
        let (first, last) = (self.runs[0], self.runs[self.len - 1]);
        if last.disp + last.len.cast_signed() != first.disp + stride.cast_signed() {
            return None;
        }
        let (mut list, mut index) = (Self::EMPTY, 1);
        while index < self.len {
            list.runs[index - 1] = self.runs[index];
            index += 1;
        }
        list.len = self.len - 1;
        list.runs[list.len - 1].len += first.len;
        Some(list)
    }

    /// The run with this index. In a constant list, the run must be a constant too, or copying a few bytes takes ten times as
    /// long.
    #[inline(always)]
    pub(crate) const fn run(&self, index: usize) -> Run {
        self.runs[index]
    }

    /// Whether a run is packed with the last byte first.
    pub(super) const fn is_reversed(&self, index: usize) -> bool {
        self.reversed >> index & 1 == 1
    }

    /// Adds the runs of operations. Returns whether there was room for them.
    const fn add(&mut self, ops: &[Op], shift: i64, converts: bool) -> bool {
        let mut rest = ops;
        while let Some((op, body, after)) = split_first(rest) {
            rest = after;
            let (blocks, reversed) = match *op {
                Op::Blocks(blocks) => (blocks, false),
                Op::Elements(Elements { blocks, form: Form::Same { .. } }) if converts => {
                    (blocks, false)
                }
                Op::Elements(Elements { blocks, form: Form::Reversed { .. } }) if converts => {
                    (blocks, true)
                }
                // Lists look up displacements, and elements compute bytes.
                Op::List(_) | Op::Elements(_) => return false,
                Op::Loop { count, stride, .. } => {
                    let mut iteration = 0;
                    while iteration < count {
                        let before = self.left;
                        let way = stride.wrapping_mul(iteration.cast_signed());
                        // Stop at a loop over nothing: its iterations would only take time.
                        if !self.add(body, shift.wrapping_add(way), converts) || self.left == before
                        {
                            return false;
                        }
                        iteration += 1;
                    }
                    continue;
                }
            };
            let mut block = 0;
            while block < blocks.count {
                let disp = blocks.block(block).wrapping_add(shift);
                if !self.push(disp, blocks.len, reversed) {
                    return false;
                }
                block += 1;
            }
        }
        true
    }

    /// Adds a run, joined to the run before it where they touch.
    #[expect(clippy::cast_possible_truncation, reason = "data in memory")]
    const fn push(&mut self, disp: i64, len: u64, reversed: bool) -> bool {
        let (disp, len) = (disp as isize, len as usize);
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        if self.len > 0 && !reversed && !self.is_reversed(self.len - 1) {
            let last = &mut self.runs[self.len - 1];
            if last.disp.wrapping_add_unsigned(last.len) == disp {
                last.len += len;
                return true;
            }
        }
        if self.len == Self::MAX_RUNS {
            return false;
        }
        self.runs[self.len] = Run { disp, len };
        self.reversed |= (reversed as u64) << self.len;
        self.len += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Blocks;

    #[test]
    fn operations_are_expanded_to_a_few_runs() {
        let run = |disp, len| Op::Blocks(Blocks::run(disp, len));
        let each = |count, stride, items| Op::Loop { count, stride, items };
        let runs = |ops: &[Op]| {
            let all = RunList::expand(ops)?;
            Some(all.all().iter().map(|run| (run.disp, run.len)).collect::<alloc::vec::Vec<_>>())
        };
        let nest = [each(2, 10, 2), run(0, 2), run(4, 3), run(17, 1)];
        assert_eq!(runs(&nest).unwrap(), [(0, 2), (4, 3), (10, 2), (14, 4)]);
        assert_eq!(runs(&[each(3, 4, 1), run(0, 4)]).unwrap(), [(0, 12)]);
        // A loop over no bytes, too many runs, and too many runs that touch.
        assert_eq!(runs(&[each(u64::MAX, 4, 0), run(0, 4)]), None);
        let blocks = |count, stride| [Op::Blocks(Blocks { disp: 0, len: 4, count, stride })];
        assert_eq!([64, 65].map(|count| runs(&blocks(count, 8)).is_some()), [true, false]);
        assert_eq!([256, 257].map(|count| runs(&blocks(count, 4)).is_some()), [true, false]);
    }

    #[test]
    fn values_are_runs_only_where_they_may_be_converted() {
        let values = |form| {
            let blocks = Blocks { disp: 0, len: 4, count: 2, stride: 4 };
            [Op::Elements(Elements { blocks, form })]
        };
        let [same, reversed] = [Form::Same { width: 4 }, Form::Reversed { width: 4 }].map(values);
        assert!(RunList::expand(&same).is_none() && RunList::expand(&reversed).is_none());
        let runs = |ops: &[Op]| {
            let all = RunList::expand_values(ops).unwrap();
            let run = |at| (all.run(at).disp, all.run(at).len, all.is_reversed(at));
            (0..all.all().len()).map(run).collect::<alloc::vec::Vec<_>>()
        };
        assert_eq!(runs(&same), [(0, 8, false)]);
        assert_eq!(runs(&reversed), [(0, 4, true), (4, 4, true)]);
    }
}

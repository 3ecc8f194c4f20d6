//! The runs of a record: a few operations with their loops written out.

use alloc::boxed::Box;

use super::FURTHEST_RECORD;
use super::op::{Blocks, Elements, Op, split_first};
use crate::representation::Form;

/// A range of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Displacement in bytes from the record's origin.
    pub(crate) disp: isize,
    /// Number of bytes.
    pub(crate) len: usize,
}

/// The repetitions of a plan as records at equal distances, each of a few runs.
///
/// A repetition starts where the prologue ends. So the prologue is the end of a record before the first repetition, and the
/// epilogue is the start of one after the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Records {
    /// The runs of one record, in packed order.
    pub(crate) runs: Box<[Run]>,
    /// Packed bytes of a record.
    pub(crate) size: usize,
    /// Bytes of memory from one record to the next.
    pub(crate) stride: isize,
    /// Packed bytes of the prologue.
    prologue: usize,
}

impl Records {
    /// The records; `None` if they are none, or more than a few runs each. Operations that have a kernel of their own are left
    /// to it: lists, conversions, several blocks without anything else, and any several blocks of records that are far from one
    /// another.
    pub(super) fn of(steady: &[Op], stride: i64, prologue: &[Op]) -> Option<Self> {
        let is_far = stride.unsigned_abs() > FURTHEST_RECORD;
        let are_runs = steady.iter().all(|op| matches!(op, Op::Blocks(Blocks { count: 1, .. })));
        if !are_runs && (is_far || steady.len() == 1) {
            return None;
        }
        let (runs, before) = (RunList::expand(steady)?, RunList::expand(prologue)?);
        let (size, prologue) = (runs.size()?, before.size()?);
        let stride = isize::try_from(stride).ok()?;
        let is_record = 0 < size && prologue <= size;
        is_record.then(|| Self { runs: runs.all().into(), size, stride, prologue })
    }

    /// Whether whole records are copied run by run, several at a time.
    #[inline]
    pub(crate) fn are_run_by_run(&self) -> bool {
        self.runs.len() > 1 && self.stride.unsigned_abs() as u64 <= FURTHEST_RECORD
    }

    /// The record that holds a position of the stream: its displacement, and the packed bytes of it before the position.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "bytes and displacements in memory")]
    pub(crate) fn find(&self, position: u64) -> (isize, usize) {
        match position.checked_sub(self.prologue as u64) {
            Some(after) => {
                let (number, from) = (after / self.size as u64, after % self.size as u64);
                (self.stride.wrapping_mul(number as isize), from as usize)
            }
            None => (self.stride.wrapping_neg(), self.size - self.prologue + position as usize),
        }
    }
}

/// The runs of one record, in packed order.
#[derive(Debug)]
pub(crate) struct RunList {
    runs: [Run; Self::MOST],
    len: usize,
    /// Which runs are packed with the last byte first, one bit each.
    reversed: u64,
    /// Number of runs that may still be added. A run that touches the one before takes no space, but takes time.
    left: usize,
}

impl RunList {
    /// A record with at most this many runs is copied by code or by a loop for each run; a record with more runs
    /// is copied by walking the operations.
    pub(crate) const MOST: usize = 64;

    pub(crate) const EMPTY: Self = Self {
        runs: [Run { disp: 0, len: 0 }; Self::MOST],
        len: 0,
        reversed: 0,
        left: 4 * Self::MOST,
    };

    /// The runs of operations that copy bytes; `None` if there are too many, or values are converted.
    pub(crate) const fn expand(ops: &[Op]) -> Option<Self> {
        let mut list = Self::EMPTY;
        if list.add(ops, 0, false) { Some(list) } else { None }
    }

    /// As [`expand`](Self::expand), where values may also have their bytes reversed.
    pub(super) const fn expand_values(ops: &[Op]) -> Option<Self> {
        let mut list = Self::EMPTY;
        if list.add(ops, 0, true) { Some(list) } else { None }
    }

    /// The runs.
    #[inline]
    pub(crate) const fn all(&self) -> &[Run] {
        self.runs.split_at(self.len).0
    }

    /// The bytes of all runs; `None` if they do not fit. (Runs that overlap may have more bytes than there is memory.)
    pub(crate) fn size(&self) -> Option<usize> {
        self.all().iter().try_fold(0_usize, |sum, run| sum.checked_add(run.len))
    }

    /// One of the runs. Where the list is a constant, the run must be a constant too for the code that copies it;
    /// otherwise a few bytes take ten times as long.
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
                // These look up displacements or compute bytes.
                Op::List(_) | Op::Elements(_) => return false,
                Op::Loop { count, stride, .. } => {
                    let mut iteration = 0;
                    while iteration < count {
                        let before = self.left;
                        let way = stride.wrapping_mul(iteration.cast_signed());
                        // Stop at a loop over nothing: it would only take time.
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
        if self.len == Self::MOST {
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

    #[test]
    fn records_are_found_by_position() {
        let runs = [Op::Blocks(Blocks::run(8, 20)), Op::Blocks(Blocks::run(40, 6))];
        let all = Records::of(&runs, 64, &[]).unwrap();
        assert_eq!((all.size, all.find(0), all.find(25)), (26, (0, 0), (0, 25)));
        assert_eq!((all.find(26), all.find(2 * 26 + 3)), ((64, 0), (128, 3)));
        // The stream starts with the last 6 bytes of a record before the first repetition.
        let all = Records::of(&runs, -64, &[Op::Blocks(Blocks::run(104, 6))]).unwrap();
        assert_eq!((all.find(0), all.find(5), all.find(6)), ((64, 20), (64, 25), (0, 0)));
        assert_eq!(all.find(6 + 26), (-64, 0));
    }

    #[test]
    fn some_repetitions_are_no_records() {
        let run = |disp, len| Op::Blocks(Blocks::run(disp, len));
        let blocks = Op::Blocks(Blocks { disp: 0, len: 4, count: 3, stride: 8 });
        assert_eq!(Records::of(&[], 8, &[]), None);
        assert_eq!(Records::of(&[blocks], 32, &[]), None);
        assert!(Records::of(&[run(40, 2), blocks], 64, &[]).is_some());
        assert_eq!(Records::of(&[run(40, 2), blocks], 4096, &[]), None);
        assert!(Records::of(&[run(40, 2), run(0, 4)], 4096, &[]).is_some());
        // Runs that overlap, with more bytes than there are addresses.
        assert_eq!(Records::of(&[run(0, 1 << 63), run(9, 1 << 63)], 8, &[]), None);
    }
}

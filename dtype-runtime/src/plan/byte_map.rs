//! A small record byte by byte: where in memory each of its packed bytes is.

use super::op::Op;
use super::runs::RunList;
use crate::isa::WIDTH;

/// The displacement of each packed byte of a record with at most [`WIDTH`] packed bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteMap {
    /// Displacement in bytes of the first packed byte from the record's origin.
    pub(super) first: i64,
    /// Bytes from there to each packed byte.
    pub(super) offsets: [i8; WIDTH],
    /// The least and the greatest of the offsets.
    pub(super) least: i8,
    pub(super) greatest: i8,
    /// Number of packed bytes.
    pub(super) len: usize,
}

impl ByteMap {
    /// A map without bytes.
    pub(crate) const fn new() -> Self {
        Self { first: 0, offsets: [0; WIDTH], least: 0, greatest: 0, len: 0 }
    }

    /// The byte map of the data of these operations; `None` if they have more than [`WIDTH`] bytes.
    pub(crate) const fn from_ops(ops: &[Op]) -> Option<Self> {
        match RunList::expand_values(ops) {
            Some(runs) => Self::from_runs(&runs),
            None => None,
        }
    }

    /// The byte map of the data of these runs; `None` if they have more than [`WIDTH`] bytes.
    pub(crate) const fn from_runs(runs: &RunList) -> Option<Self> {
        let mut map = Self::new();
        let mut index = 0;
        while index < runs.all().len() {
            let run = runs.run(index);
            if !map.bytes(run.disp as i64, run.len as u64, runs.is_reversed(index)) {
                return None;
            }
            index += 1;
        }
        Some(map)
    }

    /// Adds `len` bytes in the order of their addresses. Returns whether there was room for them.
    pub(crate) const fn run(&mut self, disp: i64, len: u64) -> bool {
        self.bytes(disp, len, false)
    }

    /// Adds a value of `len` bytes in the opposite order: the last one in memory is packed first.
    /// Returns whether there was room for them.
    #[cfg(test)]
    pub(crate) const fn swapped(&mut self, disp: i64, len: u64) -> bool {
        self.bytes(disp, len, true)
    }

    /// Bytes from the least displacement of the record to the end of its data.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the least is subtracted"
    )]
    pub(super) const fn span(&self) -> usize {
        (self.greatest as i64 - self.least as i64 + 1) as usize
    }

    #[expect(clippy::cast_possible_truncation, reason = "checked to fit")]
    const fn bytes(&mut self, disp: i64, len: u64, swap: bool) -> bool {
        if len > (WIDTH - self.len) as u64 {
            return false;
        }
        if len == 0 {
            return true;
        }
        if self.len == 0 {
            self.first = disp;
        }
        let from = disp as i128 - self.first as i128;
        let to = from + len as i128 - 1;
        if from < i8::MIN as i128 || to > i8::MAX as i128 {
            return false;
        }
        let (from, to) = (from as i8, to as i8);
        let mut i = 0;
        while i < len as i8 {
            self.offsets[self.len] = if swap { to - i } else { from + i };
            self.len += 1;
            i += 1;
        }
        if from <= self.least {
            self.least = from;
        }
        if to >= self.greatest {
            self.greatest = to;
        }
        true
    }
}

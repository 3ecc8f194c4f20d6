//! Values of which some bytes have come.

use alloc::collections::BTreeMap;
use core::ops::Range;

use crate::representation::WIDEST;

/// The values of a stream that have come in part, because a fragment ended or began inside them, and cannot be
/// written until they are there as a whole.
#[derive(Clone, Debug, Default)]
pub(in crate::convertor) struct Partials {
    /// By the position of the first byte in the packed stream.
    values: BTreeMap<u64, Partial>,
}

/// A value that has come in part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Partial {
    bytes: [u8; WIDEST],
    /// One bit for each byte that has come.
    have: u16,
}

impl Partial {
    /// All bytes of a value of that many, if they are there.
    pub(super) fn whole(&mut self, len: usize) -> Option<&mut [u8]> {
        let all = u16::MAX >> (WIDEST - len);
        if self.have & all == all { Some(&mut self.bytes[..len]) } else { None }
    }
}

impl Partials {
    /// What there is of the value at a position with more bytes, which start `into` it.
    pub(super) fn with(&self, position: u64, into: usize, bytes: &[u8]) -> Partial {
        let mut partial = self.values.get(&position).copied().unwrap_or_default();
        for (index, byte) in bytes.iter().enumerate() {
            partial.bytes[into + index] = *byte;
            partial.have |= 1 << (into + index);
        }
        partial
    }

    /// Keeps what there is of a value.
    pub(super) fn keep(&mut self, position: u64, partial: Partial) {
        self.values.insert(position, partial);
    }

    /// Forgets a value, which is complete.
    pub(super) fn forget(&mut self, position: u64) {
        self.values.remove(&position);
    }

    /// Forgets those that begin in a range, which has all of their bytes.
    pub(super) fn forget_all(&mut self, range: Range<u64>) {
        while let Some((&position, _)) = self.values.range(range.clone()).next() {
            self.forget(position);
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Those from a position on, which are taken away.
    pub(super) fn split_off(&mut self, position: u64) -> Self {
        Self { values: self.values.split_off(&position) }
    }
}

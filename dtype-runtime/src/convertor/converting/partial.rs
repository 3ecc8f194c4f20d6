//! Values that have only partly arrived.

use alloc::collections::BTreeMap;
use core::ops::Range;

use crate::representation::WIDEST;

/// The incomplete values of a stream: a fragment ended or began inside them. They cannot be written until they are complete.
#[derive(Clone, Debug, Default)]
pub(in crate::convertor) struct Partials {
    /// The values, by the position of their first byte in the packed stream.
    values: BTreeMap<u64, Partial>,
}

/// A value that has only partly arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Partial {
    bytes: [u8; WIDEST],
    /// Which bytes have arrived, one bit each.
    have: u16,
}

impl Partial {
    /// All bytes of a value of this width; `None` until all have arrived.
    pub(super) fn whole(&mut self, len: usize) -> Option<&mut [u8]> {
        let all = u16::MAX >> (WIDEST - len);
        if self.have & all == all { Some(&mut self.bytes[..len]) } else { None }
    }
}

impl Partials {
    /// The value at a position: the bytes that arrived earlier, and `bytes`, which start at byte `into` of it.
    pub(super) fn with(&self, position: u64, into: usize, bytes: &[u8]) -> Partial {
        let mut partial = self.values.get(&position).copied().unwrap_or_default();
        for (index, byte) in bytes.iter().enumerate() {
            partial.bytes[into + index] = *byte;
            partial.have |= 1 << (into + index);
        }
        partial
    }

    /// Keeps the bytes of a value that have arrived.
    pub(super) fn keep(&mut self, position: u64, partial: Partial) {
        self.values.insert(position, partial);
    }

    /// Forgets a value that is complete.
    pub(super) fn forget(&mut self, position: u64) {
        self.values.remove(&position);
    }

    /// Forgets the values that begin in a range, because the range has all of their bytes.
    #[inline]
    pub(in crate::convertor) fn forget_all(&mut self, range: Range<u64>) {
        // Usually there are none, and no call is needed.
        if self.values.is_empty() {
            return;
        }
        while let Some((&position, _)) = self.values.range(range.clone()).next() {
            self.forget(position);
        }
    }

    /// The number of values.
    pub(in crate::convertor) fn len(&self) -> usize {
        self.values.len()
    }

    /// Removes the values at and after a position, and returns them.
    pub(in crate::convertor) fn split_off(&mut self, position: u64) -> Self {
        Self { values: self.values.split_off(&position) }
    }
}

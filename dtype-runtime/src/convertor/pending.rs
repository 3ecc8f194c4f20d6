//! The bytes of a record that is written only once all of them have arrived.

use alloc::vec::Vec;

use crate::error::Error;

/// The bytes of the record at the position of a stream that have arrived so far.
///
/// Records are checked by user code, which may panic and be called again. So nothing relies on a call having ended normally:
/// each call drops the bytes that an interrupted one left.
#[derive(Debug)]
pub(super) struct Pending {
    /// Packed bytes of a record, at least one.
    record: u64,
    bytes: Vec<u8>,
}

/// What bytes complete: the pending record, which is now [whole](Pending::head) or has no bytes, and the records after it.
pub(super) struct Complete<'a> {
    /// The position of the first of these records.
    pub(super) first: u64,
    pub(super) whole: &'a [u8],
    /// The first bytes of the next record, which is incomplete.
    pub(super) tail: &'a [u8],
}

impl Pending {
    /// An empty buffer for records of `record` packed bytes. For records without data, pass 1.
    pub(super) fn new(record: u64) -> Self {
        Self { record: record.max(1), bytes: Vec::new() }
    }

    /// Packed bytes of a record.
    pub(super) fn record(&self) -> u64 {
        self.record
    }

    /// An empty buffer for the same records.
    pub(super) fn cleared(&self) -> Self {
        Self::new(self.record)
    }

    /// Whether no record is incomplete.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The pending record, once [`complete`](Self::complete) has completed it; otherwise no bytes.
    pub(super) fn head(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds the bytes at a position of the stream. `None` if they do not complete the pending record. Otherwise the caller
    /// writes the records and then calls [`keep`](Self::keep).
    pub(super) fn complete<'a>(&mut self, position: u64, bytes: &'a [u8]) -> Option<Complete<'a>> {
        // A record lies in memory, so its size fits.
        let record = usize::try_from(self.record).unwrap_or(usize::MAX);
        let begun = usize::try_from(position % self.record).unwrap_or(usize::MAX);
        self.bytes.truncate(begun);
        let before = self.bytes.len();
        let missing = if before == 0 { 0 } else { record - before };
        let Some((head, rest)) = bytes.split_at_checked(missing) else {
            self.bytes.extend_from_slice(bytes);
            return None;
        };
        let (whole, tail) = rest.split_at(rest.len() - rest.len() % record);
        self.bytes.extend_from_slice(head);
        Some(Complete { first: position - before as u64, whole, tail })
    }

    /// Keeps the first bytes of the next record.
    pub(super) fn keep(&mut self, tail: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(tail);
    }

    /// Refuses a position inside a record.
    pub(super) fn check_boundary(&self, position: u64) -> Result<(), Error> {
        let record = self.record;
        if position.is_multiple_of(record) {
            Ok(())
        } else {
            Err(Error::InsideRecord { position, record })
        }
    }
}

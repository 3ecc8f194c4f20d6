//! The bytes of a file, of which each read is counted.

use std::ops::Range;

use dtype_stored::Budget;
use object::read::ReadRef;

/// The greatest length of a section's name in bytes.
const MAX_NAME: u16 = 4096;

/// A part of a file. What is read from it may stay in memory, as it does in a `ReadCache`, so it is counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted<'b, R> {
    data: R,
    start: u64,
    len: u64,
    budget: &'b Budget,
}

impl<'a, 'b, R: ReadRef<'a>> Counted<'b, R> {
    /// A whole file. If its length cannot be read, the file has no bytes.
    pub(super) fn new(data: R, budget: &'b Budget) -> Self {
        Self { data, start: 0, len: data.len().unwrap_or(0), budget }
    }

    /// Some of these bytes; `None` if they reach past the end.
    pub(super) fn part(self, start: u64, len: u64) -> Option<Self> {
        self.place(start, len).map(|start| Self { start, len, ..self })
    }

    pub(super) fn budget(&self) -> &'b Budget {
        self.budget
    }

    /// Where in the file a range of this part starts.
    fn place(self, offset: u64, len: u64) -> Option<u64> {
        let end = offset.checked_add(len)?;
        (end <= self.len).then(|| self.start.checked_add(offset))?
    }
}

impl<'a, R: ReadRef<'a>> ReadRef<'a> for Counted<'_, R> {
    fn len(self) -> Result<u64, ()> {
        Ok(self.len)
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'a [u8], ()> {
        let start = self.place(offset, size).ok_or(())?;
        self.budget.hold(usize::try_from(size).map_err(drop)?).map_err(drop)?;
        self.data.read_bytes_at(start, size)
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'a [u8], ()> {
        let len = range.end.checked_sub(range.start).ok_or(())?;
        let start = self.place(range.start, len).ok_or(())?;
        // Many names may lie in one text without an end.
        let end = start + len.min(MAX_NAME.into());
        let found = self.data.read_bytes_at_until(start..end, delimiter);
        let searched = found.map_or(MAX_NAME.into(), <[u8]>::len);
        self.budget.work(searched / 16 + 1).map_err(drop)?;
        self.budget.hold(found?.len()).map_err(drop)?;
        found
    }
}

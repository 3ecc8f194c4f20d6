//! A memory for instances of a random datatype.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]

use crate::model::Map;

/// A memory that holds `count` instances with some bytes to spare on both sides.
pub(crate) struct Memory {
    pub(crate) bytes: Vec<u8>,
    pub(crate) origin: usize,
}

impl Memory {
    const SPARE: i64 = 3;

    /// `None` if the origin lies before the first byte of data, and cannot be written as an offset.
    pub(crate) fn new(map: &Map, count: usize) -> Option<Self> {
        let bytes = map.bytes(count);
        let start = bytes.iter().min().copied().unwrap_or(0) - Self::SPARE;
        let end = bytes.iter().max().map_or(0, |last| last + 1) + Self::SPARE;
        let origin = usize::try_from(-start).ok()?;
        let bytes = (0..end - start).map(|i| (i * 31 + 7).to_le_bytes()[0]).collect();
        Some(Self { bytes, origin })
    }

    pub(crate) fn at(&self, displacement: i64) -> usize {
        usize::try_from(self.origin as i64 + displacement).unwrap()
    }
}

//! The position of a stream, for all packers and unpackers.

use core::ops::Range;

use crate::error::Error;

/// A position in the part of a packed stream that a packer or an unpacker may work on.
///
/// # Invariant
///
/// `start <= position <= end`.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    position: u64,
    start: u64,
    end: u64,
    /// A guess at the list block that holds the position.
    search_hint: usize,
}

impl Progress {
    /// The start of a stream of `end` bytes.
    #[inline]
    pub(super) const fn new(end: u64) -> Self {
        Self { position: 0, start: 0, end, search_hint: 0 }
    }

    #[inline]
    pub(super) const fn position(&self) -> u64 {
        self.position
    }

    /// The part of the stream.
    pub(super) const fn part(&self) -> Range<u64> {
        self.start..self.end
    }

    /// From the position to the end of the part.
    pub(super) const fn rest(&self) -> Range<u64> {
        self.position..self.end
    }

    #[inline]
    pub(super) const fn remaining(&self) -> u64 {
        self.end - self.position
    }

    /// The next bytes, at most `len`: their number, and their range in the stream.
    #[inline]
    pub(super) fn next(&self, len: usize) -> (usize, Range<u64>) {
        let bytes = usize::try_from(self.remaining()).map_or(len, |left| left.min(len));
        (bytes, self.position..self.position + bytes as u64)
    }

    /// State that copying a fragment reads, and updates for the next fragment.
    #[inline]
    pub(super) fn search_hint(&mut self) -> &mut usize {
        &mut self.search_hint
    }

    /// Moves past bytes that [`next`](Self::next) returned and that are now converted.
    #[inline]
    pub(super) fn advance(&mut self, bytes: usize) {
        self.position += bytes as u64;
        debug_assert!(self.position <= self.end, "past the end");
    }

    /// Moves to a position.
    ///
    /// # Errors
    ///
    /// [`Error::Position`] past the end, [`Error::OutsidePart`] before the start; the position is then unchanged.
    pub(super) fn seek(&mut self, position: u64) -> Result<(), Error> {
        self.check(position)?;
        self.position = position;
        Ok(())
    }

    /// Checks that [`seek`](Self::seek) would succeed.
    pub(super) fn check(&self, position: u64) -> Result<(), Error> {
        let Self { start, end, .. } = *self;
        if position > end {
            return Err(Error::Position { position, end });
        }
        if position < start {
            return Err(Error::OutsidePart { position, start, end });
        }
        Ok(())
    }

    /// Checks that a part can be split at `middle`, which has to lie between the position and the end.
    pub(super) fn check_middle(&self, middle: u64) -> Result<(), Error> {
        let Self { position, end, .. } = *self;
        if middle < position || middle > end {
            return Err(Error::Position { position: middle, end });
        }
        Ok(())
    }

    /// Splits this part at `middle`, which must have passed [`check_middle`](Self::check_middle): returns the part from
    /// `middle` on.
    pub(super) fn split_off(&mut self, middle: u64) -> Self {
        let end = core::mem::replace(&mut self.end, middle);
        Self { position: middle, start: middle, end, search_hint: self.search_hint }
    }
}

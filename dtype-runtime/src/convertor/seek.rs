//! Positions as the standard library's streams have them.

use std::io::{Error, ErrorKind, Result, Seek, SeekFrom};

use super::packer::Packer;
use super::unpacker::Unpacker;

impl Seek for Packer<'_> {
    /// As [`Packer::set_position`]; positions that it refuses, and negative ones, are
    /// [`InvalidInput`](ErrorKind::InvalidInput).
    ///
    /// ```
    /// use dtype_runtime::Packer;
    /// use std::io::{Read, Seek, SeekFrom};
    /// let mut packer = Packer::new(b"abcdef");
    /// packer.seek(SeekFrom::End(-2))?;
    /// let mut last = String::new();
    /// packer.read_to_string(&mut last)?;
    /// assert_eq!(last, "ef");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        let position = target(to, self.position(), self.position() + self.remaining())?;
        self.set_position(position).map_err(refused)?;
        Ok(position)
    }
}

impl Seek for Unpacker<'_> {
    /// As [`Unpacker::set_position`]; positions that it refuses, and negative ones, are
    /// [`InvalidInput`](ErrorKind::InvalidInput). The end is that of the part of the stream that is this
    /// unpacker's.
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        let position = target(to, self.position(), self.position() + self.remaining())?;
        self.set_position(position).map_err(refused)?;
        Ok(position)
    }
}

fn target(to: SeekFrom, current: u64, end: u64) -> Result<u64> {
    let position = match to {
        SeekFrom::Start(position) => Some(position),
        SeekFrom::Current(offset) => current.checked_add_signed(offset),
        SeekFrom::End(offset) => end.checked_add_signed(offset),
    };
    position.ok_or_else(|| Error::new(ErrorKind::InvalidInput, "a position before the first byte"))
}

fn refused(error: crate::Error) -> Error {
    Error::new(ErrorKind::InvalidInput, error)
}

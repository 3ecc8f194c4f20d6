//! What tests of messages share: frames made by hand, and faulty streams.

#![allow(dead_code, reason = "no test uses all of it")]

use std::io::{self, Read, Write};

use dtype_message::Header;

/// Bytes of a frame besides its payload.
pub(crate) const FRAME: usize = Header::FULL_LEN + 4;

/// Corrects the two checksums of the frame, if it has room for them.
pub(crate) fn seal(frame: &mut [u8]) {
    if frame.len() < FRAME {
        return;
    }
    let header = crc32c::crc32c(&frame[..44]);
    frame[44..48].copy_from_slice(&header.to_le_bytes());
    let end = frame.len() - 4;
    let whole = crc32c::crc32c_append(header, &frame[48..end]);
    frame[end..].copy_from_slice(&whole.to_le_bytes());
}

/// Changes a frame of one message and corrects the checksums.
pub(crate) fn changed(frame: &[u8], change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut frame = frame.to_vec();
    change(&mut frame);
    seal(&mut frame);
    frame
}

/// Sets the number of records in the header.
pub(crate) fn announce(frame: &mut [u8], count: u64) {
    frame[16..24].copy_from_slice(&count.to_le_bytes());
}

/// A reader that returns at most a fixed number of bytes at a time, interrupted before each read.
pub(crate) struct Drops<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) size: usize,
    interrupted: bool,
}

impl<'a> Drops<'a> {
    pub(crate) fn new(bytes: &'a [u8], size: usize) -> Self {
        Self { bytes, size, interrupted: false }
    }
}

impl Read for Drops<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.interrupted = !self.interrupted;
        if self.interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let size = buffer.len().min(self.size);
        self.bytes.read(&mut buffer[..size])
    }
}

/// A reader that fails after its last byte.
pub(crate) struct Fails<'a>(pub(crate) &'a [u8], pub(crate) io::ErrorKind);

impl Read for Fails<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() { Err(self.1.into()) } else { self.0.read(buffer) }
    }
}

/// A reader that returns a wrong count of the bytes it has read.
pub(crate) struct Lies<'a>(pub(crate) &'a [u8]);

impl Read for Lies<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() { Ok(buffer.len() + 1) } else { self.0.read(buffer) }
    }
}

/// A writer that counts the calls, and fails after a given number of bytes.
pub(crate) struct Counts {
    pub(crate) bytes: Vec<u8>,
    pub(crate) calls: usize,
    pub(crate) longest: usize,
    pub(crate) room: usize,
}

impl Counts {
    pub(crate) fn new(room: usize) -> Self {
        Self { bytes: Vec::new(), calls: 0, longest: 0, room }
    }
}

impl Write for Counts {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.calls += 1;
        self.longest = self.longest.max(buffer.len());
        if self.bytes.len() + buffer.len() > self.room {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.bytes.extend(buffer);
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        panic!("nothing flushes this writer")
    }
}

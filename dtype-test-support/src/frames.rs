//! What tests of messages share: frames made by hand, and faulty streams.

use std::io::{self, Read, Write};

/// Bytes of a frame besides its payload: a header of 48 bytes, and a checksum.
pub const FRAME: usize = 48 + 4;

/// Corrects the two checksums of the frame, if it has room for them.
pub fn seal(frame: &mut [u8]) {
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
pub fn changed(frame: &[u8], change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut frame = frame.to_vec();
    change(&mut frame);
    seal(&mut frame);
    frame
}

/// Sets the number of records in the header.
pub fn announce(frame: &mut [u8], count: u64) {
    frame[16..24].copy_from_slice(&count.to_le_bytes());
}

/// A reader that returns at most a fixed number of bytes at a time, interrupted before each read.
#[derive(Debug)]
pub struct Drops<'a> {
    pub bytes: &'a [u8],
    pub size: usize,
    interrupted: bool,
}

impl<'a> Drops<'a> {
    pub fn new(bytes: &'a [u8], size: usize) -> Self {
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
#[derive(Debug)]
pub struct Fails<'a>(pub &'a [u8], pub io::ErrorKind);

impl Read for Fails<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() { Err(self.1.into()) } else { self.0.read(buffer) }
    }
}

/// A reader that returns a wrong count of the bytes it has read.
#[derive(Debug)]
pub struct Lies<'a>(pub &'a [u8]);

impl Read for Lies<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() { Ok(buffer.len() + 1) } else { self.0.read(buffer) }
    }
}

/// A writer that counts the calls, and fails after a given number of bytes.
#[derive(Debug)]
pub struct Counts {
    pub bytes: Vec<u8>,
    pub calls: usize,
    pub longest: usize,
    pub room: usize,
}

impl Counts {
    pub fn new(room: usize) -> Self {
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

//! Reads bytes from a stream: as many as there are, or as many as are needed.

use std::io::{self, Read};

/// Reads until the buffer is full or the stream ends; returns the number of bytes read.
pub(crate) fn fill(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match fill_some(input, &mut buffer[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

/// Reads the available bytes, at least one unless the stream ends; returns their number.
pub(crate) fn fill_some(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(buffer) {
            Ok(count) if count <= buffer.len() => return Ok(count),
            Ok(_) => {
                let problem = "a reader claims more bytes than it had room for";
                return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

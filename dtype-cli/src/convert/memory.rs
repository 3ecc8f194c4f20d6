//! The memory to unpack into.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::sink::Sink;
use crate::failure::Failure;

/// The number of bytes between two windows to write at once.
const PIECE: usize = 1 << 16;

/// The memory to unpack into: zeros, or the bytes of another file. It is written once, from the front to the end: each window lies
/// after the previous one, since interleaving instances are all in one.
#[derive(Debug)]
pub(super) struct Memory<'a, W> {
    sink: Sink<'a, W>,
    /// The number of bytes written.
    position: u64,
    /// The file whose bytes fill the gaps. It is read as far as the output is written, or as the current window reaches.
    before: Option<(io::BufReader<File>, PathBuf)>,
}

impl<'a, W: Write> Memory<'a, W> {
    pub(super) fn create(
        path: &Path,
        stdout: &'a mut W,
        over: Option<&Path>,
    ) -> Result<Self, Failure> {
        let open = |over: &Path| {
            if over == Path::new("-") {
                let message = "`--over` takes a file, not `-` for standard input";
                return Err(Failure::Usage(message.into()));
            }
            let file = File::open(over).map_err(|error| Failure::file("read", over, error))?;
            Ok((io::BufReader::new(file), over.to_path_buf()))
        };
        let before = over.map(open).transpose()?;
        Ok(Self { sink: Sink::create(path, stdout)?, position: 0, before })
    }

    /// Reads the current bytes of the next window.
    pub(super) fn read(&mut self, start: u64, out: &mut [u8]) -> Result<(), Failure> {
        self.copy_up_to(start)?;
        // The previous window has written these bytes, so they hold no data of this one.
        let written = usize::try_from(self.position - start).unwrap_or(usize::MAX).min(out.len());
        let (written, rest) = out.split_at_mut(written);
        written.fill(0);
        self.kept(rest).map(drop)
    }

    /// Writes the bytes of the window that was read.
    pub(super) fn write(&mut self, start: u64, new: &[u8]) -> Result<(), Failure> {
        let written = usize::try_from(self.position - start).unwrap_or(usize::MAX).min(new.len());
        self.sink.write(&new[written..])?;
        self.position = self.position.max(start.saturating_add(new.len() as u64));
        Ok(())
    }

    /// Completes the memory, which has at least `len` bytes.
    pub(super) fn finish(mut self, len: u64) -> Result<(), Failure> {
        self.copy_up_to(len)?;
        let mut piece = vec![0; PIECE];
        loop {
            match self.kept(&mut piece)? {
                0 => return self.sink.finish(),
                kept => self.sink.write(&piece[..kept])?,
            }
        }
    }

    /// Writes the bytes before `end` that are in no window.
    fn copy_up_to(&mut self, end: u64) -> Result<(), Failure> {
        if self.position >= end {
            return Ok(());
        }
        let mut piece = vec![0; PIECE];
        while self.position < end {
            let len = usize::try_from(end - self.position).unwrap_or(PIECE).min(PIECE);
            self.kept(&mut piece[..len])?;
            self.sink.write(&piece[..len])?;
            self.position += len as u64;
        }
        Ok(())
    }

    /// Fills `out` with the next bytes that are kept, then with zeros. Returns the number of kept bytes.
    fn kept(&mut self, mut out: &mut [u8]) -> Result<usize, Failure> {
        let len = out.len();
        if let Some((before, path)) = &mut self.before {
            // The copied bytes are cut off from the front of `out`.
            let copied = io::copy(&mut before.take(len as u64), &mut out);
            copied.map_err(|error| Failure::file("read", path, error))?;
        }
        out.fill(0);
        Ok(len - out.len())
    }
}

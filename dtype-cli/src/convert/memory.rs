//! The memory to unpack into.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::resized;
use super::sink::Sink;
use crate::failure::Failure;
use crate::output::NewFile;

/// The number of bytes between two windows to write at once.
const PIECE: usize = 1 << 16;

/// The memory to unpack into: zeros, or the bytes of another file.
#[derive(Debug)]
pub(super) enum Memory<'a, W> {
    /// A file that can be read and written at any offset.
    File {
        file: NewFile,
        /// After this offset there are only zeros, or nothing.
        zeros: u64,
    },
    /// An output that is written from the front to the end.
    Stream(Stream<'a, W>),
    /// Bytes that are written once they are complete.
    Bytes(Vec<u8>, Sink<'a, W>),
}

/// An output that is written once, from the front to the end.
#[derive(Debug)]
pub(super) struct Stream<'a, W> {
    sink: Sink<'a, W>,
    /// The number of bytes written.
    position: u64,
    /// The file whose bytes fill the gaps. It is read as far as the output is written, or as the current window reaches.
    before: Option<(io::BufReader<File>, PathBuf)>,
}

impl<'a, W: Write> Memory<'a, W> {
    /// Makes the memory. `in_order` says whether each window lies after the previous one.
    pub(super) fn create(
        path: &Path,
        stdout: &'a mut W,
        in_order: bool,
        over: Option<&Path>,
    ) -> Result<Self, Failure> {
        if over == Some(Path::new("-")) {
            let message = "`--over` takes a file, not `-` for standard input";
            return Err(Failure::Usage(message.into()));
        }
        let reading = |error| Failure::file("read", over.unwrap_or(path), error);
        let mut before = over.map(File::open).transpose().map_err(reading)?;
        match Sink::create(path, stdout)? {
            Sink::File(mut file) if file.is_regular() => {
                let copied = before.as_mut().map(|before| io::copy(before, file.file()));
                let zeros = copied.transpose().map_err(reading)?.unwrap_or(0);
                Ok(Self::File { file, zeros })
            }
            sink if in_order => {
                let before = before.map(io::BufReader::new).zip(over.map(Path::to_path_buf));
                Ok(Self::Stream(Stream { sink, position: 0, before }))
            }
            sink => {
                let mut bytes = Vec::new();
                if let Some(before) = &mut before {
                    before.read_to_end(&mut bytes).map_err(reading)?;
                }
                Ok(Self::Bytes(bytes, sink))
            }
        }
    }

    /// Reads the current bytes of the next window.
    pub(super) fn read(&mut self, start: u64, out: &mut [u8]) -> Result<(), Failure> {
        match self {
            Self::File { zeros, .. } if *zeros <= start => {
                out.fill(0);
                Ok(())
            }
            Self::File { file, zeros } => {
                let here = usize::try_from(*zeros - start).unwrap_or(usize::MAX).min(out.len());
                let (there, after) = out.split_at_mut(here);
                after.fill(0);
                let found = file.file().seek(SeekFrom::Start(start));
                let read = found.and_then(|_| file.file().read_exact(there));
                read.map_err(|error| Failure::file("write", file.path(), error))
            }
            Self::Stream(stream) => stream.read(start, out),
            Self::Bytes(bytes, _) => {
                out.copy_from_slice(part(bytes, start, out.len())?);
                Ok(())
            }
        }
    }

    /// Writes the bytes of the window that was read.
    pub(super) fn write(&mut self, start: u64, new: &[u8]) -> Result<(), Failure> {
        match self {
            Self::File { file, zeros } => {
                *zeros = start.saturating_add(new.len() as u64).max(*zeros);
                let found = file.file().seek(SeekFrom::Start(start));
                let written = found.and_then(|_| file.file().write_all(new));
                written.map_err(|error| Failure::file("write", file.path(), error))
            }
            Self::Stream(stream) => stream.write(start, new),
            Self::Bytes(bytes, _) => {
                part(bytes, start, new.len())?.copy_from_slice(new);
                Ok(())
            }
        }
    }

    /// Completes the memory, which has at least `len` bytes.
    pub(super) fn finish(self, len: u64) -> Result<(), Failure> {
        match self {
            Self::File { mut file, zeros } => {
                let made = file.file().set_len(len.max(zeros));
                made.map_err(|error| Failure::file("write", file.path(), error))?;
                file.finish()
            }
            Self::Stream(stream) => stream.finish(len),
            Self::Bytes(mut bytes, mut sink) => {
                let len = len.max(bytes.len() as u64);
                sink.write(resized(&mut bytes, len)?)?;
                sink.finish()
            }
        }
    }
}

impl<W: Write> Stream<'_, W> {
    fn read(&mut self, start: u64, out: &mut [u8]) -> Result<(), Failure> {
        self.copy_up_to(start)?;
        // The previous window has written these bytes, so they hold no data of this one.
        let written = usize::try_from(self.position - start).unwrap_or(usize::MAX).min(out.len());
        let (written, rest) = out.split_at_mut(written);
        written.fill(0);
        self.kept(rest).map(drop)
    }

    fn write(&mut self, start: u64, new: &[u8]) -> Result<(), Failure> {
        let written = usize::try_from(self.position - start).unwrap_or(usize::MAX).min(new.len());
        self.sink.write(&new[written..])?;
        self.position = self.position.max(start.saturating_add(new.len() as u64));
        Ok(())
    }

    fn finish(mut self, len: u64) -> Result<(), Failure> {
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

/// A part of a memory. The memory grows until it contains the part.
fn part(bytes: &mut Vec<u8>, start: u64, len: usize) -> Result<&mut [u8], Failure> {
    let end = start.saturating_add(len as u64);
    let end = end.max(bytes.len() as u64);
    let bytes = resized(bytes, end)?;
    // The end of the part fits memory, so its start does, too.
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    bytes.get_mut(start..).and_then(|rest| rest.get_mut(..len)).ok_or(Failure::Memory(end))
}

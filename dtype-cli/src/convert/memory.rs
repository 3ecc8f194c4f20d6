//! The memory to unpack into.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::resized;
use crate::failure::Failure;
use crate::output::NewFile;

/// The memory to unpack into.
pub(super) enum Memory {
    /// A file that can be read and written at any offset, and the offset after which it has only zeros.
    File(NewFile, u64),
    /// Bytes that are written to a file or to standard output when they are complete.
    Bytes(Vec<u8>, Option<NewFile>),
}

impl Memory {
    /// Zeros of the given length, or the bytes of another file.
    pub(super) fn create(path: &Path, len: u64, over: Option<&Path>) -> Result<Self, Failure> {
        let open = |over| File::open(over).map_err(|error| Failure::file("read", over, error));
        let mut before = over.map(open).transpose()?;
        let reading = |error| Failure::file("read", over.unwrap_or(path), error);
        let file = if path == Path::new("-") { None } else { Some(NewFile::create(path)?) };
        match file {
            Some(mut file) if file.is_regular() => {
                let copied = before.as_mut().map(|before| io::copy(before, file.file()));
                let copied = copied.transpose().map_err(reading)?.unwrap_or(0);
                let made = file.file().set_len(len.max(copied));
                made.map_err(|error| Failure::file("write", path, error))?;
                Ok(Self::File(file, copied))
            }
            file => {
                let mut bytes = Vec::new();
                if let Some(before) = &mut before {
                    before.read_to_end(&mut bytes).map_err(reading)?;
                }
                let len = len.max(bytes.len() as u64);
                resized(&mut bytes, len)?;
                Ok(Self::Bytes(bytes, file))
            }
        }
    }

    pub(super) fn read(&mut self, start: u64, out: &mut [u8]) -> Result<(), Failure> {
        match self {
            Self::File(_, zeros) if *zeros <= start => {
                out.fill(0);
                Ok(())
            }
            Self::File(file, _) => {
                let found = file.file().seek(SeekFrom::Start(start));
                let read = found.and_then(|_| file.file().read_exact(out));
                read.map_err(|error| Failure::file("write", file.path(), error))
            }
            Self::Bytes(bytes, _) => {
                out.copy_from_slice(part(bytes, start, out.len())?);
                Ok(())
            }
        }
    }

    pub(super) fn write(&mut self, start: u64, new: &[u8]) -> Result<(), Failure> {
        match self {
            Self::File(file, zeros) => {
                *zeros = start.saturating_add(new.len() as u64).max(*zeros);
                let found = file.file().seek(SeekFrom::Start(start));
                let written = found.and_then(|_| file.file().write_all(new));
                written.map_err(|error| Failure::file("write", file.path(), error))
            }
            Self::Bytes(bytes, _) => {
                part(bytes, start, new.len())?.copy_from_slice(new);
                Ok(())
            }
        }
    }

    pub(super) fn finish(self, stdout: &mut impl Write) -> Result<(), Failure> {
        match self {
            Self::File(file, _) => file.finish(),
            Self::Bytes(bytes, None) => Ok(stdout.write_all(&bytes)?),
            Self::Bytes(bytes, Some(mut file)) => {
                let written = file.file().write_all(&bytes);
                written.map_err(|error| Failure::file("write", file.path(), error))?;
                file.finish()
            }
        }
    }
}

/// A part of a memory that is long enough for it.
fn part(bytes: &mut [u8], start: u64, len: usize) -> Result<&mut [u8], Failure> {
    let memory = Failure::Memory(start);
    let start = usize::try_from(start).ok();
    let range = start.and_then(|start| Some(start..start.checked_add(len)?));
    range.and_then(|range| bytes.get_mut(range)).ok_or(memory)
}

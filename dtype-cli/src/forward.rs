//! Bytes that are read once, from the front to the end: a file, a pipe, standard input.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, StdinLock};
use std::path::{Path, PathBuf};

#[cfg(feature = "hdf5")]
use crate::dataset::Dataset;
use crate::failure::Failure;
use crate::input::StandardInput;

/// The number of bytes to read at once. No more memory than this is reserved before the bytes arrive.
const PIECE: usize = 1 << 20;

/// An input and the part of it that is in memory. The part grows only as bytes arrive, whatever length is asked for.
#[derive(Debug)]
pub(crate) struct Forward {
    input: Input,
    path: PathBuf,
    /// Room for bytes. It is zeroed once, when it grows.
    buffer: Vec<u8>,
    /// The bytes in the buffer that are still needed, and the offset of the first of them in the input.
    first: usize,
    last: usize,
    offset: u64,
    has_ended: bool,
}

#[derive(Debug)]
enum Input {
    File(File),
    Pipe(File),
    Standard(StdinLock<'static>),
    #[cfg(feature = "hdf5")]
    Dataset(Box<Dataset>),
}

impl Forward {
    /// Opens a file, or takes standard input for `-`.
    pub(crate) fn open(path: &Path, stdin: &mut StandardInput) -> Result<Self, Failure> {
        let failed = |error| Failure::file("read", path, error);
        let input = if path == Path::new("-") {
            Input::Standard(stdin.take()?)
        } else {
            let file = File::open(path).map_err(failed)?;
            let is_file = file.metadata().map_err(failed)?.is_file();
            if is_file { Input::File(file) } else { Input::Pipe(file) }
        };
        Ok(Self::new(input, path))
    }

    /// The items of a dataset, with a header.
    #[cfg(feature = "hdf5")]
    pub(crate) fn over(dataset: Dataset, path: &Path) -> Self {
        Self::new(Input::Dataset(Box::new(dataset)), path)
    }

    fn new(input: Input, path: &Path) -> Self {
        let path = path.to_path_buf();
        Self { input, path, buffer: Vec::new(), first: 0, last: 0, offset: 0, has_ended: false }
    }

    /// The bytes from `start` to `end`, fewer if the input ends before. `start` must not be less than in an earlier
    /// call, unless [`rewind`](Self::rewind) went back; bytes before it are given up.
    pub(crate) fn bytes(&mut self, start: u64, end: u64) -> Result<&[u8], Failure> {
        self.skip_to(start)?;
        let wanted = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX);
        while self.buffered() < wanted && !self.has_ended {
            self.fill(wanted)?;
        }
        let here = self.buffered().min(wanted);
        Ok(&self.buffer[self.first..self.first + here])
    }

    /// The offset of the end of the input, once a call of [`bytes`](Self::bytes) has returned too few.
    pub(crate) fn end(&self) -> u64 {
        self.offset + self.buffered() as u64
    }

    /// Goes back to an offset, so that the next call of [`bytes`](Self::bytes) can start there. Returns whether it can: a
    /// pipe cannot be read again.
    pub(crate) fn rewind(&mut self, start: u64) -> Result<bool, Failure> {
        let Input::File(file) = &mut self.input else { return Ok(false) };
        let sought = file.seek(SeekFrom::Start(start));
        sought.map_err(|error| Failure::file("read", &self.path, error))?;
        (self.first, self.last, self.offset, self.has_ended) = (0, 0, start, false);
        Ok(true)
    }

    fn buffered(&self) -> usize {
        self.last - self.first
    }

    /// Gives up the bytes before `start`.
    fn skip_to(&mut self, start: u64) -> Result<(), Failure> {
        let mut ahead = start.saturating_sub(self.offset);
        loop {
            let here = usize::try_from(ahead).unwrap_or(usize::MAX).min(self.buffered());
            self.first += here;
            self.offset += here as u64;
            ahead -= here as u64;
            if ahead == 0 || self.has_ended {
                return Ok(());
            }
            // Nothing is buffered. A file is not read where it is skipped, except at its end, if that comes first.
            if let Input::File(file) = &mut self.input {
                let failed = |error| Failure::file("read", &self.path, error);
                let len = file.metadata().map_err(failed)?.len();
                let next = start.min(len).max(self.offset);
                file.seek(SeekFrom::Start(next)).map_err(failed)?;
                ahead -= next - self.offset;
                self.offset = next;
                if ahead == 0 {
                    return Ok(());
                }
            }
            self.fill(PIECE)?;
        }
    }

    /// Reads some bytes, no more than are wanted or worth reading ahead.
    fn fill(&mut self, wanted: usize) -> Result<(), Failure> {
        if self.first > 0 {
            self.buffer.copy_within(self.first..self.last, 0);
            (self.first, self.last) = (0, self.last - self.first);
        }
        // Small requests are read ahead, so that not each of them is a call of the system.
        let room = wanted.saturating_sub(self.last).clamp(PIECE / 16, PIECE);
        let needed = self.last + room;
        if needed > self.buffer.len() {
            let more = needed - self.buffer.len();
            self.buffer.try_reserve(more).map_err(|_| Failure::Memory(needed as u64))?;
            self.buffer.resize(needed, 0);
        }
        let read = loop {
            match self.input.read(&mut self.buffer[self.last..needed]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        let count = read.map_err(|error| Failure::file("read", &self.path, error))?;
        self.last += count.min(room);
        self.has_ended = count == 0;
        Ok(())
    }
}

impl Read for Input {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) | Self::Pipe(file) => file.read(out),
            Self::Standard(stdin) => stdin.read(out),
            #[cfg(feature = "hdf5")]
            Self::Dataset(dataset) => dataset.read(out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn parts_that_overlap_and_parts_that_are_far_apart() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let all: Vec<u8> = (0..300_000_u32).map(|i| (i % 251) as u8).collect();
        file.write_all(&all).unwrap();
        let mut input = Forward::open(file.path(), &mut StandardInput::default()).unwrap();
        for (start, end) in [(0, 10), (3, 100_000), (3, 4), (99_990, 100_100), (250_000, 250_001)] {
            assert_eq!(input.bytes(start as u64, end as u64).unwrap(), &all[start..end]);
        }
        assert_eq!(input.bytes(299_998, u64::MAX).unwrap(), &all[299_998..]);
        assert_eq!(input.end(), 300_000);
        assert!(input.bytes(1 << 60, u64::MAX).unwrap().is_empty());
        assert_eq!(input.end(), 300_000);
        assert!(input.rewind(5).unwrap());
        assert_eq!(input.bytes(6, 9).unwrap(), &all[6..9]);
    }
}

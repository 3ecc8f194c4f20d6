//! An input that is read once, from front to end: a file, a pipe, or standard input.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, StdinLock};
use std::path::{Path, PathBuf};

use crate::dataset::Dataset;
use crate::failure::Failure;
use crate::input::StandardInput;

/// The number of bytes to read at once. No more memory than this is reserved before the bytes arrive.
const PIECE: usize = 1 << 20;

/// An input and the part of it that is in memory. The part grows only as bytes arrive, whatever length is requested.
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
    /// The number of bytes before these that are kept.
    kept: usize,
}

#[derive(Debug)]
enum Input {
    File(File),
    Pipe(File),
    Standard(StdinLock<'static>),
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
    pub(crate) fn over(dataset: Dataset, path: &Path) -> Self {
        Self::new(Input::Dataset(Box::new(dataset)), path)
    }

    fn new(input: Input, path: &Path) -> Self {
        let (path, buffer) = (path.to_path_buf(), Vec::new());
        Self { input, path, buffer, first: 0, last: 0, offset: 0, has_ended: false, kept: 0 }
    }

    /// Keeps this many bytes, so that [`rewind`](Self::rewind) can go back to them even in a pipe.
    pub(crate) fn keeping(self, kept: usize) -> Self {
        Self { kept, ..self }
    }

    /// The bytes from `start` to `end`, fewer if the input ends before. `start` must not be less than in an earlier call,
    /// unless [`rewind`](Self::rewind) went back; bytes before it are discarded.
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

    /// Goes back to an offset, so that the next call of [`bytes`](Self::bytes) can start there. Returns whether that is
    /// possible: a pipe cannot be read again before the bytes that are kept.
    pub(crate) fn rewind(&mut self, start: u64) -> Result<bool, Failure> {
        let Some(back) = self.offset.checked_sub(start) else { return Ok(true) };
        let back = usize::try_from(back).unwrap_or(usize::MAX);
        if back <= self.kept.min(self.first) {
            self.first -= back;
            self.offset = start;
            return Ok(true);
        }
        let Input::File(file) = &mut self.input else { return Ok(false) };
        let sought = file.seek(SeekFrom::Start(start));
        sought.map_err(|error| Failure::file("read", &self.path, error))?;
        (self.first, self.last, self.offset, self.has_ended) = (0, 0, start, false);
        Ok(true)
    }

    /// The length of a file; `None` for a pipe, whose length is only known at its end.
    pub(crate) fn file_len(&self) -> Result<Option<u64>, Failure> {
        let Input::File(file) = &self.input else { return Ok(None) };
        let metadata = file.metadata().map_err(|error| Failure::file("read", &self.path, error))?;
        Ok(Some(metadata.len()))
    }

    fn buffered(&self) -> usize {
        self.last - self.first
    }

    /// Discards the bytes before `start`.
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
            // Nothing is buffered. Skipped parts of a file are not read.
            let len = self.file_len()?;
            if let (Input::File(file), Some(len)) = (&mut self.input, len) {
                let failed = |error| Failure::file("read", &self.path, error);
                let next = start.min(len).max(self.offset);
                if next > self.offset {
                    file.seek(SeekFrom::Start(next)).map_err(failed)?;
                    (self.first, self.last) = (0, 0);
                }
                ahead -= next - self.offset;
                self.offset = next;
                if ahead == 0 {
                    return Ok(());
                }
            }
            self.fill(PIECE)?;
        }
    }

    /// Reads some bytes: at most as many as are wanted or worth reading ahead.
    fn fill(&mut self, wanted: usize) -> Result<(), Failure> {
        // Bytes are moved once for each byte that is kept, and not once for each that is read.
        if self.first > 2 * self.kept {
            let start = self.first - self.kept;
            self.buffer.copy_within(start..self.last, 0);
            (self.first, self.last) = (self.kept, self.last - start);
        }
        // Small requests are read ahead, so that not every request is a system call.
        let room = wanted.saturating_sub(self.buffered()).clamp(PIECE / 16, PIECE);
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

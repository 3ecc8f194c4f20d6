//! Files that are read at any offset.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::failure::Failure;
use crate::input::StandardInput;

/// Whether a path names a regular file, which can be read at any offset and whose length is known.
pub(super) fn is_file(path: &Path) -> bool {
    path != Path::new("-") && path.is_file()
}

/// Bytes that can be read at any offset: a file, or the whole content of a pipe, which has no offsets.
#[derive(Debug)]
pub(super) enum Source {
    File { file: File, len: u64 },
    Bytes(Vec<u8>),
}

impl Source {
    /// Opens a file, or takes standard input. From an input without an end, no more is read than is needed.
    pub(super) fn open(
        path: &Path,
        needed: Option<i128>,
        stdin: &mut StandardInput,
    ) -> Result<Self, Failure> {
        let failed = |error| Failure::file("read", path, error);
        // Zero if data before the start are needed, which is refused later.
        let needed =
            needed.map_or(u64::MAX, |needed| u64::try_from(needed.max(0)).unwrap_or(u64::MAX));
        if path == Path::new("-") {
            return all(stdin.take()?.take(needed)).map_err(failed);
        }
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_file() {
            return Ok(Self::File { file, len: metadata.len() });
        }
        all(file.take(needed)).map_err(failed)
    }

    pub(super) fn len(&self) -> u64 {
        match self {
            Self::File { len, .. } => *len,
            Self::Bytes(bytes) => bytes.len() as u64,
        }
    }

    /// Reads existing bytes.
    pub(super) fn read(&mut self, start: u64, out: &mut [u8], path: &Path) -> Result<(), Failure> {
        let read = match self {
            Self::File { file, .. } => {
                file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(out))
            }
            Self::Bytes(bytes) => {
                let from = usize::try_from(start).ok().and_then(|start| bytes.get(start..));
                from.unwrap_or_default().read_exact(out)
            }
        };
        read.map_err(|error| Failure::file("read", path, error))
    }
}

fn all(mut reader: impl Read) -> io::Result<Source> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes)?;
    Ok(Source::Bytes(bytes))
}

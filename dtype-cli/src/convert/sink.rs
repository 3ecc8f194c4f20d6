//! An output to which bytes are written one after another.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use crate::failure::Failure;
use crate::output::NewFile;

/// Standard output, or a file that appears once it is complete.
#[derive(Debug)]
pub(super) enum Sink<'a, W> {
    Standard(&'a mut W),
    File(NewFile),
}

impl<'a, W: Write> Sink<'a, W> {
    /// Standard output for `-`, otherwise a new file. A terminal is refused, because it would interpret some bytes as commands.
    pub(super) fn create(path: &Path, stdout: &'a mut W) -> Result<Self, Failure> {
        if path == Path::new("-") {
            if io::stdout().is_terminal() {
                let message =
                    "the output is bytes, and standard output is a terminal: give a file or a pipe";
                return Err(Failure::Usage(message.into()));
            }
            return Ok(Self::Standard(stdout));
        }
        NewFile::create(path).map(Self::File)
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match self {
            Self::Standard(out) => Ok(out.write_all(bytes)?),
            Self::File(file) => {
                let written = file.file().write_all(bytes);
                written.map_err(|error| Failure::file("write", file.path(), error))
            }
        }
    }

    pub(super) fn finish(self) -> Result<(), Failure> {
        match self {
            Self::Standard(out) => Ok(out.flush()?),
            Self::File(file) => file.finish(),
        }
    }
}

//! Why a command ends without having done its work.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use dtype_runtime::Error;

use crate::problem::{Problem, render};

/// Why a command ends.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The text of a type is wrong.
    Notation {
        /// What is wrong.
        problems: Vec<Problem>,
        /// The text.
        source: String,
        /// What the text is called.
        name: String,
    },
    /// The runtime refuses.
    Refused {
        /// What was to be done: `"pack"`.
        action: &'static str,
        /// Why not.
        error: Error,
        /// What would help.
        help: Option<String>,
    },
    /// A file cannot be read or written.
    File {
        /// What was to be done with it: `"read"`.
        action: &'static str,
        /// The file; `-` for a standard stream.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// Standard output cannot be written.
    Output(io::Error),
    /// The arguments contradict one another.
    Usage(String),
    /// There is no memory for so many bytes.
    Memory(u64),
}

impl Failure {
    /// A file cannot be used.
    pub(crate) fn file(action: &'static str, path: &Path, error: io::Error) -> Self {
        Self::File { action, path: path.into(), error }
    }

    /// The runtime refuses.
    pub(crate) fn refused(action: &'static str, error: Error) -> Self {
        Self::Refused { action, error, help: None }
    }

    /// Whether someone who read the output has read enough.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// The message, with colours or without, for a terminal of so many columns.
    pub(crate) fn report(&self, colour: bool, width: usize) -> String {
        match self {
            Self::Notation { problems, source, name } => {
                render(problems, source, name, colour, width)
            }
            other if colour => format!("\x1b[1;31merror\x1b[0m: {other}\n"),
            other => format!("error: {other}\n"),
        }
    }
}

impl From<io::Error> for Failure {
    /// Of the commands' own writing, all of which goes to standard output.
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Notation { problems, name, .. } => {
                let first = problems.first().map_or("", |problem| &problem.message);
                write!(f, "{name}: {first}")
            }
            Self::Refused { action, error, help } => {
                write!(f, "cannot {action}: {error}")?;
                help.iter().try_for_each(|help| write!(f, "\nhelp: {help}"))
            }
            Self::File { action, path, error } => {
                write!(f, "cannot {action} {}: {error}", path.display())
            }
            Self::Output(error) => write!(f, "cannot write to standard output: {error}"),
            Self::Usage(message) => f.write_str(message),
            Self::Memory(bytes) => write!(f, "no memory for {bytes} bytes"),
        }
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Refused { error, .. } => Some(error),
            Self::File { error, .. } | Self::Output(error) => Some(error),
            Self::Notation { .. } | Self::Usage(_) | Self::Memory(_) => None,
        }
    }
}

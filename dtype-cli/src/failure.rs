//! Why a command fails.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use dtype_runtime::Error;

use crate::debug_info;
use crate::problem::{Problem, render};
use crate::value::{printable, printable_lines};

/// Why a command fails.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The text of a type has mistakes.
    Notation {
        /// The mistakes.
        problems: Vec<Problem>,
        /// The text.
        source: String,
        /// The name of the text, such as a file name.
        name: String,
    },
    /// The runtime refuses the operation.
    Refused {
        /// The operation: `"pack"`.
        action: &'static str,
        /// The reason.
        error: Error,
        /// A suggestion.
        help: Option<String>,
    },
    /// A record has a value that this machine cannot represent.
    Record {
        /// The number of the record, from 0.
        record: u64,
        /// The reason.
        error: Error,
    },
    /// An input ends inside a record.
    Partial {
        /// The number of the record, from 0.
        record: u64,
        /// The offset of the bytes that remain.
        offset: u64,
        /// The number of bytes that remain.
        remaining: u64,
        /// The number of bytes that a record needs at least.
        expected: u64,
    },
    /// A file cannot be read or written.
    File {
        /// The operation: `"read"`.
        action: &'static str,
        /// The file; `-` for standard input.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// A file has no layout for a type.
    DebugInfo {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: debug_info::Error,
    },
    /// Standard output cannot be written.
    Output(io::Error),
    /// The arguments are not understood.
    Arguments(Box<clap::Error>),
    /// The arguments contradict one another.
    Usage(String),
    /// The memory could not be allocated; its size in bytes.
    Memory(u64),
}

impl Failure {
    /// A file cannot be used.
    pub(crate) fn file(action: &'static str, path: &Path, error: io::Error) -> Self {
        Self::File { action, path: path.into(), error }
    }

    /// The runtime refuses the operation.
    pub(crate) fn refused(action: &'static str, error: Error) -> Self {
        Self::Refused { action, error, help: None }
    }

    /// An operation that needs data before the start of the memory, the first of them at byte `start`.
    pub(crate) fn before_start(action: &str, start: i128, origin: u64) -> Self {
        Self::Usage(format!(
            "cannot {action}: the data start at byte {start}, before the memory\n\
             help: `--origin {}` makes room for them",
            i128::from(origin) - start
        ))
    }

    /// Whether the reader of the output has closed it.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        match self {
            Self::Output(error) | Self::File { action: "write", error, .. } => {
                error.kind() == io::ErrorKind::BrokenPipe
            }
            _ => false,
        }
    }

    /// The message, with or without colours, for a terminal of `width` columns.
    pub(crate) fn report(&self, colour: bool, width: usize) -> String {
        match self {
            Self::Notation { problems, source, name } => {
                render(problems, source, name, colour, width)
            }
            other => {
                let (on, off) = if colour { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
                format!("{on}error{off}: {}\n", printable_lines(&other.to_string()))
            }
        }
    }
}

impl From<io::Error> for Failure {
    /// An error in the commands' own output, all of which goes to standard output.
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Self {
        Self::Arguments(Box::new(error))
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
            Self::Record { record, error } => write!(f, "cannot read record {record}: {error}"),
            Self::Partial { record, offset, remaining, expected } => {
                let bytes = if *remaining == 1 { "byte remains" } else { "bytes remain" };
                write!(
                    f,
                    "the input ends inside record {record}: {remaining} {bytes} at offset {offset}, \
                     expected at least {expected}"
                )
            }
            Self::File { action, path, error } => {
                write!(f, "cannot {action} {}: {error}", shown(path))
            }
            Self::DebugInfo { path, error } => write!(f, "{}: {error}", shown(path)),
            Self::Output(error) => write!(f, "cannot write to standard output: {error}"),
            Self::Arguments(error) => {
                let message = error.render().to_string();
                f.write_str(message.strip_prefix("error: ").unwrap_or(&message).trim_end())
            }
            Self::Usage(message) => f.write_str(message),
            Self::Memory(bytes) => write!(f, "could not allocate {bytes} bytes"),
        }
    }
}

/// The name of an input or output file in a message.
pub(crate) fn shown(path: &Path) -> String {
    let path = if path == Path::new("-") { Path::new("standard input") } else { path };
    printable(path.as_os_str().as_encoded_bytes())
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Refused { error, .. } | Self::Record { error, .. } => Some(error),
            Self::File { error, .. } | Self::Output(error) => Some(error),
            Self::Arguments(error) => Some(error),
            Self::DebugInfo { error, .. } => Some(error),
            Self::Notation { .. } | Self::Partial { .. } | Self::Usage(_) | Self::Memory(_) => None,
        }
    }
}

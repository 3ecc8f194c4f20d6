//! Errors of the commands.

use std::io;
use std::path::{Path, PathBuf};

use dtype_runtime::Error;

use crate::debug_info;
use dtype_text::problem::Problem;

use crate::snippet::render;
use dtype_text::printable::{printable, printable_lines};

/// Why a command fails.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The text of a type has mistakes.
    #[error("{name}: {}", problems.first().map_or("", |problem| &problem.message))]
    Notation {
        /// The mistakes.
        problems: Vec<Problem>,
        /// The text.
        text: String,
        /// The name of the text, such as a file name.
        name: String,
    },
    /// The runtime refuses the operation.
    #[error("cannot {action}: {error}{}", help.as_ref().map_or(String::new(), |help| format!("\nhelp: {help}")))]
    Refused {
        /// The operation: `"pack"`.
        action: &'static str,
        /// The reason.
        #[source]
        error: Error,
        /// A suggestion.
        help: Option<String>,
    },
    /// A record has a value that this machine cannot represent.
    #[error("cannot read record {record}: {error}")]
    Record {
        /// The number of the record, from 0.
        record: u64,
        /// The reason.
        #[source]
        error: Error,
    },
    /// A record has bytes that are not a value of their type.
    #[error(
        "cannot {action}: record {record}{}: {reason}",
        match path.strip_prefix('.').unwrap_or(path) {
            "" => String::new(),
            path => format!(", field {path}"),
        }
    )]
    Invalid {
        /// The operation: `"unpack"`.
        action: &'static str,
        /// The number of the record, from 0.
        record: u64,
        /// The path of the field, after a dot if it starts with a name.
        path: String,
        /// What was found, and what was expected.
        reason: String,
    },
    /// An input ends inside a record.
    #[error(
        "the input ends inside record {record}: {} at offset {offset}, expected at least {expected}",
        if *remaining == 1 { "1 byte remains".to_owned() } else { format!("{remaining} bytes remain") }
    )]
    Partial {
        /// The number of the record, from 0.
        record: u64,
        /// The offset of the bytes that remain.
        offset: u64,
        /// The number of bytes that remain.
        remaining: u64,
        /// The least number of bytes of a record.
        expected: u64,
    },
    /// A file cannot be read or written.
    #[error("cannot {action} {}: {error}", shown(path))]
    File {
        /// The operation: `"read"`.
        action: &'static str,
        /// The file; `-` for standard input.
        path: PathBuf,
        /// The reason.
        #[source]
        error: io::Error,
    },
    /// A file has no layout for a type.
    #[error("{}: {error}", shown(path))]
    DebugInfo {
        /// The file.
        path: PathBuf,
        /// The reason.
        #[source]
        error: debug_info::Error,
    },
    /// Standard output cannot be written.
    #[error("cannot write to standard output: {0}")]
    Output(#[source] io::Error),
    /// The arguments are not understood.
    #[error("{}", without_title(.0))]
    Arguments(#[source] Box<clap::Error>),
    /// The arguments contradict one another.
    #[error("{0}")]
    Usage(String),
    /// The memory could not be allocated; its size in bytes.
    #[error("could not allocate {0} bytes")]
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

    /// The failure of an operation that needs data before the start of the memory, from byte `start` on.
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
            Self::Notation { problems, text, name } => render(problems, text, name, colour, width),
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

/// The message of an error in the arguments, without its first word.
fn without_title(error: &clap::Error) -> String {
    let message = error.render().to_string();
    message.strip_prefix("error: ").unwrap_or(&message).trim_end().to_owned()
}

/// The name of an input or output file in a message.
pub(crate) fn shown(path: &Path) -> String {
    let path = if path == Path::new("-") { Path::new("standard input") } else { path };
    printable(path.as_os_str().as_encoded_bytes())
}

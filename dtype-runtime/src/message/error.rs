//! What can be wrong with a message.

use core::fmt;
use std::io;

use super::header::{MAGIC, VERSION};

/// Why a message was not written, or not taken. Every variant says what was expected and what was there.
///
/// Nothing that the caller lent for the records has been changed when one of these comes back.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The stream failed, or a reader claims more bytes than it had room for. What the stream would have
    /// blocked for comes as [`WouldBlock`](io::ErrorKind::WouldBlock).
    Io(io::Error),
    /// The stream ended inside a frame.
    Truncated {
        /// What it ended in.
        part: Part,
        /// Bytes that this part has.
        expected: u64,
        /// Bytes of it that came.
        actual: u64,
    },
    /// The first bytes are not those of a frame.
    Magic {
        /// The bytes that are there.
        actual: [u8; 4],
    },
    /// A version of the frame that this version of the crate does not know.
    Version {
        /// The version that is there.
        actual: u8,
    },
    /// Flags or reserved bytes that have no meaning in this version.
    Reserved {
        /// Where in the header they are, in bytes from its start.
        offset: usize,
        /// What is there, and should be zero.
        actual: u32,
    },
    /// The bytes of the header are not those that were sent.
    HeaderChecksum {
        /// What was computed.
        expected: u32,
        /// What the header says.
        actual: u32,
    },
    /// The mark of the byte order is none that is known.
    ByteOrderMark {
        /// The mark that is there.
        actual: u8,
    },
    /// The payload is not as long as so many records of this size.
    PayloadLength {
        /// Number of records.
        count: u64,
        /// Packed bytes of each.
        record_size: u64,
        /// Bytes of the payload that the header announces.
        actual: u64,
    },
    /// The signature is that of the type at hand, and the packed size of a record is not.
    RecordSize {
        /// Packed bytes of the type at hand.
        expected: u64,
        /// Packed bytes that the header announces.
        actual: u64,
    },
    /// More payload than the caller takes; see [`Limits`](super::Limits).
    PayloadLimit {
        /// Bytes that are taken.
        limit: u64,
        /// Bytes that are announced; for records without data, those that they would take in memory.
        actual: u64,
    },
    /// More records than the caller takes, or has room for.
    RecordLimit {
        /// Records that are taken.
        limit: u64,
        /// Records that are announced.
        actual: u64,
    },
    /// The bytes of the frame are not those that were sent.
    Checksum {
        /// What was computed.
        expected: u32,
        /// What the frame says.
        actual: u32,
    },
    /// The records are not of the type at hand, or one of them is no value of it, or they do not fit the
    /// memory: the error of the operation on the packed bytes.
    Datatype(crate::Error),
}

/// A part of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// The bytes in front.
    Header,
    /// The packed records.
    Payload,
    /// The checksum at the end.
    Checksum,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header => "header",
            Self::Payload => "payload",
            Self::Checksum => "checksum",
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(_) => f.write_str("the stream of messages failed"),
            Self::Truncated { part, expected, actual } => {
                write!(f, "the stream ended after {actual} of {expected} bytes of a frame's {part}")
            }
            Self::Magic { actual } => {
                write!(f, "a frame starts with {MAGIC:02x?}, this starts with {actual:02x?}")
            }
            Self::Version { actual } => {
                write!(f, "the frame has version {actual}, version {VERSION} is known here")
            }
            Self::Reserved { offset, actual } => {
                write!(f, "byte {offset} of the header: {actual:#x} has no meaning in this version")
            }
            Self::HeaderChecksum { expected, actual } => write!(
                f,
                "the header's checksum is {expected:#010x}, the header says {actual:#010x}"
            ),
            Self::ByteOrderMark { actual } => {
                write!(f, "{actual} marks no byte order (1 little-endian, 2 big-endian)")
            }
            Self::PayloadLength { count, record_size, actual } => write!(
                f,
                "{count} records of {record_size} bytes are announced, in a payload of {actual} bytes"
            ),
            Self::RecordSize { expected, actual } => {
                write!(f, "a record of {actual} packed bytes; this type has {expected}")
            }
            Self::PayloadLimit { limit, actual } => {
                write!(f, "a message of {actual} bytes; at most {limit} are taken")
            }
            Self::RecordLimit { limit, actual } => {
                write!(f, "a message of {actual} records; at most {limit} are taken")
            }
            Self::Checksum { expected, actual } => {
                write!(f, "the frame's checksum is {expected:#010x}, the frame says {actual:#010x}")
            }
            Self::Datatype(_) => f.write_str("the records and the datatype do not go together"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Datatype(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<crate::Error> for Error {
    fn from(error: crate::Error) -> Self {
        Self::Datatype(error)
    }
}

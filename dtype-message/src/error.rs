//! The errors of messages.

use core::fmt;
use core::str::Utf8Error;
use std::borrow::Cow;
use std::io;

use crate::compare::Difference;
use crate::schema::{Schema, SchemaError};
use crate::{MAGIC, VERSION};

/// Why a message was not written, or was refused. Every variant says what was found and what was expected.
///
/// A function that returns an error has not changed the memory that the caller lent for the records.
///
/// The text of an error contains that of its cause, so that `{error}` is enough in a log. [`source`](core::error::Error::source)
/// then returns nothing, because a program that prints the sources of an error would print the cause twice; it is in the variant.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The stream failed, or a reader claims to have read more bytes than it had room for. If the stream would have blocked,
    /// this holds [`WouldBlock`](io::ErrorKind::WouldBlock).
    #[error("the stream of messages failed: {0}")]
    Io(io::Error),
    /// The stream ended inside a frame.
    #[error("the stream ended after {actual} of {expected} bytes of a frame's {part}")]
    Truncated {
        /// The part of the frame in which the stream ended.
        part: Part,
        /// The length of the part in bytes.
        expected: u64,
        /// Bytes of the part that arrived.
        actual: u64,
    },
    /// The first bytes are not the start of a frame.
    #[error("expected a frame, which starts with {MAGIC:02x?}, found {actual:02x?}")]
    Magic {
        /// The bytes found.
        actual: [u8; 4],
    },
    /// A version of the frame that this version of the crate does not know.
    #[error("the frame has version {actual}; this crate knows version {VERSION}")]
    Version {
        /// The version found.
        actual: u8,
    },
    /// Flags without a meaning in this version.
    #[error("byte {offset} of the header: {actual:#x} has no meaning in this version")]
    Reserved {
        /// The offset of the flags in the header, in bytes.
        offset: usize,
        /// The value found.
        actual: u32,
    },
    /// A number in the header of a compact frame is longer than necessary, or does not fit its type.
    #[error("byte {offset} of the header: the number is longer than necessary or too large")]
    Number {
        /// The offset of the number in the header, in bytes.
        offset: usize,
    },
    /// The bytes of the header differ from the bytes that were sent.
    #[error(
        "the header's bytes have the checksum {expected:#010x}, the header says {actual:#010x}"
    )]
    HeaderChecksum {
        /// The checksum of the bytes that arrived.
        expected: u32,
        /// The checksum in the header.
        actual: u32,
    },
    /// The mark of the byte order has no meaning.
    #[error("{actual} marks no byte order (1 little-endian, 2 big-endian)")]
    ByteOrderMark {
        /// The mark found.
        actual: u8,
    },
    /// The length of the payload, the product of these two, does not fit 64 bits.
    #[error("{count} records of {record_size} bytes are more bytes than 64 bits can count")]
    PayloadLength {
        /// Number of records.
        count: u64,
        /// Packed bytes of each record.
        record_size: u64,
    },
    /// The message holds records of another type.
    #[error("{0}")]
    Mismatch(Box<Mismatch>),
    /// A message of one record was expected.
    #[error("the message holds {actual} records; expected {expected}")]
    RecordCount {
        /// The number expected.
        expected: u64,
        /// The number announced in the header.
        actual: u64,
    },
    /// No variant of the enum with `#[derive(Messages)]` has the tag.
    #[error("the tag {tag} names no message of `{expected}`")]
    UnknownTag {
        /// The tag found.
        tag: u32,
        /// The name of the enum, or the messages that were expected.
        expected: Cow<'static, str>,
    },
    /// The sender's version of a message, which its protocol tells, cannot be read as this side's: see
    /// [`Receiver::with_version`](crate::Receiver::with_version).
    #[error(
        "the sender's version of the message with tag {tag}, `{name}`, cannot be read: {reason}"
    )]
    Conversion {
        /// The tag of the message.
        tag: u32,
        /// The name of the message here.
        name: String,
        /// What prevents it; it names the field.
        reason: String,
    },
    /// A message of text is not UTF-8.
    #[error("a message of text is not UTF-8: {0}")]
    Text(Utf8Error),
    /// The text that the other side sent is not a valid [`Protocol`](crate::Protocol).
    #[error("the other side's protocol is malformed: {0}")]
    Protocol(SchemaError),
    /// A compact frame lacks a protection that the receiver requires; see [`Limits`](crate::Limits).
    #[error("the frame has no {missing}, which the receiver's limits demand")]
    Unprotected {
        /// The missing protection.
        missing: Protection,
    },
    /// A compact frame has the hash of a schema instead of that of a signature. The receiver's type was made at run time and
    /// has no schema to compare.
    #[error(
        "the message with tag {tag} has a schema instead of a signature, expected a signature: a type made at run time has \
         no schema"
    )]
    NoSignature {
        /// The tag of the message.
        tag: u32,
    },
    /// The payload, or the memory of its records, is larger than the caller accepts; see
    /// [`Limits::with_max_payload_bytes`](crate::Limits::with_max_payload_bytes).
    #[error("a message of {actual} bytes exceeds the limit of {limit}")]
    PayloadLimit {
        /// The limit in bytes.
        limit: u64,
        /// The announced bytes of payload, or, if these are within the limit, the bytes that the records would take in memory.
        actual: u64,
    },
    /// There are more records than the caller accepts or has room for, or more than
    /// [`Limits::MAX_RECORDS_WITHOUT_DATA`](crate::Limits::MAX_RECORDS_WITHOUT_DATA) of those.
    #[error("a message of {actual} records exceeds the limit of {limit}")]
    RecordLimit {
        /// The limit.
        limit: u64,
        /// The announced number of records.
        actual: u64,
    },
    /// The text is longer than the caller accepts; see
    /// [`Limits::with_max_text_bytes`](crate::Limits::with_max_text_bytes).
    #[error("a message of {actual} bytes of text exceeds the limit of {limit}")]
    TextLimit {
        /// The limit in bytes.
        limit: u64,
        /// The announced bytes of text.
        actual: u64,
    },
    /// The bytes of the frame differ from the bytes that were sent.
    #[error("the frame's bytes have the checksum {expected:#010x}, the frame says {actual:#010x}")]
    Checksum {
        /// The checksum of the bytes that arrived.
        expected: u32,
        /// The checksum in the frame.
        actual: u32,
    },
    /// An earlier error has left the decoder without knowing where the next frame starts.
    #[error("after an earlier error, the start of the next frame is unknown")]
    Lost,
    /// A record is not a value of its type, or the records do not fit the memory: the error of the operation on
    /// the packed bytes.
    #[error(transparent)]
    Records(Box<dtype_runtime::Error>),
}

/// A part of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// The bytes before the payload.
    Header,
    /// The packed records.
    Payload,
    /// The checksum at the end.
    Checksum,
}

/// Data in a frame with which the receiver detects mistakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Protection {
    /// The checksum, which detects damage.
    Checksum,
    /// The hash of the signature or the schema, which detects records of another type.
    Signature,
}

/// A mismatch between the records of a message and the type that they were to be read as.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mismatch {
    /// The receiver's type.
    pub type_name: String,
    /// The tag of the message.
    pub tag: u32,
    /// The records that the receiver's type requires.
    pub expected: RecordKind,
    /// The records that the header announces.
    pub actual: RecordKind,
    /// What differs, if the sender's schema is known: see [`with_sender`](Self::with_sender). It is found there and not when
    /// the error is displayed, so programs without schemas contain no code for it.
    pub(crate) differences: Vec<Difference>,
}

/// What a receiver can know about the type of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordKind {
    /// Packed bytes of a record.
    pub size: u64,
    /// The hash of the type signature; in a compact frame, 32 bits of it.
    pub signature_hash: Option<u64>,
    /// The hash of the names and types of the fields; in a compact frame, 32 bits of it.
    pub schema_hash: Option<u64>,
}

impl Mismatch {
    /// Names the fields that differ, given the schemas of both sides: `receiver` for this side's type, `sender` for the other
    /// side's.
    ///
    /// ```
    /// use dtype_message::{Error, Framing, Limits, Schema};
    /// #[derive(dtype_runtime::Datatype, Debug)]
    /// struct Position { x: f32, y: f32 }
    /// # mod there {
    /// #[derive(dtype_runtime::Datatype, Debug)]
    /// pub struct Position { pub x: f64, pub z: f32 }
    /// # }
    /// let mut stream = Vec::new();
    /// dtype_message::send(&mut stream, &Schema::of::<there::Position>().to_string(), Framing::new())?;
    /// dtype_message::send(&mut stream, &there::Position { x: 1.0, z: 2.0 }, Framing::new())?;
    ///
    /// let (mut input, limits) = (&stream[..], Limits::new());
    /// let schema: String = dtype_message::receive(&mut input, &limits)?.unwrap();
    /// let refusal = dtype_message::receive::<Position>(&mut input, &limits).unwrap_err();
    /// let Error::Mismatch(mismatch) = refusal else { panic!("{refusal}") };
    /// let text = mismatch.with_sender(&Schema::of::<Position>(), &schema.parse()?).to_string();
    /// assert!(text.ends_with("`x` is f64 there and f32 here; `y: f32` is only here; `z: f32` is only there"));
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn with_sender(self, receiver: &Schema, sender: &Schema) -> Self {
        Self { differences: receiver.differences(sender), ..self }
    }
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} packed bytes", self.size)?;
        if let Some(hash) = self.signature_hash {
            write!(f, ", signature {hash:#x}")?;
        }
        if let Some(hash) = self.schema_hash {
            write!(f, ", schema {hash:#x}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { type_name, tag, expected, actual, differences } = self;
        write!(
            f,
            "the message with tag {tag} does not hold records of the type `{type_name}`: \
             a record has {actual}; expected {expected}"
        )?;
        if !differences.is_empty() || expected.size != actual.size {
            return differences.iter().try_for_each(|difference| write!(f, "; {difference}"));
        }
        // The records have one size: the cause depends on which hash differs.
        f.write_str(if expected.signature_hash == actual.signature_hash {
            "; the fields have other names or types"
        } else {
            "; the fields have other types"
        })
    }
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

impl fmt::Display for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Checksum => "checksum",
            Self::Signature => "signature",
        })
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<SchemaError> for Error {
    fn from(error: SchemaError) -> Self {
        Self::Protocol(error)
    }
}

impl From<dtype_runtime::Error> for Error {
    fn from(error: dtype_runtime::Error) -> Self {
        Self::Records(Box::new(error))
    }
}

impl From<Mismatch> for Error {
    fn from(mismatch: Mismatch) -> Self {
        Self::Mismatch(Box::new(mismatch))
    }
}

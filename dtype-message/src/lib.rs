//! Sends records over a stream, in checked frames.
//!
//! A message is an array of records of one type, on anything that implements [`Read`] or [`Write`]: a socket, a pipe, a file.
//! The frame around it tells the receiver what to expect before the payload arrives, and afterwards whether the payload is
//! unchanged.
//!
//! ```
//! use dtype_message::Limits;
//! use dtype_runtime::Datatype;
//!
//! #[derive(Datatype, Debug, PartialEq)]
//! struct Sample {
//!     time: f64,
//!     valid: bool,
//! }
//!
//! let mut stream = Vec::new(); // or a TcpStream, a File, …
//! dtype_message::write(&mut stream, &[Sample { time: 0.5, valid: true }])?;
//! dtype_message::write(&mut stream, &[Sample { time: 1.0, valid: false }, Sample { time: 1.5, valid: true }])?;
//!
//! let mut input = &stream[..];
//! let mut counts = Vec::new();
//! while let Some(samples) = dtype_message::read::<Sample>(&mut input, &Limits::new())? {
//!     counts.push(samples.len());
//! }
//! assert_eq!(counts, [1, 2]);
//! # Ok::<(), dtype_message::Error>(())
//! ```
//!
//! | to read | use |
//! |---|---|
//! | new records | [`read`] |
//! | into the first of existing records | [`read_into`] |
//! | into a `Vec`, which gets as many records as arrive; also types with skipped fields | [`read_reusing`] |
//! | into memory, by a type made at run time | [`read_with`] |
//! | one record, text, a head and a list, or one of several kinds of messages | [`receive`], [`Messages`] |
//! | the header first, then any of these, or nothing | [`Incoming`], [`Header`] |
//! | a stream of messages, skipping bad ones | [`Receiver`] |
//! | bytes that come from anywhere, without a stream | [`Decoder`]; [`decode`] for one message |
//! | a message of any type, as packed bytes | [`PackedMessage`], with any of these |
//!
//! The readers of a stream return `None` if it ends between two messages, and an error if it ends inside one.
//! [`write`](fn@write), [`write_framed`], [`write_with`], [`send`], [`encode`] and [`Encoder`] send. The two sides need not use
//! the same form, nor the same layout, as long as the type signatures of their records are the same. [`Framing`] gives a
//! message a tag, a compact frame, or a hash of the fields' names.
//!
//! # What a receiver can rely on
//!
//! - Nothing is returned, and no memory of the caller is changed, before the whole frame has been verified: header, signature,
//!   size, checksum, and that the bytes are values of the type.
//! - Memory is allocated as bytes arrive, never because a header announces them. [`Limits`] bound the total.
//! - All readers except [`Receiver`] read exactly the frame's bytes, so that other data can follow on the stream.
//! - A checksum finds accidental damage. It does not prove who sent a message: against forgery, use an
//!   authenticated stream.
//!
//! A reader reads the header, then 64 KiB of payload at a time, then the checksum. The stream may return any number of bytes at
//! a time. For many small messages, use a [`Receiver`], or put a [`BufReader`](std::io::BufReader) around the stream. The
//! streams should be blocking. [`WouldBlock`](std::io::ErrorKind::WouldBlock) is returned like any other failure, and reading
//! can resume only if it occurred before the first byte of a frame. Only a [`Receiver`] can be called again at any time. For
//! nonblocking streams, use the [`Decoder`] and the [`Encoder`], which work on bytes and need no stream. The module `tokio`
//! (feature of that name) and `Codec` for tokio-util's `Framed` (feature `tokio-util`) are built on them.
//!
//! # The frame
//!
//! A full frame is a header of 48 bytes, the payload, and a checksum of 4 bytes. A [compact](Framing::compact) frame
//! takes 11 bytes around a small record. The payload is what [`pack`](dtype_runtime::pack) makes of the records, in the
//! sender's byte order. The last two sections describe every byte.
//!
//! The payload's checksum comes after it, so that a sender can pack piece by piece. It covers the header too, so that
//! the parts of two frames are not mistaken for one frame. In a full frame that is aligned in memory, the payload is
//! aligned to 16 bytes.
//!
//! A payload in the other byte order is converted while it is unpacked: the receiver converts. Types whose width differs
//! between the two machines, for example a C `long`, are refused with [`Error::Mismatch`].
//!
//! # Sending the type as well
//!
//! The frame has the hash of the signature instead of the type: receivers usually know the type, and a type in the frame would
//! be one more input that a hostile peer controls. If the receiver does not know it, send the type as a message like any other:
//!
//! ```
//! use dtype_message::Limits;
//! use dtype_runtime::{Datatype, Type};
//!
//! let mut stream = Vec::new();
//! dtype_message::write(&mut stream, &Type::of::<(u32, f64)>().marshal())?;
//! dtype_message::write(&mut stream, &[(1_u32, 0.5), (2, 1.5)])?;
//!
//! let mut input = &stream[..];
//! let limits = Limits::new().with_max_payload_bytes(10_000);
//! let ty = dtype_message::read::<u8>(&mut input, &limits)?.unwrap_or_default();
//! let ty = Type::unmarshal(&ty)?.commit();
//! let mut memory = [0; 32];
//! assert_eq!(dtype_message::read_with(&mut input, &ty, &mut memory, 2)?, Some(2));
//! # Ok::<(), dtype_message::Error>(())
//! ```
//!
//! If you only need an error that names the fields that differ, let both sides [`exchange`] their [`Protocol`]s when they
//! connect, or send the [`Schema`] of one type: see [`Mismatch::with_sender`]. With the sender's protocol, a receiver can also
//! read the records of another version: see [`Receiver::with_version`].
//!
//! # The bytes of a full frame
//!
//! The two kinds of frames differ in the first byte. In both, the numbers outside the payload are little-endian on
//! every machine.
//!
//! | bytes | what |
//! |--:|---|
//! | 0–3 | `D7 44 54 4D`, which every full frame starts with |
//! | 4 | version, 1 |
//! | 5 | byte order of the payload: 1 little-endian, 2 big-endian |
//! | 6–7 | flags, 0 |
//! | 8–15 | hash of the type signature of a record |
//! | 16–23 | number of records |
//! | 24–31 | packed bytes of a record |
//! | 32–39 | hash of the schema, or 0 |
//! | 40–43 | tag |
//! | 44–47 | CRC-32C of bytes 0–43 |
//! | 48 … | the packed records |
//! | the last 4 | CRC-32C of bytes 0–43 and the payload |
//!
//! A message with a head is a single record: the packed head, and behind it the packed records of the list or the bytes of the
//! text. So the header has the length of both. The length of the head is known from its type, and what is left must be whole
//! records. Both hashes are those of the head and of a record, combined: with the head's rotated left by 32 bits, the exclusive
//! or of the two is multiplied by `0xD6E8FEB86659FD93`, modulo 2⁶⁴; the hash is the exclusive or of the product and the same
//! shifted right by 32 bits, or 1 if that is 0.
//!
//! # The bytes of a compact frame
//!
//! | number of bytes | what |
//! |--:|---|
//! | 1 | `0b10vnshco`, see below |
//! | 1 to 5 | tag |
//! | 0 to 10 | number of records, if `n` is set; otherwise there is one |
//! | 1 to 10 | packed bytes of a record |
//! | 0 or 4 | 32 bits of the hash of the type signature or the schema, if `h` or `s` is set |
//! | … | the packed records |
//! | 0 or 4 | CRC-32C of everything before, if `c` is set |
//!
//! The bits of the first byte: `o`, the payload is big-endian; `c`, there is a checksum; `h`, there is the signature's hash;
//! `s`, there is the schema's hash instead; `n`, the number of records is present, and is not 1; `v`, 0 in this version. The
//! other combinations have no meaning. A number is split into groups of seven bits, the lowest first, one in each byte; the
//! highest bit is set in all bytes but the last. It takes as few bytes as possible. A 64-bit hash becomes a 32-bit one by the
//! exclusive or of its halves.
//!
//! For example, two `u16`, 1 and 2, as one record `[u16; 2]` with the tag 7, without signature and checksum:
//! `80 07 04 01 00 02 00`.
//!
//! Neither frame starts like text: in UTF-8, `80` to `BF` continue a character and never start one; `D7` starts a character of
//! two bytes, but `44` cannot be the second.
//!
//! [`Write`]: std::io::Write

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
mod assemble;
#[cfg(feature = "tokio-util")]
mod codec;
mod compare;
mod decoder;
mod encoder;
mod error;
mod exchange;
mod fill;
mod framing;
mod header;
mod limits;
mod messages;
mod packed;
mod parser;
mod pieces;
mod protocol;
mod quick;
mod read;
mod receiver;
mod reversed;
mod schema;
mod search;
#[cfg(feature = "tokio")]
pub mod tokio;
mod version;
mod write;

use std::io::Read;

#[cfg(feature = "tokio-util")]
pub use codec::Codec;
pub use compare::Difference;
pub use decoder::{Decoder, decode};
#[cfg(feature = "derive")]
pub use dtype_derive::Messages;
pub use encoder::Encoder;
pub use error::{Error, Mismatch, Part, Protection, RecordKind};
pub use exchange::exchange;
pub use framing::Framing;
pub use header::{Decoded, Header, HeaderBytes};
pub use limits::Limits;
pub use messages::Messages;
pub use packed::PackedMessage;
pub use pieces::pieces;
pub use protocol::{Protocol, ProtocolDifference};
pub use read::Incoming;
pub use receiver::Receiver;
pub use schema::{Schema, SchemaError};
pub use search::{Search, find_frame};
pub use write::{encode, send, write, write_framed, write_with};

use dtype_runtime::{BufferMut, Committed, Datatype};

/// The first bytes of a full frame.
const MAGIC: [u8; 4] = [0xD7, b'D', b'T', b'M'];

/// The version of the full frame. It must change if the meaning of any byte changes. The positions of magic number and version
/// never change.
const VERSION: u8 = 1;

/// Bytes of payload to move at a time: few enough to stay in the cache from the stream to the checksum and the kernels.
const CHUNK: usize = 64 * 1024;

/// Reads the next message as any type that implements [`Messages`]: one record, a `Vec` of records, a `String`, or
/// an enum whose variant the tag selects. `None` if the stream ends before it. See [`Incoming::receive`].
///
/// # Errors
///
/// The errors of [`Incoming::open`] and [`Incoming::receive`].
pub fn receive<M: Messages>(input: &mut impl Read, limits: &Limits) -> Result<Option<M>, Error> {
    Incoming::open(input, limits)?.map(Incoming::receive).transpose()
}

/// Reads the records of the next message; `None` if the stream ends before it. See [`Incoming::read`].
///
/// # Errors
///
/// The errors of [`Incoming::open`] and [`Incoming::read`].
///
/// ```
/// use dtype_message::{Error, Limits};
/// let mut stream = Vec::new();
/// dtype_message::write(&mut stream, &[1_u32, 2, 3])?;
/// let read = dtype_message::read::<u32>(&mut &stream[..], &Limits::new())?;
/// assert_eq!(read, Some(vec![1, 2, 3]));
///
/// let limits = Limits::new().with_max_records(2);
/// let error = dtype_message::read::<u32>(&mut &stream[..], &limits).unwrap_err();
/// assert!(matches!(error, Error::RecordLimit { limit: 2, actual: 3 }));
/// # Ok::<(), Error>(())
/// ```
pub fn read<T: Datatype>(input: &mut impl Read, limits: &Limits) -> Result<Option<Vec<T>>, Error> {
    Incoming::open(input, limits)?.map(Incoming::read).transpose()
}

/// Writes the data of the next message's records into the first of `items`, and returns the number of records. A
/// message with more records than items is refused. `None` if the stream ends before it. See
/// [`Incoming::read_into`].
///
/// # Errors
///
/// The errors of [`Incoming::open`] and [`Incoming::read_into`].
///
/// ```
/// let mut stream = Vec::new();
/// dtype_message::write(&mut stream, &[1_u32, 2])?;
/// let mut numbers = [9_u32; 3];
/// assert_eq!(dtype_message::read_into(&mut &stream[..], &mut numbers)?, Some(2));
/// assert_eq!(numbers, [1, 2, 9]);
/// # Ok::<(), dtype_message::Error>(())
/// ```
pub fn read_into<T: Datatype>(
    input: &mut impl Read,
    items: &mut [T],
) -> Result<Option<usize>, Error> {
    let message = Incoming::open(input, &Limits::UNLIMITED)?;
    message.map(|message| message.read_into(items)).transpose()
}

/// Replaces `records` with the records of the next message and returns their number. `None` if the stream ends
/// before it, and `records` is unchanged then. See [`Incoming::read_reusing`].
///
/// # Errors
///
/// The errors of [`Incoming::open`] and [`Incoming::read_reusing`].
///
/// ```
/// use dtype_message::Limits;
/// #[derive(dtype_runtime::Datatype, Default)]
/// struct Station {
///     pressure: f64,
///     #[dtype(skip)]
///     name: String,
/// }
/// let mut stations = vec![Station { pressure: 0.0, name: "Alma".to_owned() }];
/// let mut stream = Vec::new();
/// dtype_message::write(&mut stream, &[1013.0, 998.0])?;
/// assert_eq!(dtype_message::read_reusing(&mut &stream[..], &mut stations, &Limits::new())?, Some(2));
/// assert_eq!((stations[0].pressure, &*stations[0].name), (1013.0, "Alma"));
/// assert_eq!((stations[1].pressure, &*stations[1].name), (998.0, ""));
/// # Ok::<(), dtype_message::Error>(())
/// ```
pub fn read_reusing<T: Datatype + Default>(
    input: &mut impl Read,
    records: &mut Vec<T>,
    limits: &Limits,
) -> Result<Option<usize>, Error> {
    let message = Incoming::open(input, limits)?;
    message.map(|message| message.read_reusing(records)).transpose()
}

/// Unpacks the instances in the next message, at most `count`, into memory, by a type made at run time, and
/// returns their number. `None` if the stream ends before it. See [`Incoming::read_with`].
///
/// # Errors
///
/// The errors of [`Incoming::open`] and [`Incoming::read_with`].
///
/// ```
/// use dtype_runtime::{Basic, BufferMut, Type};
/// let column = Type::vector(2, 1, 3, &Type::basic(Basic::U8))?.commit();
/// let mut stream = Vec::new();
/// dtype_message::write(&mut stream, &[*b"xy"])?;
/// let mut matrix = *b"......";
/// let second = BufferMut::new(&mut matrix).origin(1);
/// dtype_message::read_with(&mut &stream[..], &column, second, 1)?;
/// assert_eq!(&matrix, b".x..y.");
/// # Ok::<(), dtype_message::Error>(())
/// ```
pub fn read_with<'a>(
    input: &mut impl Read,
    ty: &Committed,
    to: impl Into<BufferMut<'a>>,
    count: usize,
) -> Result<Option<usize>, Error> {
    let message = Incoming::open(input, &Limits::UNLIMITED)?;
    message.map(|message| message.read_with(ty, to, count)).transpose()
}

/// The code in the README is compiled and run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

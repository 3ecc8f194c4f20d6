//! Messages: records on a stream, in checked frames.
//!
//! A message is an array of records of one type, on anything that is [`Read`] and [`Write`]: a socket, a pipe, a
//! file. The frame around it tells the receiver what to expect before it comes, and whether it came as it was
//! sent. Needs the feature `message`.
//!
//! ```
//! use dtype_runtime::message::{self, Limits};
//! use dtype_runtime::Datatype;
//!
//! #[derive(Datatype, Debug, PartialEq)]
//! struct Sample {
//!     time: f64,
//!     valid: bool,
//! }
//!
//! let mut stream = Vec::new(); // or a TcpStream, a File, …
//! message::write(&mut stream, &[Sample { time: 0.5, valid: true }])?;
//! message::write(&mut stream, &[Sample { time: 1.0, valid: false }, Sample { time: 1.5, valid: true }])?;
//!
//! let mut input = &stream[..];
//! let mut counts = Vec::new();
//! while let Some(samples) = message::read::<Sample>(&mut input, &Limits::new())? {
//!     counts.push(samples.len());
//! }
//! assert_eq!(counts, [1, 2]);
//! # Ok::<(), message::Error>(())
//! ```
//!
//! | to read | use |
//! |---|---|
//! | new records | [`read`] |
//! | over the first of the records that there are | [`read_into`] |
//! | over a `Vec`, which gets as many records as came; also types with skipped fields | [`read_over`] |
//! | into memory, by a type made at run time | [`read_by`] |
//! | the header first, then any of these, or nothing | [`Incoming`], [`Header`] |
//!
//! All of them return `None` where the stream ends between two messages, and an error where it ends inside one.
//! [`write`](fn@write) and [`write_by`] are the other side; the two sides need not use the same form, nor the same
//! layout, as long as the type signatures of their records are the same.
//!
//! # What a receiver can rely on
//!
//! - Nothing is handed out and no memory of the caller's is changed before the whole frame has been verified:
//!   header, signature, size, checksum, and that the bytes are values of the type.
//! - Memory is taken as bytes arrive, never because a header announces them. [`Limits`] bound the whole.
//! - Exactly the frame's bytes are read, so that other things can follow on the stream.
//! - A checksum finds accidents. It does not tell who has sent a message: against forgery, use a stream that
//!   is authenticated.
//!
//! A reader asks for the header, for 64 KiB of payload at a time, and for the checksum, and is content with any
//! number of bytes at a time. For many small messages, put a [`BufReader`](std::io::BufReader) around the
//! stream. The streams are meant to block: after [`WouldBlock`](std::io::ErrorKind::WouldBlock), which is handed on
//! as any other failure, reading can be taken up again only if it came before the first byte of a frame. A caller
//! without blocking streams collects [`Header::SIZE`] bytes, learns from [`Header::from_bytes`] that
//! [`payload_len`](Header::payload_len) and 4 more follow, and gives the whole frame to [`read`] as a slice.
//!
//! # The frame
//!
//! A header of 48 bytes, the payload, and a checksum of 4 bytes. Numbers are little-endian on every machine, but
//! for those in the payload, which are as the sender has them.
//!
//! | bytes | what |
//! |--:|---|
//! | 0–3 | `D7 44 54 4D`: that it is a frame |
//! | 4 | version, 1 |
//! | 5 | byte order of the payload: 1 little-endian, 2 big-endian |
//! | 6–7 | flags, 0; bit 0 is kept for a [marshalled](crate::Type::marshal) type in front of the payload |
//! | 8–15 | hash of the type signature of a record, [`Type::signature_hash`](crate::Type::signature_hash) |
//! | 16–23 | number of records |
//! | 24–31 | packed bytes of a record |
//! | 32–39 | bytes of the payload: the product of these two |
//! | 40–43 | kept for later, 0 |
//! | 44–47 | CRC-32C of bytes 0–43 |
//! | 48 … | the packed records |
//! | the last 4 | CRC-32C of bytes 0–43 and the payload |
//!
//! The payload's checksum comes behind it, so that a sender can pack piece by piece, and covers the header too, so
//! that the parts of two frames are not taken for one. The payload of a frame that lies aligned in memory is
//! aligned to 16 bytes.
//!
//! A payload in the other byte order is converted as it is unpacked: the receiver makes it right. Types whose
//! width differs between the two machines, a C `long` for example, are refused with [`Error::RecordSize`].
//!
//! # Sending the type as well
//!
//! The frame has the hash of the signature and not the type, which most receivers know: it would be another thing
//! that a hostile sender can shape, and it says a layout, which is the receiver's own affair. Where the receiver
//! does not know it, it is a message like any other:
//!
//! ```
//! use dtype_runtime::message::{self, Limits};
//! use dtype_runtime::{Datatype, Type};
//!
//! let mut stream = Vec::new();
//! message::write(&mut stream, &Type::of::<(u32, f64)>().marshal())?;
//! message::write(&mut stream, &[(1_u32, 0.5), (2, 1.5)])?;
//!
//! let mut input = &stream[..];
//! let limits = Limits::new().with_max_payload_bytes(10_000);
//! let ty = message::read::<u8>(&mut input, &limits)?.unwrap_or_default();
//! let ty = Type::unmarshal(&ty)?.commit();
//! let mut memory = [0; 32];
//! assert_eq!(message::read_by(&mut input, &ty, &mut memory, 0, 2)?, Some(2));
//! # Ok::<(), message::Error>(())
//! ```
//!
//! [`Write`]: std::io::Write

mod error;
mod header;
mod limits;
mod read;
mod write;

use alloc::vec::Vec;
use std::io::Read;

pub use error::{Error, Part};
pub use header::Header;
pub use limits::Limits;
pub use read::Incoming;
pub use write::{write, write_by};

use crate::commit::Committed;
use crate::datatype::Datatype;

/// Bytes of payload that are moved at a time: they stay in the cache between the stream, the checksum and the
/// kernels.
const CHUNK: usize = 64 * 1024;

/// The records of the next message; `None` where the stream ends before it. See [`Incoming::read`].
///
/// # Errors
///
/// Those of [`Incoming::open`] and [`Incoming::read`].
///
/// ```
/// use dtype_runtime::message::{self, Error, Limits};
/// let mut stream = Vec::new();
/// message::write(&mut stream, &[1_u32, 2, 3])?;
/// let read = message::read::<u32>(&mut &stream[..], &Limits::new())?;
/// assert_eq!(read, Some(vec![1, 2, 3]));
///
/// let limits = Limits::new().with_max_records(2);
/// let error = message::read::<u32>(&mut &stream[..], &limits).unwrap_err();
/// assert!(matches!(error, Error::RecordLimit { limit: 2, actual: 3 }));
/// # Ok::<(), Error>(())
/// ```
pub fn read<T: Datatype>(input: &mut impl Read, limits: &Limits) -> Result<Option<Vec<T>>, Error> {
    Incoming::open(input, limits)?.map(Incoming::read).transpose()
}

/// Writes the data of the next message's records into the first of `items`, which are the limit of what is taken,
/// and returns the number of records; `None` where the stream ends before it. See [`Incoming::read_into`].
///
/// # Errors
///
/// Those of [`Incoming::open`] and [`Incoming::read_into`].
///
/// ```
/// use dtype_runtime::message;
/// let mut stream = Vec::new();
/// message::write(&mut stream, &[1_u32, 2])?;
/// let mut numbers = [9_u32; 3];
/// assert_eq!(message::read_into(&mut &stream[..], &mut numbers)?, Some(2));
/// assert_eq!(numbers, [1, 2, 9]);
/// # Ok::<(), message::Error>(())
/// ```
pub fn read_into<T: Datatype>(
    input: &mut impl Read,
    items: &mut [T],
) -> Result<Option<usize>, Error> {
    let message = Incoming::open(input, &Limits::UNLIMITED)?;
    message.map(|message| message.read_into(items)).transpose()
}

/// Makes `records` those of the next message and returns their number; `None` where the stream ends before it,
/// and `records` stay as they are. See [`Incoming::read_over`].
///
/// # Errors
///
/// Those of [`Incoming::open`] and [`Incoming::read_over`].
///
/// ```
/// use dtype_runtime::message::{self, Limits};
/// #[derive(dtype_runtime::Datatype, Default)]
/// struct Station {
///     pressure: f64,
///     #[dtype(skip)]
///     name: String,
/// }
/// let mut stations = vec![Station { pressure: 0.0, name: "Alma".to_owned() }];
/// let mut stream = Vec::new();
/// message::write(&mut stream, &[1013.0, 998.0])?;
/// assert_eq!(message::read_over(&mut &stream[..], &mut stations, &Limits::new())?, Some(2));
/// assert_eq!((stations[0].pressure, &*stations[0].name), (1013.0, "Alma"));
/// assert_eq!((stations[1].pressure, &*stations[1].name), (998.0, ""));
/// # Ok::<(), message::Error>(())
/// ```
pub fn read_over<T: Datatype + Default>(
    input: &mut impl Read,
    records: &mut Vec<T>,
    limits: &Limits,
) -> Result<Option<usize>, Error> {
    let message = Incoming::open(input, limits)?;
    message.map(|message| message.read_over(records)).transpose()
}

/// Unpacks the next message's instances of a type made at run time into `memory`, `count` of them at most, and
/// returns how many there were; `None` where the stream ends before it. See [`Incoming::read_by`].
///
/// # Errors
///
/// Those of [`Incoming::open`] and [`Incoming::read_by`].
///
/// ```
/// use dtype_runtime::{Basic, Type, message};
/// let column = Type::vector(2, 1, 3, &Type::basic(Basic::U8))?.commit();
/// let mut stream = Vec::new();
/// message::write(&mut stream, &[*b"xy"])?;
/// let mut matrix = *b"......";
/// message::read_by(&mut &stream[..], &column, &mut matrix, 1, 1)?;
/// assert_eq!(&matrix, b".x..y.");
/// # Ok::<(), message::Error>(())
/// ```
pub fn read_by(
    input: &mut impl Read,
    ty: &Committed,
    memory: &mut [u8],
    origin: usize,
    count: usize,
) -> Result<Option<usize>, Error> {
    let message = Incoming::open(input, &Limits::UNLIMITED)?;
    message.map(|message| message.read_by(ty, memory, origin, count)).transpose()
}

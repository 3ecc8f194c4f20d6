//! Writes a frame to a stream, chunk by chunk.

use std::io::Write;

use crate::encoder::Encoder;
use crate::error::Error;
use crate::framing::Framing;
use crate::messages::Messages;
use dtype_runtime::{AppendBytes, Buffer, Committed, Datatype};

/// Writes the records as one message in a full frame, and returns the length of the frame in bytes.
///
/// The records are packed in pieces of at most 64 KiB, and a message of one piece is written by one call. The stream is not
/// flushed.
///
/// # Errors
///
/// [`Error::Io`], after which part of the frame may have been written.
///
/// ```
/// let mut stream = Vec::new();
/// let length = dtype_message::write(&mut stream, &[(1.5, true), (2.5, false)])?;
/// assert_eq!(length, 48 + 2 * 9 + 4);
/// # Ok::<(), dtype_message::Error>(())
/// ```
pub fn write<T: Datatype>(output: &mut impl Write, items: &[T]) -> Result<u64, Error> {
    write_framed(output, items, Framing::new())
}

/// As [`write`](fn@write), in a frame of the caller's choice.
///
/// # Errors
///
/// As [`write`](fn@write).
///
/// ```
/// use dtype_message::{Framing, Incoming, Limits};
/// let mut stream = Vec::new();
/// dtype_message::write_framed(&mut stream, &[1_u8, 2], Framing::compact().with_tag(5))?;
/// let message = Incoming::open(&stream[..], &Limits::new())?.unwrap();
/// assert_eq!((message.header().tag(), message.read::<u8>()?), (5, vec![1, 2]));
/// # Ok::<(), dtype_message::Error>(())
/// ```
pub fn write_framed<T: Datatype>(
    output: &mut impl Write,
    items: &[T],
    framing: Framing,
) -> Result<u64, Error> {
    write_chunks(output, &mut Encoder::new(items, framing)?)
}

/// Writes a value of any type that implements [`Messages`] as a message: one record, a `Vec` of records, a
/// `String`, or an enum, each of whose variants has its own tag. Returns the length of the frame in bytes.
///
/// # Errors
///
/// As [`write`](fn@write).
///
/// ```
/// use dtype_message::{Framing, Limits};
/// let mut stream = Vec::new();
/// dtype_message::send(&mut stream, &"hello".to_owned(), Framing::compact())?;
/// let text: Option<String> = dtype_message::receive(&mut &stream[..], &Limits::new())?;
/// assert_eq!(text.as_deref(), Some("hello"));
/// # Ok::<(), dtype_message::Error>(())
/// ```
pub fn send<M: Messages>(
    output: &mut impl Write,
    message: &M,
    framing: Framing,
) -> Result<u64, Error> {
    write_chunks(output, &mut message.encoder(framing)?)
}

/// Appends a message to bytes in memory, for example a datagram. [`decode`](crate::decode) is the receiving side.
///
/// # Errors
///
/// [`CountTooLarge`](dtype_runtime::Error::CountTooLarge) inside [`Error::Records`].
#[inline]
pub fn encode<M: Messages>(
    out: &mut impl AppendBytes,
    message: &M,
    framing: Framing,
) -> Result<(), Error> {
    message.append(out, framing)
}

/// Writes `count` instances of a type as one message in a full frame: the bytes that [`Committed::pack`] would pack from
/// `from`. Returns the length of the frame in bytes. For another frame, use [`Encoder::with_type`].
///
/// # Errors
///
/// [`Error::Records`] with [`CountTooLarge`](dtype_runtime::Error::CountTooLarge), and with
/// [`OutOfBounds`](dtype_runtime::Error::OutOfBounds) when the data reach outside the memory; nothing is written then.
/// Otherwise as for [`write`](fn@write).
///
/// ```
/// use dtype_runtime::{Basic, Buffer, Type};
/// // The two right columns of a 3 × 4 matrix.
/// let column = Type::resized(&Type::vector(3, 1, 4, &Type::basic(Basic::U8))?, 0, 1)?.commit();
/// let mut stream = Vec::new();
/// dtype_message::write_with(&mut stream, &column, Buffer::new(b"abcdefghijkl").origin(2), 2)?;
/// assert_eq!(&stream[48..54], b"cgkdhl");
/// # Ok::<(), dtype_message::Error>(())
/// ```
pub fn write_with<'a>(
    output: &mut impl Write,
    ty: &Committed,
    from: impl Into<Buffer<'a>>,
    count: usize,
) -> Result<u64, Error> {
    write_chunks(output, &mut Encoder::with_type(ty, from, count, Framing::new())?)
}

/// Writes a frame, piece by piece.
fn write_chunks(output: &mut impl Write, encoder: &mut Encoder<'_>) -> Result<u64, Error> {
    loop {
        let chunk = encoder.chunk();
        if chunk.is_empty() {
            return Ok(encoder.header().frame_len());
        }
        output.write_all(chunk)?;
        let count = chunk.len();
        encoder.advance(count);
    }
}

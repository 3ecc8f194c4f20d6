//! Encodes frames as bytes, packed piece by piece, without a stream.

use core::{mem, slice};
use std::io::{self, Read};

use crate::CHUNK;
use crate::error::Error;
use crate::framing::Framing;
use crate::header::{CHECKSUM_LEN, Header};
use dtype_runtime::__private::RecordPacker;
use dtype_runtime::{AppendBytes, Buffer, Committed, Datatype, Packer, pack_onto};

/// The bytes of one frame, packed 64 KiB at a time, for any transport, whether it blocks or not.
///
/// The encoder holds the position, so a send that was interrupted or cancelled continues with
/// [`chunk`](Self::chunk) where it stopped.
///
/// ```
/// use dtype_message::{Encoder, Framing};
/// let mut encoder = Encoder::new(&[1_u16, 2, 3], Framing::compact())?;
/// let mut stream = Vec::new();
/// loop {
///     let chunk = encoder.chunk();
///     if chunk.is_empty() {
///         break;
///     }
///     // A transport that takes five bytes at a time.
///     let taken = chunk.len().min(5);
///     stream.extend_from_slice(&chunk[..taken]);
///     encoder.advance(taken);
/// }
/// assert_eq!(stream.len() as u64, encoder.header().frame_len());
/// # Ok::<(), dtype_message::Error>(())
/// ```
#[derive(Debug)]
pub struct Encoder<'a> {
    header: Header,
    source: Source<'a>,
    /// The bytes before the records: header and head, until they are sent with the first piece.
    front: Vec<u8>,
    /// Bytes of the records that are not packed yet.
    left: usize,
    checksum: u32,
    /// The first `filled` bytes are ready; of these, the first `sent` have been sent.
    buffer: Vec<u8>,
    sent: usize,
    filled: usize,
}

/// Where the rest of the payload comes from.
#[derive(Debug)]
enum Source<'a> {
    /// The buffer has all of it.
    None,
    /// Records of one type that are not longer than a piece.
    Records(RecordPacker<'a>),
    /// Anything else, with the function that packs it. A program that makes no such source does not refer to [`Packer::pack`],
    /// and so does not contain the engine.
    Stream(Packer<'a>, PackStream),
}

type PackStream = fn(&mut Packer<'_>, &mut [u8]) -> usize;

fn pack_stream(packer: &mut Packer<'_>, out: &mut [u8]) -> usize {
    packer.pack(out)
}

impl<'a> Encoder<'a> {
    /// The frame of these records.
    ///
    /// # Errors
    ///
    /// As [`Header::of`].
    pub fn new<T: Datatype>(items: &'a [T], framing: Framing) -> Result<Self, Error> {
        Self::with_head(Header::of::<T>(items.len(), framing)?, &(), items)
    }

    /// The frame of a head and the records after it. The header is that of both.
    pub(crate) fn with_head<H: Datatype, T: Datatype>(
        header: Header,
        head: &H,
        items: &'a [T],
    ) -> Result<Self, Error> {
        if header.payload_len() <= CHUNK as u64 {
            let mut buffer = Vec::new();
            append_frame(&header, head, items, &mut buffer)?;
            return Ok(Self::of_frame(header, buffer));
        }
        let source = if const { T::TYPE_MAP.size() > CHUNK } {
            Source::Stream(Packer::new(items), pack_stream)
        } else {
            Source::Records(RecordPacker::new(items))
        };
        Self::from_source(header, head, source)
    }

    /// A frame with this header, of which all bytes are there.
    pub(crate) fn of_frame(header: Header, frame: Vec<u8>) -> Self {
        let (source, filled) = (Source::None, frame.len());
        Self {
            header,
            source,
            front: Vec::new(),
            left: 0,
            checksum: 0,
            buffer: frame,
            sent: 0,
            filled,
        }
    }

    /// The frame of `count` instances of a type, as [`Committed::pack`] would pack them from `from`.
    ///
    /// # Errors
    ///
    /// [`OutOfBounds`](dtype_runtime::Error::OutOfBounds) and [`CountTooLarge`](dtype_runtime::Error::CountTooLarge) inside
    /// [`Error::Records`].
    pub fn with_type(
        ty: &Committed,
        from: impl Into<Buffer<'a>>,
        count: usize,
        framing: Framing,
    ) -> Result<Self, Error> {
        let packer = ty.packer(from, count)?;
        Self::with_packer(Header::of_type(ty, count, framing)?, packer)
    }

    /// The frame with this header whose payload is the rest of a packer's stream.
    ///
    /// # Errors
    ///
    /// [`PackedLength`](dtype_runtime::Error::PackedLength) inside [`Error::Records`] if the rest is not as long as the header
    /// says.
    pub fn with_packer(header: Header, packer: Packer<'a>) -> Result<Self, Error> {
        let (expected, actual) = (header.payload_len(), packer.remaining());
        if expected != actual {
            return Err(dtype_runtime::Error::PackedLength { expected, actual }.into());
        }
        Self::from_source(header, &(), Source::Stream(packer, pack_stream))
    }

    fn from_source<H: Datatype>(
        header: Header,
        head: &H,
        source: Source<'a>,
    ) -> Result<Self, Error> {
        let mut front = header.to_bytes().to_vec();
        let left = header.in_memory()?.payload - pack_onto(&mut front, slice::from_ref(head));
        let checksum = Header::checksum(&front);
        Ok(Self { header, source, front, left, checksum, buffer: Vec::new(), sent: 0, filled: 0 })
    }

    /// The header of the frame.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The next bytes of the frame: at most 64 KiB, and header and head. Empty at the end. The same bytes are returned until
    /// [`advance`](Self::advance) is called.
    pub fn chunk(&mut self) -> &[u8] {
        if self.sent == self.filled {
            self.refill();
        }
        &self.buffer[self.sent..self.filled]
    }

    /// Marks `count` bytes of the [`chunk`](Self::chunk) as sent, or all of them if it is shorter.
    pub fn advance(&mut self, count: usize) {
        self.sent = self.sent.saturating_add(count).min(self.filled);
    }

    /// Whether all bytes have been sent.
    pub fn is_complete(&self) -> bool {
        matches!(self.source, Source::None) && self.sent == self.filled
    }

    /// Fills the buffer with the next bytes.
    fn refill(&mut self) {
        let (room, mut buffer) = (self.room(), mem::take(&mut self.buffer));
        // Later chunks are no longer than the first.
        buffer.resize(buffer.len().max(room), 0);
        self.filled = self.put_next(&mut buffer[..room]);
        (self.sent, self.buffer) = (0, buffer);
    }

    /// Bytes of the next piece of the records. It consists of whole records, which are packed fastest, unless a record is longer
    /// than a piece.
    fn piece(&self) -> usize {
        self.header.piece().min(CHUNK).min(self.left)
    }

    /// Room for the next piece, with what comes before and after it.
    fn room(&self) -> usize {
        self.front.len() + self.piece() + CHECKSUM_LEN
    }

    /// Packs the next piece into `out`, which has [`room`](Self::room) for it, and returns the number of bytes: the header comes
    /// before the first piece, and the checksum after the last.
    fn put_next(&mut self, out: &mut [u8]) -> usize {
        let before = self.front.len();
        let end = before + self.piece();
        let packed = match &mut self.source {
            Source::None => return 0,
            Source::Records(packer) => packer.pack(&mut out[before..end]),
            Source::Stream(packer, pack) => pack(packer, &mut out[before..end]),
        };
        out[..before].copy_from_slice(&self.front);
        self.front.clear();
        self.left -= packed;
        let mut filled = before + packed;
        let has_checksum = self.header.checksum_len() > 0;
        if has_checksum {
            self.checksum = crc32c::crc32c_append(self.checksum, &out[before..filled]);
        }
        if self.left == 0 {
            self.source = Source::None;
            if has_checksum {
                out[filled..][..CHECKSUM_LEN].copy_from_slice(&self.checksum.to_le_bytes());
                filled += CHECKSUM_LEN;
            }
        }
        filled
    }
}

/// A piece for which the buffer has room is packed into it at once.
impl Read for Encoder<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.sent == self.filled && out.len() >= self.room() {
            return Ok(self.put_next(out));
        }
        let chunk = self.chunk();
        let count = chunk.len().min(out.len());
        out[..count].copy_from_slice(&chunk[..count]);
        self.advance(count);
        Ok(count)
    }
}

/// Appends the frame of a head and the records after it in one piece.
#[inline]
pub(crate) fn append_frame<H: Datatype, T: Datatype>(
    header: &Header,
    head: &H,
    items: &[T],
    out: &mut impl AppendBytes,
) -> Result<(), Error> {
    let payload = header.in_memory()?.payload;
    let bytes = header.to_bytes();
    out.reserve(bytes.len() + payload + CHECKSUM_LEN);
    let start = out.bytes().len();
    out.append(&bytes);
    if const { H::TYPE_MAP.size() > 0 } {
        pack_onto(out, slice::from_ref(head));
    }
    pack_onto(out, items);
    if header.checksum_len() > 0 {
        let checksum = Header::checksum(&out.bytes()[start..]);
        out.append(&checksum.to_le_bytes());
    }
    Ok(())
}

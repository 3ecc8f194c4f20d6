//! Encodes frames as bytes, packed piece by piece, without a stream.

use std::io::{self, Read};

use crate::CHUNK;
use crate::error::Error;
use crate::framing::Framing;
use crate::header::{CHECKSUM_LEN, Header};
use dtype_runtime::Committed;
use dtype_runtime::Datatype;
use dtype_runtime::{AppendBytes, pack_onto};
use dtype_runtime::{Buffer, Packer};

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
    /// Bytes of the payload.
    payload: usize,
    packer: Packer<'a>,
    checksum: u32,
    /// The first `filled` bytes are ready, and the first `sent` of these have been sent.
    buffer: Vec<u8>,
    sent: usize,
    filled: usize,
    is_ended: bool,
}

impl<'a> Encoder<'a> {
    /// The frame of these records.
    ///
    /// # Errors
    ///
    /// As [`Header::of`].
    pub fn new<T: Datatype>(items: &'a [T], framing: Framing) -> Result<Self, Error> {
        Self::packed(Header::of::<T>(items.len(), framing)?, Packer::new(items))
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
        Self::packed(Header::of_type(ty, count, framing)?, packer)
    }

    fn packed(header: Header, packer: Packer<'a>) -> Result<Self, Error> {
        Ok(Self {
            header,
            payload: header.in_memory()?.payload,
            packer,
            checksum: 0,
            buffer: Vec::new(),
            sent: 0,
            filled: 0,
            is_ended: false,
        })
    }

    /// The header of the frame.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The next bytes of the frame, at most 64 KiB and the header; empty at the end. The same bytes are returned
    /// until [`advance`](Self::advance) is called.
    pub fn chunk(&mut self) -> &[u8] {
        if self.sent == self.filled && !self.is_ended {
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
        self.is_ended && self.sent == self.filled
    }

    /// Packs the next piece: whole records, if one is not longer than a piece, because whole records are packed
    /// fastest. The header comes before the first piece, and the checksum after the last.
    fn refill(&mut self) {
        let piece = self.header.piece().min(CHUNK).min(self.payload);
        let is_first = self.buffer.is_empty();
        let mut filled = 0;
        if is_first {
            let header = self.header.to_bytes();
            self.checksum = Header::checksum(&header);
            filled = header.len();
            self.buffer.resize(filled + piece + CHECKSUM_LEN, 0);
            self.buffer[..filled].copy_from_slice(&header);
        }
        let packed = self.packer.pack(&mut self.buffer[filled..filled + piece]);
        if self.header.checksum_len() > 0 {
            let packed = &self.buffer[filled..filled + packed];
            self.checksum = crc32c::crc32c_append(self.checksum, packed);
        }
        filled += packed;
        if self.packer.is_complete() {
            self.is_ended = true;
            if self.header.checksum_len() > 0 {
                let end = filled + CHECKSUM_LEN;
                self.buffer[filled..end].copy_from_slice(&self.checksum.to_le_bytes());
                filled = end;
            }
        }
        (self.sent, self.filled) = (0, filled);
    }
}

impl Read for Encoder<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let chunk = self.chunk();
        let count = chunk.len().min(out.len());
        out[..count].copy_from_slice(&chunk[..count]);
        self.advance(count);
        Ok(count)
    }
}

/// Appends the frame of these records, in one piece.
#[inline]
pub(crate) fn append<T: Datatype>(
    items: &[T],
    out: &mut impl AppendBytes,
    framing: Framing,
) -> Result<(), Error> {
    let header = Header::of::<T>(items.len(), framing)?;
    let payload = header.in_memory()?.payload;
    let bytes = header.to_bytes();
    out.room(bytes.len() + payload + CHECKSUM_LEN);
    let start = out.bytes().len();
    out.append(&bytes);
    pack_onto(out, items);
    if framing.has_checksum() {
        let checksum = Header::frame_checksum(&out.bytes()[start..]);
        out.append(&checksum.to_le_bytes());
    }
    Ok(())
}

//! Reading a frame, chunk by chunk.

use std::io::Read;

use crate::CHUNK;
use crate::assemble::grow;
use crate::error::Error;
use crate::fill::fill;
use crate::header::{CHECKSUM_LEN, Header, Sizes};
use crate::limits::Limits;
use crate::messages::Messages;
use crate::packed::PackedMessage;
use crate::parser::Body;
use crate::reversed::reverse_values;
use dtype_runtime::{BufferMut, Committed, Datatype, unpack_into};

/// A message whose header has been read, while its payload is still in the stream.
///
/// The caller can decide by the header; then one of the methods reads the rest of the frame. Each method first compares the
/// header with the type that it is to unpack. If it refuses the header, it has read none of the payload. If it refuses the
/// payload, with [`Error::Checksum`] or [`dtype_runtime::Error::InvalidValue`], it has read all of the payload, and the stream
/// is at the next message. After any other error, the position in the stream is lost.
///
/// ```
/// use dtype_message::{Incoming, Limits};
/// let mut stream = Vec::new();
/// dtype_message::write(&mut stream, &[1.5_f64, 2.5])?;
/// dtype_message::write(&mut stream, &[7_u8, 8])?;
///
/// let mut input = &stream[..];
/// let mut bytes = Vec::new();
/// while let Some(message) = Incoming::open(&mut input, &Limits::new())? {
///     match message.header().check::<u8>() {
///         Ok(()) => bytes.extend(message.read::<u8>()?),
///         Err(_) => drop(message.skip()?),
///     }
/// }
/// assert_eq!(bytes, [7, 8]);
/// # Ok::<(), dtype_message::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "the payload is still in the stream, before the next message"]
pub struct Incoming<R> {
    input: R,
    header: Header,
    body: Body,
    sizes: Sizes,
    limits: Limits,
}

impl<R: Read> Incoming<R> {
    /// Reads a header and compares it with the limits of payload and protection; `None` if the stream ends between messages.
    /// Pass the stream as `&mut input` to continue with it afterwards.
    ///
    /// # Errors
    ///
    /// The errors of [`Header::read`] and [`Incoming::new`].
    pub fn open(mut input: R, limits: &Limits) -> Result<Option<Self>, Error> {
        let Some((header, body)) = Header::read_with_body(&mut input)? else { return Ok(None) };
        Self::behind(header, body, input, limits).map(Some)
    }

    /// The message with this header, whose payload is next in `input`.
    ///
    /// # Errors
    ///
    /// The errors of [`Header::check_limits`]; [`dtype_runtime::Error::CountTooLarge`] inside [`Error::Records`] if this
    /// machine could not address the records.
    pub fn new(header: Header, input: R, limits: &Limits) -> Result<Self, Error> {
        Self::behind(header, Body::after(&header), input, limits)
    }

    #[inline]
    fn behind(header: Header, body: Body, input: R, limits: &Limits) -> Result<Self, Error> {
        header.check_limits(limits)?;
        Ok(Self { input, header, body, sizes: header.in_memory()?, limits: *limits })
    }

    /// The header of the message.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Reads the records. They are unpacked as they arrive, into memory that grows with them, and returned when
    /// the whole frame has been verified.
    ///
    /// A type that skips fields does not compile here, because nothing would initialise them: use
    /// [`read_into`](Self::read_into) or [`read_reusing`](Self::read_reusing).
    ///
    /// # Errors
    ///
    /// The errors of [`Header::check`]; [`Error::Io`], [`Error::Truncated`], [`Error::Checksum`];
    /// [`InvalidValue`](dtype_runtime::Error::InvalidValue) and [`Allocation`](dtype_runtime::Error::Allocation) inside
    /// [`Error::Records`]; [`Error::RecordLimit`]; [`Error::PayloadLimit`] if the records would take more memory than the limit.
    pub fn read<T: Datatype>(self) -> Result<Vec<T>, Error> {
        self.receive()
    }

    /// Reads the message as any type that implements [`Messages`]: one record, a `Vec` of records, a `String`, or
    /// an enum whose variant the tag selects.
    ///
    /// # Errors
    ///
    /// The errors of [`read`](Self::read); [`Error::UnknownTag`], [`Error::RecordCount`], [`Error::TextLimit`],
    /// [`Error::Text`].
    pub fn receive<M: Messages>(mut self) -> Result<M, Error> {
        let mut assembler = M::begin(&self.header, &self.limits)?;
        // A longer record is a message with a head, or arrives in pieces.
        let (piece, payload) = (self.header.piece().min(CHUNK), self.sizes.payload);
        let (mut buffer, mut taken) = (Vec::new(), 0);
        while taken < payload {
            let size = piece.min(payload - taken);
            self.fill(&mut buffer, size)?;
            M::piece(&mut assembler, &buffer[..size])?;
            taken += size;
        }
        self.finish()?;
        M::end(assembler)
    }

    /// Writes the data of the records into the first of `items`, and returns the number of records. Padding,
    /// skipped fields and further items are unchanged. The payload is kept until the whole frame has been
    /// verified; nothing is written before that.
    ///
    /// # Errors
    ///
    /// [`Error::RecordLimit`] if there are more records than items; the errors of [`read`](Self::read).
    pub fn read_into<T: Datatype>(self, items: &mut [T]) -> Result<usize, Error> {
        self.header.check::<T>()?;
        self.header.check_count(self.limits.max_records().min(items.len() as u64))?;
        let count = self.sizes.count;
        let packed = self.native::<T>(size_of_val(items))?;
        unpack_into(&packed, &mut items[..count])?;
        Ok(count)
    }

    /// Replaces `records` with the records of the message and returns their number. Existing records get new data and keep
    /// their skipped fields. If there are too few, more are made by `Default`; if there are too many, the others are dropped.
    /// The payload is kept until the whole frame has been verified; nothing is changed before that.
    ///
    /// # Errors
    ///
    /// The errors of [`read`](Self::read).
    pub fn read_reusing<T: Datatype + Default>(self, records: &mut Vec<T>) -> Result<usize, Error> {
        self.header.check::<T>()?;
        self.header.check_list::<Vec<T>>(self.header.count(), &self.limits)?;
        let count = self.sizes.count;
        let packed = self.native::<T>(size_of_val(&records[..]))?;
        let before = records.len();
        grow(records, count.saturating_sub(before), count)?;
        if before < count {
            records.resize_with(count, T::default);
        }
        let result = unpack_into(&packed, &mut records[..count]);
        records.truncate(if result.is_ok() { count } else { before });
        result?;
        Ok(count)
    }

    /// Unpacks the instances of the message into memory, as [`Committed::unpack`] does. There may be fewer than
    /// `count`; returns their number. Gaps are not written. The payload is kept until the whole frame has been
    /// verified; nothing is written before that.
    ///
    /// The memory consists of bytes. They are not checked: a byte for a `bool`, for example, may be neither 0 nor 1.
    ///
    /// # Errors
    ///
    /// The errors of [`Header::check_type`]; [`Error::RecordLimit`] if there are more than `count` instances;
    /// [`OutOfBounds`](dtype_runtime::Error::OutOfBounds), [`Overlap`](dtype_runtime::Error::Overlap) and
    /// [`Allocation`](dtype_runtime::Error::Allocation) inside [`Error::Records`]; [`Error::Io`], [`Error::Truncated`],
    /// [`Error::Checksum`].
    pub fn read_with<'a>(
        self,
        ty: &Committed,
        to: impl Into<BufferMut<'a>>,
        count: usize,
    ) -> Result<usize, Error> {
        self.header.check_type(ty)?;
        self.header.check_count(self.limits.max_records().min(count as u64))?;
        let count = self.sizes.count;
        let (memory, origin) = to.into().into_parts();
        let room = memory.len();
        let unpacker = ty.unpacker(BufferMut::new(memory).origin(origin), count)?;
        let header = self.header;
        let packed = self.packed_in(room)?;
        PackedMessage { header, packed }.unpack(unpacker)?;
        Ok(count)
    }

    /// Returns the packed bytes of the records, in the byte order of the header, to be unpacked later or passed
    /// on. The checksum is verified; whether the bytes are values of a type is not.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], [`Error::Truncated`], [`Error::Checksum`]; [`Allocation`](dtype_runtime::Error::Allocation) inside
    /// [`Error::Records`].
    pub fn packed(self) -> Result<Vec<u8>, Error> {
        self.packed_in(0)
    }

    /// As [`packed_in`](Self::packed_in), in this machine's byte order.
    fn native<T: Datatype>(self, room: usize) -> Result<Vec<u8>, Error> {
        let is_reversed = self.header.is_reversed();
        let mut packed = self.packed_in(room)?;
        if is_reversed {
            reverse_values(T::TYPE_MAP, &mut packed);
        }
        Ok(packed)
    }

    /// As [`packed`](Self::packed), but allocates up to `room` bytes at once: the memory that the caller has for the records. A
    /// header cannot increase that.
    fn packed_in(mut self, room: usize) -> Result<Vec<u8>, Error> {
        let (mut packed, payload) = (Vec::new(), self.sizes.payload);
        grow(&mut packed, room.min(payload), payload)?;
        self.fill(&mut packed, payload)?;
        self.finish()?;
        Ok(packed)
    }

    /// Reads the rest of the frame, verifies its checksum, and discards it. Returns the bytes of the payload.
    ///
    /// # Errors
    ///
    /// As [`packed`](Self::packed).
    pub fn skip(mut self) -> Result<u64, Error> {
        let mut buffer = Vec::new();
        while self.body.left() > 0 {
            let size = usize::try_from(self.body.left()).unwrap_or(CHUNK).min(CHUNK);
            self.fill(&mut buffer, size)?;
        }
        self.finish()?;
        Ok(self.header.payload_len())
    }

    /// Fills the first `size` bytes of the buffer. The buffer grows as the bytes arrive.
    fn fill(&mut self, buffer: &mut Vec<u8>, size: usize) -> Result<(), Error> {
        let mut filled = 0;
        while filled < size {
            let step = filled + (size - filled).min(CHUNK);
            if buffer.len() < step {
                let more = step - buffer.len();
                grow(buffer, more, size)?;
                buffer.resize(step, 0);
            }
            self.next(&mut buffer[filled..step])?;
            filled = step;
        }
        Ok(())
    }

    /// The next bytes of the payload.
    fn next(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        let came = fill(&mut self.input, bytes)?;
        let mut arrived = &bytes[..came];
        while !self.body.payload(&mut arrived).is_empty() {}
        if came < bytes.len() { Err(self.body.truncated(0)) } else { Ok(()) }
    }

    /// Reads the checksum at the end and compares it.
    fn finish(&mut self) -> Result<(), Error> {
        let (mut bytes, len) = ([0; CHECKSUM_LEN], self.body.checksum_len());
        let came = fill(&mut self.input, &mut bytes[..len])?;
        if came < len { Err(self.body.truncated(came)) } else { self.body.verify(bytes) }
    }
}

//! Reading a frame, chunk by chunk.

use alloc::vec::Vec;
use core::mem;
use std::io::Read;

use super::CHUNK;
use super::error::{Error, Part};
use super::header::{Header, Sizes, fill};
use super::limits::Limits;
use crate::commit::Committed;
use crate::convertor::{Records, Unpacker};
use crate::datatype::Datatype;
use crate::representation::Representation;
use crate::typed::{unpack_behind, unpack_into};
use crate::types::Type;

/// A message whose header has been read, and whose payload is still in the stream.
///
/// The header is there to decide by; then one of the methods takes the rest of the frame. Each first compares
/// the header with what it is to unpack, and when it refuses that, the payload is where it was. When it refuses
/// the payload, with [`Error::Checksum`] or [`crate::Error::InvalidValue`], it has read it to its end, and the
/// stream is at the next message. After any other error the place in the stream is lost.
///
/// ```
/// use dtype_runtime::message::{self, Incoming, Limits};
/// let mut stream = Vec::new();
/// message::write(&mut stream, &[1.5_f64, 2.5])?;
/// message::write(&mut stream, &[7_u8, 8])?;
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
/// # Ok::<(), message::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "the payload is still in the stream, before the next message"]
pub struct Incoming<R> {
    input: R,
    header: Header,
    sizes: Sizes,
    /// Bytes of payload that have come.
    came: u64,
    /// The checksum of the frame as far as it has come.
    checksum: u32,
    /// What records may take in memory for which no payload vouches.
    empty_limit: u64,
}

impl<R: Read> Incoming<R> {
    /// Reads a header, and holds it against the limits; `None` where the stream ends between messages. Lend the
    /// stream, `&mut input`, to go on with it afterwards.
    ///
    /// # Errors
    ///
    /// Those of [`Header::read`] and [`Incoming::new`].
    pub fn open(mut input: R, limits: &Limits) -> Result<Option<Self>, Error> {
        let Some(header) = Header::read(&mut input)? else { return Ok(None) };
        Self::new(header, input, limits).map(Some)
    }

    /// The message that this header came from, whose payload is next in `input`.
    ///
    /// # Errors
    ///
    /// Those of [`Header::check_limits`]; [`crate::Error::CountTooLarge`] inside [`Error::Datatype`] where this
    /// machine could not address the records.
    pub fn new(header: Header, input: R, limits: &Limits) -> Result<Self, Error> {
        header.check_limits(limits)?;
        let (sizes, checksum) = (header.in_memory()?, header.checksum());
        let empty_limit = limits.max_payload_bytes();
        Ok(Self { input, header, sizes, came: 0, checksum, empty_limit })
    }

    /// What the message says about its records.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The records. They are unpacked as they arrive, into memory that grows with them, and handed out when
    /// the whole frame has been verified.
    ///
    /// A type that skips fields does not compile here, because nothing would initialise them: use
    /// [`read_into`](Self::read_into) or [`read_over`](Self::read_over).
    ///
    /// # Errors
    ///
    /// Those of [`Header::check`]; [`Error::Io`], [`Error::Truncated`], [`Error::Checksum`];
    /// [`InvalidValue`](crate::Error::InvalidValue) and [`Allocation`](crate::Error::Allocation) inside
    /// [`Error::Datatype`]; [`Error::PayloadLimit`] where records without data would take more memory than the
    /// limit.
    pub fn read<T: Datatype>(mut self) -> Result<Vec<T>, Error> {
        self.header.check::<T>()?;
        self.check_empty::<T>()?;
        let Sizes { count: total, record, .. } = self.sizes;
        let per_chunk = records_of_chunk(record, total);
        let foreign = self.foreign(&Type::of::<T>)?;
        let mut records = Unverified(Vec::new());
        let (mut buffer, mut converted) = (Vec::new(), Vec::new());
        let mut first = 0;
        while first < total {
            let count = per_chunk.min(total - first);
            let size = count * record;
            self.fill(&mut buffer, 0, size)?;
            grow(&mut records.0, count, total)?;
            let native = match &foreign {
                None => &buffer[..size],
                Some(foreign) => {
                    foreign.convert(&buffer[..size], &mut converted, count)?;
                    &converted
                }
            };
            if let Err(error) = unpack_behind(native, count, &mut records.0) {
                // Damage on the way is told from a wrong value that was sent: the checksum has the last word.
                self.drain(&mut buffer)?;
                return Err(error.records_later(first).into());
            }
            first += count;
        }
        self.finish()?;
        Ok(records.verified())
    }

    /// Writes the data of the records into the first of `items`, as many as there are, and returns their number.
    /// Padding, skipped fields and further items stay as they are. The payload is kept until the whole frame
    /// has been verified; nothing is written before.
    ///
    /// # Errors
    ///
    /// [`Error::RecordLimit`] when there are more records than items; those of [`read`](Self::read).
    pub fn read_into<T: Datatype>(self, items: &mut [T]) -> Result<usize, Error> {
        self.header.check::<T>()?;
        self.header.check_count(items.len() as u64)?;
        let count = self.sizes.count;
        let representation = self.header.representation();
        let packed = self.packed_in(size_of_val(items))?;
        unpack_from(representation, &packed, &mut items[..count])?;
        Ok(count)
    }

    /// Makes `records` those of the message: the data of the records that are there are overwritten, and their
    /// skipped fields stay; more are made by `Default` if there are too few, and those that are too many are
    /// dropped. The payload is kept until the whole frame has been verified; nothing is changed before. Returns
    /// the number of records.
    ///
    /// # Errors
    ///
    /// Those of [`read`](Self::read).
    pub fn read_over<T: Datatype + Default>(self, records: &mut Vec<T>) -> Result<usize, Error> {
        self.header.check::<T>()?;
        self.check_empty::<T>()?;
        let count = self.sizes.count;
        let representation = self.header.representation();
        let packed = self.packed_in(size_of_val(&records[..]))?;
        let before = records.len();
        grow(records, count.saturating_sub(before), count)?;
        if before < count {
            records.resize_with(count, T::default);
        }
        let result = unpack_from(representation, &packed, &mut records[..count]);
        records.truncate(if result.is_ok() { count } else { before });
        result?;
        Ok(count)
    }

    /// Unpacks the instances of the message as [`Committed::unpack`] does, into `memory`, the first of them with
    /// its displacement 0 at `origin`. There may be fewer than `count`; returns how many there were. Gaps are not
    /// written. The payload is kept until the whole frame has been verified; nothing is written before.
    ///
    /// The memory consists of bytes, so what they mean, and whether a `bool` among them is one, is up to who
    /// reads them.
    ///
    /// # Errors
    ///
    /// Those of [`Header::check_type`]; [`Error::RecordLimit`] when there are more than `count`;
    /// [`OutOfBounds`](crate::Error::OutOfBounds), [`Overlap`](crate::Error::Overlap) and
    /// [`Allocation`](crate::Error::Allocation) inside [`Error::Datatype`]; [`Error::Io`],
    /// [`Error::Truncated`], [`Error::Checksum`].
    pub fn read_by(
        self,
        ty: &Committed,
        memory: &mut [u8],
        origin: usize,
        count: usize,
    ) -> Result<usize, Error> {
        self.header.check_type(ty)?;
        self.header.check_count(count as u64)?;
        let count = self.sizes.count;
        let room = memory.len();
        let unpacker = ty.unpacker(memory, origin, count)?;
        let mut unpacker = unpacker.represented(self.header.representation())?;
        let packed = self.packed_in(room)?;
        unpacker.unpack(&packed)?;
        Ok(count)
    }

    /// The packed bytes of the records, verified as what was sent and not as values of any type: to be unpacked
    /// later, or passed on. They are in the byte order of the header.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], [`Error::Truncated`], [`Error::Checksum`]; [`Allocation`](crate::Error::Allocation) inside
    /// [`Error::Datatype`].
    pub fn packed(self) -> Result<Vec<u8>, Error> {
        self.packed_in(0)
    }

    /// How the records become those of this machine, unless they are.
    fn foreign(&self, ty: &dyn Fn() -> Type) -> Result<Option<Records>, Error> {
        match self.header.representation() {
            Representation::Native => Ok(None),
            other => Ok(Some(Records::new(&ty(), other)?)),
        }
    }

    /// As [`packed`](Self::packed), in memory of which as much is taken at once as the caller has for the records:
    /// one who has that much has not been talked into it by a header.
    fn packed_in(mut self, room: usize) -> Result<Vec<u8>, Error> {
        let (mut packed, payload) = (Vec::new(), self.sizes.payload);
        grow(&mut packed, room.min(payload), payload)?;
        self.fill(&mut packed, 0, self.sizes.payload)?;
        self.finish()?;
        Ok(packed)
    }

    /// Reads the rest of the frame, verifies it as what was sent, and forgets it. Returns the bytes of the
    /// payload.
    ///
    /// # Errors
    ///
    /// As [`packed`](Self::packed).
    pub fn skip(mut self) -> Result<u64, Error> {
        self.drain(&mut Vec::new())?;
        Ok(self.header.payload_len())
    }

    /// Records that have no data and take memory nevertheless: nothing has to be sent for them, so it is the
    /// limit that keeps a sender from asking for any amount.
    fn check_empty<T>(&self) -> Result<(), Error> {
        let actual = self.header.count().saturating_mul(size_of::<T>() as u64);
        if self.sizes.record == 0 && actual > self.empty_limit {
            return Err(Error::PayloadLimit { limit: self.empty_limit, actual });
        }
        Ok(())
    }

    /// Fills `size` bytes of the buffer from `start` on, which grows as they come.
    fn fill(&mut self, buffer: &mut Vec<u8>, start: usize, size: usize) -> Result<(), Error> {
        let (mut filled, end) = (start, start + size);
        while filled < end {
            let step = filled + (end - filled).min(CHUNK);
            if buffer.len() < step {
                let more = step - buffer.len();
                grow(buffer, more, end)?;
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
        self.came += came as u64;
        if came < bytes.len() {
            let (expected, actual) = (self.header.payload_len(), self.came);
            return Err(Error::Truncated { part: Part::Payload, expected, actual });
        }
        self.checksum = crc32c::crc32c_append(self.checksum, bytes);
        Ok(())
    }

    /// Reads the frame to its end and verifies it.
    fn drain(&mut self, buffer: &mut Vec<u8>) -> Result<(), Error> {
        loop {
            let left = self.header.payload_len() - self.came;
            let size = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
            if size == 0 {
                return self.finish();
            }
            self.fill(buffer, 0, size)?;
        }
    }

    /// Reads the checksum at the end and compares.
    fn finish(&mut self) -> Result<(), Error> {
        let mut bytes = [0; 4];
        let came = fill(&mut self.input, &mut bytes)?;
        if came < bytes.len() {
            let (expected, actual) = (bytes.len() as u64, came as u64);
            return Err(Error::Truncated { part: Part::Checksum, expected, actual });
        }
        let (expected, actual) = (self.checksum, u32::from_le_bytes(bytes));
        if expected == actual { Ok(()) } else { Err(Error::Checksum { expected, actual }) }
    }
}

/// Records that may have been damaged on the way. Valid values, but not those that were sent: they are
/// forgotten, not dropped, so that no `Drop` of their type acts on them.
struct Unverified<T>(Vec<T>);

impl<T> Unverified<T> {
    fn verified(mut self) -> Vec<T> {
        mem::take(&mut self.0)
    }
}

impl<T> Drop for Unverified<T> {
    fn drop(&mut self) {
        if mem::needs_drop::<T>() {
            mem::take(&mut self.0).into_iter().for_each(mem::forget);
        }
    }
}

/// Unpacks records that came in a representation.
fn unpack_from<T: Datatype>(
    representation: Representation,
    packed: &[u8],
    items: &mut [T],
) -> Result<(), crate::Error> {
    match representation {
        Representation::Native => unpack_into(packed, items)?,
        other => Unpacker::new(items).represented(other)?.unpack(packed)?,
    };
    Ok(())
}

/// Makes room for `more` items in a list that is to have `total` in the end: no more than twice what is there
/// already, so that memory follows what has arrived and not what was announced.
fn grow<T>(items: &mut Vec<T>, more: usize, total: usize) -> Result<(), crate::Error> {
    if items.capacity() - items.len() < more {
        let least = items.len() + more;
        let room = items.len().saturating_mul(2).min(total).max(least) - items.len();
        items
            .try_reserve_exact(room)
            .map_err(|_| crate::Error::Allocation { count: least, stride: size_of::<T>() })?;
    }
    Ok(())
}

/// How many of `count` records go into a chunk: all of them where they have no data.
fn records_of_chunk(record: usize, count: usize) -> usize {
    CHUNK.checked_div(record).map_or(count, |records| records.max(1)).min(count)
}

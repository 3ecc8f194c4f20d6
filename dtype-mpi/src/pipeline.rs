//! Sends long messages in chunks, so that packing, the transfer and unpacking overlap.

use std::collections::VecDeque;
use std::num::NonZeroUsize;

use dtype_runtime::{Datatype as Described, Packer, Unpacker};
use mpi::traits::{Destination, Source};
use mpi::{Rank, Tag};

use crate::error::Error;
use crate::raw::OnCommunicator;
use crate::raw::point_to_point::{Envelope, Pending, number};
use crate::received::{Received, received};
use crate::values;

/// A transfer in chunks: while one chunk is in transit, the next is packed and the previous one is unpacked.
///
/// Both ends must use it; the receiver learns the length and the chunk size from the sender. For a peer that sends or receives
/// one message with a datatype of the library, use [`PackedDestination`] and [`PackedSource`]. These hold the whole message in
/// memory a second time, which costs nothing as long as the message stays in the cache: below 1 MiB they are faster.
///
/// The chunks follow one another on one communicator with one tag. During the transfer, no other message with that
/// tag may be sent between the same two ranks, for example by another thread.
///
/// [`PackedDestination`]: crate::traits::PackedDestination
/// [`PackedSource`]: crate::traits::PackedSource
///
/// # Format
///
/// The header is a message of 24 bytes, three 64-bit numbers in little-endian order: `0x3170697065707964`, the
/// total number of packed bytes, and the number of bytes in a chunk. The chunks follow as messages of that length;
/// the last one may be shorter.
///
/// ```no_run
/// # let universe = mpi::initialize().unwrap();
/// # let world = universe.world();
/// use dtype_mpi::Pipeline;
/// use mpi::traits::*;
///
/// let pipeline = Pipeline::default();
/// if world.rank() == 0 {
///     let particles = vec![([0.0_f64; 3], 1_i8); 1_000_000];
///     pipeline.send(&world.process_at_rank(1), &particles, 0)?;
/// } else {
///     let (particles, _) = pipeline.recv::<([f64; 3], i8), _>(&world.process_at_rank(0), 0)?;
///     assert_eq!(particles.len(), 1_000_000);
/// }
/// # Ok::<(), dtype_mpi::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pipeline {
    chunk: NonZeroUsize,
}

impl Default for Pipeline {
    /// Chunks of 128 KiB, with which transfers in shared memory were fastest, or nearly so.
    fn default() -> Self {
        Self { chunk: NonZeroUsize::MIN.saturating_add((1 << 17) - 1) }
    }
}

/// "dypepip1" in little-endian order.
const MAGIC: u64 = 0x3170_6970_6570_7964;

impl Pipeline {
    /// A pipeline with chunks of `bytes` bytes; for a transfer, the sender's chunk size counts. Before MPI-4, chunks have at
    /// most 2³¹ − 1 bytes. Longer chunks return [`Error::Count`] before anything is sent, unless the transfer itself is
    /// shorter.
    pub const fn new(chunk: NonZeroUsize) -> Self {
        Self { chunk }
    }

    /// Sends elements.
    ///
    /// # Errors
    ///
    /// As [`PackedDestination::send_packed`](crate::traits::PackedDestination::send_packed), and
    /// [`Error::Allocation`] for the chunks.
    pub fn send<T: Described, D: Destination>(
        &self,
        to: &D,
        elements: &[T],
        tag: Tag,
    ) -> Result<(), Error> {
        self.send_stream(to, Packer::new(elements), tag)
    }

    /// Sends the rest of a packed stream.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub fn send_stream<D: Destination>(
        &self,
        to: &D,
        mut packer: Packer<'_>,
        tag: Tag,
    ) -> Result<(), Error> {
        let on = OnCommunicator::begin("MPI_Isend", to.as_communicator())?;
        let rank = to.destination_rank();
        let (total, chunk) = (packer.remaining(), self.chunk.get());
        // Refuses numbers that the library cannot count, before anything is sent.
        number("MPI_Isend", shorter(total, chunk))?;
        let mut buffers = Vec::new();
        for _ in 0..DEPTH {
            let bytes = shorter(total, chunk);
            let mut buffer: Vec<u8> = Vec::new();
            buffer.try_reserve_exact(bytes).map_err(|_| Error::Allocation { bytes })?;
            buffers.push(buffer);
        }
        let header = [MAGIC, total, chunk as u64].map(u64::to_le_bytes).concat();
        on.send(&header, rank, tag)?;
        let mut under_way = VecDeque::new();
        while !packer.is_complete() {
            let mut buffer = match (buffers.pop(), under_way.pop_front()) {
                (Some(buffer), first) => {
                    under_way.extend(first);
                    buffer
                }
                (None, Some(first)) => Pending::wait(first)?.0,
                (None, None) => Vec::new(),
            };
            buffer.resize(shorter(packer.remaining(), chunk), 0);
            packer.pack(&mut buffer);
            under_way.push_back(on.start_send(buffer, rank, tag)?);
        }
        under_way.into_iter().try_for_each(|last| last.wait().map(drop))
    }

    /// Receives elements, whatever their number. A type that skips fields does not compile here.
    ///
    /// # Errors
    ///
    /// [`Error::Header`] for a message that does not begin a transfer in chunks, which is lost; otherwise as
    /// [`PackedSource::recv_packed`](crate::traits::PackedSource::recv_packed). A transfer that does not fit is
    /// received to its end and discarded.
    pub fn recv<T: Described, S: Source>(
        &self,
        from: &S,
        tag: Tag,
    ) -> Result<(Vec<T>, Received), Error> {
        let on = OnCommunicator::begin("MPI_Irecv", from.as_communicator())?;
        let transfer = Transfer::begin(&on, from.source_rank(), tag)?;
        let count = transfer.expect(&on, values::whole::<T>(transfer.total))?;
        let elements = if T::TYPE_MAP.is_restricted() || T::TYPE_MAP.size() == 0 {
            let bytes = transfer.bytes(&on)?;
            values::unpack_vec(&bytes, count)?
        } else {
            let mut elements = transfer.expect(&on, values::zeroed::<T>(count))?;
            transfer.unpack(&on, Unpacker::new(&mut elements))?;
            elements
        };
        Ok((elements, transfer.received(count)))
    }

    /// Receives elements into the first elements of a slice. Padding and skipped fields are unchanged.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv), and [`Error::Truncated`] for more elements. No element is written in that case, or
    /// if one of them is not a valid value. If a call of the library fails during the transfer, some elements may
    /// have been written.
    pub fn recv_into<T: Described, S: Source>(
        &self,
        from: &S,
        elements: &mut [T],
        tag: Tag,
    ) -> Result<Received, Error> {
        let on = OnCommunicator::begin("MPI_Irecv", from.as_communicator())?;
        let transfer = Transfer::begin(&on, from.source_rank(), tag)?;
        let fits = values::fits::<T>(transfer.envelope(), elements.len());
        let count = transfer.expect(&on, fits)?;
        let elements = &mut elements[..count];
        if T::TYPE_MAP.is_restricted() {
            let bytes = transfer.bytes(&on)?;
            dtype_runtime::unpack_into(&bytes, elements)?;
        } else {
            transfer.unpack(&on, Unpacker::new(elements))?;
        }
        Ok(transfer.received(count))
    }

    /// Receives into a packed stream, which continues after the end of the transfer. Values that have to be checked
    /// are checked and written as they arrive.
    ///
    /// # Errors
    ///
    /// As [`recv_into`](Self::recv_into), with [`Error::Truncated`] for more bytes than the stream has left. The
    /// values before an invalid one have been written.
    pub fn recv_stream<S: Source>(
        &self,
        from: &S,
        unpacker: &mut Unpacker<'_>,
        tag: Tag,
    ) -> Result<Received, Error> {
        let on = OnCommunicator::begin("MPI_Irecv", from.as_communicator())?;
        let transfer = Transfer::begin(&on, from.source_rank(), tag)?;
        let fits = values::fits_bytes(transfer.envelope(), unpacker.remaining());
        transfer.expect(&on, fits)?;
        transfer.chunks(&on, |bytes| Ok(unpacker.unpack(bytes).map(drop)?))?;
        Ok(transfer.received(usize::try_from(transfer.total).unwrap_or(usize::MAX)))
    }
}

/// Maximum number of chunks in transit.
const DEPTH: usize = 2;

/// The length of the next chunk.
fn shorter(left: u64, chunk: usize) -> usize {
    usize::try_from(left).map_or(chunk, |left| left.min(chunk))
}

/// A transfer that has begun, at the receiver.
struct Transfer {
    source: Rank,
    tag: Tag,
    total: u64,
    chunk: usize,
}

impl Transfer {
    fn begin(on: &OnCommunicator<'_>, from: Rank, tag: Tag) -> Result<Self, Error> {
        let mut first = on.matched_probe(from, tag)?;
        let Envelope { source, tag, bytes } = first.envelope;
        if bytes != 3 * 8 {
            return Err(Error::Header { bytes });
        }
        let (magic, total, chunk) = first.receive_bytes(|header| {
            let mut numbers = header.as_chunks().0.iter().copied().map(u64::from_le_bytes);
            (numbers.next(), numbers.next(), numbers.next())
        })?;
        match (total, chunk.and_then(|chunk| usize::try_from(chunk).ok())) {
            (Some(total), Some(chunk)) if magic == Some(MAGIC) && chunk > 0 => {
                Ok(Self { source, tag, total, chunk })
            }
            _ => Err(Error::Header { bytes }),
        }
    }

    fn envelope(&self) -> Envelope {
        Envelope { source: self.source, tag: self.tag, bytes: self.total }
    }

    fn received(&self, count: usize) -> Received {
        received(self.envelope(), count)
    }

    /// Returns `result`. If it is an error, the chunks are first received and discarded, so that the sender can continue and
    /// none of them is taken for the next message.
    fn expect<R>(&self, on: &OnCommunicator<'_>, result: Result<R, Error>) -> Result<R, Error> {
        if result.is_err() {
            self.chunks(on, |_| Ok(()))?;
        }
        result
    }

    /// Receives all bytes.
    fn bytes(&self, on: &OnCommunicator<'_>) -> Result<Vec<u8>, Error> {
        let bytes = usize::try_from(self.total).unwrap_or(usize::MAX);
        let mut all = Vec::new();
        let room = all.try_reserve_exact(bytes).map_err(|_| Error::Allocation { bytes });
        self.expect(on, room)?;
        self.chunks(on, |bytes| {
            all.extend_from_slice(bytes);
            Ok(())
        })?;
        Ok(all)
    }

    fn unpack(&self, on: &OnCommunicator<'_>, mut unpacker: Unpacker<'_>) -> Result<(), Error> {
        self.chunks(on, |bytes| Ok(unpacker.unpack(bytes).map(drop)?))
    }

    /// Passes the chunks to `take` one by one, while the next one is in transit. After an error of `take`, the remaining chunks
    /// are still received.
    fn chunks(
        &self,
        on: &OnCommunicator<'_>,
        mut take: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut left = self.total;
        let mut buffers = Vec::new();
        let mut under_way = VecDeque::new();
        let mut taken = Ok(());
        loop {
            while under_way.len() < DEPTH && left > 0 {
                let (source, tag) = (self.source, self.tag);
                // While there is a chunk to pass on, this does not wait for the next one.
                let found = if under_way.is_empty() {
                    Some(on.matched_probe(source, tag)?)
                } else {
                    on.matched_now(source, tag)?
                };
                let Some(next) = found else { break };
                let expected = shorter(left, self.chunk) as u64;
                values::fits_bytes(next.envelope, expected)?;
                let Envelope { source: source_rank, tag, bytes } = next.envelope;
                if bytes < expected {
                    return Err(Error::Short { source_rank, tag, bytes, expected });
                }
                under_way.push_back(next.start_receive(buffers.pop().unwrap_or_default())?);
                left -= bytes;
            }
            let Some(first) = under_way.pop_front() else { return taken };
            let (buffer, _) = first.wait()?;
            if taken.is_ok() {
                taken = take(&buffer);
            }
            buffers.push(buffer);
        }
    }
}

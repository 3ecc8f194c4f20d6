//! Messages between the memories of devices. The devices pack and unpack them.

use dtype_gpu::driver::Driver;
use dtype_gpu::{Buffer, Packing, Queue};
use mpi::Tag;
use mpi::traits::{Destination, Source};

use crate::error::Error;
use crate::raw::OnCommunicator;
use crate::received::{Received, received};
use crate::values;

/// Instances of a type in device memory that are sent, or received, as one message. The device packs into pinned host memory,
/// from which the library sends, and unpacks from pinned host memory into which the library receives, so the library need not
/// support devices. The peer may use any call of this crate or of the library.
///
/// ```
/// use dtype_gpu::opencl::OpenCl;
/// use dtype_gpu::{Device, PrepareOn};
/// use dtype_mpi::{DeviceMessage, Error};
/// use dtype_runtime::{Basic, Type};
/// use mpi::traits::*;
///
/// # if OpenCl::first().is_err() { return Ok(()) }
/// let universe = mpi::initialize().expect("MPI runs once");
/// let world = universe.world();
/// let device = Device::new(OpenCl::first()?);
/// let queue = device.queue()?;
///
/// // Each rank has two rows of four cells. The third column goes to the next rank, which has it as its first.
/// let column = Type::vector(2, 1, 4, &Type::basic(Basic::U8))?.commit().prepare_on(&device)?;
/// let cells = device.buffer(8)?;
/// cells.write(&queue, 0, b".bc..fg.")?;
/// let mut own = DeviceMessage::new(&column, &queue, (&cells, 2), 1)?;
/// let mut ghosts = DeviceMessage::new(&column, &queue, (&cells, 0), 1)?;
///
/// let (rank, ranks) = (world.rank(), world.size());
/// let next = world.process_at_rank((rank + 1) % ranks);
/// let before = world.process_at_rank((rank + ranks - 1) % ranks);
/// own.exchange(&next, &mut ghosts, &before, 0)?;
///
/// let mut bytes = [0; 8];
/// cells.read(&queue, 0, &mut bytes)?;
/// assert_eq!(&bytes, b"cbc.gfg.");
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct DeviceMessage<'a, D: Driver> {
    packing: Packing<D>,
    queue: &'a Queue<D>,
    memory: (&'a Buffer<D>, i64),
    count: usize,
    /// The packed bytes of all instances.
    packed: Buffer<D>,
}

impl<'a, D: Driver> DeviceMessage<'a, D> {
    /// A message of `count` instances, with the pinned memory that it needs. Make it once, and use it for many messages.
    /// `memory` is a buffer, and the offset in bytes of displacement 0 of the first instance in that buffer.
    ///
    /// # Errors
    ///
    /// [`Error::Type`] if the instances reach outside the buffer or have too many bytes; [`Error::Device`].
    pub fn new(
        packing: &Packing<D>,
        queue: &'a Queue<D>,
        memory: (&'a Buffer<D>, i64),
        count: usize,
    ) -> Result<Self, Error> {
        let (committed, (buffer, origin)) = (packing.committed(), memory);
        committed.check_span(buffer.len() as u64, origin.into(), count)?;
        let packed = packing.device().host_buffer(committed.packed_size(count)?)?;
        Ok(Self { packing: packing.clone(), queue, memory, count, packed })
    }

    /// Packs the instances, after earlier commands of the queue, and sends them (`MPI_Send`).
    ///
    /// # Errors
    ///
    /// [`Error::Device`]; otherwise as [`send_packed`](crate::traits::PackedDestination::send_packed).
    pub fn send<To: Destination>(&mut self, to: &To, tag: Tag) -> Result<(), Error> {
        let (call, rank) = ("MPI_Send", to.destination_rank());
        self.with_packed(|bytes| {
            OnCommunicator::begin(call, to.as_communicator())?.send(bytes, rank, tag)
        })
    }

    /// Receives a message, and enqueues its unpacking on the device. A shorter message fills the first bytes of the packed
    /// stream. [`Received::count`] is the number of bytes. Any bytes are accepted.
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`] for a message that is longer than the instances, and [`Error::Type`] if these name a byte more than
    /// once; the message can then still be received. [`Error::Device`]; otherwise as
    /// [`recv_packed`](crate::traits::PackedSource::recv_packed).
    #[expect(clippy::missing_panics_doc, reason = "pinned host memory can always be mapped")]
    pub fn recv<From: Source>(&mut self, from: &From, tag: Tag) -> Result<Received, Error> {
        let Self { packing, queue, memory, count, packed } = self;
        packing.committed().check_overlap(*count)?;
        let on = OnCommunicator::begin("MPI_Probe", from.as_communicator())?;
        let found = on.probe(from.source_rank(), tag)?;
        let capacity = packed.len();
        values::fits::<u8>(found, capacity)?;
        let (envelope, bytes) = on.take(found, |matched| {
            let bytes = values::fits::<u8>(matched.envelope, capacity)?;
            let mut mapped = packed.map(queue)?.expect("pinned host memory");
            // SAFETY: the mapped memory has `capacity` bytes, and the message is no longer. Nothing else uses the memory until
            // it is given back. It holds bytes, any of which are valid.
            unsafe { matched.receive(mapped.as_mut_ptr())? };
            Ok((matched.envelope, bytes))
        })?;
        packing.unpack_range(queue, (packed, 0), *count, 0..bytes as u64, *memory)?;
        Ok(received(envelope, bytes))
    }

    /// Sends this message while it receives the other one, so that all ranks can do both at the same time (`MPI_Isend`).
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send) and [`recv`](Self::recv). The message is sent, too, if the other one cannot be received.
    pub fn exchange<To: Destination, From: Source>(
        &mut self,
        to: &To,
        other: &mut DeviceMessage<'_, D>,
        from: &From,
        tag: Tag,
    ) -> Result<Received, Error> {
        let (call, rank) = ("MPI_Isend", to.destination_rank());
        self.with_packed(|bytes| {
            let on = OnCommunicator::begin(call, to.as_communicator())?;
            on.send_while(bytes, rank, tag, || other.recv(from, tag))?
        })
    }

    /// Packs the instances and passes the packed bytes to `send`.
    fn with_packed<R>(&mut self, send: impl FnOnce(&[u8]) -> Result<R, Error>) -> Result<R, Error> {
        let Self { packing, queue, memory, count, packed } = self;
        packing.pack(queue, *memory, *count, (packed, 0))?;
        let mapped = packed.map(queue)?.expect("pinned host memory");
        send(&mapped)
    }
}

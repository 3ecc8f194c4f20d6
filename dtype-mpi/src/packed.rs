//! Messages that are packed and unpacked by this crate.

use std::fmt;

use dtype_runtime::{Datatype as Described, Packer, Unpacker};
use mpi::datatype::DatatypeRef;
use mpi::ffi;
use mpi::point_to_point::Status;
use mpi::raw::FromRaw;
use mpi::traits::{Destination, Source};
use mpi::{Rank, Tag};

use crate::buffer::{Layout, at_origin};
use crate::error::Error;
use crate::instances::assert_unrestricted;
use crate::names;
use crate::raw::point_to_point::{Envelope, Matched, Pending};
use crate::raw::{OnCommunicator, check_running};
use crate::received::{Received, received};
use crate::{spare, values};

/// The number of elements of type `T` in a message, from the status of a receive (MPI-4.1 section 3.2.5).
///
/// For a type without data, an empty message has 0 elements.
///
/// # Errors
///
/// [`Error::Partial`] for a message that ends inside an element; [`Error::Count`] for one of more bytes than the
/// `mpi` crate can count; [`Error::NotRunning`], [`Error::Thread`].
///
/// ```no_run
/// # let universe = mpi::initialize().unwrap();
/// # let world = universe.world();
/// use dtype_mpi::{ReceiveBuffer, received_count};
/// use mpi::traits::*;
///
/// let mut particles = vec![(0.0_f64, 0_i8); 100];
/// let status = world.any_process().receive_into(&mut ReceiveBuffer::new(&mut particles)?);
/// particles.truncate(received_count::<(f64, i8)>(&status)?);
/// # Ok::<(), dtype_mpi::Error>(())
/// ```
pub fn received_count<T: Described>(status: &Status) -> Result<usize, Error> {
    check_running("MPI_Get_count")?;
    let byte = names::byte()?;
    // SAFETY: a predefined datatype.
    let bytes = status.count(unsafe { DatatypeRef::from_raw(byte) });
    let limit = u64::from(mpi::Count::MAX.unsigned_abs());
    let bytes = u64::try_from(bytes).map_err(|_| Error::Count {
        call: "MPI_Get_count",
        count: limit + 1,
        limit,
    })?;
    values::whole::<T>(bytes)
}

/// Sending elements as one message. In most cases this crate packs them, as `MPI_PACKED`. The receiver may use
/// [`PackedSource`], or any receive call of any MPI program with a datatype of the same signature. (MPICH 4.0 over the shared
/// memory of UCX 1.13 refuses more than 8 KiB of dense bytes, whatever sends them, if they are received with a datatype that
/// has gaps: for such a peer use a [`SendBuffer`](crate::SendBuffer).)
///
/// The tag comes last in all functions. The communicator returns its errors during the call, whatever its
/// error handler. Other threads that call MPI on the same communicator during that time also get errors returned.
///
/// ```
/// use dtype_mpi::traits::*;
/// use mpi::traits::*;
///
/// let universe = mpi::initialize().expect("MPI runs once");
/// let world = universe.world();
/// let me = world.process_at_rank(world.rank());
/// let samples = [(1.5_f32, true), (2.5, false)];
/// let request = me.immediate_send_packed(&samples, 0)?;
/// let (back, received) = me.recv_packed::<(f32, bool)>(0)?;
/// request.wait()?;
/// assert_eq!(back, samples);
/// assert_eq!((received.bytes, received.count), (10, 2));
/// # Ok::<(), dtype_mpi::Error>(())
/// ```
pub trait PackedDestination: Destination {
    /// Sends elements (`MPI_Send`).
    ///
    /// # Errors
    ///
    /// [`Error::NotRunning`], [`Error::Thread`]; [`Error::Count`] for more bytes than the library can count in
    /// one message, 2³¹ − 1 before MPI-4; [`Error::Call`] when the library refuses.
    fn send_packed<T: Described>(&self, elements: &[T], tag: Tag) -> Result<(), Error> {
        let to = self.destination_rank();
        let on = OnCommunicator::begin("MPI_Send", self.as_communicator())?;
        values::with_packed(elements, |bytes| on.send(bytes, to, tag))
    }

    /// Sends the rest of a packed stream, for example of instances of a type made at run time
    /// ([`Committed::packer`](dtype_runtime::Committed::packer)).
    ///
    /// # Errors
    ///
    /// As [`send_packed`](Self::send_packed), and [`Error::Allocation`].
    fn send_stream(&self, packer: Packer<'_>, tag: Tag) -> Result<(), Error> {
        let to = self.destination_rank();
        let on = OnCommunicator::begin("MPI_Send", self.as_communicator())?;
        with_rest(packer, |bytes| on.send(bytes, to, tag))?
    }

    /// Sends `count` instances of a layout in the memory of a slice. The arguments are the same as for
    /// [`SendBuffer::from_layout`](crate::SendBuffer::from_layout). The receiver may use
    /// [`recv_layout`](PackedSource::recv_layout), or any receive call with a datatype of the same signature.
    ///
    /// How they are sent depends on the layout: contiguous memory is sent without a copy. A grid of basic data (contiguous
    /// types, vectors, subarrays, blocks of one length) is sent with the library's datatype from 4 KiB on, if its segments have
    /// 64 bytes on average or, under Open MPI, lie in 4000 pages or more. Everything else is packed here, as
    /// [`send_packed`](Self::send_packed) does.
    ///
    /// # Errors
    ///
    /// As [`Layout::packer`] and [`send_stream`](Self::send_stream).
    ///
    /// ```
    /// use dtype_mpi::Layout;
    /// use dtype_mpi::traits::*;
    /// use dtype_runtime::{Basic, Type};
    /// use mpi::traits::*;
    ///
    /// let universe = mpi::initialize().expect("MPI runs once");
    /// let world = universe.world();
    /// let me = world.process_at_rank(world.rank());
    /// let column = Layout::new(&Type::vector(3, 1, 4, &Type::basic(Basic::F64))?)?;
    /// let mut matrix: Vec<f64> = (0..12).map(f64::from).collect();
    ///
    /// // The last column becomes three numbers, which become the first column.
    /// let mut numbers = [0.0; 3];
    /// let request = me.immediate_recv_packed_into(&mut numbers, 0)?;
    /// me.send_layout(&column, &matrix, 3 * 8, 1, 0)?;
    /// request.wait()?;
    /// let request = me.immediate_send_packed(&numbers, 0)?;
    /// me.recv_layout(&column, &mut matrix, 0, 1, 0)?;
    /// request.wait()?;
    /// assert_eq!([matrix[0], matrix[4], matrix[8]], [3.0, 7.0, 11.0]);
    /// # Ok::<(), dtype_mpi::Error>(())
    /// ```
    fn send_layout<T: Described>(
        &self,
        layout: &Layout,
        memory: &[T],
        origin: usize,
        count: usize,
        tag: Tag,
    ) -> Result<(), Error> {
        let packer = layout.packer(memory, origin, count)?;
        let (to, size) = (self.destination_rank(), packer.remaining());
        let on = OnCommunicator::begin("MPI_Send", self.as_communicator())?;
        if !layout.is_sent_by_library(count) || packer.chunk().len() as u64 == size {
            return with_rest(packer, |bytes| on.send(bytes, to, tag))?;
        }
        let at = at_origin(memory, origin);
        // SAFETY: the packer exists, so the instances' data lie in the memory, which is borrowed, and are data of its elements.
        // The library names the same bytes: `is_sent_by_library` is only true if this crate and the library agree.
        unsafe { on.send_instances(at, count, layout.datatype(), to, tag) }
    }

    /// Starts to send elements (`MPI_Isend`). They are packed before this returns, so the caller may change them.
    ///
    /// # Errors
    ///
    /// As [`send_packed`](Self::send_packed).
    fn immediate_send_packed<T: Described>(
        &self,
        elements: &[T],
        tag: Tag,
    ) -> Result<PackedSend<'_>, Error> {
        start_send(self, tag, || {
            let mut packed = spare::take(dtype_runtime::packed_size::<T>(elements.len()));
            dtype_runtime::pack_onto(&mut packed, elements);
            Ok(packed)
        })
    }

    /// Starts to send the rest of a packed stream.
    ///
    /// # Errors
    ///
    /// As [`send_stream`](Self::send_stream).
    fn immediate_send_stream(&self, packer: Packer<'_>, tag: Tag) -> Result<PackedSend<'_>, Error> {
        let remaining = usize::try_from(packer.remaining()).unwrap_or(usize::MAX);
        start_send(self, tag, || packed_rest(packer, remaining))
    }
}

impl<D: Destination> PackedDestination for D {}

/// Packs a message, and starts to send it.
pub(crate) fn start_send<D: Destination + ?Sized>(
    to: &D,
    tag: Tag,
    pack: impl FnOnce() -> Result<Vec<u8>, Error>,
) -> Result<PackedSend<'_>, Error> {
    let on = OnCommunicator::begin("MPI_Isend", to.as_communicator())?;
    let message = on.start_send(pack()?, to.destination_rank(), tag)?;
    Ok(PackedSend { first: None, message })
}

/// Calls `send` with the rest of a packed stream, which is not copied if it is contiguous in memory.
fn with_rest<R>(packer: Packer<'_>, send: impl FnOnce(&[u8]) -> R) -> Result<R, Error> {
    let remaining = usize::try_from(packer.remaining()).unwrap_or(usize::MAX);
    let piece = packer.chunk();
    if piece.len() == remaining {
        return Ok(send(piece));
    }
    let bytes = packed_rest(packer, remaining)?;
    let sent = send(&bytes);
    spare::keep(bytes);
    Ok(sent)
}

/// The `remaining` bytes of a packed stream.
fn packed_rest(mut packer: Packer<'_>, remaining: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = spare::take(remaining);
    if remaining > bytes.capacity() {
        bytes = values::zeroed::<u8>(remaining)?;
    }
    bytes.resize(remaining, 0);
    packer.pack(&mut bytes);
    Ok(bytes)
}

/// Receiving messages that this crate unpacks: messages of [`PackedDestination`], and of any MPI program that sends a datatype
/// of the same signature.
///
/// The bytes are checked before they become values. A message that does not fit can still be received, and the error says how
/// long it is: use [`incoming`](Self::incoming) or a larger slice. (If several threads receive from one source with one tag at
/// the same time, one of them may receive a message after another has checked its length. If that message does not fit, it is
/// lost.)
///
/// The tag comes last in all functions; [`any_tag`] accepts any.
pub trait PackedSource: Source {
    /// Receives a message with any number of elements.
    ///
    /// A type that skips fields does not compile here. For a type without data, the result has no elements.
    ///
    /// ```compile_fail,E0080
    /// use dtype_mpi::traits::*;
    /// use mpi::traits::*;
    ///
    /// #[derive(dtype_runtime::Datatype)]
    /// struct Skipping {
    ///     sent: u8,
    ///     #[dtype(skip)]
    ///     kept: u8,
    /// }
    /// let world = mpi::topology::SimpleCommunicator::world();
    /// let _ = world.any_process().recv_packed::<Skipping>(0);
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Partial`] for a message that is not a whole number of elements, which can still be received;
    /// [`Error::Type`] with [`InvalidValue`](dtype_runtime::Error::InvalidValue) for bytes that are not valid values;
    /// [`Error::Count`] for more bytes than the library can count, 2³¹ − 1 before MPI-4; [`Error::Allocation`];
    /// [`Error::NotRunning`], [`Error::Thread`], [`Error::Call`].
    fn recv_packed<T: Described>(&self, tag: Tag) -> Result<(Vec<T>, Received), Error> {
        let fits = |found: Envelope| values::whole::<T>(found.bytes).map(drop);
        receive(self, tag, fits, new_elements)
    }

    /// Receives a message into existing elements; a message with fewer elements fills the first ones. Padding and
    /// skipped fields are unchanged.
    ///
    /// # Errors
    ///
    /// As [`recv_packed`](Self::recv_packed), and [`Error::Truncated`] for a message of more elements, which can
    /// still be received. No element is written in case of an error.
    fn recv_packed_into<T: Described>(
        &self,
        elements: &mut [T],
        tag: Tag,
    ) -> Result<Received, Error> {
        let room = elements.len();
        let fits = |found| values::fits::<T>(found, room).map(drop);
        receive(self, tag, fits, |matched| into_elements(matched, elements))
    }

    /// Receives a message into a packed stream, for example of instances of a type made at run time
    /// ([`Committed::unpacker`](dtype_runtime::Committed::unpacker)). The stream continues after the end of the
    /// message.
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`] for a message that is longer than what is left of the stream, which can still be received;
    /// otherwise as [`recv_packed`](Self::recv_packed).
    fn recv_stream(&self, unpacker: &mut Unpacker<'_>, tag: Tag) -> Result<Received, Error> {
        let room = unpacker.remaining();
        let fits = |found| values::fits_bytes(found, room);
        receive(self, tag, fits, |matched| into_stream(matched, unpacker))
    }

    /// Receives a message into `count` instances of a layout in the memory of a slice. The arguments are the same as
    /// for [`ReceiveBuffer::from_layout`](crate::ReceiveBuffer::from_layout). A shorter message fills the first bytes of
    /// the packed stream. [`Received::count`] is the number of bytes.
    ///
    /// Under Open MPI, layouts that [`send_layout`](PackedDestination::send_layout) would send with the library's datatype are
    /// also received with it, if the message fills all instances.
    ///
    /// # Errors
    ///
    /// As [`Layout::unpacker`] and [`recv_stream`](Self::recv_stream).
    fn recv_layout<T: Described>(
        &self,
        layout: &Layout,
        memory: &mut [T],
        origin: usize,
        count: usize,
        tag: Tag,
    ) -> Result<Received, Error> {
        const { assert_unrestricted::<T>() }
        if let Some(bytes) = layout.contiguous(memory, origin, count)? {
            let room = bytes.len();
            let fits = |found| values::fits_bytes(found, room as u64);
            return receive(self, tag, fits, |matched| {
                let came = values::fits::<u8>(matched.envelope, room)?;
                // SAFETY: there is room for the message, and any bytes are values of the elements.
                unsafe { matched.receive(bytes.as_mut_ptr())? };
                Ok(received(matched.envelope, came))
            });
        }
        let mut unpacker = layout.unpacker(memory, origin, count)?;
        let size = unpacker.remaining();
        if !layout.is_received_by_library(count) {
            return self.recv_stream(&mut unpacker, tag);
        }
        let fits = |found| values::fits_bytes(found, size);
        receive(self, tag, fits, |matched| {
            if matched.envelope.bytes != size {
                return into_stream(matched, &mut layout.unpacker(memory, origin, count)?);
            }
            let at = memory.as_mut_ptr().cast::<u8>().wrapping_add(origin);
            // SAFETY: the unpacker was made, so the instances' data lie in the memory, which is borrowed exclusively; any bytes
            // are values of the elements. The library names the same bytes: `is_received_by_library` is only true if this crate
            // and the library agree.
            unsafe { matched.receive_instances(at, count, layout.datatype())? };
            Ok(received(matched.envelope, values::whole::<u8>(size)?))
        })
    }

    /// Waits for a message and takes it (`MPI_Mprobe`), so that it can be examined and no other receive gets it.
    ///
    /// # Errors
    ///
    /// [`Error::NotRunning`], [`Error::Thread`], [`Error::Call`].
    fn incoming(&self, tag: Tag) -> Result<Incoming<'_>, Error> {
        let on = OnCommunicator::begin("MPI_Mprobe", self.as_communicator())?;
        Ok(Incoming(on.matched_probe(self.source_rank(), tag)?))
    }

    /// Starts to receive into existing elements (`MPI_Irecv`). They are written when [`wait`](PackedReceive::wait)
    /// or [`test`](PackedReceive::test) completes the request.
    ///
    /// # Errors
    ///
    /// [`Error::Count`] for more bytes than the library can count. One count is reserved to detect a message that
    /// is too long, so the limit is 2³¹ − 2 before MPI-4. [`Error::Allocation`]; [`Error::NotRunning`],
    /// [`Error::Thread`], [`Error::Call`].
    fn immediate_recv_packed_into<'c, T: Described>(
        &'c self,
        elements: &'c mut [T],
        tag: Tag,
    ) -> Result<PackedReceive<'c, T>, Error> {
        let on = OnCommunicator::begin("MPI_Irecv", self.as_communicator())?;
        let capacity = dtype_runtime::packed_size::<T>(elements.len());
        let pending = on.start_receive(spare::take(capacity), capacity, self.source_rank(), tag)?;
        Ok(PackedReceive { pending, elements })
    }
}

impl<S: Source> PackedSource for S {}

/// Waits for a message and receives it, unless `check` refuses its length. A refused message can still be received.
pub(crate) fn receive<S: Source + ?Sized, R>(
    source: &S,
    tag: Tag,
    check: impl FnOnce(Envelope) -> Result<(), Error>,
    receive: impl FnOnce(&mut Matched<'_>) -> Result<R, Error>,
) -> Result<R, Error> {
    let on = OnCommunicator::begin("MPI_Probe", source.as_communicator())?;
    let found = on.probe(source.source_rank(), tag)?;
    check(found)?;
    on.take(found, receive)
}

/// The tag with which a receive accepts messages with any tag (`MPI_ANY_TAG`, MPI-4.1 section 3.2.4).
pub fn any_tag() -> Tag {
    // SAFETY: a constant of the library.
    unsafe { ffi::RSMPI_ANY_TAG }
}

/// A message that has arrived, and that only this value can receive.
///
/// Dropping it receives and discards the message, even one that is too long for the library to count, or for memory.
pub struct Incoming<'c>(Matched<'c>);

impl Incoming<'_> {
    /// The rank that sent the message.
    pub fn source_rank(&self) -> Rank {
        self.0.envelope.source
    }

    /// The tag of the message.
    pub fn tag(&self) -> Tag {
        self.0.envelope.tag
    }

    /// The number of packed bytes of the message.
    pub fn bytes(&self) -> u64 {
        self.0.envelope.bytes
    }

    /// The number of elements of type `T` in the message.
    ///
    /// # Errors
    ///
    /// [`Error::Partial`].
    pub fn count<T: Described>(&self) -> Result<usize, Error> {
        values::whole::<T>(self.bytes())
    }

    /// Receives the message. A type that skips fields does not compile here.
    ///
    /// # Errors
    ///
    /// As [`PackedSource::recv_packed`]; the message can still be received, unless its bytes are not valid values.
    /// [`Error::Received`] if it was received before.
    pub fn recv_packed<T: Described>(&mut self) -> Result<(Vec<T>, Received), Error> {
        new_elements(&mut self.0)
    }

    /// Receives the message into the first of the elements.
    ///
    /// # Errors
    ///
    /// As [`PackedSource::recv_packed_into`]; the message can still be received, unless its bytes are not valid
    /// values. [`Error::Received`] if it was received before.
    pub fn recv_packed_into<T: Described>(
        &mut self,
        elements: &mut [T],
    ) -> Result<Received, Error> {
        into_elements(&mut self.0, elements)
    }
}

/// Receives a message as new elements.
fn new_elements<T: Described>(message: &mut Matched<'_>) -> Result<(Vec<T>, Received), Error> {
    let count = values::whole::<T>(message.envelope.bytes)?;
    let elements = if values::is_plain::<T>() {
        // SAFETY: any bytes are values of the elements, there is room for the message, and `receive` fails unless the whole
        // message arrives.
        unsafe { values::filled(count, |at| message.receive(at))? }
    } else {
        message.receive_bytes(|bytes| values::unpack_vec(bytes, count))??
    };
    Ok((elements, received(message.envelope, count)))
}

/// Receives a message into a packed stream.
fn into_stream(message: &mut Matched<'_>, unpacker: &mut Unpacker<'_>) -> Result<Received, Error> {
    values::fits_bytes(message.envelope, unpacker.remaining())?;
    let unpacked = message.receive_bytes(|bytes| unpacker.unpack(bytes))??;
    Ok(received(message.envelope, unpacked))
}

/// Receives a message into the first of the elements.
fn into_elements<T: Described>(
    message: &mut Matched<'_>,
    elements: &mut [T],
) -> Result<Received, Error> {
    let count = values::fits::<T>(message.envelope, elements.len())?;
    let elements = &mut elements[..count];
    if values::is_plain::<T>() {
        // SAFETY: there is room for all elements of the message, and any bytes are values of them.
        unsafe { message.receive(elements.as_mut_ptr().cast())? };
    } else {
        message.receive_bytes(|bytes| dtype_runtime::unpack_into(bytes, elements))??;
    }
    Ok(received(message.envelope, count))
}

impl fmt::Debug for Incoming<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Incoming").field(&self.0.envelope).finish()
    }
}

/// A send in progress, with the packed bytes.
///
/// Dropping it waits, unless the thread is panicking: then its memory is leaked. Forgetting it also leaks the
/// memory.
#[must_use = "dropping it waits"]
pub struct PackedSend<'c> {
    /// The message before this one, which describes the elements of a checked message.
    first: Option<Pending<'c>>,
    message: Pending<'c>,
}

impl PackedSend<'_> {
    /// This send, which is complete when `first` is, too.
    pub(crate) fn after(self, first: Option<Self>) -> Self {
        Self { first: first.map(|first| first.message), ..self }
    }

    /// Waits until the send is complete and its memory is free (`MPI_Wait`).
    ///
    /// # Errors
    ///
    /// [`Error::Received`] if [`test`](Self::test) has returned `true`; [`Error::NotRunning`], [`Error::Thread`],
    /// [`Error::Call`].
    pub fn wait(self) -> Result<(), Error> {
        let first = self.first.map_or(Ok(()), |first| first.wait().map(drop));
        first.and(self.message.wait().map(|(bytes, _)| spare::keep(bytes)))
    }

    /// Whether the send is complete, without waiting (`MPI_Test`).
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait); [`Error::Received`] if it has returned `true` before.
    pub fn test(&mut self) -> Result<bool, Error> {
        if let Some(first) = &mut self.first {
            if first.test()?.is_none() {
                return Ok(false);
            }
            self.first = None;
        }
        let done = self.message.test()?.map(|(bytes, _)| spare::keep(bytes));
        Ok(done.is_some())
    }
}

impl fmt::Debug for PackedSend<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PackedSend").finish_non_exhaustive()
    }
}

/// A receive in progress, and the elements for its message.
///
/// The message is received into memory that this value owns. [`wait`](Self::wait) or [`test`](Self::test) writes
/// the elements once all of them are known to be valid. Dropping it cancels the receive; a message that has already
/// arrived is lost.
#[must_use = "dropping it cancels the receive"]
pub struct PackedReceive<'c, T> {
    pending: Pending<'c>,
    elements: &'c mut [T],
}

impl<T: Described> PackedReceive<'_, T> {
    /// Waits for the message and writes its elements to the first of `elements` (`MPI_Wait`).
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`] for a message with more elements than `elements`, the rest of which is lost;
    /// [`Error::Partial`] and [`Error::Type`] for bytes that are not valid values. No element is written in these
    /// cases. [`Error::Received`] if [`test`](Self::test) has returned the message.
    pub fn wait(self) -> Result<Received, Error> {
        let (bytes, envelope) = self.pending.wait()?;
        unpack_first(bytes, envelope, self.elements)
    }

    /// As [`wait`](Self::wait), but returns `None` if the message has not arrived (`MPI_Test`).
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait); [`Error::Received`] after the message was received.
    pub fn test(&mut self) -> Result<Option<Received>, Error> {
        let Some((bytes, envelope)) = self.pending.test()? else { return Ok(None) };
        unpack_first(bytes, envelope, self.elements).map(Some)
    }
}

/// Unpacks a message into the first of the elements.
fn unpack_first<T: Described>(
    bytes: Vec<u8>,
    message: Envelope,
    elements: &mut [T],
) -> Result<Received, Error> {
    let count = values::fits::<T>(message, elements.len())?;
    dtype_runtime::unpack_into(&bytes, &mut elements[..count])?;
    spare::keep(bytes);
    Ok(received(message, count))
}

impl<T> fmt::Debug for PackedReceive<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PackedReceive")
            .field("elements", &self.elements.len())
            .finish_non_exhaustive()
    }
}

//! Messages between two ranks, as packed bytes.

use std::fmt;
use std::mem::ManuallyDrop;
use std::os::raw::{c_int, c_void};

use mpi::ffi::{self, MPI_Count, MPI_Datatype, MPI_Message, MPI_Request, MPI_Status};
#[cfg(not(large_counts))]
use mpi::ffi::{MPI_Imrecv, MPI_Irecv, MPI_Isend, MPI_Mrecv, MPI_Recv, MPI_Send};
#[cfg(large_counts)]
use mpi::ffi::{
    MPI_Imrecv_c as MPI_Imrecv, MPI_Irecv_c as MPI_Irecv, MPI_Isend_c as MPI_Isend,
    MPI_Mrecv_c as MPI_Mrecv, MPI_Recv_c as MPI_Recv, MPI_Send_c as MPI_Send,
};
use mpi::{Rank, Tag};

use super::code::{check, wide};
use super::cut::Cut;
use super::session::{Completing, Later, not_running};
use super::{Datatype, OnCommunicator, receiving, sending};
use crate::error::Error;
use crate::library::is_open_mpi;
use crate::{names, spare};

/// The library's type for numbers of elements.
#[cfg(large_counts)]
pub(super) type Number = MPI_Count;
#[cfg(not(large_counts))]
pub(super) type Number = c_int;

/// Converts a number of elements to the library's type.
pub(crate) fn number(call: &'static str, count: usize) -> Result<Number, Error> {
    let limit = number_limit();
    Number::try_from(count).map_err(|_| Error::Count { call, count: count as u64, limit })
}

#[allow(clippy::cast_sign_loss, reason = "the greatest value is positive")]
pub(super) const fn number_limit() -> u64 {
    Number::MAX as u64
}

/// Whether the library can count this many bytes of one message.
pub(crate) fn is_countable(bytes: u64) -> bool {
    bytes <= number_limit()
}

/// Checks that a message of this many bytes can be received with room for one more.
pub(crate) fn check_receivable(bytes: usize) -> Result<(), Error> {
    let (count, limit) = (bytes as u64, number_limit() - 1);
    if count > limit {
        return Err(Error::Count { call: "MPI_Irecv", count, limit });
    }
    Ok(())
}

/// The bytes of memory that [`OnCommunicator::start_receive`] needs.
pub(crate) fn room_to_receive(capacity: usize) -> usize {
    let with_extra = capacity.saturating_add(1);
    if is_open_mpi() { Cut::room(with_extra) } else { with_extra }
}

/// A message's source, tag and number of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Envelope {
    pub(crate) source: Rank,
    pub(crate) tag: Tag,
    pub(crate) bytes: u64,
}

#[inline]
fn envelope(status: &MPI_Status) -> Result<Envelope, Error> {
    let bytes = byte_count(status)?;
    Ok(Envelope { source: status.MPI_SOURCE, tag: status.MPI_TAG, bytes })
}

/// The number of bytes of a message.
#[inline]
fn byte_count(status: &MPI_Status) -> Result<u64, Error> {
    let (byte, mut bytes) = (names::byte()?, 0);
    // SAFETY: a status that a call has filled; `bytes` lives through the call.
    check("MPI_Get_count", unsafe { ffi::MPI_Get_count(status, byte, &raw mut bytes) })?;
    // The number is negative if an `int` cannot count the bytes. The call for such messages takes longer.
    u64::try_from(bytes).or_else(|_| large_byte_count(status))
}

#[cold]
fn large_byte_count(status: &MPI_Status) -> Result<u64, Error> {
    let call = "MPI_Get_elements_x";
    let mut bytes: MPI_Count = 0;
    // SAFETY: a status that a call has filled; `bytes` lives through the call.
    let code = unsafe { ffi::MPI_Get_elements_x(status, names::byte()?, &raw mut bytes) };
    check(call, code)?;
    let bytes = wide(bytes);
    u64::try_from(bytes).map_err(|_| Error::Argument { call, value: bytes, bits: 63 })
}

/// A status to be filled.
fn blank() -> MPI_Status {
    // SAFETY: a plain C struct of integers.
    unsafe { std::mem::zeroed() }
}

/// Whether the code means that a message was longer than its buffer.
fn is_truncation(error: &Error) -> bool {
    matches!(error, Error::Call { class, .. } if i64::from(*class) == i64::from(ffi::MPI_ERR_TRUNCATE))
}

impl<'c> OnCommunicator<'c> {
    /// Sends bytes as one message (`MPI_Send` of `MPI_PACKED`).
    #[inline]
    pub(crate) fn send(&self, bytes: &[u8], to: Rank, tag: Tag) -> Result<(), Error> {
        let call = "MPI_Send";
        let (count, packed) = (number(call, bytes.len())?, names::packed()?);
        // SAFETY: the pointer and the length are from a slice, which is borrowed until the call returns; the
        // communicator is alive.
        check(call, unsafe { MPI_Send(sending(bytes), count, packed, to, tag, self.handle()) })
    }

    /// Sends bytes as one message while `meanwhile` runs (`MPI_Isend`, `MPI_Wait`).
    #[cfg(feature = "gpu")]
    pub(crate) fn send_while<R>(
        &self,
        bytes: &[u8],
        to: Rank,
        tag: Tag,
        meanwhile: impl FnOnce() -> R,
    ) -> Result<R, Error> {
        /// If `meanwhile` panics, dropping this waits as well, because the library may read the bytes until then.
        struct Sending(MPI_Request);
        impl Sending {
            fn wait(&mut self) -> Result<(), Error> {
                let mut status = blank();
                // SAFETY: the request is alive, or the null handle, for which the call returns at once; `status` lives
                // through the call.
                check("MPI_Wait", unsafe { ffi::MPI_Wait(&raw mut self.0, &raw mut status) })
            }
        }
        impl Drop for Sending {
            fn drop(&mut self) {
                let _ = self.wait();
            }
        }

        let call = "MPI_Isend";
        let (count, packed) = (number(call, bytes.len())?, names::packed()?);
        let (at, mut under_way) = (sending(bytes), Sending(no_request()));
        let request = &raw mut under_way.0;
        // SAFETY: the pointer and the length are those of a slice that is borrowed until this function returns. In any case,
        // `under_way` is waited for before that. The communicator is alive.
        check(call, unsafe { MPI_Isend(at, count, packed, to, tag, self.handle(), request) })?;
        let result = meanwhile();
        under_way.wait()?;
        Ok(result)
    }

    /// Sends instances of a datatype (`MPI_Send`).
    ///
    /// # Safety
    ///
    /// The data of `count` instances at `at` must be initialised memory that nothing writes during the call.
    pub(crate) unsafe fn send_instances(
        &self,
        at: *const u8,
        count: usize,
        datatype: &Datatype,
        to: Rank,
        tag: Tag,
    ) -> Result<(), Error> {
        let call = "MPI_Send";
        let (count, datatype) = (number(call, count)?, datatype.handle());
        // SAFETY: the caller guarantees the memory; the datatype and the communicator are alive.
        check(call, unsafe { MPI_Send(at.cast(), count, datatype, to, tag, self.handle()) })
    }

    /// Starts to send bytes, which the request owns.
    pub(crate) fn start_send(
        &self,
        bytes: Vec<u8>,
        to: Rank,
        tag: Tag,
    ) -> Result<Pending<'c>, Error> {
        let call = "MPI_Isend";
        let (count, packed) = (number(call, bytes.len())?, names::packed()?);
        let at = sending(&bytes);
        let mut request = no_request();
        // SAFETY: the pointer and the length are from a vector, which nothing touches until the request is
        // complete, because `Pending` keeps it until then; the communicator is alive.
        check(call, unsafe {
            MPI_Isend(at, count, packed, to, tag, self.handle(), &raw mut request)
        })?;
        Ok(Pending::new(self, request, bytes, Kind::Send))
    }

    /// Starts to receive up to `capacity` bytes, into the memory of a vector.
    pub(crate) fn start_receive(
        &self,
        mut buffer: Vec<u8>,
        capacity: usize,
        from: Rank,
        tag: Tag,
    ) -> Result<Pending<'c>, Error> {
        let call = "MPI_Irecv";
        check_receivable(capacity)?;
        // One extra byte detects a message that is too long, because Open MPI truncates some messages to the same rank without
        // an error.
        let cut = if is_open_mpi() { Some(Cut::after(capacity + 1)?) } else { None };
        let (count, datatype) = match &cut {
            Some(cut) => (1, cut.datatype.handle()),
            None => (number(call, capacity + 1)?, names::packed()?),
        };
        let room = room_to_receive(capacity);
        buffer.clear();
        buffer.try_reserve_exact(room).map_err(|_| Error::Allocation { bytes: room })?;
        let at = buffer.as_mut_ptr().cast::<c_void>();
        let mut request = no_request();
        // SAFETY: the vector has room for the bytes, and nothing touches it until the request is complete, because
        // `Pending` keeps it until then; the communicator is alive. The library keeps a datatype that is freed meanwhile.
        check(call, unsafe {
            MPI_Irecv(at, count, datatype, from, tag, self.handle(), &raw mut request)
        })?;
        Ok(Pending::new(self, request, buffer, Kind::Receive { capacity }))
    }

    /// Waits for a message without receiving it.
    #[inline]
    pub(crate) fn probe(&self, from: Rank, tag: Tag) -> Result<Envelope, Error> {
        let mut status = blank();
        // SAFETY: the communicator is alive, and `status` lives through the call.
        check("MPI_Probe", unsafe { ffi::MPI_Probe(from, tag, self.handle(), &raw mut status) })?;
        envelope(&status)
    }

    /// Waits for a message and takes it, so that no other receive can get it.
    pub(crate) fn matched_probe(&self, from: Rank, tag: Tag) -> Result<Matched<'c>, Error> {
        let (mut status, mut message) = (blank(), no_message());
        // SAFETY: the communicator is alive, and both live through the call.
        check("MPI_Mprobe", unsafe {
            ffi::MPI_Mprobe(from, tag, self.handle(), &raw mut message, &raw mut status)
        })?;
        self.matched(message, &status)
    }

    /// As [`matched_probe`](Self::matched_probe), but returns `None` if no message has arrived.
    pub(crate) fn matched_now(&self, from: Rank, tag: Tag) -> Result<Option<Matched<'c>>, Error> {
        let (mut status, mut message, mut found) = (blank(), no_message(), 0);
        let (to_found, to_message, to_status) = (&raw mut found, &raw mut message, &raw mut status);
        // SAFETY: the communicator is alive, and the three live through the call.
        check("MPI_Improbe", unsafe {
            ffi::MPI_Improbe(from, tag, self.handle(), to_found, to_message, to_status)
        })?;
        if found == 0 { Ok(None) } else { self.matched(message, &status).map(Some) }
    }

    fn matched(&self, message: MPI_Message, status: &MPI_Status) -> Result<Matched<'c>, Error> {
        // If its length cannot be found, the message is cut, so that its sender is not blocked forever.
        let unknown = Envelope { source: status.MPI_SOURCE, tag: status.MPI_TAG, bytes: u64::MAX };
        let message = Message::Taken(message);
        let mut matched = Matched { message, on: self.later(), envelope: unknown };
        matched.envelope = envelope(status)?;
        Ok(matched)
    }

    /// Takes a message that [`probe`](Self::probe) has just found, and passes it to `receive`. If no other thread calls MPI, no
    /// other receive can get the message first, so it need not be matched.
    #[inline]
    pub(crate) fn take<R>(
        &self,
        found: Envelope,
        receive: impl FnOnce(&mut Matched<'c>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        if self.has_threads() {
            // A message that cannot be counted is not taken, because it could not be received after that.
            number("MPI_Mrecv", usize::try_from(found.bytes).unwrap_or(usize::MAX))?;
            return receive(&mut self.matched_probe(found.source, found.tag)?);
        }
        receive(&mut Matched { message: Message::Next, on: self.later(), envelope: found })
    }
}

fn no_message() -> MPI_Message {
    // SAFETY: a constant of the library.
    unsafe { ffi::RSMPI_MESSAGE_NULL }
}

fn no_request() -> MPI_Request {
    // SAFETY: a constant of the library.
    unsafe { ffi::RSMPI_REQUEST_NULL }
}

/// How a message is received.
enum Message {
    /// By its handle, after a matched probe.
    Taken(MPI_Message),
    /// As the next message from its source with its tag, within the operation that found it.
    Next,
    /// The message has been received.
    Received,
}

/// A message that was taken but not received yet.
pub(crate) struct Matched<'c> {
    message: Message,
    on: Later<'c>,
    pub(crate) envelope: Envelope,
}

impl<'c> Matched<'c> {
    /// Starts to receive a message that was taken, into the memory of a vector.
    pub(crate) fn start_receive(mut self, mut buffer: Vec<u8>) -> Result<Pending<'c>, Error> {
        let call = "MPI_Imrecv";
        let bytes = usize::try_from(self.envelope.bytes).unwrap_or(usize::MAX);
        let (count, packed) = (number(call, bytes)?, names::packed()?);
        buffer.clear();
        buffer.try_reserve_exact(bytes).map_err(|_| Error::Allocation { bytes })?;
        let at = receiving(buffer.as_mut_ptr(), bytes);
        let on = self.on.begin(call)?;
        let Message::Taken(mut message) = std::mem::replace(&mut self.message, Message::Received)
        else {
            return Err(Error::Received);
        };
        let mut request = no_request();
        // SAFETY: the message was matched and not received. The vector has room for it, and nothing touches it until
        // the request is complete, because `Pending` keeps it until then.
        check(call, unsafe { MPI_Imrecv(at, count, packed, &raw mut message, &raw mut request) })?;
        Ok(Pending::new(&on, request, buffer, Kind::Receive { capacity: bytes }))
    }

    /// Receives the message.
    ///
    /// # Safety
    ///
    /// `at` must be valid for writing all bytes of the message, and any bytes must be valid there.
    #[inline]
    pub(crate) unsafe fn receive(&mut self, at: *mut u8) -> Result<(), Error> {
        let bytes = usize::try_from(self.envelope.bytes).unwrap_or(usize::MAX);
        // SAFETY: guaranteed by the caller.
        unsafe { self.receive_as(receiving(at, bytes), bytes, names::packed()?) }
    }

    /// Receives the message into instances of a datatype.
    ///
    /// # Safety
    ///
    /// The data of `count` instances at `at` must be valid for writing, and any bytes must be valid there.
    pub(crate) unsafe fn receive_instances(
        &mut self,
        at: *mut u8,
        count: usize,
        datatype: &Datatype,
    ) -> Result<(), Error> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.receive_as(at.cast(), count, datatype.handle()) }
    }

    /// # Safety
    ///
    /// The data of `count` instances of the datatype at `at` must be valid for writing, and any bytes must be valid
    /// there. The datatype must be alive.
    #[inline]
    unsafe fn receive_as(
        &mut self,
        at: *mut c_void,
        count: usize,
        datatype: MPI_Datatype,
    ) -> Result<(), Error> {
        let mut status = blank();
        match &mut self.message {
            Message::Received => return Err(Error::Received),
            Message::Taken(message) => {
                let call = "MPI_Mrecv";
                let _completing = self.on.begin_completion(call, true)?;
                let count = number(call, count)?;
                // SAFETY: the message was matched and not received; the caller guarantees the memory.
                let code =
                    unsafe { MPI_Mrecv(at, count, datatype, &raw mut *message, &raw mut status) };
                // A failed call has received the message as well, although MPICH keeps the handle.
                self.message = Message::Received;
                check(call, code)?;
            }
            Message::Next => {
                let call = "MPI_Recv";
                let (count, Envelope { source, tag, .. }) = (number(call, count)?, self.envelope);
                // SAFETY: the caller guarantees the memory, and a longer message would be an error; the
                // communicator is alive.
                check(call, unsafe {
                    MPI_Recv(at, count, datatype, source, tag, self.on.handle(), &raw mut status)
                })?;
            }
        }
        self.message = Message::Received;
        let Envelope { bytes: came, source, tag } = envelope(&status)?;
        let bytes = self.envelope.bytes;
        if came == bytes {
            return Ok(());
        }
        Err(Error::Short { source_rank: source, tag, bytes: came, expected: bytes })
    }

    /// Receives the message and passes its bytes to `take`.
    pub(crate) fn receive_bytes<R>(&mut self, take: impl FnOnce(&[u8]) -> R) -> Result<R, Error> {
        let bytes = usize::try_from(self.envelope.bytes).unwrap_or(usize::MAX);
        // Refused before memory for it is allocated.
        number("MPI_Recv", bytes)?;
        let mut buffer = spare::take(bytes);
        buffer.try_reserve_exact(bytes).map_err(|_| Error::Allocation { bytes })?;
        // SAFETY: the vector has room for the message, and all of its bytes were received.
        unsafe {
            self.receive(buffer.as_mut_ptr())?;
            buffer.set_len(bytes);
        }
        let taken = take(&buffer);
        spare::keep(buffer);
        Ok(taken)
    }
}

impl Drop for Matched<'_> {
    /// A matched message that is never received keeps its memory in the library, and may block its sender. So it is received,
    /// cut to its first bytes: if it is longer, the library returns an error and discards the message.
    fn drop(&mut self) {
        if !matches!(self.message, Message::Taken(_)) || not_running().is_some() {
            return;
        }
        if let Ok(Cut { datatype, room }) = Cut::after(0) {
            let mut start = vec![0_u8; room];
            // SAFETY: the data of one instance lie in the vector.
            let _ = unsafe { self.receive_instances(start.as_mut_ptr(), 1, &datatype) };
        }
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Send,
    Receive { capacity: usize },
}

/// A send or a receive in progress, with the memory that it uses.
pub(crate) struct Pending<'c> {
    request: MPI_Request,
    /// The library may read or write its memory until the request is complete.
    buffer: ManuallyDrop<Vec<u8>>,
    kind: Kind,
    on: Later<'c>,
}

impl fmt::Debug for Pending<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("complete", &self.is_complete()).finish_non_exhaustive()
    }
}

impl<'c> Pending<'c> {
    fn new(on: &OnCommunicator<'c>, request: MPI_Request, buffer: Vec<u8>, kind: Kind) -> Self {
        Self { request, buffer: ManuallyDrop::new(buffer), kind, on: on.later() }
    }

    fn is_complete(&self) -> bool {
        self.request == no_request()
    }

    fn begin(&self, call: &'static str) -> Result<Completing<'c>, Error> {
        self.on.begin_completion(call, matches!(self.kind, Kind::Receive { .. }))
    }

    /// Waits until the request is complete, and returns its memory with the received bytes.
    pub(crate) fn wait(mut self) -> Result<(Vec<u8>, Envelope), Error> {
        if self.is_complete() {
            return Err(Error::Received);
        }
        let _on = self.begin("MPI_Wait")?;
        let mut status = blank();
        // SAFETY: the request is alive and `status` lives through the call.
        let code = unsafe { ffi::MPI_Wait(&raw mut self.request, &raw mut status) };
        self.finish("MPI_Wait", code, &status)
    }

    /// As [`wait`](Self::wait), but returns `None` if the request is not complete.
    pub(crate) fn test(&mut self) -> Result<Option<(Vec<u8>, Envelope)>, Error> {
        if self.is_complete() {
            return Err(Error::Received);
        }
        let _on = self.begin("MPI_Test")?;
        let (mut status, mut done) = (blank(), 0);
        // SAFETY: the request is alive and the others live through the call.
        let code = unsafe { ffi::MPI_Test(&raw mut self.request, &raw mut done, &raw mut status) };
        if code == 0 && done == 0 {
            return Ok(None);
        }
        self.finish("MPI_Test", code, &status).map(Some)
    }

    /// The result of a call that completes the request. A failed request is complete as well, unless the library keeps its
    /// handle.
    fn finish(
        &mut self,
        call: &'static str,
        code: c_int,
        status: &MPI_Status,
    ) -> Result<(Vec<u8>, Envelope), Error> {
        let failed = check(call, code).err();
        if !self.is_complete() {
            // Only a failure leaves a request incomplete.
            return Err(failed.unwrap_or(Error::Received));
        }
        // SAFETY: the request is complete, so the library no longer uses the memory; the request is now the null
        // handle, which prevents a second take.
        let mut buffer = unsafe { ManuallyDrop::take(&mut self.buffer) };
        // Prevents a double free.
        self.buffer = ManuallyDrop::new(Vec::new());
        let Kind::Receive { capacity } = self.kind else {
            if let Some(error) = failed {
                return Err(error);
            }
            let bytes = buffer.len() as u64;
            return Ok((buffer, Envelope { source: 0, tag: 0, bytes }));
        };
        let came = envelope(status);
        if let Some(error) = failed {
            if !is_truncation(&error) {
                return Err(error);
            }
            let Envelope { source: source_rank, tag, bytes } = came?;
            return Err(Error::Truncated { source_rank, tag, bytes, capacity: capacity as u64 });
        }
        let came = came?;
        let bytes = usize::try_from(came.bytes).unwrap_or(usize::MAX);
        if bytes > capacity {
            let Envelope { source: source_rank, tag, bytes } = came;
            return Err(Error::Truncated { source_rank, tag, bytes, capacity: capacity as u64 });
        }
        // SAFETY: this many bytes were received into the memory, which has room for them.
        unsafe { buffer.set_len(bytes) };
        Ok((buffer, came))
    }
}

impl Drop for Pending<'_> {
    /// Cancels a receive. For a send, waits until it is complete, because part of the message may have been sent; if the thread
    /// is panicking, leaks the memory instead.
    fn drop(&mut self) {
        if self.is_complete() {
            return;
        }
        if std::thread::panicking() && matches!(self.kind, Kind::Send) {
            return;
        }
        let Ok(_on) = self.begin("MPI_Wait") else { return };
        let mut status = blank();
        // SAFETY: the request is alive and `status` lives through the calls. A cancelled receive completes without
        // a message, or with one that had already arrived.
        unsafe {
            if matches!(self.kind, Kind::Receive { .. }) {
                ffi::MPI_Cancel(&raw mut self.request);
            }
            ffi::MPI_Wait(&raw mut self.request, &raw mut status);
        }
        if self.is_complete() {
            // SAFETY: as in `finish`; nothing uses the value after this.
            unsafe { ManuallyDrop::drop(&mut self.buffer) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_any_size_are_counted() {
        let _universe = mpi::initialize().expect("nothing else has initialised MPI");
        for bytes in [0, 13, 0x7FFF_FFFF, 0x8000_0000, 1 << 40] {
            let mut status = blank();
            // SAFETY: a status, and a predefined datatype.
            let code = unsafe {
                ffi::MPI_Status_set_elements_x(&raw mut status, names::byte().unwrap(), bytes)
            };
            assert_eq!(code, 0);
            assert_eq!(byte_count(&status).unwrap(), wide(bytes).cast_unsigned());
        }
    }
}

//! Tagged messages of any length, taken out of UCX's queue and received into memory that is allocated for them.

use std::ffi::c_void;
use std::ptr;
use std::time::{Duration, Instant};

use dtype_runtime::Datatype;

use crate::elements::ElementsMut;
use crate::error::Error;
use crate::mode::ThreadMode;
use crate::operation::{self, Operation, Outcome};
use crate::raw::{self, TagInfo};
use crate::request::Handle;
use crate::room::Room;
use crate::tagged::{Received, Tags};
use crate::worker::Worker;

const RECEIVE: &str = "ucp_tag_msg_recv_nbx";

/// How long to wait.
#[derive(Clone, Copy)]
struct Limit {
    timeout: Duration,
    start: Instant,
}

/// A message that was taken out of UCX's queue, and must be received.
struct ProbedMessage {
    message: raw::Message,
    info: Received,
}

impl<M: ThreadMode> Worker<M> {
    /// Waits for a message, and returns its records, however many there are.
    ///
    /// # Errors
    ///
    /// [`Error::Datatype`] if the bytes are not whole, valid records, or there is no memory for them;
    /// [`Error::ConnectionLost`], [`Error::Cancelled`], [`Error::Call`]. The message is consumed even then.
    #[doc(alias = "ucp_tag_msg_recv_nbx")]
    pub fn recv<T: Datatype>(&self, tags: impl Into<Tags>) -> Result<(Vec<T>, Received), Error> {
        let tags = tags.into();
        let taken = self.wait(|| self.take(tags));
        self.recv_taken(taken, None)
    }

    /// As [`recv`](Self::recv), for a message that arrives within a time limit.
    ///
    /// A long message that is announced within the limit, but not complete by then, is lost. UCX keeps the memory that was
    /// allocated for it.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv), and [`Error::TimedOut`].
    pub fn recv_timeout<T: Datatype>(
        &self,
        tags: impl Into<Tags>,
        timeout: Duration,
    ) -> Result<(Vec<T>, Received), Error> {
        let limit = Limit { timeout, start: Instant::now() };
        let taken = self.take_within(tags.into(), limit)?;
        self.recv_taken(taken, Some(limit))
    }

    /// Receives a message into the elements, as [`recv_into`](Self::recv_into) does, but only if it arrives within a time
    /// limit. The message is copied, because UCX does not give the elements back once a long message is announced.
    ///
    /// A long message that is announced within the limit, but not complete by then, is lost. UCX keeps the memory of the copy.
    ///
    /// # Errors
    ///
    /// As [`recv_into`](Self::recv_into), and [`Error::TimedOut`]; nothing is written then.
    pub fn recv_into_timeout<'a>(
        &self,
        tags: impl Into<Tags>,
        elements: impl Into<ElementsMut<'a>>,
        timeout: Duration,
    ) -> Result<Received, Error> {
        self.recv_copied(tags.into(), elements.into(), Limit { timeout, start: Instant::now() })
    }

    fn recv_copied(
        &self,
        tags: Tags,
        mut elements: ElementsMut<'_>,
        limit: Limit,
    ) -> Result<Received, Error> {
        let taken = self.take_within(tags, limit)?;
        if let Err(error) = elements.check_length(taken.info.length) {
            return Err(self.refuse(taken.message, error));
        }
        let (bytes, info) = self.recv_taken::<u8>(taken, Some(limit))?;
        elements.unpack(&bytes)?;
        Ok(info)
    }

    /// Takes a message that arrives within a time limit.
    fn take_within(
        &self,
        tags: Tags,
        Limit { timeout, start }: Limit,
    ) -> Result<ProbedMessage, Error> {
        let left = timeout.saturating_sub(start.elapsed());
        self.wait_for(Some(left), || self.take(tags)).ok_or(Error::TimedOut { timeout })
    }

    /// Takes a message, if there is one. Resumes a handler's pending panic first; UCX holds no borrow yet.
    fn take(&self, Tags { tag, mask }: Tags) -> Option<ProbedMessage> {
        self.resume_panic();
        let mut info = TagInfo { sender_tag: 0, length: 0 };
        // SAFETY: the worker is alive.
        let message = unsafe { raw::ucp_tag_probe_nb(self.handle(), tag, mask, 1, &raw mut info) };
        (!message.is_null()).then(|| ProbedMessage { message, info: info.into() })
    }

    fn recv_taken<T: Datatype>(
        &self,
        ProbedMessage { message, info }: ProbedMessage,
        limit: Option<Limit>,
    ) -> Result<(Vec<T>, Received), Error> {
        let mut room = match info.records::<T>().and_then(|count| Room::new(count, info.length)) {
            Ok(room) => room,
            Err(error) => return Err(self.refuse(message, error)),
        };
        let Some(limit) = limit else {
            // SAFETY: the room is writable, and nothing else accesses it.
            let outcome = unsafe {
                self.blocking(|user_data| {
                    let callback = operation::received;
                    self.start_taken(message, room.memory(), callback, user_data)
                })
            };
            // SAFETY: the outcome is that of the receive into the room.
            return unsafe { self.records(room, outcome, info) };
        };
        // SAFETY: one operation is started, with the callback for fetches into room, which owns the memory that UCX writes.
        let (operation, request) = unsafe {
            Operation::start(self.unfinished(), room, |room: *mut Room<T>, user_data| {
                let callback = Operation::<Room<T>>::received;
                self.start_taken(message, (*room).memory(), callback, user_data)
            })
        };
        let handle = Handle::new(self.clone(), request);
        let Limit { timeout, start } = limit;
        let left = timeout.saturating_sub(start.elapsed());
        let outcome = handle.wait_for(left, &operation).ok_or(Error::TimedOut { timeout })?;
        // SAFETY: there is an outcome, and this is the only reference: UCX's share does not access the data.
        let room = unsafe { operation.data_of_completed() };
        // SAFETY: as above.
        unsafe { self.records(room.take(), outcome, info) }
    }

    /// Starts to receive a message that was taken.
    ///
    /// # Safety
    ///
    /// The memory must be writable, and nothing else may access it, until the operation has completed. The callback must fit
    /// the user data.
    unsafe fn start_taken(
        &self,
        message: raw::Message,
        (start, room): (*mut u8, usize),
        callback: raw::ReceiveCallback,
        user_data: *const c_void,
    ) -> raw::StatusPointer {
        let params = operation::receive_params(raw::DATATYPE_BYTES, callback, user_data);
        let (worker, start) = (self.handle(), start.cast());
        // SAFETY: the caller guarantees the memory, and the message was taken by this worker.
        unsafe { raw::ucp_tag_msg_recv_nbx(worker, start, room, message, &raw const params) }
    }

    /// The records of a message.
    ///
    /// # Safety
    ///
    /// The outcome must be that of a receive of the message into this room.
    unsafe fn records<T: Datatype>(
        &self,
        room: Room<T>,
        outcome: Outcome,
        info: Received,
    ) -> Result<(Vec<T>, Received), Error> {
        self.received(RECEIVE, outcome.status, info.length)?;
        if outcome.length != info.length {
            let (expected, actual) = (info.length as u64, outcome.length as u64);
            return Err(dtype_runtime::Error::PackedLength { expected, actual }.into());
        }
        // SAFETY: all of the message was received.
        Ok((unsafe { room.into_records()? }, info))
    }

    /// Discards a message that was taken, by receiving it into memory of length 0.
    fn refuse(&self, message: raw::Message, error: Error) -> Error {
        // SAFETY: nothing is written.
        unsafe {
            self.blocking(|user_data| {
                let nowhere = (ptr::dangling_mut(), 0);
                self.start_taken(message, nowhere, operation::received, user_data)
            })
        };
        error
    }
}

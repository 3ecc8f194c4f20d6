//! Active messages. A handler of the receiver gets them.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::ptr;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use dtype_runtime::Datatype;

use crate::elements::{Elements, ElementsMut};
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::header::Header;
use crate::inbox::{Delivered, Payload};
use crate::mode::ThreadMode;
use crate::operation::{self, Operation};
use crate::outbound::Outbound;
use crate::raw;
use crate::request::{Handle, refuse_destructors};
use crate::room::Room;
use crate::tagged::records_in;
use crate::worker::Worker;

const FETCH: &str = "ucp_am_recv_data_nbx";

impl<M: ThreadMode> Endpoint<M> {
    /// Sends an active message to the peer's [handler](Worker::handle_active) for an id. The elements may be changed again when
    /// this returns.
    ///
    /// The header has at most [`Worker::max_header_len`] bytes. It is part of the first fragment, so it should be short. A
    /// short message may still be in transit when this returns; a long one has been received or refused.
    ///
    /// # Errors
    ///
    /// [`Error::HeaderTooLong`]; [`Error::ConnectionLost`], [`Error::Cancelled`], [`Error::Call`]. For a peer without a handler
    /// for the id, UCX completes the send of a long message with an error, and drops a short one.
    #[doc(alias = "ucp_am_send_nbx")]
    pub fn send_active<'a>(
        &self,
        id: u8,
        header: impl Into<Header>,
        elements: impl Into<Elements<'a>>,
    ) -> Result<(), Error> {
        self.send_outbound(Outbound::active(self, id, header.into(), elements.into())?)
    }
}

/// An active message that has arrived, or that the sender has announced. A [handler](Worker::handle_active) gets it as its
/// argument.
///
/// UCX announces long messages, and fetches them only when they are received. A message that is dropped is refused.
pub struct ActiveMessage<'w, M: ThreadMode> {
    worker: &'w Worker<M>,
    message: Delivered,
}

impl<'w, M: ThreadMode> ActiveMessage<'w, M> {
    pub(crate) fn new(worker: &'w Worker<M>, message: Delivered) -> Self {
        Self { worker, message }
    }

    /// The worker that the message was sent to.
    pub fn worker(&self) -> &'w Worker<M> {
        self.worker
    }

    /// The id of the handler.
    pub fn id(&self) -> u8 {
        self.message.id
    }

    /// The bytes of the header.
    pub fn header(&self) -> &[u8] {
        self.message.header.as_bytes()
    }

    /// The record in the header.
    ///
    /// # Errors
    ///
    /// [`Error::Datatype`] if the header is not exactly one valid record.
    pub fn header_as<H: Datatype>(&self) -> Result<H, Error> {
        Ok(dtype_runtime::unpack_one(self.header())?)
    }

    /// The length of the payload in bytes.
    pub fn length(&self) -> usize {
        self.message.length
    }

    /// The number of records of type `T` in the payload.
    ///
    /// # Errors
    ///
    /// [`Error::Datatype`] if its length is not a multiple of the packed record size.
    pub fn records<T: Datatype>(&self) -> Result<usize, Error> {
        records_in::<T>(self.length())
    }

    /// The packed payload, unless the sender has only announced it.
    pub fn bytes(&self) -> Option<&[u8]> {
        self.message.bytes()
    }

    /// Receives the payload: unpacks it, after waiting for an announced payload to be fetched.
    ///
    /// # Errors
    ///
    /// [`Error::Datatype`] if the bytes are not whole, valid records, or there is no memory for them;
    /// [`Error::ConnectionLost`], [`Error::Cancelled`], [`Error::Call`]. The message is consumed even then.
    #[doc(alias = "ucp_am_recv_data_nbx")]
    pub fn recv<T: Datatype>(self) -> Result<Vec<T>, Error> {
        let count = self.records::<T>()?;
        if let Some(bytes) = self.bytes() {
            return Ok(dtype_runtime::unpack(bytes)?);
        }
        let mut room = Room::new(count, self.length())?;
        let (start, len) = room.memory();
        // SAFETY: the room stays on the stack until the message is fetched, and nothing else accesses it.
        unsafe { self.fetch((start, len, raw::DATATYPE_BYTES))? };
        // SAFETY: the message is fetched.
        unsafe { room.into_records() }
    }

    /// Receives the payload into the elements: as many records, or bytes of instances, as the payload has. Other elements are
    /// unchanged. Returns the payload's length in bytes.
    ///
    /// If not all bit patterns of a record are valid, all records are checked before any is written.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] if the message has more records than there is room for; [`Error::Datatype`] if one of them is
    /// invalid, or the last one is incomplete; nothing is written then. [`Error::ConnectionLost`], [`Error::Cancelled`],
    /// [`Error::Call`]. The message is consumed even then.
    pub fn recv_into<'a>(self, elements: impl Into<ElementsMut<'a>>) -> Result<usize, Error> {
        self.recv_elements(elements.into())
    }

    fn recv_elements(self, mut elements: ElementsMut<'_>) -> Result<usize, Error> {
        let length = self.length();
        elements.check_length(length)?;
        if let Some(bytes) = self.bytes() {
            elements.unpack(bytes)?;
            return Ok(length);
        }
        let arguments = elements.arguments(self.worker.context().incoming());
        // SAFETY: the elements are borrowed exclusively until the message is fetched, and so is what the arguments point to.
        unsafe { self.fetch(arguments)? };
        // SAFETY: the whole message was fetched.
        unsafe { elements.received(length)? };
        Ok(length)
    }

    /// Starts to receive the payload, which need not be complete when the handler returns. The request owns the records.
    ///
    /// # Errors
    ///
    /// The errors of [`recv`](Self::recv) that UCX reports at once. The message is consumed even then.
    ///
    /// ```
    /// # use std::{cell::RefCell, rc::Rc};
    /// # use dtype_ucx::{Context, Error, Single};
    /// # let worker = Context::with_settings([("TLS", "self")])?.worker::<Single>()?;
    /// # let peer = worker.connect(&worker.address()?)?;
    /// // Long messages of many peers are fetched at the same time.
    /// let fetching = Rc::new(RefCell::new(Vec::new()));
    /// let mine = fetching.clone();
    /// let _handler = worker.handle_active(7, move |message| {
    ///     mine.borrow_mut().push(message.start_recv::<(u8, f64)>());
    /// })?;
    ///
    /// let sending = peer.start_send_active(7, &(), vec![(1_u8, 0.5_f64); 100_000])?;
    /// let request = loop {
    ///     worker.progress();
    ///     if let Some(request) = fetching.borrow_mut().pop() {
    ///         break request?;
    ///     }
    /// };
    /// let came = request.wait()?;
    /// assert_eq!(came, sending.wait()?);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn start_recv<T: Datatype + Send + 'static>(self) -> Result<Fetching<T, M>, Error> {
        const { refuse_destructors::<T>() }
        let count = self.records::<T>()?;
        let Self { worker, message } = self;
        if let Some(bytes) = message.bytes() {
            let room = Room::received(dtype_runtime::unpack(bytes)?);
            // SAFETY: no operation is started, as the result says.
            let (operation, _) =
                unsafe { Operation::start(worker.unfinished(), room, |_, _| ptr::null_mut()) };
            return Ok(Fetching { handle: Handle::new(worker.clone(), None), operation });
        }
        let Delivered { payload: Payload::Announced(data), length, .. } = message else {
            unreachable!("a payload that is not here is announced")
        };
        let room = Room::new(count, length)?;
        // SAFETY: one operation is started, with the callback for fetches into room, which owns the memory that UCX writes.
        let (operation, request) = unsafe {
            Operation::start(worker.unfinished(), room, |room: *mut Room<T>, user_data| {
                let (start, len) = (*room).memory();
                let callback = Operation::<Room<T>>::fetched;
                let params = operation::fetch_params(raw::DATATYPE_BYTES, callback, user_data);
                let (worker, data) = (worker.handle(), data.into_raw().as_ptr());
                raw::ucp_am_recv_data_nbx(worker, data, start.cast(), len, &raw const params)
            })
        };
        let handle = Handle::new(worker.clone(), request);
        if let (None, Some(outcome)) = (request, operation.outcome()) {
            worker.received(FETCH, outcome.status, length)?;
        }
        Ok(Fetching { handle, operation })
    }

    /// Fetches an announced payload, and waits for it.
    ///
    /// # Safety
    ///
    /// The arguments must be a buffer, count and datatype with room for the payload, which nothing else accesses until this
    /// returns.
    unsafe fn fetch(
        self,
        (buffer, count, datatype): (*mut u8, usize, raw::Datatype),
    ) -> Result<(), Error> {
        let Delivered { payload: Payload::Announced(data), length, .. } = self.message else {
            return Ok(());
        };
        let worker = self.worker;
        // SAFETY: the caller guarantees the buffer. UCX gets the data back and releases them.
        let outcome = unsafe {
            worker.blocking(|user_data| {
                let params = operation::fetch_params(datatype, operation::fetched, user_data);
                let (worker, data) = (worker.handle(), data.into_raw().as_ptr());
                raw::ucp_am_recv_data_nbx(worker, data, buffer.cast(), count, &raw const params)
            })
        };
        worker.received(FETCH, outcome.status, length)
    }
}

impl<M: ThreadMode> fmt::Debug for ActiveMessage<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActiveMessage")
            .field("id", &self.id())
            .field("header_length", &self.header().len())
            .field("length", &self.length())
            .finish_non_exhaustive()
    }
}

/// An active message that is being fetched: from [`ActiveMessage::start_recv`].
///
/// [`wait`](Self::wait) returns the records; so does awaiting the request as a future. Dropping the request does not stop UCX:
/// it keeps the memory until the message is received, and the records are lost.
#[must_use = "the records are lost when the request is dropped"]
pub struct Fetching<T, M: ThreadMode> {
    // The request is freed before the worker.
    handle: Handle<M>,
    operation: Arc<Operation<Room<T>>>,
}

impl<T: Datatype, M: ThreadMode> Fetching<T, M> {
    /// Waits for the payload, and returns its records.
    ///
    /// # Errors
    ///
    /// [`Error::Datatype`] if its bytes are not valid records; [`Error::ConnectionLost`], [`Error::Cancelled`],
    /// [`Error::Call`].
    pub fn wait(self) -> Result<Vec<T>, Error> {
        let outcome = self.handle.wait(&self.operation);
        self.finish(outcome.status)
    }

    /// As [`wait`](Self::wait), with a time limit.
    ///
    /// # Errors
    ///
    /// The request, if the time limit has passed.
    pub fn wait_timeout(self, timeout: Duration) -> Result<Result<Vec<T>, Error>, Self> {
        match self.handle.wait_for(timeout, &self.operation) {
            Some(outcome) => Ok(self.finish(outcome.status)),
            None => Err(self),
        }
    }

    /// Whether the payload was received or an error occurred.
    pub fn is_complete(&self) -> bool {
        self.operation.outcome().is_some()
    }

    fn finish(&self, status: raw::RawStatus) -> Result<Vec<T>, Error> {
        // SAFETY: there is an outcome, and this is the only reference: UCX's share does not access the data.
        let room = unsafe { self.operation.data_of_completed() };
        self.handle.worker().received(FETCH, status, room.memory().1)?;
        // SAFETY: UCX has completed the operation without an error.
        unsafe { room.take().into_records() }
    }
}

/// Some task must make progress with the worker; see [`Events`](crate::Events). Once the future has returned the records,
/// further polls return no records.
impl<T: Datatype, M: ThreadMode> Future for Fetching<T, M> {
    type Output = Result<Vec<T>, Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.handle.poll(&self.operation, context).map(|outcome| self.finish(outcome.status))
    }
}

impl<T, M: ThreadMode> fmt::Debug for Fetching<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let complete = self.operation.outcome().is_some();
        f.debug_struct("Fetching").field("complete", &complete).finish_non_exhaustive()
    }
}

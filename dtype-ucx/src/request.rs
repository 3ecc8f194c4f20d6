//! Messages that own their data, so that the program can do something else while they are sent or received.

use std::ffi::c_void;
use std::fmt;
use std::mem;
use std::pin::Pin;
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use dtype_runtime::Datatype;

use crate::elements::{Elements, PackedBytes};
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::header::Header;
use crate::link::Link;
use crate::mode::{Multi, ThreadMode};
use crate::operation::{self, Operation, Outcome};
use crate::outbound::Outbound;
use crate::raw;
use crate::tagged::{Received, Tags};
use crate::worker::Worker;

/// A request of UCX. Dropping it frees the request. If the request has not completed, it is cancelled first, if UCX can do
/// that; otherwise UCX frees it when it completes.
pub(crate) struct Handle<M: ThreadMode> {
    worker: Worker<M>,
    request: Option<NonNull<c_void>>,
}

// SAFETY: UCX has locks in such a worker and its requests, so that any thread may use them at any time.
unsafe impl Send for Handle<Multi> {}
// SAFETY: as above.
unsafe impl Sync for Handle<Multi> {}

impl<M: ThreadMode> Handle<M> {
    /// A request that was started on the worker, or none if the operation completed at once.
    pub(crate) fn new(worker: Worker<M>, request: Option<*mut c_void>) -> Self {
        Self { worker, request: request.and_then(NonNull::new) }
    }

    pub(crate) fn worker(&self) -> &Worker<M> {
        &self.worker
    }

    /// Waits until the operation has completed. It must not be called in a `drop`, because it resumes a handler's panic. It
    /// does so at once, because the operation owns what UCX uses.
    pub(crate) fn wait<D>(&self, operation: &Operation<D>) -> Outcome {
        self.worker.wait(|| self.outcome(operation))
    }

    /// As [`wait`](Self::wait), but with a time limit.
    pub(crate) fn wait_for<D>(
        &self,
        timeout: Duration,
        operation: &Operation<D>,
    ) -> Option<Outcome> {
        self.worker.wait_for(Some(timeout), || self.outcome(operation))
    }

    fn outcome<D>(&self, operation: &Operation<D>) -> Option<Outcome> {
        self.worker.resume_panic();
        operation.outcome()
    }

    /// Polls the operation. This also makes progress, so the operation completes even if no task makes progress.
    pub(crate) fn poll<D>(&self, operation: &Operation<D>, context: &Context<'_>) -> Poll<Outcome> {
        if operation.outcome().is_none() {
            operation.set_waker(context.waker());
            self.worker.progress();
        }
        operation.outcome().map_or(Poll::Pending, Poll::Ready)
    }

    /// Cancels the operation if UCX can do that: only a receive that no message has matched. It then completes with an error.
    pub(crate) fn cancel(&self) {
        if let Some(request) = self.request {
            // SAFETY: the request was started on this worker and is not freed.
            unsafe { self.worker.cancel(request.as_ptr()) };
        }
    }
}

impl<M: ThreadMode> Drop for Handle<M> {
    fn drop(&mut self) {
        self.cancel();
        if let Some(request) = self.request {
            // SAFETY: the request is not used any more. When it has completed, UCX frees it, and calls the callback, which
            // frees UCX's share of the data.
            unsafe { raw::ucp_request_release(request.as_ptr()) };
        }
    }
}

/// A message that is being sent, with its records. From [`Endpoint::start_send`] or [`Endpoint::start_send_active`].
///
/// [`wait`](Self::wait) returns the records; so does awaiting the request as a future. Dropping the request does not take the
/// message back: UCX keeps the records until it has sent them.
#[must_use = "UCX sends the message when the worker makes progress, for example in `wait`"]
pub struct Sending<T, M: ThreadMode> {
    // The request is freed before the worker.
    handle: Handle<M>,
    operation: Arc<Operation<SendBuffers<T>>>,
    /// The link of the connection that the message is sent on.
    link: Arc<Link>,
}

/// Records that are being sent.
struct SendBuffers<T> {
    /// Refers to the memory of `items`.
    outbound: Outbound<'static>,
    items: Vec<T>,
}

/// A message that is being received: from [`Worker::start_recv`].
///
/// [`wait`](Self::wait) returns the records; so does awaiting the request as a future. Dropping the request cancels the
/// receive. If the message has begun to arrive, UCX receives it to its end, and the records are lost.
#[must_use = "dropping the request cancels the receive"]
pub struct Receiving<T, M: ThreadMode> {
    handle: Handle<M>,
    operation: Arc<Operation<PackedBytes>>,
    records: std::marker::PhantomData<fn() -> T>,
}

/// Refuses records with destructors: UCX's callback may have to drop the records, and must not call UCX.
pub(crate) const fn refuse_destructors<T>() {
    assert!(
        !mem::needs_drop::<T>(),
        "records with destructors cannot be given to a request: use `send`, or a scope"
    );
}

impl<M: ThreadMode> Endpoint<M> {
    /// Starts to send the records, which the request owns until they are sent.
    ///
    /// The functions that block, and [`Worker::progress`], continue to send.
    ///
    /// # Errors
    ///
    /// [`Error::ConnectionLost`], [`Error::Cancelled`], [`Error::Call`], if UCX reports them at once.
    ///
    /// ```
    /// # use dtype_ucx::{Context, Error, Single};
    /// # let worker = Context::with_settings([("TLS", "self")])?.worker::<Single>()?;
    /// # let endpoint = worker.connect(&worker.address()?)?;
    /// let receiving = worker.start_recv::<(u8, bool)>(1, 10)?;
    /// let sending = endpoint.start_send(1, vec![(1, true), (2, false)])?;
    /// let (records, received) = receiving.wait()?;
    /// assert_eq!(records, sending.wait()?);
    /// assert_eq!(received.length, 4);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn start_send<T: Datatype + Send + 'static>(
        &self,
        tag: u64,
        items: Vec<T>,
    ) -> Result<Sending<T, M>, Error> {
        self.start(items, |elements| Ok(Outbound::tagged(tag, elements)))
    }

    /// Starts to send an active message: as [`start_send`](Self::start_send), with the arguments of
    /// [`send_active`](Self::send_active).
    ///
    /// # Errors
    ///
    /// As [`start_send`](Self::start_send), and [`Error::HeaderTooLong`].
    pub fn start_send_active<T: Datatype + Send + 'static>(
        &self,
        id: u8,
        header: impl Into<Header>,
        items: Vec<T>,
    ) -> Result<Sending<T, M>, Error> {
        self.start(items, |elements| Outbound::active(self, id, header.into(), elements))
    }

    fn start<T: Datatype + Send + 'static>(
        &self,
        items: Vec<T>,
        address: impl FnOnce(Elements<'static>) -> Result<Outbound<'static>, Error>,
    ) -> Result<Sending<T, M>, Error> {
        const { refuse_destructors::<T>() }
        // SAFETY: the memory on the heap does not move, and is neither changed nor freed, as long as the elements are used:
        // until the operation has completed, both stay untouched in the outbox.
        let all: &'static [T] = unsafe { slice::from_raw_parts(items.as_ptr(), items.len()) };
        let outbound = address(all.into())?;
        let call = outbound.call();
        // SAFETY: one operation is started, with the callback for sends of an outbox, which owns the memory that UCX reads.
        let (operation, request) = unsafe {
            let unfinished = self.worker().unfinished();
            Operation::start(unfinished, SendBuffers { outbound, items }, |outbox, user_data| {
                (*outbox).outbound.start(self, Operation::<SendBuffers<T>>::sent, user_data)
            })
        };
        let handle = Handle::new(self.worker().clone(), request);
        if let (None, Some(outcome)) = (request, operation.outcome()) {
            self.sent(call, outcome.status)?;
        }
        Ok(Sending { handle, operation, link: self.connection().link().clone() })
    }
}

const RECEIVE: &str = "ucp_tag_recv_nbx";

impl<M: ThreadMode> Worker<M> {
    /// Starts to receive a message of at most `max_records` records.
    ///
    /// # Errors
    ///
    /// [`Error::Datatype`] if there is no memory for the records; [`Error::TooLong`] and [`Error::Call`], if UCX
    /// reports them at once.
    pub fn start_recv<T: Datatype + Send + 'static>(
        &self,
        tags: impl Into<Tags>,
        max_records: usize,
    ) -> Result<Receiving<T, M>, Error> {
        let Tags { tag, mask } = tags.into();
        let room = max_records.checked_mul(T::TYPE_MAP.size()).ok_or(
            dtype_runtime::Error::Allocation { count: max_records, stride: T::TYPE_MAP.size() },
        )?;
        let bytes = PackedBytes::try_with_room(room)?;
        // SAFETY: one operation is started, with the callback for receives of packed bytes, which own the memory that UCX
        // writes.
        let (operation, request) = unsafe {
            Operation::start(self.unfinished(), bytes, |bytes, user_data| {
                let (start, room) = (*bytes).memory();
                let callback = Operation::<PackedBytes>::received;
                let params = operation::receive_params(raw::DATATYPE_BYTES, callback, user_data);
                raw::ucp_tag_recv_nbx(
                    self.handle(),
                    start.cast(),
                    room,
                    tag,
                    mask,
                    &raw const params,
                )
            })
        };
        let handle = Handle::new(self.clone(), request);
        Ok(Receiving { handle, operation, records: std::marker::PhantomData })
    }
}

impl<T, M: ThreadMode> Sending<T, M> {
    /// Waits until the records are sent, and returns them.
    ///
    /// # Errors
    ///
    /// [`Error::ConnectionLost`], [`Error::Cancelled`], [`Error::Call`].
    pub fn wait(self) -> Result<Vec<T>, Error> {
        let outcome = self.handle.wait(&self.operation);
        self.finish(outcome)
    }

    /// As [`wait`](Self::wait), with a time limit.
    ///
    /// # Errors
    ///
    /// The request, if the time limit has passed.
    pub fn wait_timeout(self, timeout: Duration) -> Result<Result<Vec<T>, Error>, Self> {
        match self.handle.wait_for(timeout, &self.operation) {
            Some(outcome) => Ok(self.finish(outcome)),
            None => Err(self),
        }
    }

    /// Whether the records are sent, or an error occurred.
    pub fn is_complete(&self) -> bool {
        self.operation.outcome().is_some()
    }

    fn finish(&self, outcome: Outcome) -> Result<Vec<T>, Error> {
        // SAFETY: there is an outcome, and this is the only reference: UCX's share does not access the data.
        let outbox = unsafe { self.operation.data_of_completed() };
        self.link.result(outbox.outbound.call(), outcome.status)?;
        outbox.outbound.elements = [0_u8; 0].as_slice().into();
        Ok(mem::take(&mut outbox.items))
    }
}

impl<T: Datatype, M: ThreadMode> Receiving<T, M> {
    /// Waits for the message, and returns its records.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] if the message has more records than there is room for; [`Error::Datatype`] if its bytes are not
    /// whole, valid records; [`Error::ConnectionLost`], [`Error::Cancelled`], [`Error::Call`].
    pub fn wait(self) -> Result<(Vec<T>, Received), Error> {
        let outcome = self.handle.wait(&self.operation);
        self.finish(outcome)
    }

    /// As [`wait`](Self::wait), with a time limit.
    ///
    /// # Errors
    ///
    /// The request, if the time limit has passed.
    pub fn wait_timeout(
        self,
        timeout: Duration,
    ) -> Result<Result<(Vec<T>, Received), Error>, Self> {
        match self.handle.wait_for(timeout, &self.operation) {
            Some(outcome) => Ok(self.finish(outcome)),
            None => Err(self),
        }
    }

    /// Whether the message is received, or an error occurred.
    pub fn is_complete(&self) -> bool {
        self.operation.outcome().is_some()
    }

    fn finish(&self, outcome: Outcome) -> Result<(Vec<T>, Received), Error> {
        // SAFETY: there is an outcome, and this is the only reference: UCX's share does not access the data.
        let bytes = unsafe { self.operation.data_of_completed() };
        let Outcome { status, tag, length } = outcome;
        self.handle.worker().received(RECEIVE, status, bytes.memory().1)?;
        // SAFETY: UCX has written this many bytes.
        let items = dtype_runtime::unpack(unsafe { bytes.written(length) })?;
        Ok((items, Received { tag, length }))
    }
}

/// Some task must make progress with the worker; see [`Events`](crate::Events). Once the future has returned the records,
/// further polls return no records.
impl<T, M: ThreadMode> Future for Sending<T, M> {
    type Output = Result<Vec<T>, Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.handle.poll(&self.operation, context).map(|outcome| self.finish(outcome))
    }
}

/// Some task must make progress with the worker; see [`Events`](crate::Events).
impl<T: Datatype, M: ThreadMode> Future for Receiving<T, M> {
    type Output = Result<(Vec<T>, Received), Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.handle.poll(&self.operation, context).map(|outcome| self.finish(outcome))
    }
}

impl<T, M: ThreadMode> fmt::Debug for Sending<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let complete = self.operation.outcome().is_some();
        f.debug_struct("Sending").field("complete", &complete).finish_non_exhaustive()
    }
}

impl<T, M: ThreadMode> fmt::Debug for Receiving<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let complete = self.operation.outcome().is_some();
        f.debug_struct("Receiving").field("complete", &complete).finish_non_exhaustive()
    }
}

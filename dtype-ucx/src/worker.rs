//! The worker, with which a program makes progress.

use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::panic;
use std::ptr;
use std::slice;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crate::address::WorkerAddress;
use crate::connection::Connection;
use crate::context::Context;
use crate::error::{Error, check, failed, lost};
use crate::handlers::{Handlers, Panic};
use crate::inbox::Discard;
use crate::link::Link;
use crate::mode::{Multi, Single, ThreadMode};
use crate::operation::{self, Completion, Operation, Outcome};
use crate::process;
use crate::raw::{self, RawStatus, Started};
use crate::service::Service;
use crate::unfinished::Unfinished;

/// How long a scope waits for an idle peer, unless the program sets another limit. (Gloo has the same default.)
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Transports, connections and the messages that have arrived (`ucp_worker_h`). A clone is the
/// same worker; it is destroyed with its last clone, endpoint and request.
///
/// UCX 1.13 cannot destroy a worker with messages in flight, such as a long message that was dropped before its receiver has
/// fetched it. Such a worker is kept until the process ends, with its context and the memory of its transports. To avoid that,
/// wait for all sends, and for receives that have begun, before you drop the last clone.
///
/// UCX works only inside calls: without [`progress`](Self::progress), a worker neither receives nor replies. Functions that
/// block make progress.
#[doc(alias = "ucp_worker_h")]
pub struct Worker<M: ThreadMode> {
    inner: Arc<Inner<M>>,
}

struct Inner<M: ThreadMode> {
    handle: raw::Worker,
    /// Dropped after the worker is destroyed.
    context: Context,
    /// The handlers. UCX calls their functions until the worker is destroyed.
    handlers: Handlers<Worker<M>>,
    /// The number that peers use for the worker.
    number: u64,
    /// The service. UCX calls it until the worker is destroyed.
    service: Arc<Service>,
    /// The unfinished operations. The worker is not destroyed while there are any.
    unfinished: Unfinished,
    /// A lock that keeps a receive of a shared worker from completing while it is being cancelled.
    completing: RwLock<()>,
    /// The length of the longest header of an active message.
    max_header_len: usize,
    /// The connections with open endpoints, and some closed ones that were not removed yet.
    connections: Mutex<Vec<Weak<Connection>>>,
    /// How long a scope waits for an idle peer.
    time_limit: Mutex<Duration>,
    /// The links to which UCX reports failures of endpoints that are left to the worker. They are freed after the worker.
    left: Mutex<Vec<Arc<Link>>>,
    mode: PhantomData<M>,
}

// SAFETY: UCX has locks in such a worker, so that any thread may use it at any time. The functions of its handlers can be sent
// (`RunsIn`), and only one thread at a time calls or drops them.
unsafe impl Send for Inner<Multi> {}
// SAFETY: as above.
unsafe impl Sync for Inner<Multi> {}

impl<M: ThreadMode> Drop for Inner<M> {
    fn drop(&mut self) {
        self.handlers.clear();
        let mut workers = process::WORKERS.write().unwrap_or_else(PoisonError::into_inner);
        workers.remove(&self.number);
        drop(workers);
        // SAFETY: the worker is alive.
        unsafe { self.service.stop(self.handle) };
        if self.unfinished.any() {
            // The memory of unfinished operations is leaked, and so is the worker. UCX keeps the context, and the memory to
            // which it reports failures.
            let left = self.left.get_mut().unwrap_or_else(PoisonError::into_inner);
            mem::forget((self.context.clone(), mem::take(left)));
            return;
        }
        // SAFETY: the handle comes from `ucp_worker_create`. Each endpoint and each request owns the worker, so they are closed
        // and freed, or leaked and never used again. No operation is unfinished; otherwise UCX 1.13 would read freed memory of
        // it, and release a context whose memory is still in use.
        unsafe { raw::ucp_worker_destroy(self.handle) };
    }
}

impl<M: ThreadMode> Clone for Worker<M> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone() }
    }
}

impl<M: ThreadMode> fmt::Debug for Worker<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("mode", &M::NAME).finish_non_exhaustive()
    }
}

impl Context {
    /// Makes a worker: for the calling thread ([`Single`]), for one thread at a time ([`Serialized`](crate::Serialized)), or
    /// for any threads ([`Multi`]).
    ///
    /// # Errors
    ///
    /// [`Error::Threads`] if UCX was built without locks and the mode is [`Multi`]; [`Error::Call`].
    #[doc(alias = "ucp_worker_create")]
    pub fn worker<M: ThreadMode>(&self) -> Result<Worker<M>, Error> {
        let params = raw::WorkerParams {
            field_mask: raw::WORKER_PARAM_FIELD_THREAD_MODE,
            thread_mode: M::RAW,
        };
        let mut handle = ptr::null_mut();
        // SAFETY: the context is alive, and the parameters have the fields of their mask.
        let status =
            unsafe { raw::ucp_worker_create(self.handle(), &raw const params, &raw mut handle) };
        check("ucp_worker_create", status)?;
        // From here on, the worker is destroyed on an error.
        let unfinished = Unfinished::default();
        let discard = (M::RAW == raw::THREAD_MODE_MULTI)
            .then(|| Discard { datatype: self.discarded(), unfinished: unfinished.clone() });
        let mut inner = Inner {
            handle,
            context: self.clone(),
            handlers: Handlers::new(handle, discard),
            number: process::fresh(),
            service: Arc::new(Service::new(unfinished.clone())),
            unfinished,
            completing: RwLock::default(),
            max_header_len: 0,
            connections: Mutex::default(),
            time_limit: Mutex::new(TIME_LIMIT),
            left: Mutex::default(),
            mode: PhantomData,
        };
        let mut attributes = raw::WorkerAttributes {
            field_mask: raw::WORKER_ATTR_FIELD_THREAD_MODE | raw::WORKER_ATTR_FIELD_MAX_AM_HEADER,
            thread_mode: raw::THREAD_MODE_SINGLE,
            address_flags: 0,
            address: ptr::null_mut(),
            address_length: 0,
            max_am_header: 0,
        };
        // SAFETY: the worker is alive, and UCX writes the fields of the mask.
        let status = unsafe { raw::ucp_worker_query(handle, &raw mut attributes) };
        check("ucp_worker_query", status)?;
        if attributes.thread_mode < M::RAW {
            return Err(Error::Threads);
        }
        // With its new protocols, UCX 1.13 ends the program when a message needs several fragments, and its header is as long
        // as its payload, or longer. If the header takes at most half a fragment, a payload that needs a second fragment is
        // longer than the header.
        let parts = if self.has_new_protocols() { 2 } else { 1 };
        inner.max_header_len = attributes.max_am_header / parts;
        // SAFETY: the worker owns the service, and is destroyed before it.
        unsafe { inner.service.start(handle)? };
        inner.handlers.initialise()?;
        let mut workers = process::WORKERS.write().unwrap_or_else(PoisonError::into_inner);
        workers.insert(inner.number);
        drop(workers);
        Ok(Worker { inner: Arc::new(inner) })
    }
}

impl<M: ThreadMode> Worker<M> {
    pub(crate) fn handle(&self) -> raw::Worker {
        self.inner.handle
    }

    pub(crate) fn context(&self) -> &Context {
        &self.inner.context
    }

    pub(crate) fn handlers(&self) -> &Handlers<Self> {
        &self.inner.handlers
    }

    pub(crate) fn service(&self) -> &Arc<Service> {
        &self.inner.service
    }

    /// The operations that were started and have not completed yet.
    pub(crate) fn unfinished(&self) -> &Unfinished {
        &self.inner.unfinished
    }

    /// The number that peers use for the worker.
    pub(crate) fn number(&self) -> u64 {
        self.inner.number
    }

    /// Whether this is the same worker.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// The number of owners of the worker: clones, endpoints, requests and others.
    pub(crate) fn owners(&self) -> usize {
        Arc::strong_count(&self.inner)
    }

    /// Keeps the link of an endpoint that is left to the worker.
    pub(crate) fn leave(&self, link: Arc<Link>) {
        self.inner.left.lock().unwrap_or_else(PoisonError::into_inner).push(link);
    }

    /// Adds a connection to those of the worker.
    pub(crate) fn knows(&self, connection: &Arc<Connection>) {
        let mut all = self.inner.connections.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|connection| connection.strong_count() > 0);
        all.push(Arc::downgrade(connection));
    }

    /// The connections of the worker.
    pub(crate) fn connections(&self) -> Vec<Arc<Connection>> {
        let all = self.inner.connections.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().filter_map(Weak::upgrade).collect()
    }

    /// Why a connection of the worker is lost; `None` if none is.
    fn lost_connection(&self) -> Option<Error> {
        self.connections().iter().find_map(|connection| connection.link().failure()).map(lost)
    }

    /// The result of a receive into room for this many packed bytes.
    ///
    /// UCX does not say which connection a message comes from. If it has cancelled the receive, that is because of a lost
    /// connection, if there is one.
    pub(crate) fn received(
        &self,
        call: &'static str,
        status: RawStatus,
        room: usize,
    ) -> Result<(), Error> {
        match status {
            RawStatus::OK => Ok(()),
            raw::ERR_MESSAGE_TRUNCATED => Err(Error::TooLong { room }),
            _ => {
                let lost = |it: &Arc<Connection>| it.link().lost(call, status);
                let lost = self.connections().iter().find_map(lost);
                Err(lost.unwrap_or_else(|| failed(call, status)))
            }
        }
    }

    /// How long a [scope](Self::scope) waits for an idle peer: 30 seconds, unless it was [set](Self::set_time_limit).
    pub fn time_limit(&self) -> Duration {
        *self.inner.time_limit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets how long a [scope](Self::scope) waits for an idle peer; [`Duration::MAX`] means no limit. Choose more than the
    /// longest message takes, and more than a healthy peer computes between two messages.
    ///
    /// The same limit applies to memory that UCX has borrowed when something else fails: when a handler panics while a function
    /// sends, receives, puts or gets, and when one of several puts or gets fails.
    pub fn set_time_limit(&self, limit: Duration) {
        *self.inner.time_limit.lock().unwrap_or_else(PoisonError::into_inner) = limit;
    }

    /// The length in bytes of the longest header of an active message: about 8000, and half of that with UCX's new protocols.
    #[doc(alias = "max_am_header")]
    pub fn max_header_len(&self) -> usize {
        self.inner.max_header_len
    }

    /// The address that peers [`connect`](Self::connect) to.
    ///
    /// # Errors
    ///
    /// [`Error::Call`].
    #[doc(alias = "ucp_worker_get_address")]
    pub fn address(&self) -> Result<WorkerAddress, Error> {
        let (mut address, mut len) = (ptr::null_mut::<c_void>(), 0);
        // SAFETY: the worker is alive; UCX returns an address of this length, which is copied and then freed.
        unsafe {
            let status = raw::ucp_worker_get_address(self.handle(), &raw mut address, &raw mut len);
            check("ucp_worker_get_address", status)?;
            let bytes = slice::from_raw_parts(address.cast(), len);
            let copy = WorkerAddress::from_ucx(self.context().number(), self.number(), bytes);
            raw::ucp_worker_release_address(self.handle(), address);
            Ok(copy)
        }
    }

    /// Makes progress: sends, receives, completes operations, calls handlers. Returns whether there was anything to do.
    ///
    /// # Panics
    ///
    /// If a [handler](Self::handle_active) has panicked, its panic resumes.
    #[doc(alias = "ucp_worker_progress")]
    pub fn progress(&self) -> bool {
        let progressed = self.advance();
        self.resume_panic();
        progressed
    }

    /// As [`progress`](Self::progress), but keeps a panic of a handler: nothing unwinds.
    pub(crate) fn advance(&self) -> bool {
        let completing = self.completing();
        // SAFETY: the worker is alive, and its mode allows this thread to use it. UCX must not be called from its callbacks:
        // these run no user code, except packing, unpacking and the allocator.
        let progressed = unsafe { raw::ucp_worker_progress(self.handle()) != 0 };
        drop(completing);
        operation::wake();
        self.inner.handlers.call(self) || progressed
    }

    /// While the result lives, no other thread cancels an operation: for calls of UCX that may complete other threads'
    /// receives.
    pub(crate) fn completing(&self) -> Option<RwLockReadGuard<'_, ()>> {
        let read = || self.inner.completing.read().unwrap_or_else(PoisonError::into_inner);
        (M::RAW == raw::THREAD_MODE_MULTI).then(read)
    }

    /// While the result lives, no other thread is in a call of UCX that may complete other threads' receives, or uses the
    /// handle of an endpoint.
    pub(crate) fn alone(&self) -> Option<RwLockWriteGuard<'_, ()>> {
        let write = || self.inner.completing.write().unwrap_or_else(PoisonError::into_inner);
        (M::RAW == raw::THREAD_MODE_MULTI).then(write)
    }

    /// Cancels an operation if UCX can do that: only a receive that no message has matched. It completes with an error before
    /// this returns.
    ///
    /// # Safety
    ///
    /// The request must have been started on this worker, and not be freed.
    pub(crate) unsafe fn cancel(&self, request: *mut c_void) {
        // SAFETY: the caller guarantees the request.
        if unsafe { raw::ucp_request_is_completed(request) } != 0 {
            return;
        }
        // UCX 1.13 checks whether the operation has completed, and takes its lock only afterwards. It ends the program if
        // another thread completes the operation in between.
        let alone = self.alone();
        // SAFETY: passed on to the caller. A request that has completed is not changed.
        unsafe { raw::ucp_request_cancel(self.handle(), request) };
        drop(alone);
        operation::wake();
    }

    /// Resumes the panic of a handler, if there was one. Call this where UCX uses nothing that unwinding would free.
    pub(crate) fn resume_panic(&self) {
        self.inner.handlers.resume_panic();
    }

    /// The panic of a handler, if there was one, for the caller to resume when UCX uses nothing that unwinding would free.
    pub(crate) fn take_panic(&self) -> Option<Panic> {
        self.inner.handlers.take_panic()
    }

    /// Waits until everything that was sent on any endpoint is delivered, and everything that was put is in the memory.
    /// A long message that a request is still sending may be delivered later, so wait for the request, too.
    ///
    /// # Errors
    ///
    /// [`Error::ConnectionLost`] as long as the worker has an endpoint whose connection is lost: everything else is delivered
    /// then. [`Error::Refused`] if a put since the last flush was refused; [`Error::Cancelled`], [`Error::Call`].
    #[doc(alias = "ucp_worker_flush_nbx")]
    pub fn flush(&self) -> Result<(), Error> {
        let service = self.service();
        self.wait(|| {
            self.resume_panic();
            service.is_settled().then_some(())
        });
        // SAFETY: the worker is alive.
        let status =
            unsafe { self.flushed(|params| raw::ucp_worker_flush_nbx(self.handle(), params)) };
        let refused = service.take_refused(None);
        service.give_up_failed();
        let lost = self.lost_connection();
        lost.or(refused).map_or(Ok(()), Err)?;
        check("ucp_worker_flush_nbx", status)
    }

    /// Starts a flush, and waits until it has completed. If a handler panics meanwhile, the panic resumes at once, because a
    /// flush borrows nothing.
    ///
    /// # Safety
    ///
    /// `start` must start one operation of this worker with the parameters.
    pub(crate) unsafe fn flushed(
        &self,
        start: impl FnOnce(*const raw::RequestParams) -> raw::StatusPointer,
    ) -> RawStatus {
        // SAFETY: the caller guarantees the operation, which gets the user data, and a callback for it. The request is not
        // used again.
        let operation = unsafe {
            let (operation, request) = Operation::start(self.unfinished(), (), |_, user_data| {
                let params = operation::params(0, Operation::<()>::sent, user_data);
                start(&raw const params)
            });
            if let Some(request) = request {
                raw::ucp_request_release(request);
            }
            operation
        };
        let outcome = self.wait(|| {
            self.resume_panic();
            operation.outcome()
        });
        self.resume_panic();
        outcome.status
    }

    /// Starts an operation, and waits until it has completed. `start` gets the user data.
    ///
    /// # Safety
    ///
    /// `start` must start one operation of this worker, with [`operation::sent`] or [`operation::received`], and pass the user
    /// data to it. Memory that it lends to UCX must live until this returns.
    pub(crate) unsafe fn blocking(
        &self,
        start: impl FnOnce(*const c_void) -> raw::StatusPointer,
    ) -> Outcome {
        let completion = Completion::new();
        let started = Started::decode(start(ptr::from_ref(&completion).cast()));
        operation::wake();
        let request = match started {
            Started::Completed(status) => return Outcome::without_message(status),
            Started::Pending(request) => request,
        };
        // From here to the end of the wait, nothing unwinds, so the completion, and the memory that the caller has lent, live
        // until UCX no longer uses them.
        let done = || completion.outcome();
        let ended = self.wait(|| done().map(Ok).or_else(|| self.take_panic().map(Err)));
        if ended.is_err() {
            // The operation may depend on the handler that has panicked. SAFETY: the request was started on this worker and is
            // not freed.
            unsafe { self.cancel(request) };
            if self.wait_for(Some(self.time_limit()), done).is_none() {
                self.take_back(&[], &"the panic of a handler", || done().is_some());
            }
        }
        // SAFETY: the request has completed, and is not used again.
        unsafe { raw::ucp_request_free(request) };
        self.resume_panic();
        ended.unwrap_or_else(|panic| panic::resume_unwind(panic))
    }

    /// Makes progress until there is a result. Nothing unwinds: a panic of a handler is kept for
    /// [`resume_panic`](Self::resume_panic).
    pub(crate) fn wait<R>(&self, done: impl FnMut() -> Option<R>) -> R {
        match self.wait_for(None, done) {
            Some(result) => result,
            None => unreachable!("a wait without a time limit"),
        }
    }

    /// Makes progress until there is a result, or the time limit has passed.
    pub(crate) fn wait_for<R>(
        &self,
        timeout: Option<Duration>,
        mut done: impl FnMut() -> Option<R>,
    ) -> Option<R> {
        /// After this many calls without progress, the thread yields the processor.
        const ROUNDS: u32 = 256;
        // If the end is too far away to be represented, there is no limit.
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut idle = 0_u32;
        loop {
            if let Some(result) = done() {
                return Some(result);
            }
            idle = if self.advance() { 0 } else { idle + 1 };
            if idle == ROUNDS {
                idle = 0;
                thread::yield_now();
            }
            if idle > 0 {
                std::hint::spin_loop();
            } else if end.is_some_and(|end| Instant::now() >= end) {
                // The time is checked after progress, too, because a handler may have taken long.
                return done();
            }
        }
    }
}

const _: () = {
    const fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Worker<Multi>>();
    is_send_and_sync::<Context>();
    assert!(Single::RAW < Multi::RAW);
};

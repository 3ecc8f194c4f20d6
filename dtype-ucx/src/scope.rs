//! Several messages at the same time, from and into borrowed memory.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::panic;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::connection::Connection;
use crate::elements::{Elements, ElementsMut};
use crate::endpoint::Endpoint;
use crate::error::{Error, lost};
use crate::handlers::Panic;
use crate::header::Header;
use crate::mode::ThreadMode;
use crate::operation::{self, Operation, Outcome};
use crate::outbound::Outbound;
use crate::raw::{self, RawStatus};
use crate::request::Handle;
use crate::tagged::{Received, Tags, received};
use crate::worker::Worker;

/// After how many time limits without a failure a scope gives up if UCX would not give back what it borrows. More than one,
/// because a slow peer should not end the process.
const UNMONITORED: u32 = 10;

/// How often to call UCX to look for messages that have arrived. It is limited, because other peers may send without end.
const ARRIVED: u32 = 1000;

/// Starts messages that borrow the memory that they are sent from or received into. From [`Worker::scope`].
pub struct Scope<'env, M: ThreadMode> {
    worker: Worker<M>,
    started: RefCell<Vec<Entry<'env, M>>>,
    /// The panic of a handler, which resumes when the scope has ended.
    panic: RefCell<Option<Panic>>,
    /// `'env` is exactly the lifetime that the caller of [`Worker::scope`] chose: it is invariant.
    env: PhantomData<&'env mut &'env ()>,
}

/// A message that was started in a scope.
struct Entry<'env, M: ThreadMode> {
    message: Message<'env>,
    // Dropping it frees the request. The operation has completed by then.
    handle: Handle<M>,
    /// Whether the result was returned.
    settled: bool,
}

enum Message<'env> {
    Outgoing {
        operation: Arc<Operation<Outbound<'env>>>,
        call: &'static str,
        connection: Arc<Connection>,
    },
    Incoming(Arc<Operation<ElementsMut<'env>>>),
}

impl Message<'_> {
    /// The endpoint that the message is sent on.
    fn connection(&self) -> Option<&Arc<Connection>> {
        match self {
            Self::Outgoing { connection, .. } => Some(connection),
            Self::Incoming(_) => None,
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::Outgoing { operation, .. } => operation.outcome(),
            Self::Incoming(operation) => operation.outcome(),
        }
    }
}

/// A message that was started in a scope. [`wait`](Self::wait) returns its result; otherwise the scope does.
#[derive(Clone, Copy)]
pub struct Scoped<'s, 'env, M: ThreadMode> {
    scope: &'s Scope<'env, M>,
    index: usize,
}

impl<M: ThreadMode> Worker<M> {
    /// Calls a function that starts messages, and waits until all of them have completed.
    ///
    /// The messages may borrow anything that outlives the scope. UCX may use it until this function returns, in whatever way
    /// that happens.
    ///
    /// # When it fails
    ///
    /// A scope fails if the function returns an error or panics; if a message fails, or the connection on which one is being
    /// sent; if a handler panics; and if none of its messages completes within the worker's [time limit](Self::time_limit). It
    /// then ends in these steps:
    ///
    /// 1. Sends and receives go on until all messages are sent, or the time limit has passed: a peer, or this worker itself,
    ///    may have to receive one message before it completes another.
    /// 2. Receives that no message has matched are cancelled. Receives that have begun go on, within the same limit.
    /// 3. If messages remain, their connections are closed by force, and then all other monitored connections of the worker,
    ///    because UCX does not say which connection a message comes from. Later uses of these connections return
    ///    [`Error::ConnectionLost`]. UCX does not tell the peer: a function there that receives such a message blocks until its
    ///    own time limit.
    /// 4. If UCX uses borrowed memory even then, the **process is aborted** with a line on the standard error: returning would
    ///    be undefined behaviour. On connections that are not [monitored](Self::connect_monitored), or with UCX's new
    ///    protocols, this happens with long messages, and with short ones for which the peer has no room. If nothing has
    ///    failed, the scope first waits for ten time limits. On monitored connections over shared memory, UCX 1.13 forgets the
    ///    receive of a long message if the peer is killed while both send long ones; over TCP it does not.
    ///
    /// If peers may fail, use monitored connections; if they may be slow, set a longer time limit.
    ///
    /// The function returns the error of the first failure, and not the errors that ending the scope causes in other messages.
    ///
    /// # Errors
    ///
    /// The function's error, or else the first error of a message that was not returned by [`Scoped::wait`];
    /// [`Error::ConnectionLost`]; [`Error::TimedOut`].
    ///
    /// ```
    /// # use dtype_ucx::{Context, Error, Single};
    /// # let worker = Context::with_settings([("TLS", "self")])?.worker::<Single>()?;
    /// # let (left, right) = (worker.connect(&worker.address()?)?, worker.connect(&worker.address()?)?);
    /// let faces = [[(1_u8, 0.5_f64); 100], [(2, 0.25); 100]];
    /// let mut halos = [[(0, 0.0); 100]; 2];
    /// let [from_left, from_right] = &mut halos;
    /// worker.scope(|scope| {
    ///     scope.recv_into(1, from_left)?;
    ///     scope.recv_into(2, from_right)?;
    ///     scope.send(&left, 2, &faces[0])?;
    ///     scope.send(&right, 1, &faces[1])?;
    ///     Ok(())
    /// })?;
    /// assert_eq!(halos, [faces[1], faces[0]]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn scope<'env, R>(
        &self,
        start: impl FnOnce(&Scope<'env, M>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let scope = Scope {
            worker: self.clone(),
            started: RefCell::default(),
            panic: RefCell::default(),
            env: PhantomData,
        };
        // `'env` is a parameter of this function, so it outlives the call: whatever the messages borrow stays borrowed until
        // the guard has waited for them.
        let mut left = LeaveGuard { scope: &scope, cause: None };
        // All messages are complete when the guard is dropped, unless something has failed.
        let result = start(&scope).and_then(|result| scope.finish().map(|()| result));
        left.cause = result.as_ref().err().cloned();
        drop(left);
        if let Some(panic) = scope.panic.take() {
            panic::resume_unwind(panic);
        }
        self.resume_panic();
        result
    }
}

/// Ends all messages when the scope ends. It lies on the stack of [`Worker::scope`], so the function that the scope calls
/// cannot leak it.
struct LeaveGuard<'a, 'env, M: ThreadMode> {
    scope: &'a Scope<'env, M>,
    /// Why the scope ends; `None` if all messages have completed, or if it panics.
    cause: Option<Error>,
}

impl<M: ThreadMode> Drop for LeaveGuard<'_, '_, M> {
    fn drop(&mut self) {
        let (worker, started) = (&self.scope.worker, self.scope.started.borrow());
        let unfinished = || started.iter().filter(|entry| entry.message.outcome().is_none());
        let sent = || !unfinished().any(|entry| entry.message.connection().is_some());
        let done = || unfinished().next().is_none();
        if done() {
            return;
        }
        let (start, limit) = (Instant::now(), worker.time_limit());
        // A long message is only sent when it is received, perhaps here. Its receiver may have to send one first.
        let _ = worker.wait_for(Some(limit), || sent().then_some(()));
        // A receive may match a message that has already arrived, so UCX looks at these before receives are cancelled.
        let _ = (0..ARRIVED).take_while(|_| worker.advance()).count();
        unfinished().for_each(|entry| entry.handle.cancel());
        // A message that has begun to arrive may come from a slow peer.
        let is_slow = matches!(self.cause, Some(Error::TimedOut { .. })) && sent();
        let limits = if is_slow && worker.may_keep() { UNMONITORED } else { 1 };
        let left = limit.saturating_mul(limits).saturating_sub(start.elapsed());
        if worker.wait_for(Some(left), || done().then_some(())).is_none() {
            let connections: Vec<_> =
                unfinished().filter_map(|entry| entry.message.connection().cloned()).collect();
            match &self.cause {
                Some(cause) => worker.take_back(&connections, cause, done),
                None => worker.take_back(&connections, &"a panic", done),
            }
        }
    }
}

impl<'env, M: ThreadMode> Scope<'env, M> {
    /// Starts to send a message.
    ///
    /// # Errors
    ///
    /// [`Error::OtherWorker`] if the endpoint is not one of the scope's worker; [`Error::ConnectionLost`],
    /// [`Error::Cancelled`], [`Error::Call`], if UCX reports them at once.
    pub fn send<'s>(
        &'s self,
        endpoint: &Endpoint<M>,
        tag: u64,
        elements: impl Into<Elements<'env>>,
    ) -> Result<Scoped<'s, 'env, M>, Error> {
        self.start(endpoint, Outbound::tagged(tag, elements.into()))
    }

    /// Starts to send an active message, as [`Endpoint::send_active`] does. The header is copied.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send), and [`Error::HeaderTooLong`].
    pub fn send_active<'s>(
        &'s self,
        endpoint: &Endpoint<M>,
        id: u8,
        header: impl Into<Header>,
        elements: impl Into<Elements<'env>>,
    ) -> Result<Scoped<'s, 'env, M>, Error> {
        let outbound = Outbound::active(endpoint, id, header.into(), elements.into())?;
        self.start(endpoint, outbound)
    }

    fn start<'s>(
        &'s self,
        endpoint: &Endpoint<M>,
        outbound: Outbound<'env>,
    ) -> Result<Scoped<'s, 'env, M>, Error> {
        // Only an endpoint's own worker completes a send, and the scope makes progress with its own worker only.
        if !endpoint.worker().is(&self.worker) {
            return Err(Error::OtherWorker);
        }
        let call = outbound.call();
        // SAFETY: one operation is started, with the callback for sends of these data, which the operation owns. The elements
        // are borrowed until the scope ends, which waits for the operation.
        let (operation, request) = unsafe {
            let unfinished = self.worker.unfinished();
            Operation::start(unfinished, outbound, |outbound: *mut Outbound<'env>, user_data| {
                (*outbound).start(endpoint, Operation::<Outbound<'env>>::sent, user_data)
            })
        };
        let handle = Handle::new(self.worker.clone(), request);
        let connection = endpoint.connection().clone();
        Ok(self.keep(Message::Outgoing { operation, call, connection }, handle))
    }

    /// Starts to receive a message into the elements, as [`Worker::recv_into`] does.
    ///
    /// # Errors
    ///
    /// [`Error::Call`], if UCX reports it at once.
    pub fn recv_into<'s>(
        &'s self,
        tags: impl Into<Tags>,
        elements: impl Into<ElementsMut<'env>>,
    ) -> Result<Scoped<'s, 'env, M>, Error> {
        let Tags { tag, mask } = tags.into();
        let incoming = self.worker.context().incoming();
        // SAFETY: one operation is started, with the callback for receives into elements. They are borrowed exclusively until
        // the scope ends, which waits for the operation.
        let (operation, request) = unsafe {
            let unfinished = self.worker.unfinished();
            Operation::start(
                unfinished,
                elements.into(),
                |elements: *mut ElementsMut<'env>, user_data| {
                    let (buffer, count, datatype) = (*elements).arguments(incoming);
                    let callback = Operation::<ElementsMut<'env>>::received;
                    let params = operation::receive_params(datatype, callback, user_data);
                    let (worker, buffer) = (self.worker.handle(), buffer.cast());
                    raw::ucp_tag_recv_nbx(worker, buffer, count, tag, mask, &raw const params)
                },
            )
        };
        let handle = Handle::new(self.worker.clone(), request);
        Ok(self.keep(Message::Incoming(operation), handle))
    }

    fn keep<'s>(&'s self, message: Message<'env>, handle: Handle<M>) -> Scoped<'s, 'env, M> {
        let mut started = self.started.borrow_mut();
        started.push(Entry { message, handle, settled: false });
        Scoped { scope: self, index: started.len() - 1 }
    }

    /// Waits for all messages, or for the first error that was not returned before.
    fn finish(&self) -> Result<(), Error> {
        let count = self.started.borrow().len();
        (0..count).try_for_each(|index| self.settle(index).map(drop))
    }

    /// Waits for a message. An error is returned only once.
    fn settle(&self, index: usize) -> Result<Option<Received>, Error> {
        let outcome = self.wait(index)?;
        self.result(index, outcome)
    }

    /// Waits for a message, until something else in the scope fails, or no message completes within the time limit.
    fn wait(&self, index: usize) -> Result<Outcome, Error> {
        /// How often to look at the other messages.
        const OFTEN: Duration = Duration::from_millis(10);
        let outcome = || self.started.borrow()[index].message.outcome();
        let unfinished = || {
            self.started.borrow().iter().filter(|entry| entry.message.outcome().is_none()).count()
        };
        let (mut before, mut since) = (usize::MAX, Instant::now());
        loop {
            if let Some(outcome) = self.worker.wait_for(Some(OFTEN), outcome) {
                return Ok(outcome);
            }
            self.check()?;
            let (now, limit) = (unfinished(), self.limit());
            if now < before {
                (before, since) = (now, Instant::now());
            } else if since.elapsed() >= limit {
                return Err(self.lost(|_| true).unwrap_or(Error::TimedOut { timeout: limit }));
            }
        }
    }

    /// How long to wait for a message.
    fn limit(&self) -> Duration {
        let started = self.started.borrow();
        let keeps = |entry: &Entry<'env, M>| {
            let connection =
                entry.message.connection().filter(|_| entry.message.outcome().is_none());
            connection.is_some_and(|connection| !self.worker.can_cut(connection))
        };
        let factor = if started.iter().any(keeps) { UNMONITORED } else { 1 };
        self.worker.time_limit().saturating_mul(factor)
    }

    /// Fails if a message that was not waited for has failed, or a connection on which one is being sent, or if a handler has
    /// panicked.
    fn check(&self) -> Result<(), Error> {
        let failed = |entry: &Entry<'env, M>| {
            let outcome = entry.message.outcome().filter(|_| !entry.settled);
            outcome.filter(|outcome| outcome.status != RawStatus::OK)
        };
        let found = self
            .started
            .borrow()
            .iter()
            .enumerate()
            .find_map(|(index, entry)| failed(entry).map(|outcome| (index, outcome)));
        if let Some((index, outcome)) = found {
            return self.result(index, outcome).map(drop);
        }
        if let Some(panic) = self.worker.take_panic() {
            *self.panic.borrow_mut() = Some(panic);
            return Err(Error::Cancelled);
        }
        self.lost(|entry| entry.message.outcome().is_none()).map_or(Ok(()), Err)
    }

    /// Why a connection was lost on which one of some messages was sent; `None` if none was lost. A peer that has received its
    /// last message may leave, so this is the cause of a failure only if something else does not go on.
    fn lost(&self, among: impl Fn(&Entry<'env, M>) -> bool) -> Option<Error> {
        let started = self.started.borrow();
        let mut connections = started
            .iter()
            .filter(|entry| among(entry))
            .filter_map(|entry| entry.message.connection());
        connections.find_map(|connection| connection.link().failure()).map(lost)
    }

    /// The result of a message that has completed. It is returned only once.
    fn result(&self, index: usize, outcome: Outcome) -> Result<Option<Received>, Error> {
        let mut started = self.started.borrow_mut();
        let entry = &mut started[index];
        let first = !std::mem::replace(&mut entry.settled, true);
        match &entry.message {
            _ if !first => Ok(None),
            Message::Outgoing { call, connection, .. } => {
                connection.link().result(call, outcome.status).map(|()| None)
            }
            Message::Incoming(operation) => {
                // SAFETY: the operation has completed. Only this function uses the data, under an exclusive borrow.
                let elements = unsafe { operation.data_of_completed() };
                // SAFETY: the outcome is that of the receive with these elements.
                unsafe { received(&self.worker, outcome, elements) }.map(Some)
            }
        }
    }
}

impl<M: ThreadMode> Scoped<'_, '_, M> {
    /// Waits until the message is sent or received. For a received message, the first call returns its tag and its length, and
    /// later calls return `None`.
    ///
    /// # Errors
    ///
    /// The first call returns the errors of [`Endpoint::send`], [`Endpoint::send_active`] or [`Worker::recv_into`]. If the
    /// scope [fails](Worker::scope) meanwhile, the error of another message, or [`Error::TimedOut`].
    pub fn wait(self) -> Result<Option<Received>, Error> {
        self.scope.settle(self.index)
    }
}

impl<M: ThreadMode> fmt::Debug for Scope<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl<M: ThreadMode> fmt::Debug for Scoped<'_, '_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scoped").field("index", &self.index).finish_non_exhaustive()
    }
}

//! Endpoints: connections to workers of other processes, or of this one.

use std::fmt;
use std::ptr;
use std::sync::atomic::AtomicI8;
use std::sync::{Arc, PoisonError, RwLockReadGuard};
use std::time::{Duration, Instant};

use crate::address::WorkerAddress;
use crate::connection::{self, Connection};
use crate::error::{Error, check, failed, lost};
use crate::mode::ThreadMode;
use crate::operation;
use crate::process;
use crate::raw::{self, RawStatus, Started};
use crate::service::PackedTransfers;
use crate::worker::Worker;

/// The longest time for which dropping an endpoint waits until what was sent is delivered.
const CLOSING: Duration = Duration::from_secs(1);

/// A connection to a worker (`ucp_ep_h`).
///
/// Dropping it closes the connection after everything that was sent is delivered, but waits no longer than a second for that.
/// [`close`](Self::close) waits as long as it takes, and returns errors. A long message that the peer has not begun to receive
/// by then can still be received while the worker lives; on a [monitored](Worker::connect_monitored) connection it is
/// cancelled, unless UCX uses its new protocols. UCX does not tell a peer to which it was announced: a function there that
/// receives it waits until its own connection is closed or lost, or forever ([`Worker::recv_timeout`] gives up). For a
/// connection that does not cancel its messages, UCX keeps some memory until the worker is destroyed.
#[doc(alias = "ucp_ep_h")]
pub struct Endpoint<M: ThreadMode> {
    worker: Worker<M>,
    /// The peer's process, its context there, and its worker.
    process: u64,
    context: u64,
    peer: u64,
    connection: Arc<Connection>,
}

/// The handle of an endpoint, which no other thread closes meanwhile.
pub(crate) struct Open<'a> {
    pub(crate) handle: raw::Endpoint,
    _completing: Option<RwLockReadGuard<'a, ()>>,
}

// SAFETY: UCX has locks in such a worker and its endpoints, so that any thread may use them at any time.
unsafe impl Send for Endpoint<crate::Multi> {}
// SAFETY: likewise.
unsafe impl Sync for Endpoint<crate::Multi> {}

impl<M: ThreadMode> Worker<M> {
    /// Connects to a worker.
    ///
    /// UCX makes the connection when it is first used, so an unreachable address may be noticed only later. With this
    /// connection UCX may fail to notice when the peer dies: a function that waits for the peer then waits forever, but for
    /// those with a time limit. A [scope](Self::scope) whose long message the peer does not receive cannot take
    /// it back, and ends the process after its limit. For peers that may fail, use
    /// [`connect_monitored`](Self::connect_monitored).
    ///
    /// # Errors
    ///
    /// [`Error::ConnectionLost`] if the address is unreachable; [`Error::Call`].
    #[doc(alias = "ucp_ep_create")]
    pub fn connect(&self, address: &WorkerAddress) -> Result<Endpoint<M>, Error> {
        self.connect_with(address, raw::ERR_HANDLING_MODE_NONE)
    }

    /// Connects to a worker, over transports that notice when the peer dies: what is sent to it, or received from it,
    /// then completes with [`Error::ConnectionLost`] or [`Error::Cancelled`]. Both sides must connect in this way.
    ///
    /// Over shared memory, UCX 1.13 notices it only with the setting `MM_ERROR_HANDLING=y`. A peer that closes its
    /// worker and lives on may not be noticed: when there is no more room, a send waits. A request can be waited for
    /// with a [time limit](crate::Sending::wait_timeout).
    ///
    /// # The new protocols
    ///
    /// With its new protocols (`PROTO_ENABLE=y`, the default from UCX 1.16 on), UCX 1.13 cannot cancel a message: it ends the
    /// program when one of any length is sent to a peer that has died, and when a peer dies while a long message from it is
    /// being received. Puts and gets complete with an error, except those that a [worker serves](Self::serve), which are
    /// messages. Where peers may die, use the setting `PROTO_ENABLE=n`. Closing the connection is safe with either: with the
    /// new protocols it cancels nothing.
    ///
    /// # Errors
    ///
    /// [`Error::ConnectionLost`] if the address is unreachable over such a transport; [`Error::Call`].
    #[doc(alias = "UCP_ERR_HANDLING_MODE_PEER")]
    pub fn connect_monitored(&self, address: &WorkerAddress) -> Result<Endpoint<M>, Error> {
        self.connect_with(address, raw::ERR_HANDLING_MODE_PEER)
    }

    fn connect_with(&self, address: &WorkerAddress, error_mode: u32) -> Result<Endpoint<M>, Error> {
        // Over shared memory, UCX opens the memory of a worker by a number, which may name any other file of this process when
        // the worker is gone.
        let workers = process::WORKERS.read().unwrap_or_else(PoisonError::into_inner);
        if address.process() == process::id() && !workers.contains(&address.worker()) {
            return Err(failed("ucp_ep_create", raw::ERR_UNREACHABLE));
        }
        let failure = Arc::new(AtomicI8::new(RawStatus::OK.0));
        let shared = Arc::into_raw(failure.clone());
        let params = raw::EndpointParams {
            field_mask: raw::EP_PARAM_FIELD_REMOTE_ADDRESS
                | raw::EP_PARAM_FIELD_ERR_HANDLING_MODE
                | raw::EP_PARAM_FIELD_ERR_HANDLER,
            address: address.for_ucx().as_ptr().cast(),
            error_mode,
            error_handler: raw::ErrorHandler {
                callback: Some(connection::failed),
                argument: shared.cast_mut().cast(),
            },
        };
        let mut handle = ptr::null_mut();
        // SAFETY: the worker is alive, and the address is one that UCX made (`WorkerAddress`). If it is one of this process, it
        // belongs to a worker that is alive, too.
        let status =
            unsafe { raw::ucp_ep_create(self.handle(), &raw const params, &raw mut handle) };
        drop(workers);
        if let Err(error) = check("ucp_ep_create", status) {
            // SAFETY: the share of `into_raw`; UCX has made no endpoint that would use it.
            drop(unsafe { Arc::from_raw(shared) });
            return Err(error);
        }
        let monitored = error_mode != raw::ERR_HANDLING_MODE_NONE;
        #[expect(
            clippy::arc_with_non_send_sync,
            reason = "threads that share an endpoint share it"
        )]
        let connection = Arc::new(Connection::new(handle, failure, monitored));
        self.knows(&connection);
        Ok(Endpoint {
            worker: self.clone(),
            process: address.process(),
            context: address.context(),
            peer: address.worker(),
            connection,
        })
    }

    /// Whether a connection can be closed by force, which completes all operations on it. With its new protocols, UCX 1.13
    /// cannot cancel a receive that has begun, and ends the program instead.
    pub(crate) fn can_cut(&self, connection: &Connection) -> bool {
        connection.is_monitored() && !self.context().has_new_protocols()
    }

    /// Whether UCX may keep what a receive borrows, although no connection has failed: the message may come from a peer to
    /// which this worker has no connection, or one that cannot be closed by force.
    pub(crate) fn may_keep(&self) -> bool {
        let all = self.connections();
        let ends = |it: &Connection| it.failure().is_some() || self.can_cut(it);
        all.is_empty() || !all.iter().all(|connection| ends(connection))
    }

    /// Closes a connection by force, if that [is possible](Self::can_cut) and it is open. If UCX needs more than the time
    /// given, the worker goes on.
    pub(crate) fn cut(&self, connection: &Connection, timeout: Option<Duration>) {
        let (mask, flags) = (raw::OP_ATTR_FIELD_FLAGS, raw::EP_CLOSE_FLAG_FORCE);
        let params = raw::RequestParams { mask, flags, ..operation::PLAIN };
        // Other threads use the handle only while they keep this one from being here, and look whether it is closed.
        let alone = self.alone();
        if !connection.close() {
            return;
        }
        // SAFETY: the endpoint is alive, and not used after this. There is no callback.
        let started = unsafe { raw::ucp_ep_close_nbx(connection.handle(), &raw const params) };
        drop(alone);
        // A reply has no way back any more.
        self.service().give_up(connection.traffic());
        // SAFETY: the request was just started.
        let closed = unsafe { self.finish(started, timeout) } == Some(RawStatus::OK);
        self.take_share(connection, closed);
    }

    /// Drops UCX's reference to the connection's failure.
    fn take_share(&self, connection: &Connection, closed: bool) {
        // SAFETY: UCX's share (`connect_with`), which is taken once, by the thread that closed the connection. If the endpoint
        // is closed, the error handler is not called any more; otherwise it is kept until the worker is destroyed, and the
        // endpoint with it.
        let share = unsafe { Arc::from_raw(Arc::as_ptr(connection.shared_failure())) };
        if closed {
            drop(share);
        } else {
            self.leave(share);
        }
    }

    /// Waits until an operation has completed, and returns its status; `None` after the time limit.
    ///
    /// # Safety
    ///
    /// The operation was just started on this worker, without a callback.
    unsafe fn finish(
        &self,
        started: raw::StatusPointer,
        timeout: Option<Duration>,
    ) -> Option<RawStatus> {
        operation::wake();
        match Started::decode(started) {
            Started::Completed(status) => Some(status),
            Started::Pending(request) => {
                let status = self.wait_for(timeout, || {
                    // SAFETY: the request is freed below.
                    let status = unsafe { raw::ucp_request_check_status(request) };
                    (status != raw::IN_PROGRESS).then_some(status)
                });
                // SAFETY: it is not used again; UCX frees it when it completes, if it has not.
                unsafe { raw::ucp_request_free(request) };
                status
            }
        }
    }
}

impl<M: ThreadMode> Endpoint<M> {
    /// The worker that the endpoint belongs to.
    pub fn worker(&self) -> &Worker<M> {
        &self.worker
    }

    /// The handle, for a call of UCX; if the connection was closed since, the status with which it failed.
    pub(crate) fn open(&self) -> Result<Open<'_>, RawStatus> {
        let completing = self.worker.completing();
        if self.connection.is_closed() {
            return Err(self.connection.failure().unwrap_or(raw::ERR_CANCELED));
        }
        Ok(Open { handle: self.connection.handle(), _completing: completing })
    }

    pub(crate) fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// The process of the peer's worker.
    pub(crate) fn process(&self) -> u64 {
        self.process
    }

    /// The number of the context of the peer's worker.
    pub(crate) fn context(&self) -> u64 {
        self.context
    }

    /// The number of the peer's worker.
    pub(crate) fn peer(&self) -> u64 {
        self.peer
    }

    pub(crate) fn traffic(&self) -> &Arc<PackedTransfers> {
        self.connection.traffic()
    }

    /// Why the connection has failed, if it has.
    pub fn failure(&self) -> Option<Error> {
        self.connection.failure().map(lost)
    }

    /// The result of a send on this endpoint. If the connection has failed, the reason is the error.
    pub(crate) fn sent(&self, call: &'static str, status: RawStatus) -> Result<(), Error> {
        self.connection.sent(call, status)
    }

    /// Waits until everything that was sent on this endpoint has been delivered to the peer's worker, and everything that was
    /// put is in its memory.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the peer's worker [has refused](crate::Worker::serve) a put since the last flush;
    /// [`Error::ConnectionLost`], [`Error::Cancelled`], [`Error::Call`].
    #[doc(alias = "ucp_ep_flush_nbx")]
    pub fn flush(&self) -> Result<(), Error> {
        self.worker.wait(|| {
            self.worker.resume_panic();
            self.is_settled().then_some(())
        });
        // SAFETY: the endpoint is alive while it is open.
        let status = unsafe {
            self.worker.flushed(|params| match self.open() {
                Ok(open) => raw::ucp_ep_flush_nbx(open.handle, params),
                Err(status) => raw::status_pointer(status),
            })
        };
        self.settled()?;
        self.sent("ucp_ep_flush_nbx", status)
    }

    /// Whether the peer's worker has replied to all puts, or the connection has failed.
    fn is_settled(&self) -> bool {
        self.traffic().puts() == 0 || self.failure().is_some()
    }

    /// The result of the puts that the peer's worker completes.
    fn settled(&self) -> Result<(), Error> {
        let service = self.worker.service();
        let refused = service.take_refused(Some(self.traffic()));
        if let Some(failure) = self.failure()
            && service.give_up(self.traffic())
        {
            return Err(failure);
        }
        refused.map_or(Ok(()), Err)
    }

    /// Closes the connection after everything that was sent is delivered.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if a put since the last flush was refused; [`Error::ConnectionLost`], [`Error::Cancelled`],
    /// [`Error::Call`]. The endpoint is closed even then.
    #[doc(alias = "ucp_ep_close_nbx")]
    pub fn close(self) -> Result<(), Error> {
        let closed = self.close_within(None);
        self.worker.resume_panic();
        closed
    }

    /// Closes the connection. If not everything is delivered in time, the worker goes on, or the rest is lost if the connection
    /// is closed by force.
    ///
    /// UCX 1.13 does not keep track of what still refers to an endpoint. After an ordinary close, it would use freed memory for
    /// a message that has been announced and is not received, and on a monitored connection end the program if a long message
    /// is not received. So an endpoint is left to the worker, which closes it when it is destroyed, or, on a monitored
    /// connection, closed by force, which cancels what refers to it. With its new protocols, UCX 1.13 cannot cancel a receive
    /// that has begun: a close by force ends the program. Such an endpoint is left to the worker, too.
    fn close_within(&self, timeout: Option<Duration>) -> Result<(), Error> {
        if self.connection.is_closed() {
            return self.failure().map_or(Ok(()), Err);
        }
        let start = Instant::now();
        self.worker.wait_for(timeout, || self.is_settled().then_some(()));
        let left = || timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
        let failure = self.failure();
        let settled = self.settled();
        let flushed = match self.open() {
            Ok(open) if failure.is_none() => {
                // SAFETY: the endpoint is alive. There is no callback.
                let started = unsafe { raw::ucp_ep_flush_nbx(open.handle, &operation::PLAIN) };
                drop(open);
                // SAFETY: the request was just started.
                unsafe { self.worker.finish(started, left()) }
            }
            // There is no peer to deliver anything to.
            _ => Some(RawStatus::OK),
        };
        if self.worker.can_cut(&self.connection) {
            self.worker.cut(&self.connection, left());
        } else if self.connection.close() {
            self.worker.take_share(&self.connection, false);
        }
        if let Some(error) = failure {
            return Err(error);
        }
        settled?;
        self.sent("ucp_ep_flush_nbx", flushed.unwrap_or(RawStatus::OK))
    }
}

impl<M: ThreadMode> Drop for Endpoint<M> {
    fn drop(&mut self) {
        // A program that wants to know calls `close`.
        let _ = self.close_within(Some(CLOSING));
    }
}

impl<M: ThreadMode> fmt::Debug for Endpoint<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("failure", &self.failure()).finish_non_exhaustive()
    }
}

//! Endpoints: connections to workers of other processes, or of this one.

use std::fmt;
use std::ptr;
use std::sync::{Arc, PoisonError, RwLockReadGuard};
use std::time::{Duration, Instant};

use crate::address::WorkerAddress;
use crate::connection::Connection;
use crate::error::{Error, check, failed, lost};
use crate::link::{self, Link};
use crate::mode::ThreadMode;
use crate::operation;
use crate::process;
use crate::raw::{self, RawStatus, Started};
use crate::service::PackedTransfers;
use crate::worker::Worker;

/// How long dropping an endpoint waits for the delivery of messages.
const CLOSING: Duration = Duration::from_secs(1);

/// A connection to a worker (`ucp_ep_h`).
///
/// Dropping an endpoint closes the connection once everything sent on it is delivered, but after at most one second.
/// [`close`](Self::close) has no such limit, and returns errors. A long message that the peer has not begun to receive by then
/// can still be received while the worker lives; on a [monitored](Worker::connect_monitored) connection it is cancelled, unless
/// UCX uses its new protocols. UCX does not tell the peer that an announced message was cancelled: a function that receives it
/// there blocks until the peer's own connection is closed or lost, or forever ([`Worker::recv_timeout`] gives up). For a
/// connection whose messages cannot be cancelled, UCX keeps some memory until the worker is destroyed.
#[doc(alias = "ucp_ep_h")]
pub struct Endpoint<M: ThreadMode> {
    worker: Worker<M>,
    /// The peer's process, its context there, and its worker.
    process: u64,
    context: u64,
    peer: u64,
    connection: Arc<Connection>,
}

/// The handle of an endpoint. While this lives, no other thread closes the endpoint.
pub(crate) struct Open<'a> {
    pub(crate) handle: raw::Endpoint,
    _completing: Option<RwLockReadGuard<'a, ()>>,
}

// SAFETY: UCX has locks in such a worker and its endpoints, so that any thread may use them at any time.
unsafe impl Send for Endpoint<crate::Multi> {}
// SAFETY: as above.
unsafe impl Sync for Endpoint<crate::Multi> {}

impl<M: ThreadMode> Worker<M> {
    /// Connects to a worker.
    ///
    /// UCX makes the connection when it is first used, so an unreachable address may be noticed only later. With this
    /// connection, UCX may fail to notice that the peer has died: functions without a time limit then block forever. A
    /// [scope](Self::scope) cannot take back a long message that the peer does not receive, and ends the process after its time
    /// limit. For peers that may fail, use [`connect_monitored`](Self::connect_monitored).
    ///
    /// # Errors
    ///
    /// [`Error::ConnectionLost`] if the address is unreachable; [`Error::Call`].
    #[doc(alias = "ucp_ep_create")]
    pub fn connect(&self, address: &WorkerAddress) -> Result<Endpoint<M>, Error> {
        self.connect_with(address, raw::ERR_HANDLING_MODE_NONE)
    }

    /// Connects to a worker, over transports that notice when the peer dies: what is sent to it, or received from it,
    /// then completes with [`Error::ConnectionLost`]. Both sides must connect in this way.
    ///
    /// Over shared memory, UCX 1.13 notices it only with the setting `MM_ERROR_HANDLING=y`. UCX may not notice that a peer has
    /// closed its worker while its process lives on: once the buffers are full, a send blocks. For a request, set a [time
    /// limit](crate::Sending::wait_timeout).
    ///
    /// # The new protocols
    ///
    /// With its new protocols (`PROTO_ENABLE=y`, the default from UCX 1.16 on), UCX 1.13 cannot cancel a message: it ends the
    /// program when a message of any length is sent to a peer that has died, and when a peer dies while a long message from it
    /// is being received. Puts and gets complete with an error, except those that a [worker serves](Self::serve), which are
    /// messages. If peers may die, use the setting `PROTO_ENABLE=n`. Closing the connection is safe with both protocols: with
    /// the new ones, it cancels nothing.
    ///
    /// # Errors
    ///
    /// [`Error::ConnectionLost`] if the address is unreachable over such a transport; [`Error::Call`].
    #[doc(alias = "UCP_ERR_HANDLING_MODE_PEER")]
    pub fn connect_monitored(&self, address: &WorkerAddress) -> Result<Endpoint<M>, Error> {
        self.connect_with(address, raw::ERR_HANDLING_MODE_PEER)
    }

    fn connect_with(&self, address: &WorkerAddress, error_mode: u32) -> Result<Endpoint<M>, Error> {
        // Over shared memory, UCX opens a worker's memory by a number. Once the worker is gone, that number may name any other
        // file of this process.
        let workers = process::WORKERS.read().unwrap_or_else(PoisonError::into_inner);
        if address.process() == process::id() && !workers.contains(&address.worker()) {
            return Err(failed("ucp_ep_create", raw::ERR_UNREACHABLE));
        }
        let link = Arc::new(Link::new());
        let shared = Arc::into_raw(link.clone());
        let params = raw::EndpointParams {
            field_mask: raw::EP_PARAM_FIELD_REMOTE_ADDRESS
                | raw::EP_PARAM_FIELD_ERR_HANDLING_MODE
                | raw::EP_PARAM_FIELD_ERR_HANDLER,
            address: address.for_ucx().as_ptr().cast(),
            error_mode,
            error_handler: raw::ErrorHandler {
                callback: Some(link::on_failure),
                argument: shared.cast_mut().cast(),
            },
        };
        let mut handle = ptr::null_mut();
        // SAFETY: the worker is alive, and UCX made the address (`WorkerAddress`). If it is an address of this process, its
        // worker is alive, too.
        let status =
            unsafe { raw::ucp_ep_create(self.handle(), &raw const params, &raw mut handle) };
        drop(workers);
        if let Err(error) = check("ucp_ep_create", status) {
            // SAFETY: the share of `into_raw`. UCX has made no endpoint, so nothing uses the share.
            drop(unsafe { Arc::from_raw(shared) });
            return Err(error);
        }
        let monitored = error_mode != raw::ERR_HANDLING_MODE_NONE;
        #[expect(
            clippy::arc_with_non_send_sync,
            reason = "threads that share an endpoint share it"
        )]
        let connection = Arc::new(Connection::new(handle, link, monitored));
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
    /// cannot cancel a receive that has begun, and would end the program.
    pub(crate) fn can_cut(&self, connection: &Connection) -> bool {
        connection.is_monitored() && !self.context().has_new_protocols()
    }

    /// Whether UCX may keep memory that a receive borrows even if no connection has failed: the message may come from a peer to
    /// which this worker has no connection, or one that cannot be closed by force.
    pub(crate) fn may_keep(&self) -> bool {
        let all = self.connections();
        let ends = |it: &Connection| it.link().failure().is_some() || self.can_cut(it);
        all.is_empty() || !all.iter().all(|connection| ends(connection))
    }

    /// Closes a connection by force, if that [is possible](Self::can_cut) and it is open. If UCX does not finish within
    /// `timeout`, the worker closes the connection later.
    pub(crate) fn cut(&self, connection: &Connection, timeout: Option<Duration>) {
        let (mask, flags) = (raw::OP_ATTR_FIELD_FLAGS, raw::EP_CLOSE_FLAG_FORCE);
        let params = raw::RequestParams { mask, flags, ..operation::PLAIN };
        // Other threads use the handle only while they keep this thread from being here, and only if it is not closed.
        let alone = self.alone();
        if !connection.link().close() {
            return;
        }
        // SAFETY: the endpoint is alive, and is not used after this. There is no callback.
        let started = unsafe { raw::ucp_ep_close_nbx(connection.handle(), &raw const params) };
        drop(alone);
        // Replies can no longer arrive.
        self.service().give_up(connection.traffic());
        // SAFETY: the request was just started.
        let closed = unsafe { self.finish(started, timeout) } == Some(RawStatus::OK);
        self.take_share(connection, closed);
    }

    /// Drops UCX's share of the connection's link.
    fn take_share(&self, connection: &Connection, closed: bool) {
        // SAFETY: UCX's share (`connect_with`). It is taken once, by the thread that closed the connection. If the endpoint is
        // closed, UCX no longer calls the error handler; otherwise the share is kept until the worker is destroyed, and the
        // endpoint with it.
        let share = unsafe { Arc::from_raw(Arc::as_ptr(connection.link())) };
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
                // SAFETY: the request is not used again; if it has not completed, UCX frees it when it does.
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

    /// The handle, for a call of UCX. If the connection has been closed, the status with which it failed.
    pub(crate) fn open(&self) -> Result<Open<'_>, RawStatus> {
        let completing = self.worker.completing();
        if self.connection.link().is_closed() {
            return Err(self.connection.link().failure().unwrap_or(raw::ERR_CANCELED));
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
        self.connection.link().failure().map(lost)
    }

    /// The result of an operation on this endpoint.
    pub(crate) fn sent(&self, call: &'static str, status: RawStatus) -> Result<(), Error> {
        self.connection.link().result(call, status)
    }

    /// Waits until the peer's worker has everything that was sent on this endpoint, and its memory has everything that was put.
    /// A long message that a request is still sending may be delivered later, so wait for the request, too.
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

    /// Closes the connection. If not everything is delivered in time, the worker delivers the rest later; if the connection is
    /// closed by force, the rest is lost.
    ///
    /// UCX 1.13 does not keep track of what still refers to an endpoint. After an ordinary close, it would use freed memory for
    /// a message that is announced but not received; on a monitored connection, a long message that is not received would end
    /// the program. So an endpoint is left to the worker, which closes it when the worker is destroyed. On a monitored
    /// connection, it is closed by force, which cancels whatever refers to it. With its new protocols, UCX 1.13 cannot cancel a
    /// receive that has begun: a close by force ends the program. Such an endpoint is left to the worker, too.
    fn close_within(&self, timeout: Option<Duration>) -> Result<(), Error> {
        if self.connection.link().is_closed() {
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
            // There is no peer left to deliver to.
            _ => Some(RawStatus::OK),
        };
        if self.worker.can_cut(&self.connection) {
            self.worker.cut(&self.connection, left());
        } else if self.connection.link().close() {
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
        // Programs that need the errors call `close`.
        let _ = self.close_within(Some(CLOSING));
    }
}

impl<M: ThreadMode> fmt::Debug for Endpoint<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("failure", &self.failure()).finish_non_exhaustive()
    }
}

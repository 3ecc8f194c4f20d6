//! State that an endpoint shares with its worker and with the messages sent on it.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI8, Ordering};

use crate::error::{Error, check, lost};
use crate::raw::{self, RawStatus};
use crate::service::PackedTransfers;

/// A connection that UCX has made. Its endpoint may be dropped before a message that was sent on it completes.
pub(crate) struct Connection {
    handle: raw::Endpoint,
    /// The status with which the connection failed, set by UCX. It is shared with UCX until the connection is closed.
    failure: Arc<AtomicI8>,
    /// The puts that the peer's worker completes.
    traffic: Arc<PackedTransfers>,
    /// Whether UCX notices that the peer is gone.
    monitored: bool,
    /// Whether the handle must not be used any more.
    closed: AtomicBool,
}

impl Connection {
    /// A connection whose failure UCX reports to [`failed`], with the failure as the argument.
    pub(crate) fn new(handle: raw::Endpoint, failure: Arc<AtomicI8>, monitored: bool) -> Self {
        let traffic = Arc::new(PackedTransfers::new(failure.clone()));
        Self { handle, failure, traffic, monitored, closed: AtomicBool::new(false) }
    }

    /// The handle. While nothing keeps other threads from closing the connection, it may be closed.
    pub(crate) fn handle(&self) -> raw::Endpoint {
        self.handle
    }

    pub(crate) fn shared_failure(&self) -> &Arc<AtomicI8> {
        &self.failure
    }

    pub(crate) fn traffic(&self) -> &Arc<PackedTransfers> {
        &self.traffic
    }

    pub(crate) fn is_monitored(&self) -> bool {
        self.monitored
    }

    /// Why the connection has failed, if it has.
    pub(crate) fn failure(&self) -> Option<RawStatus> {
        let status = RawStatus(self.failure.load(Ordering::Acquire));
        (status != RawStatus::OK).then_some(status)
    }

    /// The result of a send. If it was cancelled because the connection has failed, the reason is the error.
    pub(crate) fn sent(&self, call: &'static str, status: RawStatus) -> Result<(), Error> {
        check(call, status).map_err(|error| match error {
            Error::Cancelled => self.failure().map_or(error, lost),
            error => error,
        })
    }

    /// Records a failure of the connection, unless it has failed already.
    pub(crate) fn fail(&self, status: RawStatus) {
        let (ok, order) = (RawStatus::OK.0, Ordering::AcqRel);
        let _ = self.failure.compare_exchange(ok, status.0, order, Ordering::Relaxed);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// From here on, only the caller uses the handle. Returns whether the connection was open.
    pub(crate) fn close(&self) -> bool {
        !self.closed.swap(true, Ordering::AcqRel)
    }
}

/// UCX's error handler. Its argument is the status of a [`Connection`].
pub(crate) unsafe extern "C" fn failed(failure: *mut c_void, _: raw::Endpoint, status: RawStatus) {
    // SAFETY: UCX's share of the status is kept until the connection is closed.
    let failure = unsafe { &*failure.cast::<AtomicI8>() };
    failure.store(status.0, Ordering::Release);
}

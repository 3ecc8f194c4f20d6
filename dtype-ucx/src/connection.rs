//! State that an endpoint shares with its worker and with messages sent on the endpoint.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI8, Ordering};

use crate::error::{Error, check, lost};
use crate::raw::{self, RawStatus};
use crate::service::PackedTransfers;

/// A connection that UCX has made. Its endpoint may be dropped before a message that was sent on it completes.
pub(crate) struct Connection {
    handle: raw::Endpoint,
    /// The status with which the connection failed, set by UCX. UCX shares it until the connection is closed.
    failure: Arc<AtomicI8>,
    /// Puts that the peer's worker completes.
    traffic: Arc<PackedTransfers>,
    /// Whether UCX detects that the peer is gone.
    monitored: bool,
    /// Whether the handle must no longer be used.
    closed: AtomicBool,
}

impl Connection {
    /// A connection. UCX reports its failure by calling [`failed`] with the failure as the argument.
    pub(crate) fn new(handle: raw::Endpoint, failure: Arc<AtomicI8>, monitored: bool) -> Self {
        let traffic = Arc::new(PackedTransfers::new(failure.clone()));
        Self { handle, failure, traffic, monitored, closed: AtomicBool::new(false) }
    }

    /// The handle. The connection may be closed at any time, unless something keeps other threads from closing it.
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

    /// The result of a send. If the send was cancelled because the connection had failed, the error is why it failed.
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

    /// Claims the handle: from here on, only the caller may use it. Returns whether the connection was open.
    pub(crate) fn close(&self) -> bool {
        !self.closed.swap(true, Ordering::AcqRel)
    }
}

/// UCX's error handler. Its argument is the status of a [`Connection`].
pub(crate) unsafe extern "C" fn failed(failure: *mut c_void, _: raw::Endpoint, status: RawStatus) {
    // SAFETY: UCX's share keeps the status alive until the connection is closed.
    let failure = unsafe { &*failure.cast::<AtomicI8>() };
    failure.store(status.0, Ordering::Release);
}

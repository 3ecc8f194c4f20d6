//! What an endpoint, the operations on it and UCX share: whether the connection is open, and why it has failed.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicI8, Ordering};

use crate::error::{Error, Status, failed};
use crate::raw::{self, RawStatus};

/// The state of a connection. UCX shares it until the connection is closed.
pub(crate) struct Link {
    /// The status with which the connection has failed, or `OK`.
    failure: AtomicI8,
    /// Whether the handle of the endpoint must no longer be used.
    closed: AtomicBool,
}

impl Link {
    pub(crate) fn new() -> Self {
        Self { failure: AtomicI8::new(RawStatus::OK.0), closed: AtomicBool::new(false) }
    }

    /// Why the connection has failed, if it has.
    pub(crate) fn failure(&self) -> Option<RawStatus> {
        let status = RawStatus(self.failure.load(Ordering::Acquire));
        (status != RawStatus::OK).then_some(status)
    }

    /// Records a failure of the connection, unless it has failed already.
    pub(crate) fn fail(&self, status: RawStatus) {
        let (ok, order) = (RawStatus::OK.0, Ordering::AcqRel);
        let _ = self.failure.compare_exchange(ok, status.0, order, Ordering::Relaxed);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Claims the endpoint's handle: from here on, only the caller may use it. Returns whether the connection was open.
    pub(crate) fn close(&self) -> bool {
        !self.closed.swap(true, Ordering::AcqRel)
    }

    /// The result of an operation on the connection.
    pub(crate) fn result(&self, call: &'static str, status: RawStatus) -> Result<(), Error> {
        if status == RawStatus::OK { Ok(()) } else { Err(self.error(call, status)) }
    }

    /// The error of an operation on the connection that UCX has completed with this status.
    ///
    /// UCX also cancels an operation when it closes a connection that has failed, and when it is about to report that the
    /// connection has failed. Only if this crate has closed a connection that works was the operation really cancelled.
    pub(crate) fn error(&self, call: &'static str, status: RawStatus) -> Error {
        match (failed(call, status), self.failure()) {
            (Error::Cancelled, Some(failure)) => {
                Error::ConnectionLost { call, status: Status::new(failure) }
            }
            (Error::Cancelled, None) if !self.is_closed() => {
                Error::ConnectionLost { call, status: Status::new(status) }
            }
            (error, _) => error,
        }
    }
}

/// UCX's error handler. Its argument is a [`Link`].
pub(crate) unsafe extern "C" fn on_failure(link: *mut c_void, _: raw::Endpoint, status: RawStatus) {
    // SAFETY: UCX's share keeps the link alive until the connection is closed.
    unsafe { &*link.cast::<Link>() }.fail(status);
}

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
    /// UCX may cancel an operation just before it reports that the connection has failed. So only if this crate has closed the
    /// connection is an operation really cancelled. If a shared memory segment cannot be attached, the peer is gone.
    pub(crate) fn error(&self, call: &'static str, status: RawStatus) -> Error {
        match self.lost(call, status) {
            Some(lost) => lost,
            None if status == raw::ERR_CANCELED && !self.is_closed()
                || status == raw::ERR_SHMEM_SEGMENT =>
            {
                Error::ConnectionLost { call, status: Status::new(status) }
            }
            None => failed(call, status),
        }
    }

    /// The error, if UCX has completed an operation with this status because the connection has failed: with the status of the
    /// failure, or cancelled.
    pub(crate) fn lost(&self, call: &'static str, status: RawStatus) -> Option<Error> {
        let failure = self.failure().filter(|&it| status == it || status == raw::ERR_CANCELED)?;
        Some(Error::ConnectionLost { call, status: Status::new(failure) })
    }
}

/// UCX's error handler. Its argument is a [`Link`].
pub(crate) unsafe extern "C" fn on_failure(link: *mut c_void, _: raw::Endpoint, status: RawStatus) {
    // SAFETY: UCX's share keeps the link alive until the connection is closed.
    unsafe { &*link.cast::<Link>() }.fail(status);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_close_of_a_working_connection_cancels() {
        let lost = |error| matches!(error, Error::ConnectionLost { call: "a call", .. });
        let link = Link::new();
        let error = |status| link.error("a call", status);
        assert!(lost(error(raw::ERR_CANCELED)) && lost(error(raw::ERR_SHMEM_SEGMENT)));
        assert!(matches!(error(raw::ERR_BUSY), Error::Call { .. }));
        assert!(link.close() && !link.close());
        assert_eq!(error(raw::ERR_CANCELED), Error::Cancelled);
        link.fail(raw::ERR_BUSY);
        link.fail(raw::ERR_UNREACHABLE);
        assert_eq!(link.failure(), Some(raw::ERR_BUSY));
        assert!(lost(error(raw::ERR_CANCELED)) && lost(error(raw::ERR_BUSY)));
    }
}

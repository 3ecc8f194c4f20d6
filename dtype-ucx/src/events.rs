//! Sleeping until the worker can make progress.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use crate::error::{Error, check};
use crate::mode::ThreadMode;
use crate::raw;
use crate::worker::Worker;

/// A worker's file descriptor, which becomes readable when the worker can make [`progress`](Worker::progress).
///
/// It is usable with `poll`, `epoll`, or tokio's `AsyncFd`:
///
/// ```
/// use std::os::fd::AsFd;
/// use dtype_ucx::{Context, Error, Multi};
/// # let settings = [("TLS", "sm,tcp")];
/// let worker = Context::with_events(settings)?.worker::<Multi>()?;
/// let events = worker.events()?;
/// // Before sleeping on the descriptor:
/// while worker.progress() || !events.arm()? {}
/// let _descriptor = events.as_fd();
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct Events<M: ThreadMode> {
    worker: Worker<M>,
    /// UCX owns the descriptor.
    descriptor: RawFd,
}

impl<M: ThreadMode> Worker<M> {
    /// The worker's events.
    ///
    /// # Errors
    ///
    /// [`Error::NoEvents`] if the context was not made by [`with_events`](crate::Context::with_events); [`Error::Call`].
    #[doc(alias = "ucp_worker_get_efd")]
    pub fn events(&self) -> Result<Events<M>, Error> {
        if !self.context().has_events() {
            return Err(Error::NoEvents);
        }
        let mut descriptor = -1;
        // SAFETY: the worker is alive, and the context was made with the feature for events.
        let status = unsafe { raw::ucp_worker_get_efd(self.handle(), &raw mut descriptor) };
        check("ucp_worker_get_efd", status)?;
        Ok(Events { worker: self.clone(), descriptor })
    }
}

impl<M: ThreadMode> Events<M> {
    /// Requests an event: from now on, the descriptor becomes readable when the worker can make [`progress`](Worker::progress).
    /// Returns false if it already can: make progress, and call this again.
    ///
    /// # Errors
    ///
    /// [`Error::Call`].
    #[doc(alias = "ucp_worker_arm")]
    pub fn arm(&self) -> Result<bool, Error> {
        // UCX signals no event for messages that it has already delivered.
        if self.worker.handlers().are_due() {
            return Ok(false);
        }
        // SAFETY: the worker is alive, and the context was made with the feature for events.
        match unsafe { raw::ucp_worker_arm(self.worker.handle()) } {
            raw::ERR_BUSY => Ok(false),
            status => check("ucp_worker_arm", status).map(|()| true),
        }
    }
}

impl<M: ThreadMode> AsFd for Events<M> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the descriptor belongs to the worker, which is alive, and is closed when the worker is destroyed.
        unsafe { BorrowedFd::borrow_raw(self.descriptor) }
    }
}

impl<M: ThreadMode> AsRawFd for Events<M> {
    fn as_raw_fd(&self) -> RawFd {
        self.descriptor
    }
}

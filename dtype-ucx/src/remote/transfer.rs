//! Transfers bytes to and from the memory of a peer.
//!
//! A mapping of the memory is the fastest way: the engine copies from layout to layout. Otherwise each block of the layout is a
//! put or a get of UCX, which only takes contiguous bytes. All of these are started first, and then waited for together.

use std::cell::RefCell;
use std::ffi::c_void;
use std::panic;
use std::ptr;
use std::sync::atomic::{AtomicI8, AtomicUsize, Ordering};

use crate::endpoint::Endpoint;
use crate::error::{Error, failed};
use crate::handlers::Panic;
use crate::mode::ThreadMode;
use crate::operation;
use crate::raw::{self, RawStatus, Started};

/// How many puts and gets are in flight at a time. UCX keeps a request for each.
const WINDOW: usize = 1024;

/// The direction of the bytes.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Way {
    Put,
    Get,
}

impl Way {
    pub(crate) fn call(self) -> &'static str {
        match self {
            Self::Put => "ucp_put_nbx",
            Self::Get => "ucp_get_nbx",
        }
    }
}

/// State that the callbacks of all operations share.
struct Progress {
    pending: AtomicUsize,
    /// The status of the first operation that failed.
    status: AtomicI8,
}

impl Progress {
    fn pending(&self) -> usize {
        self.pending.load(Ordering::Acquire)
    }

    fn status(&self) -> RawStatus {
        RawStatus(self.status.load(Ordering::Relaxed))
    }

    /// Keeps the status if it is that of the first failure.
    fn failed(&self, status: RawStatus) {
        if status != RawStatus::OK {
            let (ok, relaxed) = (RawStatus::OK.0, Ordering::Relaxed);
            let _ = self.status.compare_exchange(ok, status.0, relaxed, relaxed);
        }
    }

    fn ended(&self, status: RawStatus) {
        self.failed(status);
        // The last access: after this, the progress may be freed.
        self.pending.fetch_sub(1, Ordering::Release);
    }
}

/// The callback of an operation, with the progress as its user data.
unsafe extern "C" fn ended(request: *mut c_void, status: RawStatus, progress: *mut c_void) {
    // SAFETY: the request has completed, nothing else frees it, and it is not used again.
    unsafe { raw::ucp_request_free(request) };
    // SAFETY: the progress lives until all operations have ended (`Waits`).
    unsafe { &*progress.cast::<Progress>() }.ended(status);
}

/// When dropped, waits until all operations have ended, so that nothing that they use is freed before.
struct Waits<'a, M: ThreadMode> {
    endpoint: &'a Endpoint<M>,
    progress: &'a Progress,
    /// The panic of a handler while this waited.
    panic: RefCell<Option<Panic>>,
}

impl<M: ThreadMode> Waits<'_, M> {
    /// Waits until at most `max` operations are in flight, or one has failed, or a handler has panicked.
    fn until(&self, max: usize) {
        let done = || self.progress.pending() <= max || self.has_failed();
        if !done() {
            self.endpoint.worker().wait(|| done().then_some(()));
        }
    }

    /// Whether an operation has failed, or a handler has panicked.
    fn has_failed(&self) -> bool {
        if self.panic.borrow().is_none() {
            *self.panic.borrow_mut() = self.endpoint.worker().take_panic();
        }
        self.progress.status() != RawStatus::OK || self.panic.borrow().is_some()
    }
}

impl<M: ThreadMode> Drop for Waits<'_, M> {
    fn drop(&mut self) {
        let (worker, done) = (self.endpoint.worker(), || self.progress.pending() == 0);
        // After an error, the peer of some operations may be gone.
        if !done() && worker.wait_for(Some(worker.time_limit()), || done().then_some(())).is_none()
        {
            let connection = [self.endpoint.connection().clone()];
            match self.progress.status() {
                RawStatus::OK => worker.take_back(&connection, &"the panic of a handler", done),
                status => worker.take_back(&connection, &failed("a put or a get", status), done),
            }
        }
    }
}

/// A piece of memory here, and its source or destination in the peer's memory.
pub(crate) struct Piece {
    pub(crate) here: *mut u8,
    pub(crate) len: usize,
    pub(crate) there: u64,
}

/// Starts a put or a get for each piece, and waits until all have completed. After that, the memory here may be used again.
///
/// # Safety
///
/// The key must belong to this endpoint. Each piece must be readable here for a put, and writable for a get, and nothing else
/// may access it meanwhile; it must lie in the memory that the key names.
pub(crate) unsafe fn pieces<M: ThreadMode>(
    way: Way,
    endpoint: &Endpoint<M>,
    key: raw::RemoteKey,
    pieces: impl Iterator<Item = Piece>,
) -> Result<(), Error> {
    let progress =
        Progress { pending: AtomicUsize::new(0), status: AtomicI8::new(RawStatus::OK.0) };
    let waits = Waits { endpoint, progress: &progress, panic: RefCell::default() };
    let params =
        operation::params(raw::DATATYPE_BYTES, ended, ptr::from_ref(&progress).cast::<c_void>());
    for Piece { here, len, there } in pieces.filter(|piece| piece.len > 0) {
        waits.until(WINDOW - 1);
        if waits.has_failed() {
            break;
        }
        let open = match endpoint.open() {
            Ok(open) => open,
            Err(status) => {
                progress.failed(status);
                break;
            }
        };
        progress.pending.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the endpoint is alive. The caller guarantees the rest until the operation has ended, and the guard waits for
        // that.
        let started = unsafe {
            let (endpoint, params) = (open.handle, &raw const params);
            match way {
                Way::Put => raw::ucp_put_nbx(endpoint, here.cast(), len, there, key, params),
                Way::Get => raw::ucp_get_nbx(endpoint, here.cast(), len, there, key, params),
            }
        };
        if let Started::Completed(status) = Started::decode(started) {
            progress.ended(status);
        }
    }
    operation::wake();
    waits.until(0);
    let panic = waits.panic.take();
    drop(waits);
    // UCX no longer uses what the caller has lent.
    if let Some(panic) = panic {
        panic::resume_unwind(panic);
    }
    endpoint.worker().resume_panic();
    endpoint.sent(way.call(), progress.status())
}

/// The pieces of two lists of blocks with equally many bytes: cut wherever a block of either list ends.
pub(crate) fn cut(
    here: impl Iterator<Item = (*mut u8, usize)>,
    there: impl Iterator<Item = (u64, u64)>,
) -> impl Iterator<Item = Piece> {
    let mut here = here.filter(|&(_, len)| len > 0);
    let mut there = there.filter(|&(_, len)| len > 0);
    let (mut mine, mut theirs) = (None, None);
    std::iter::from_fn(move || {
        let (at, room) = mine.take().or_else(|| here.next())?;
        let (to, wanted) = theirs.take().or_else(|| there.next())?;
        let len = usize::try_from(wanted).map_or(room, |wanted: usize| wanted.min(room));
        if len < room {
            mine = Some((at.wrapping_add(len), room - len));
        }
        if (len as u64) < wanted {
            theirs = Some((to + len as u64, wanted - len as u64));
        }
        Some(Piece { here: at, len, there: to })
    })
}

#[cfg(test)]
mod tests {
    use super::{Piece, cut};

    #[test]
    fn pieces_end_where_either_block_ends() {
        let mut memory = [0_u8; 20];
        let start = memory.as_mut_ptr();
        let here = [(0, 3), (5, 0), (5, 4), (12, 8)];
        let there = [(100, 1), (200, 7), (300, 0), (400, 7)];
        let found: Vec<_> =
            cut(here.into_iter().map(|(at, len)| (start.wrapping_add(at), len)), there.into_iter())
                .map(|Piece { here, len, there }| (here.addr() - start.addr(), len, there))
                .collect();
        assert_eq!(found, [(0, 1, 100), (1, 2, 200), (5, 4, 202), (12, 1, 206), (13, 7, 400)]);
    }
}

//! The state of a started operation, and the functions that UCX calls on completion.

use std::cell::{RefCell, UnsafeCell};
use std::ffi::c_void;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicI8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use crate::raw::{self, RawStatus, Started, TagInfo};
use crate::unfinished::Unfinished;

/// The result of a completed operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub(crate) status: RawStatus,
    /// The tag and length of the message, if the operation received one.
    pub(crate) tag: u64,
    pub(crate) length: usize,
}

impl Outcome {
    pub(crate) fn new(status: RawStatus, info: TagInfo) -> Self {
        Self { status, tag: info.sender_tag, length: info.length }
    }

    pub(crate) fn without_message(status: RawStatus) -> Self {
        Self { status, tag: 0, length: 0 }
    }
}

/// The place for an outcome, which a callback writes. The thread that reads the outcome sees everything that UCX wrote before.
pub(crate) struct Completion {
    status: AtomicI8,
    tag: AtomicU64,
    length: AtomicUsize,
}

impl Completion {
    pub(crate) fn new() -> Self {
        Self {
            status: AtomicI8::new(raw::IN_PROGRESS.0),
            tag: AtomicU64::new(0),
            length: AtomicUsize::new(0),
        }
    }

    /// The last access: after the store, the waiting thread may free the completion.
    fn complete(&self, outcome: Outcome) {
        self.tag.store(outcome.tag, Ordering::Relaxed);
        self.length.store(outcome.length, Ordering::Relaxed);
        self.status.store(outcome.status.0, Ordering::Release);
    }

    /// The outcome, once there is one.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        let status = RawStatus(self.status.load(Ordering::Acquire));
        (status != raw::IN_PROGRESS).then(|| Outcome {
            status,
            tag: self.tag.load(Ordering::Relaxed),
            length: self.length.load(Ordering::Relaxed),
        })
    }
}

/// Parameters of an operation that sends, or of one without data, with its callback. UCX calls it unless the operation
/// completes at once.
pub(crate) fn params(
    datatype: raw::Datatype,
    callback: raw::SendCallback,
    user_data: *const c_void,
) -> raw::RequestParams {
    raw::RequestParams {
        // The buffer may be the address of a message of this crate. Its memory, and the memory that the message names, belongs
        // to this process.
        mask: raw::OP_ATTR_FIELD_CALLBACK
            | raw::OP_ATTR_FIELD_USER_DATA
            | raw::OP_ATTR_FIELD_DATATYPE
            | raw::OP_ATTR_FIELD_MEMORY_TYPE,
        callback: raw::Callback { send: callback },
        datatype,
        user_data: user_data.cast_mut(),
        ..PLAIN
    }
}

/// Parameters of an operation without data and callback, whose status is polled.
pub(crate) const PLAIN: raw::RequestParams = raw::RequestParams {
    mask: 0,
    flags: 0,
    request: ptr::null_mut(),
    callback: raw::Callback { send: sent },
    datatype: 0,
    user_data: ptr::null_mut(),
    reply_buffer: ptr::null_mut(),
    memory_type: raw::MEMORY_TYPE_HOST,
};

/// Parameters of an operation that receives, with its callback. UCX also calls it if the operation completes at once, because
/// only a callback gets the message's length: UCX 1.13 does not write to the `recv_info` of the parameters.
pub(crate) fn receive_params(
    datatype: raw::Datatype,
    callback: raw::ReceiveCallback,
    user_data: *const c_void,
) -> raw::RequestParams {
    let sends = params(datatype, sent, user_data);
    raw::RequestParams {
        mask: sends.mask | raw::OP_ATTR_FLAG_NO_IMM_CMPL,
        callback: raw::Callback { receive: callback },
        ..sends
    }
}

/// Parameters of an operation that fetches an active message whose length is known, with its callback. UCX calls it unless
/// the operation completes at once.
pub(crate) fn fetch_params(
    datatype: raw::Datatype,
    callback: raw::FetchCallback,
    user_data: *const c_void,
) -> raw::RequestParams {
    raw::RequestParams {
        callback: raw::Callback { fetch: callback },
        ..params(datatype, sent, user_data)
    }
}

/// The callback of an operation whose user data are the address of a [`Completion`] that a thread waits for.
pub(crate) unsafe extern "C" fn sent(_: *mut c_void, status: RawStatus, completion: *mut c_void) {
    // SAFETY: the completion lives until its outcome is seen (`Worker::wait`), and the outcome is stored last.
    let completion = unsafe { &*completion.cast::<Completion>() };
    completion.complete(Outcome::without_message(status));
}

/// As [`sent`], for a receive.
pub(crate) unsafe extern "C" fn received(
    _: *mut c_void,
    status: RawStatus,
    info: *const TagInfo,
    completion: *mut c_void,
) {
    // SAFETY: as in `sent`; UCX passes information that is valid during the call.
    let (completion, info) = unsafe { (&*completion.cast::<Completion>(), *info) };
    completion.complete(Outcome::new(status, info));
}

/// As [`sent`], for an active message that is fetched.
pub(crate) unsafe extern "C" fn fetched(
    request: *mut c_void,
    status: RawStatus,
    _: usize,
    completion: *mut c_void,
) {
    // SAFETY: passed on to the caller.
    unsafe { sent(request, status, completion) };
}

thread_local! {
    /// Wakers of operations that have completed in this thread. A waker is user code, which may call UCX, so it is not called
    /// inside UCX.
    static TO_WAKE: RefCell<Vec<Waker>> = const { RefCell::new(Vec::new()) };
}

/// Wakes the tasks of completed operations. Called after every call of UCX that can complete one.
pub(crate) fn wake() {
    while let Ok(Some(waker)) = TO_WAKE.try_with(|all| all.borrow_mut().pop()) {
        // Nothing may unwind while UCX uses memory that the program has lent.
        if let Err(panicked) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
            mem::forget(panicked);
        }
    }
}

/// An operation that the program has started, and that UCX completes later. Both own it: UCX through the user data of the
/// request, until it calls the callback. So the data live until UCX no longer uses them, whatever happens to the request.
///
/// If the callback is never called, because no thread makes progress, UCX's share is leaked, together with the data and the
/// worker.
pub(crate) struct Operation<D> {
    completion: Completion,
    /// The worker's unfinished operations. This operation counts until it completes.
    unfinished: Unfinished,
    waker: Mutex<Option<Waker>>,
    /// Data that only UCX may access until the operation has completed.
    data: UnsafeCell<D>,
}

// SAFETY: any thread may call the callback, which may drop the data. Before the operation has completed, only UCX uses the
// data; after that, only one owner of the request does (`data_of_completed`).
unsafe impl<D: Send> Send for Operation<D> {}
// SAFETY: as above.
unsafe impl<D: Send> Sync for Operation<D> {}

impl<D> Operation<D> {
    /// Starts an operation of a worker. `start` gets the data at their final address, and the user data for UCX.
    ///
    /// # Safety
    ///
    /// `start` must pass the user data to at most one operation, with a callback of this type, and must return what that
    /// operation returned. The operation must belong to the worker that `unfinished` belongs to.
    pub(crate) unsafe fn start(
        unfinished: &Unfinished,
        data: D,
        start: impl FnOnce(*mut D, *const c_void) -> raw::StatusPointer,
    ) -> (Arc<Self>, Option<*mut c_void>) {
        unfinished.begin();
        let operation = Arc::new(Self {
            completion: Completion::new(),
            unfinished: unfinished.clone(),
            waker: Mutex::new(None),
            data: UnsafeCell::new(data),
        });
        let share = Arc::into_raw(operation.clone());
        let started = Started::decode(start(operation.data.get(), share.cast()));
        wake();
        match started {
            Started::Pending(request) => (operation, Some(request)),
            Started::Completed(status) => {
                // SAFETY: the share of `into_raw`. UCX reported immediate completion, so no callback will consume this share.
                drop(unsafe { Arc::from_raw(share) });
                operation.complete(Outcome::without_message(status));
                (operation, None)
            }
        }
    }

    /// The outcome, once there is one.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.completion.outcome()
    }

    /// Sets the waker to call after the operation has completed.
    pub(crate) fn set_waker(&self, waker: &Waker) {
        // Cloned without the lock, because a waker is user code, which may make progress.
        let waker = waker.clone();
        let before = self.lock().replace(waker);
        drop(before);
        // A callback in another thread has either missed this waker, or takes it. The waker must not stay in UCX's share,
        // because that share may be the last one, and is dropped inside UCX.
        if self.outcome().is_some() {
            let late = self.lock().take();
            drop(late);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Waker>> {
        self.waker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The data.
    ///
    /// # Safety
    ///
    /// The operation must have completed, and nothing else may use the data.
    #[expect(clippy::mut_from_ref, reason = "the caller guarantees that it is the only reference")]
    pub(crate) unsafe fn data_of_completed(&self) -> &mut D {
        // SAFETY: UCX no longer uses the data, and the caller guarantees the rest.
        unsafe { &mut *self.data.get() }
    }

    fn complete(&self, outcome: Outcome) {
        // Now, because a thread that sees the outcome may drop the worker.
        self.unfinished.end();
        self.completion.complete(outcome);
        let mut waker = self.lock().take();
        if waker.is_some() {
            let _ = TO_WAKE.try_with(|all| all.borrow_mut().extend(waker.take()));
            // This thread is ending, so it polls nothing any more. The waker must not be dropped either, because this is inside
            // UCX.
            mem::forget(waker);
        }
    }

    /// The callback of an operation that sends.
    pub(crate) unsafe extern "C" fn sent(_: *mut c_void, status: RawStatus, share: *mut c_void) {
        // SAFETY: the share of `start`, which UCX passes once.
        let operation = unsafe { Arc::from_raw(share.cast::<Self>()) };
        operation.complete(Outcome::without_message(status));
    }

    /// The callback of an operation that receives.
    pub(crate) unsafe extern "C" fn received(
        _: *mut c_void,
        status: RawStatus,
        info: *const TagInfo,
        share: *mut c_void,
    ) {
        // SAFETY: as in `sent`; UCX passes information that is valid during the call.
        let (operation, info) = unsafe { (Arc::from_raw(share.cast::<Self>()), *info) };
        operation.complete(Outcome::new(status, info));
    }

    /// The callback of an operation that fetches an active message.
    pub(crate) unsafe extern "C" fn fetched(
        request: *mut c_void,
        status: RawStatus,
        _: usize,
        share: *mut c_void,
    ) {
        // SAFETY: passed on to the caller.
        unsafe { Self::sent(request, status, share) };
    }
}

#[cfg(test)]
mod tests;

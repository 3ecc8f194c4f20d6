//! Active messages that UCX has delivered and whose handler has not been called.
//!
//! UCX delivers a message inside a call, during which no other call of UCX is allowed. So the callback only keeps the message;
//! the handler, which is user code, is called afterwards.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::mem;
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::fragments::Discarded;
use crate::header::Header;
use crate::operation::{self, Operation};
use crate::raw::{self, ActiveParams, RawStatus};
use crate::unfinished::Unfinished;

/// The messages of a worker for which no handler was called yet.
pub(crate) struct Inbox {
    worker: raw::Worker,
    /// How to discard messages, if other threads may use the worker.
    discard: Option<Discard>,
    messages: Mutex<VecDeque<Delivered>>,
    /// The number of messages, readable without the lock.
    count: AtomicUsize,
}

/// How to discard an announced message: fetch it without memory for it. Releasing it is not safe, because UCX 1.13 does not
/// take the worker's lock while it tells the sender of a release.
#[derive(Clone)]
pub(crate) struct Discard {
    /// The datatype for such messages.
    pub(crate) datatype: raw::Datatype,
    /// The operations of the worker.
    pub(crate) unfinished: Unfinished,
}

/// A message that UCX has delivered.
pub(crate) struct Delivered {
    pub(crate) id: u8,
    pub(crate) header: Header,
    pub(crate) payload: Payload,
    /// Bytes of the payload.
    pub(crate) length: usize,
}

/// Where the bytes of a message are.
pub(crate) enum Payload {
    /// In memory that UCX lends only during the callback, so they are copied.
    Copied(Vec<u8>),
    /// In memory that UCX keeps until it is released.
    Held(Held),
    /// Still at the sender, until they are fetched.
    Announced(Held),
}

/// Data that UCX keeps for a message, or about it. Dropping this releases them, which must happen before the worker is
/// destroyed.
pub(crate) struct Held {
    worker: raw::Worker,
    data: NonNull<c_void>,
    /// How to discard the message instead of releasing it, and its size.
    discard: Option<(Discard, usize)>,
}

impl Held {
    /// The address that UCX gave. The caller must release it.
    pub(crate) fn into_raw(self) -> NonNull<c_void> {
        let data = self.data;
        mem::forget(self);
        data
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let (worker, data) = (self.worker, self.data.as_ptr());
        // SAFETY: UCX keeps the data since its callback returned `UCS_INPROGRESS`, and they are not used any more. The worker
        // is alive, because a `Delivered` is in its inbox, or in a message that borrows the worker.
        let release = || unsafe { raw::ucp_am_data_release(worker, data) };
        let Some((Discard { datatype, unfinished }, size)) = self.discard.take() else {
            release();
            return operation::wake();
        };
        // SAFETY: as above. One operation is started, with the callback for fetches of these data, which own everything that
        // UCX uses. The request is released, so UCX frees it when it completes.
        unsafe {
            let (_, request) =
                Operation::start(&unfinished, Discarded { size }, |message, user_data| {
                    let callback = Operation::<Discarded>::fetched;
                    let params = operation::fetch_params(datatype, callback, user_data);
                    raw::ucp_am_recv_data_nbx(worker, data, message.cast(), 1, &raw const params)
                });
            if let Some(request) = request {
                raw::ucp_request_release(request);
            }
        }
    }
}

impl Delivered {
    /// Refuses the message. No other thread may use the worker meanwhile.
    pub(crate) fn refuse_alone(mut self) {
        if let Payload::Announced(held) = &mut self.payload {
            held.discard = None;
        }
    }

    /// The payload, if it has arrived.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        match &self.payload {
            _ if self.length == 0 => Some(&[]),
            Payload::Copied(bytes) => Some(bytes),
            // SAFETY: UCX keeps this many bytes there, unchanged, until they are released.
            Payload::Held(held) => Some(unsafe {
                slice::from_raw_parts(held.data.as_ptr().cast_const().cast(), self.length)
            }),
            Payload::Announced(_) => None,
        }
    }
}

impl Inbox {
    pub(crate) fn new(worker: raw::Worker, discard: Option<Discard>) -> Self {
        Self { worker, discard, messages: Mutex::default(), count: AtomicUsize::new(0) }
    }

    /// The number of messages.
    pub(crate) fn len(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// Takes the first message.
    pub(crate) fn pop(&self) -> Option<Delivered> {
        self.change(VecDeque::pop_front)
    }

    /// Takes all messages for a handler.
    pub(crate) fn take(&self, id: u8) -> Vec<Delivered> {
        self.change(|messages| {
            let (taken, kept) =
                mem::take(messages).into_iter().partition(|message| message.id == id);
            *messages = kept;
            Vec::from(taken)
        })
    }

    fn push(&self, message: Delivered) {
        self.change(|messages| messages.push_back(message));
    }

    /// The lock must not be held while UCX is called, because UCX calls the callback.
    fn change<R>(&self, change: impl FnOnce(&mut VecDeque<Delivered>) -> R) -> R {
        let mut messages = self.lock();
        let result = change(&mut messages);
        self.count.store(messages.len(), Ordering::Release);
        result
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Delivered>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The target of the argument of UCX's callback.
pub(crate) struct Slot {
    pub(crate) id: u8,
    pub(crate) inbox: Arc<Inbox>,
}

/// UCX's callback for the messages with an id. Its argument is a [`Slot`].
pub(crate) unsafe extern "C" fn delivered(
    slot: *mut c_void,
    header: *const c_void,
    header_length: usize,
    data: *mut c_void,
    length: usize,
    params: *const ActiveParams,
) -> RawStatus {
    // SAFETY: the slot lives until the worker is destroyed, and UCX passes parameters that are valid during the call.
    let (Slot { id, inbox }, attributes) =
        unsafe { (&*slot.cast_const().cast::<Slot>(), (*params).attributes) };
    let header = if header_length == 0 {
        Header::from(&())
    } else {
        // SAFETY: UCX passes a header of this length, which is valid during the call.
        Header::from(unsafe { slice::from_raw_parts(header.cast(), header_length) })
    };
    let held = |discard: Option<Discard>| {
        let discard = discard.filter(|_| length > 0).map(|discard| (discard, length));
        NonNull::new(data).map(|data| Held { worker: inbox.worker, data, discard })
    };
    let payload = if attributes & raw::AM_RECV_ATTR_FLAG_RNDV != 0 {
        held(inbox.discard.clone()).map(Payload::Announced)
    } else if attributes & raw::AM_RECV_ATTR_FLAG_DATA != 0 && length > 0 {
        held(None).map(Payload::Held)
    } else {
        None
    };
    let (payload, status) = match payload {
        Some(payload) => (payload, raw::IN_PROGRESS),
        None if length == 0 => (Payload::Copied(Vec::new()), RawStatus::OK),
        None => {
            // SAFETY: without the flags, UCX passes the bytes, which are valid during the call.
            let bytes = unsafe { slice::from_raw_parts(data.cast_const().cast::<u8>(), length) };
            (Payload::Copied(bytes.to_vec()), RawStatus::OK)
        }
    };
    inbox.push(Delivered { id: *id, header, payload, length });
    status
}

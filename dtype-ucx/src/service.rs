//! A protocol of this crate's own: puts and gets that the owner's worker completes, with active messages, because UCX cannot
//! scatter at the target. Packed bytes travel in one message instead of one operation for each block.
//!
//! ```text
//! the peer                                            the owner's worker, in `progress`
//! --------                                            ---------------------------------
//! packs a part of the elements
//! request(token, memory, layout, packed bytes)  ──▶   checks the request, unpacks into the registered memory
//! flush waits for the token's reply             ◀──   reply(token, refusal or none), on the reply endpoint
//! ```
//!
//! The request of a get has only the layout; the packed bytes come with the reply.
//!
//! **One block, no header.** The messages are payload, and UCX's own header is empty: with its new protocols (`PROTO_ENABLE`),
//! UCX 1.13 writes past an array on its stack when a short message over TCP has a header and requests a reply. UCX also leaves
//! out the reply's address when it estimates the size of a message. So messages are lists of one block, which UCX never sends
//! as short messages.
//!
//! **Ids.** Requests and replies have the ids 256 and 257, which each worker registers from the start. Ids of the program's
//! handlers have 8 bits, so they cannot collide.
//!
//! **The reply endpoint.** `UCP_AM_SEND_FLAG_REPLY` has UCX pass an endpoint that leads back. It may be one of the program's,
//! which may close it at any later time, or one that UCX drops when the peer dies, so it is used only within the callback, and
//! never kept. A request must therefore be complete when the callback is called: it is sent with `UCP_AM_SEND_FLAG_EAGER`, in
//! parts of at most [`MAX_BYTES`](wire::MAX_BYTES). An announced message must come from another program, and is dropped. (With
//! an address of the sender in each request, to which the owner would connect, no reply endpoint would be needed. But it is up
//! to several hundred bytes long, and UCX does not check addresses.) The callback runs no user code: it checks, copies, and
//! starts to send the reply.
//!
//! **Flush.** A put is pending until its reply arrives, or until UCX fails to send it. A flush returns when nothing of its
//! endpoint is pending, with the first refusal if there was one; so the bytes are in the target when it returns, as after puts
//! of UCX. If the connection fails, no reply can arrive, and the flush returns the failure.
//!
//! **Trust.** A request is bytes from another process. Nothing is copied before the whole request is checked against the
//! registered memory ([`wire`]); unknown numbers, and memory that its owner has unregistered, are refused. A reply counts only
//! if its token is pending; tokens are random, so that only the receiver of the request knows its token.

#[expect(
    unsafe_code,
    reason = "copies from and to locked registered memory, where a checked request lies"
)]
pub(crate) mod served;
pub(crate) mod wire;

use std::collections::HashMap;
use std::ffi::c_void;
use std::mem;
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::error::{Error, Refusal};
use crate::handlers::set_callback;
use crate::link::Link;
use crate::operation;
use crate::raw::{self, ActiveParams, RawStatus, Started};
use crate::unfinished::Unfinished;
use served::Served;
use wire::{Reply, Request};

/// The ids after those of the program's handlers.
const REQUEST: u16 = 256;
const REPLY: u16 = 257;
const SEND: &str = "ucp_am_send_nbx";

/// A worker's state for packed puts and gets, both its own and those of its peers.
#[derive(Default)]
pub(crate) struct Service {
    /// The memory that this worker serves, by number.
    served: Mutex<HashMap<u64, Weak<Served>>>,
    /// The puts and gets that have no reply yet, by their tokens.
    pending: Mutex<HashMap<u64, Pending>>,
    /// The number of puts without a reply.
    puts: AtomicUsize,
    /// For each endpoint, the first put that was refused since the last flush.
    refused: Mutex<Vec<(Arc<PackedTransfers>, Error)>>,
    /// The operations of the worker.
    unfinished: Unfinished,
}

/// The packed puts and gets of an endpoint.
pub(crate) struct PackedTransfers {
    puts: AtomicUsize,
    /// The link of the endpoint.
    link: Arc<Link>,
}

enum Pending {
    Put { traffic: Arc<PackedTransfers>, bytes: usize },
    Get { traffic: Arc<PackedTransfers>, bytes: usize, reply: Arc<Answer> },
}

/// The packed bytes of a get once they have arrived, or why they will not.
type Answer = Mutex<Option<Result<Vec<u8>, Error>>>;

/// A get whose reply has not been read yet.
pub(crate) struct PendingGet {
    reply: Arc<Answer>,
}

impl PendingGet {
    /// The packed bytes, once they have arrived.
    pub(crate) fn reply(&self) -> Option<Result<Vec<u8>, Error>> {
        lock(&self.reply).take()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PackedTransfers {
    pub(crate) fn new(link: Arc<Link>) -> Self {
        Self { puts: AtomicUsize::new(0), link }
    }

    /// The number of puts without a reply.
    pub(crate) fn puts(&self) -> usize {
        self.puts.load(Ordering::Acquire)
    }

    fn has_failed(&self) -> bool {
        self.link.failure().is_some()
    }
}

impl Service {
    /// The service of a worker, with its operations.
    pub(crate) fn new(unfinished: Unfinished) -> Self {
        Self { unfinished, ..Self::default() }
    }

    /// Makes UCX call this service for requests and replies.
    ///
    /// # Safety
    ///
    /// The worker must be alive, and must be destroyed before the service.
    pub(crate) unsafe fn start(&self, worker: raw::Worker) -> Result<(), Error> {
        // SAFETY: passed on to the caller.
        unsafe { self.tell(worker, [Some(requested), Some(replied)]) }
    }

    /// Stops these calls.
    ///
    /// # Safety
    ///
    /// The worker must be alive.
    pub(crate) unsafe fn stop(&self, worker: raw::Worker) {
        // UCX has entries for the ids already, so it needs no memory, and succeeds. SAFETY: the caller guarantees the worker,
        // and there is no callback that would use the service.
        let _ = unsafe { self.tell(worker, [None, None]) };
    }

    /// Sets UCX's callbacks for requests and replies.
    ///
    /// # Safety
    ///
    /// The worker must be alive, and must be destroyed before the service, unless there are no callbacks.
    unsafe fn tell(
        &self,
        worker: raw::Worker,
        [request, reply]: [Option<raw::ActiveCallback>; 2],
    ) -> Result<(), Error> {
        // The last id first: UCX then makes room for both.
        for (id, callback) in [(REPLY, reply), (REQUEST, request)] {
            // SAFETY: the caller guarantees the worker, and that the service outlives it.
            unsafe { set_callback(worker, id, callback, ptr::from_ref(self).cast())? };
        }
        Ok(())
    }

    /// Serves a memory until it is dropped.
    pub(crate) fn serve(&self, memory: &Arc<Served>) {
        let mut all = lock(&self.served);
        all.retain(|_, served| served.strong_count() > 0);
        all.insert(memory.number(), Arc::downgrade(memory));
    }

    /// Executes a peer's request. Returns the reply.
    fn answer(&self, request: &Request, rest: &[u8]) -> Vec<u8> {
        // The lock on all memories is not held while one is copied.
        let memory = lock(&self.served).get(&request.memory).and_then(Weak::upgrade);
        let Request { token, .. } = *request;
        let mut message = dtype_runtime::pack(&[Reply { token, refusal: 0 }]);
        let served = memory
            .ok_or(Refusal::Unregistered)
            .and_then(|it| it.serve(request, rest, &mut message));
        match served {
            Ok(()) => message,
            Err(refusal) => dtype_runtime::pack(&[Reply { token, refusal: refusal.code() }]),
        }
    }

    /// Starts to send a put. The message has room for the request at its start, and owns all data after it.
    ///
    /// # Safety
    ///
    /// The endpoint must be alive, and must belong to the worker of this service.
    pub(crate) unsafe fn put(
        self: &Arc<Self>,
        endpoint: raw::Endpoint,
        traffic: &Arc<PackedTransfers>,
        request: Request,
        message: Vec<u8>,
    ) {
        let bytes = usize::try_from(request.length).unwrap_or(usize::MAX);
        traffic.puts.fetch_add(1, Ordering::Relaxed);
        self.puts.fetch_add(1, Ordering::Relaxed);
        let pending = Pending::Put { traffic: traffic.clone(), bytes };
        // SAFETY: passed on to the caller.
        unsafe { self.ask(endpoint, request, message, pending) };
    }

    /// Starts to send a get.
    ///
    /// # Safety
    ///
    /// As for [`put`](Self::put).
    pub(crate) unsafe fn get(
        self: &Arc<Self>,
        endpoint: raw::Endpoint,
        traffic: &Arc<PackedTransfers>,
        request: Request,
        message: Vec<u8>,
    ) -> PendingGet {
        let bytes = usize::try_from(request.length).unwrap_or(usize::MAX);
        let reply = Arc::new(Mutex::new(None));
        let pending = Pending::Get { traffic: traffic.clone(), bytes, reply: reply.clone() };
        // SAFETY: passed on to the caller.
        unsafe { self.ask(endpoint, request, message, pending) };
        PendingGet { reply }
    }

    unsafe fn ask(
        self: &Arc<Self>,
        endpoint: raw::Endpoint,
        request: Request,
        mut bytes: Vec<u8>,
        pending: Pending,
    ) {
        let token = crate::process::fresh();
        if let Some(start) = bytes.get_mut(..Request::SIZE) {
            // The start has the length of the packed record.
            let _ = dtype_runtime::pack_into(&[Request { token, ..request }], start);
        }
        // Before the message is sent: over some transports, the reply arrives during the call.
        lock(&self.pending).insert(token, pending);
        let asks = Some((self.clone(), token));
        let flags = raw::AM_SEND_FLAG_REPLY | raw::AM_SEND_FLAG_EAGER;
        // SAFETY: the caller guarantees the endpoint.
        unsafe { send(endpoint, REQUEST, flags, Message::new(&self.unfinished, bytes, asks)) };
    }

    /// Completes the put or get with this token.
    fn complete(&self, token: u64, result: Result<&[u8], Failed>) {
        let Some(pending) = lock(&self.pending).remove(&token) else { return };
        let failed = |failed, traffic: &PackedTransfers, way, bytes| match failed {
            Failed::Refused(reason) => Error::Refused { way, bytes, reason },
            Failed::Unsent(status) => traffic.link.error(SEND, status),
        };
        match pending {
            Pending::Put { traffic, bytes } => {
                if let Err(reason) = result {
                    let error = failed(reason, &traffic, "put", bytes);
                    let mut refused = lock(&self.refused);
                    if !refused.iter().any(|(other, _)| Arc::ptr_eq(other, &traffic)) {
                        refused.push((traffic.clone(), error));
                    }
                }
                // After everything else: waiting threads look at the refusals once the number has changed.
                self.puts.fetch_sub(1, Ordering::Release);
                traffic.puts.fetch_sub(1, Ordering::Release);
            }
            Pending::Get { traffic, bytes, reply } => {
                let result = match result {
                    Ok(packed) if packed.len() == bytes => Ok(packed.to_vec()),
                    Ok(_) => Err(Failed::Refused(Refusal::Malformed)),
                    Err(reason) => Err(reason),
                };
                *lock(&reply) =
                    Some(result.map_err(|reason| failed(reason, &traffic, "get", bytes)));
            }
        }
    }

    /// Whether no put is pending on a connection that is still open.
    pub(crate) fn is_settled(&self) -> bool {
        self.puts.load(Ordering::Acquire) == 0
            || lock(&self.pending).values().all(|pending| match pending {
                Pending::Put { traffic, .. } => traffic.has_failed(),
                Pending::Get { .. } => true,
            })
    }

    /// Fails the puts and gets that are pending on failed connections.
    pub(crate) fn give_up_failed(&self) {
        let pending = lock(&self.pending);
        let failed: Vec<Arc<PackedTransfers>> = pending
            .values()
            .filter_map(|pending| match pending {
                Pending::Put { traffic, .. } => traffic.has_failed().then(|| traffic.clone()),
                Pending::Get { .. } => None,
            })
            .collect();
        drop(pending);
        for traffic in failed {
            self.give_up(&traffic);
        }
    }

    /// Fails the puts and gets that are pending on a failed connection. Returns whether there were any.
    pub(crate) fn give_up(&self, traffic: &Arc<PackedTransfers>) -> bool {
        let given_up: Vec<Pending> = lock(&self.pending)
            .extract_if(|_, pending| match pending {
                Pending::Put { traffic: other, .. } | Pending::Get { traffic: other, .. } => {
                    Arc::ptr_eq(other, traffic)
                }
            })
            .map(|(_, pending)| pending)
            .collect();
        for pending in &given_up {
            if let Pending::Put { .. } = pending {
                self.puts.fetch_sub(1, Ordering::Release);
                traffic.puts.fetch_sub(1, Ordering::Release);
            }
        }
        !given_up.is_empty()
    }

    /// The first refused put of an endpoint, or of any endpoint. It is reported only once.
    pub(crate) fn take_refused(&self, traffic: Option<&Arc<PackedTransfers>>) -> Option<Error> {
        let mut refused = lock(&self.refused);
        match traffic {
            None => mem::take(&mut *refused).into_iter().next().map(|(_, error)| error),
            Some(traffic) => {
                let at = refused.iter().position(|(other, _)| Arc::ptr_eq(other, traffic))?;
                Some(refused.remove(at).1)
            }
        }
    }
}

/// Why a pending put or get has no result.
enum Failed {
    Refused(Refusal),
    Unsent(RawStatus),
}

/// A message in flight. UCX owns it until it has sent it.
struct Message {
    #[expect(dead_code, reason = "UCX reads them")]
    bytes: Vec<u8>,
    /// The bytes, for UCX.
    block: raw::Block,
    /// The pending put or get; `None` if the message is itself a reply.
    asks: Option<(Arc<Service>, u64)>,
    /// The operations of the worker.
    unfinished: Unfinished,
}

impl Message {
    fn new(unfinished: &Unfinished, bytes: Vec<u8>, asks: Option<(Arc<Service>, u64)>) -> Self {
        let (buffer, length) = (bytes.as_ptr().cast_mut().cast(), bytes.len());
        let block = raw::Block { buffer, length };
        Self { bytes, block, asks, unfinished: unfinished.clone() }
    }

    fn sent(self, status: RawStatus) {
        self.unfinished.end();
        if let Some((service, token)) = self.asks
            && status != RawStatus::OK
        {
            service.complete(token, Err(Failed::Unsent(status)));
        }
    }
}

/// Sends a message.
///
/// # Safety
///
/// The endpoint must be alive, and must belong to the worker of the message.
unsafe fn send(endpoint: raw::Endpoint, id: u16, flags: u32, message: Message) {
    message.unfinished.begin();
    let message = Box::into_raw(Box::new(message));
    let params = operation::params(raw::DATATYPE_IOV, sent, message.cast());
    let mask = params.mask | raw::OP_ATTR_FIELD_FLAGS;
    let params = raw::RequestParams { mask, flags, ..params };
    // SAFETY: the message does not move until `sent` is called; if it is not called, the message is freed below. The caller
    // guarantees the endpoint.
    let started = unsafe {
        let (block, params) = (&raw const (*message).block, &raw const params);
        raw::ucp_am_send_nbx(endpoint, id.into(), ptr::null(), 0, block.cast(), 1, params)
    };
    if let Started::Completed(status) = Started::decode(started) {
        // SAFETY: the box was made above, and `sent` is not called.
        unsafe { Box::from_raw(message) }.sent(status);
    }
}

/// UCX's callback for a message that is sent. Its user data are the [`Message`].
unsafe extern "C" fn sent(request: *mut c_void, status: RawStatus, message: *mut c_void) {
    // SAFETY: the request has completed, nothing else frees it, and it is not used again.
    unsafe { raw::ucp_request_free(request) };
    // SAFETY: the box of `send`. UCX passes it once.
    unsafe { Box::from_raw(message.cast::<Message>()) }.sent(status);
}

/// The bytes of a message that UCX passes to a callback; `None` if it only announces them.
///
/// # Safety
///
/// The bytes must be valid for `'a`.
unsafe fn whole<'a>(start: *const c_void, len: usize, attributes: u64) -> Option<&'a [u8]> {
    let is_here = attributes & raw::AM_RECV_ATTR_FLAG_RNDV == 0 && len > 0;
    // SAFETY: the caller guarantees the bytes of a message that is not announced.
    is_here.then(|| unsafe { slice::from_raw_parts(start.cast(), len) })
}

/// UCX's callback for requests. Its argument is the [`Service`].
unsafe extern "C" fn requested(
    service: *mut c_void,
    _: *const c_void,
    _: usize,
    data: *mut c_void,
    length: usize,
    params: *const ActiveParams,
) -> RawStatus {
    // SAFETY: the service lives longer than the worker (`Service::start`). UCX passes parameters and data that are valid
    // during the call.
    let (service, params, message) = unsafe {
        let params = &*params;
        (&*service.cast::<Service>(), params, whole(data, length, params.attributes))
    };
    let can_reply = params.attributes & raw::AM_RECV_ATTR_FIELD_REPLY_EP != 0;
    // Without a token or a reply endpoint, there is no way to tell a peer.
    if let (true, Some((request, rest))) = (can_reply, message.and_then(wire::split)) {
        let message = Message::new(&service.unfinished, service.answer(&request, rest), None);
        // SAFETY: the reply endpoint is valid during the call.
        unsafe { send(params.reply_endpoint, REPLY, raw::AM_SEND_FLAG_EAGER, message) };
    }
    RawStatus::OK
}

/// UCX's callback for replies. Its argument is the [`Service`].
unsafe extern "C" fn replied(
    service: *mut c_void,
    _: *const c_void,
    _: usize,
    data: *mut c_void,
    length: usize,
    params: *const ActiveParams,
) -> RawStatus {
    // SAFETY: as in `requested`.
    let (service, message) =
        unsafe { (&*service.cast::<Service>(), whole(data, length, (*params).attributes)) };
    if let Some((Reply { token, refusal }, rest)) = message.and_then(wire::split) {
        let result = match refusal {
            0 => Ok(rest),
            code => Err(Failed::Refused(Refusal::from_code(code))),
        };
        service.complete(token, result);
    }
    RawStatus::OK
}

#[cfg(test)]
mod tests;

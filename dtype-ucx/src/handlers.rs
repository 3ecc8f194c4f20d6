//! Calls the handlers of active messages.

use std::any::Any;
use std::collections::HashMap;
use std::ffi::c_void;
use std::mem;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use crate::error::{Error, check};
use crate::inbox::{self, Delivered, Discard, Inbox, Slot};
use crate::raw;

/// Sets what UCX calls for the active messages with an id, and the argument of the call.
///
/// # Safety
///
/// The worker must be alive. If there is a callback, the argument must be one for it until the worker is destroyed, or another
/// callback is set.
pub(crate) unsafe fn set_callback(
    worker: raw::Worker,
    id: u16,
    callback: Option<raw::ActiveCallback>,
    argument: *const c_void,
) -> Result<(), Error> {
    let params = raw::HandlerParams {
        field_mask: raw::AM_HANDLER_PARAM_FIELD_ID
            | raw::AM_HANDLER_PARAM_FIELD_CALLBACK
            | raw::AM_HANDLER_PARAM_FIELD_ARGUMENT,
        id: id.into(),
        flags: 0,
        callback,
        argument: argument.cast_mut(),
    };
    // SAFETY: the parameters have the fields of their mask, and the caller guarantees the rest.
    let status = unsafe { raw::ucp_worker_set_am_recv_handler(worker, &raw const params) };
    check("ucp_worker_set_am_recv_handler", status)
}

/// The handlers of a worker of type `W`, and the messages for them.
pub(crate) struct Handlers<W> {
    worker: raw::Worker,
    inbox: Arc<Inbox>,
    /// The arguments of UCX's callback, one for each id that ever had a handler. They live as long as the worker.
    slots: Mutex<HashMap<u8, Arc<Slot>>>,
    functions: Mutex<HashMap<u8, Function<W>>>,
    /// The thread that is calling handlers.
    caller: Mutex<Option<ThreadId>>,
    /// The first panic of a handler that has not been resumed yet.
    panic: Mutex<Option<Panic>>,
    /// Whether there is such a panic.
    panicked: AtomicBool,
}

/// The payload of a handler's panic.
pub(crate) type Panic = Box<dyn Any + Send>;

/// A handler's function. The thread that calls it owns it, too, because the handler may be removed during the call.
type Function<W> = Arc<Mutex<dyn FnMut(&W, Delivered)>>;

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<W> Handlers<W> {
    #[expect(clippy::arc_with_non_send_sync, reason = "threads that share a worker share it, too")]
    pub(crate) fn new(worker: raw::Worker, discard: Option<Discard>) -> Self {
        Self {
            worker,
            inbox: Arc::new(Inbox::new(worker, discard)),
            slots: Mutex::default(),
            functions: Mutex::default(),
            caller: Mutex::default(),
            panic: Mutex::default(),
            panicked: AtomicBool::new(false),
        }
    }

    /// Whether there are messages whose handlers were not called.
    fn have_messages(&self) -> bool {
        self.inbox.len() > 0
    }

    /// Whether this thread can call handlers.
    pub(crate) fn are_due(&self) -> bool {
        self.have_messages() && *lock(&self.caller) != Some(thread::current().id())
    }

    /// Sets all ids to have no handler. UCX 1.13 initialises only the entry of its table that is set, and looks up the ids of
    /// announced messages without comparing them with the table's length: a message without a handler would be undefined
    /// behaviour. Ids have 8 bits so that the table can be complete.
    pub(crate) fn initialise(&self) -> Result<(), Error> {
        // The last id makes room for all.
        (0..=u8::MAX).rev().try_for_each(|id| {
            // SAFETY: there is no callback that would use the slot.
            unsafe { self.tell(id, None, ptr::null()) }
        })
    }

    /// Sets the function that is called for the messages with an id.
    #[expect(clippy::arc_with_non_send_sync, reason = "threads that share a worker share it, too")]
    pub(crate) fn set(
        &self,
        id: u8,
        function: impl FnMut(&W, Delivered) + 'static,
    ) -> Result<(), Error> {
        let mut functions = lock(&self.functions);
        if functions.contains_key(&id) {
            return Err(Error::HandlerExists { id });
        }
        let mut slots = lock(&self.slots);
        let slot =
            slots.entry(id).or_insert_with(|| Arc::new(Slot { id, inbox: self.inbox.clone() }));
        // SAFETY: the slot lives as long as the worker.
        unsafe { self.tell(id, Some(inbox::delivered), Arc::as_ptr(slot))? };
        functions.insert(id, Arc::new(Mutex::new(function)));
        Ok(())
    }

    /// Sets UCX's callback. This call delivers no messages.
    ///
    /// # Safety
    ///
    /// The slot must live until the worker is destroyed, or another one is set.
    unsafe fn tell(
        &self,
        id: u8,
        callback: Option<raw::ActiveCallback>,
        slot: *const Slot,
    ) -> Result<(), Error> {
        // SAFETY: the worker is alive, and the caller guarantees the slot.
        unsafe { set_callback(self.worker, id.into(), callback, slot.cast()) }
    }

    /// Removes a handler. Its messages are refused.
    pub(crate) fn remove(&self, id: u8) {
        let (function, messages) = {
            let mut functions = lock(&self.functions);
            // UCX has an entry for the id already, so the call needs no memory and succeeds. If it failed, the messages would
            // be refused on arrival. SAFETY: there is no callback that would use the slot.
            let _ = unsafe { self.tell(id, None, ptr::null()) };
            // In one step, before another thread can register the next handler for the id, whose messages must not be refused.
            (functions.remove(&id), self.inbox.take(id))
        };
        // Dropping either calls user code, which may call this worker, so no lock is held.
        drop(messages);
        drop(function);
    }

    /// Removes all handlers and messages; before the worker is destroyed.
    pub(crate) fn clear(&mut self) {
        let ids: Vec<u8> = lock(&self.slots).keys().copied().collect();
        for id in ids {
            self.inbox.take(id).into_iter().for_each(Delivered::refuse_alone);
            let dropped = catch_unwind(AssertUnwindSafe(|| self.remove(id)));
            if let Err(panic) = dropped {
                mem::forget(panic);
            }
        }
    }

    /// Keeps the panic of a handler, if it is the first one.
    fn keep(&self, panic: Panic) {
        let mut kept = lock(&self.panic);
        if kept.is_none() {
            *kept = Some(panic);
            self.panicked.store(true, Ordering::Relaxed);
        } else {
            // Dropping the payload may panic.
            mem::forget(panic);
        }
    }

    /// Calls the handlers for the messages that have arrived. Returns whether there were any. Nothing unwinds.
    pub(crate) fn call(&self, worker: &W) -> bool {
        self.have_messages() && self.call_now(worker)
    }

    fn call_now(&self, worker: &W) -> bool {
        match &mut *lock(&self.caller) {
            // A handler is being called, by this thread or by another one.
            Some(_) => return false,
            caller => *caller = Some(thread::current().id()),
        }
        // Only the messages that are here now: handlers may send to this worker without end.
        for _ in 0..self.inbox.len() {
            // In one step, so that a handler registered meanwhile does not get earlier messages.
            let (message, function) = {
                let functions = lock(&self.functions);
                let Some(message) = self.inbox.pop() else { break };
                let function = functions.get(&message.id).cloned();
                (message, function)
            };
            // The handler may have been removed meanwhile. The message is then refused here.
            let Some(function) = function else { continue };
            // A panic can only leave the function's own state inconsistent. The function is dropped here if its handler was
            // removed meanwhile.
            let called = catch_unwind(AssertUnwindSafe(move || lock(&function)(worker, message)));
            if let Err(panic) = called {
                self.keep(panic);
            }
        }
        *lock(&self.caller) = None;
        true
    }

    /// Resumes a handler's panic, if there was one. Called only where UCX uses nothing that unwinding would free.
    pub(crate) fn resume_panic(&self) {
        if let Some(panic) = self.take_panic() {
            panic::resume_unwind(panic);
        }
    }

    /// The panic of a handler, if there was one, for the caller to resume.
    pub(crate) fn take_panic(&self) -> Option<Panic> {
        if !self.panicked.load(Ordering::Relaxed) || thread::panicking() {
            return None;
        }
        let mut kept = lock(&self.panic);
        self.panicked.store(false, Ordering::Relaxed);
        kept.take()
    }
}

//! Memory that a worker unpacks into and packs from at a peer's request.

use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::Refusal;
use crate::service::wire::Request;
use crate::shared;

/// Registered memory from the view of the workers that serve it.
///
/// Its owner and the workers may be in different threads, so each of them locks it while it copies. Under the lock, no user
/// code runs, and UCX is not called. Once the owner has taken the memory back, nothing else can access it.
pub(crate) struct Served {
    number: u64,
    memory: Mutex<Option<Memory>>,
}

#[derive(Clone, Copy, Debug)]
struct Memory {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the address is one of memory that stays until it is taken out of `Served`. All threads that copy from it or to it
// hold that lock.
unsafe impl Send for Memory {}

/// While this lives, nothing else in this process copies from the memory or to it.
pub(crate) struct Alone<'a> {
    memory: MutexGuard<'a, Option<Memory>>,
}

impl Served {
    /// Memory that can be served.
    ///
    /// # Safety
    ///
    /// `len` bytes from `start` on must be initialised, and readable and writable until [`end`](Self::end) returns. Threads of
    /// this process must hold the lock when they access the memory from Rust.
    pub(crate) unsafe fn new(start: NonNull<u8>, len: usize) -> Self {
        let memory = Mutex::new(Some(Memory { start, len }));
        Self { number: crate::process::fresh(), memory }
    }

    /// The number that peers use for the memory.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn lock(&self) -> Alone<'_> {
        Alone { memory: self.memory.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    /// From here on, every request is refused. A request that is being executed is completed before this returns.
    pub(crate) fn end(&self) {
        *self.lock().memory = None;
    }

    /// Executes a peer's request. Appends the packed bytes of a get to the reply. Nothing is written if the request is refused.
    pub(crate) fn serve(
        &self,
        request: &Request,
        payload: &[u8],
        reply: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let alone = self.lock();
        let Memory { start, len } = (*alone.memory).ok_or(Refusal::Unregistered)?;
        let (region, packed) = request.region(payload, len)?;
        let start = start.as_ptr();
        let mut at = 0;
        if request.is_put() {
            region.for_each(|displacement, length| {
                // SAFETY: the region lies in the memory, and its segments have as many bytes as the packed bytes
                // (`Request::region`). While it is locked, the memory exists, and nothing else in this process uses it.
                unsafe {
                    shared::store(packed.as_ptr().add(at), start.add(displacement), length);
                }
                at += length;
            })?;
            return Ok(());
        }
        let (before, room) = (reply.len(), region.length());
        reply.try_reserve_exact(room).map_err(|_| Refusal::NoMemory)?;
        reply.resize(before + room, 0);
        let to = reply[before..].as_mut_ptr();
        region.for_each(|displacement, length| {
            // SAFETY: as above; there is room for all segments.
            unsafe { shared::load(start.add(displacement), to.add(at), length) };
            at += length;
        })
    }
}

#[cfg(test)]
mod tests;

//! Memory that a worker unpacks into and packs from at a peer's request.

use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::Refusal;
use crate::service::wire::Request;
use crate::shared;

/// Registered memory, as the workers that serve it know it.
///
/// Its owner and the workers may be in different threads, so that each of them locks it while it copies. No code of the
/// program runs meanwhile, and UCX is not called. When the owner gives the memory back, nothing else can access it any more.
#[derive(Debug)]
pub(crate) struct Served {
    number: u64,
    memory: Mutex<Option<Memory>>,
}

#[derive(Clone, Copy, Debug)]
struct Memory {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the address is one of memory that stays until it is taken out of `Served`, whose lock all threads take that copy from it
// or to it.
unsafe impl Send for Memory {}

/// While it lives, nothing else in this process copies from the memory or to it.
pub(crate) struct Alone<'a> {
    memory: MutexGuard<'a, Option<Memory>>,
}

impl Served {
    /// Memory that can be served.
    ///
    /// # Safety
    ///
    /// `len` bytes from `start` on must be initialised, and readable and writable until [`end`](Self::end) returns. Threads of
    /// this process must lock it when they access the memory by code in Rust.
    pub(crate) unsafe fn new(start: NonNull<u8>, len: usize) -> Self {
        let memory = Mutex::new(Some(Memory { start, len }));
        Self { number: crate::process::fresh(), memory }
    }

    /// What peers name it by.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn lock(&self) -> Alone<'_> {
        Alone { memory: self.memory.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    /// From here on, every request is refused. One that is under way is completed before this returns.
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
                // SAFETY: the region lies in the memory, and its segments have as many bytes as the packed ones
                // (`Request::region`). The memory is there, and nothing else uses it in this process, while it is locked.
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
            // SAFETY: likewise; there is room for all segments.
            unsafe { shared::load(start.add(displacement), to.add(at), length) };
            at += length;
        })
    }
}

#[cfg(test)]
mod tests;

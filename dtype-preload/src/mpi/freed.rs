//! Requests that the program has freed before they were complete.
//!
//! The library does not tell when such an operation ends, and a receive is still to be unpacked. So the library's request is kept
//! here, and tested in the program's later calls of MPI.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::abi::{Word, abi};
use super::requests::Operation;
use super::status::{Statuses, class};
use crate::boundary::contain;
use crate::original::originals;

originals! {
    static TEST = c"PMPI_Test": unsafe extern "C" fn(*mut c_void, *mut c_int, *mut c_void) -> c_int;
    static FREE = c"PMPI_Request_free": unsafe extern "C" fn(*mut c_void) -> c_int;
}

static FREED: Mutex<Vec<(Word, Arc<Operation>)>> = Mutex::new(Vec::new());
static LEN: AtomicUsize = AtomicUsize::new(0);

/// Keeps a request of the library until its operation is complete.
pub(super) fn keep(handle: Word, operation: Arc<Operation>) {
    let mut freed = FREED.lock().unwrap_or_else(PoisonError::into_inner);
    freed.push((handle, operation));
    LEN.store(freed.len(), Ordering::Release);
}

/// Ends those operations that are complete.
#[inline]
pub(super) fn settle() {
    if LEN.load(Ordering::Relaxed) != 0 {
        contain(settle_some);
    }
}

#[cold]
fn settle_some() {
    // Another thread is doing it.
    let Ok(mut freed) = FREED.try_lock() else { return };
    freed.retain(|(handle, operation)| !is_settled(*handle, operation));
    LEN.store(freed.len(), Ordering::Release);
}

fn is_settled(handle: Word, operation: &Operation) -> bool {
    let (mut request, mut flag): (Word, c_int) = (0, 0);
    let at = (&raw mut request).cast();
    let mut statuses = Statuses::ignored();
    let (Some(test), Some(free)) = (TEST.get(), FREE.get()) else { return false };
    // SAFETY: a request of the library that only this list has; there is room for a handle.
    unsafe {
        abi().write(at, handle);
        let code = test(at, &raw mut flag, statuses.argument());
        if code == 0 && flag == 0 {
            return false;
        }
        operation.complete(&mut statuses, 0, class(code));
        if operation.is_persistent {
            free(at);
        }
    }
    true
}

/// Ends all operations before MPI ends. A receive for which no process sends anything is given up after a second.
pub(super) fn finish() {
    let start = Instant::now();
    while LEN.load(Ordering::Acquire) != 0 && start.elapsed() < Duration::from_secs(1) {
        settle();
        thread::yield_now();
    }
}

//! What is still to be done for the requests of the program whose data are packed here.
//!
//! A request is found by its handle. The library may give a handle to another request as soon as the first is complete, so the
//! thread that completes a request looks up the operation before, and removes that very operation afterwards.

use std::any::Any;
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::abi::{Word, abi};
use super::buffers::Buffer;
use super::part::Part;
use super::status::Statuses;
use crate::registry::Mixer;

/// Elements, and the place of their packed bytes in a buffer of the same operation.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) part: Part,
    pub(super) at: *mut u8,
}

// SAFETY: the place belongs to the operation, which is used by one thread at a time.
unsafe impl Send for Placed {}
// SAFETY: as above.
unsafe impl Sync for Placed {}

/// An operation that the library carries out with packed bytes.
#[derive(Debug)]
pub(super) struct Operation {
    /// Elements to be packed when a persistent operation starts.
    pub(super) sends: Vec<Placed>,
    /// Elements to be unpacked when the operation is complete.
    pub(super) receives: Vec<Placed>,
    /// Whether it is a message, and its status says how many bytes were received. A collective operation receives all.
    pub(super) is_message: bool,
    pub(super) is_persistent: bool,
    /// Whether the library is carrying it out.
    pub(super) is_pending: AtomicBool,
    /// Whether a call has the request, and may complete it.
    is_taken: AtomicBool,
    /// The packed bytes.
    pub(super) buffers: Vec<Buffer>,
    /// What else must live as long: the arrays of arguments of a collective operation.
    pub(super) kept: Vec<Box<dyn Any + Send + Sync>>,
}

impl Operation {
    /// An operation on bytes in buffers.
    pub(super) fn new(buffers: Vec<Buffer>, is_message: bool, is_persistent: bool) -> Self {
        Self {
            sends: Vec::new(),
            receives: Vec::new(),
            is_message,
            is_persistent,
            is_pending: AtomicBool::new(!is_persistent),
            is_taken: AtomicBool::new(false),
            buffers,
            kept: Vec::new(),
        }
    }

    /// Packs what a persistent operation sends, before it starts.
    ///
    /// # Safety
    ///
    /// The elements must be readable.
    pub(super) unsafe fn start(&self) {
        for Placed { part, at } in &self.sends {
            // Cannot fail: the elements were packed, or could have been, when the operation was made.
            //
            // SAFETY: the caller guarantees the elements; the buffer has room for them.
            unsafe { part.pack(*at) };
        }
        self.is_pending.store(true, Ordering::Release);
    }

    /// Unpacks what was received, if this was not done yet. `class` is that of an error, or 0.
    ///
    /// # Safety
    ///
    /// The library must have completed the operation, and written its status at this place.
    pub(super) unsafe fn complete(&self, statuses: &mut Statuses, index: usize, class: c_int) {
        if !self.is_pending.swap(false, Ordering::AcqRel) {
            return;
        }
        for Placed { part, at } in &self.receives {
            let len = match class {
                // SAFETY: guaranteed by the caller.
                _ if self.is_message => unsafe { statuses.received(index, class, part.size) },
                0 => part.size,
                _ => 0,
            };
            // SAFETY: the library has written that many bytes; the elements are the program's.
            unsafe { part.unpack(std::slice::from_raw_parts(*at, len)) };
        }
    }

    /// Ends an operation that has failed.
    pub(super) fn fail(&self) {
        self.is_pending.store(false, Ordering::Release);
    }

    /// Whether the library is not carrying it out.
    pub(super) fn is_inactive(&self) -> bool {
        !self.is_pending.load(Ordering::Acquire)
    }
}

const SHARDS: usize = 16;
type Table = HashMap<Word, Arc<Operation>, BuildHasherDefault<Mixer>>;

static TABLE: [Mutex<Option<Table>>; SHARDS] = [const { Mutex::new(None) }; SHARDS];

/// The number of operations in the table, by a hash of their handles. A request that is not in the table is recognised by one
/// load, without a lock.
static COUNTS: [AtomicU32; 4096] = [const { AtomicU32::new(0) }; 4096];

fn mixed(handle: Word) -> usize {
    ((handle as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize
}

#[inline]
fn count(handle: Word) -> &'static AtomicU32 {
    &COUNTS[mixed(handle) % COUNTS.len()]
}

fn shard(handle: Word) -> MutexGuard<'static, Option<Table>> {
    TABLE[(mixed(handle) >> 12) % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records the operation of a request that the library has just made.
///
/// If there is an operation with this handle, the library has given the handle to several requests that were complete when they
/// were made, and nothing is left to be done for them.
pub(super) fn record(handle: Word, operation: Operation) {
    let before = shard(handle).get_or_insert_default().insert(handle, Arc::new(operation));
    if before.is_none() {
        count(handle).fetch_add(1, Ordering::Release);
    }
}

/// The operation of a request; `None` if the request is not one of this library's.
#[inline]
pub(super) fn find(handle: Word) -> Option<Arc<Operation>> {
    if count(handle).load(Ordering::Acquire) == 0 {
        return None;
    }
    shard(handle).as_ref()?.get(&handle).cloned()
}

/// Removes an operation whose request the library has freed.
pub(super) fn remove(handle: Word, operation: &Arc<Operation>) {
    let mut table = shard(handle);
    let Some(table) = table.as_mut() else { return };
    if table.get(&handle).is_some_and(|found| Arc::ptr_eq(found, operation)) {
        table.remove(&handle);
        count(handle).fetch_sub(1, Ordering::Release);
    }
}

/// A request of the program that has an operation.
///
/// While a call has it, no other call finds it: when the library has completed the request, another thread may get the same handle
/// for a request that has no operation.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) index: usize,
    pub(super) handle: Word,
    pub(super) operation: Arc<Operation>,
}

impl Drop for Request {
    fn drop(&mut self) {
        self.operation.is_taken.store(false, Ordering::Release);
    }
}

/// Those requests of an array that have an operation.
///
/// # Safety
///
/// The array must have that many requests.
#[inline]
pub(super) unsafe fn ours(requests: *const c_void, len: c_int) -> Vec<Request> {
    if requests.is_null() {
        return Vec::new();
    }
    let each = |index| {
        // SAFETY: guaranteed by the caller.
        let handle = unsafe { abi().read(requests, index) };
        let operation = find(handle)?;
        let is_free = !operation.is_taken.swap(true, Ordering::AcqRel);
        is_free.then(|| Request { index, handle, operation })
    };
    (0..usize::try_from(len).unwrap_or(0)).filter_map(each).collect()
}

//! How much memory an operation takes, counted per thread, because corpora are replayed on several threads.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, with a count of the bytes in use and the maximum of that count.
struct Counting;

thread_local! {
    // Signed, because one thread may free what another has allocated.
    static IN_USE: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

/// Counts bytes that are now in use, or no longer.
fn count(change: isize) {
    // On a thread whose thread-locals have been dropped, nothing is counted.
    let _ = IN_USE.try_with(|in_use| {
        let now = in_use.get().wrapping_add(change);
        in_use.set(now);
        MOST.try_with(|most| most.set(most.get().max(now)))
    });
}

// SAFETY: every call goes to the system's allocator; the counts touch only their own memory, which is not
// allocated.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller meets the system allocator's contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The memory that this thread has in use, in bytes.
pub(crate) fn in_use() -> usize {
    IN_USE.get() as usize
}

/// Runs `work`, and returns the maximum of the memory that this thread had in use meanwhile, beyond the memory
/// before.
pub(crate) fn most_in_use<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = IN_USE.get();
    MOST.set(before);
    let result = work();
    ((MOST.get() - before) as usize, result)
}

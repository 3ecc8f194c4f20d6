//! How much memory a piece of work takes. Counted for each thread, because corpora are replayed on several.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, with a count of the bytes in use and of the most that were.
struct Counting;

thread_local! {
    // Signed: what one thread has allocated another may free.
    static IN_USE: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

/// Takes note of bytes that are in use now, or no longer.
fn count(change: isize) {
    // Where a thread has no cells any more, nobody asks.
    let _ = IN_USE.try_with(|in_use| {
        let now = in_use.get().wrapping_add(change);
        in_use.set(now);
        MOST.try_with(|most| most.set(most.get().max(now)))
    });
}

// SAFETY: everything is left to the system's allocator; the counts touch no memory but their own, which is not
// allocated.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: what the caller promises is what the system asks for.
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

/// Works, and says how much more memory this thread had in use meanwhile than before, at the most.
pub(crate) fn most_in_use<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = IN_USE.get();
    MOST.set(before);
    let result = work();
    ((MOST.get() - before) as usize, result)
}

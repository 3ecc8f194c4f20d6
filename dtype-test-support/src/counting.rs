//! Counts the allocations of each thread, so that a test sees its own allocations and not those of other tests. A program that
//! asks for a count has the allocator in its root:
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: dtype_test_support::counting::Counting = dtype_test_support::counting::Counting;
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, with a count of the bytes in use and the maximum of that count.
#[derive(Debug)]
pub struct Counting;

thread_local! {
    /// Negative in a thread that frees more than it allocates.
    static IN_USE: Cell<isize> = const { Cell::new(0) };
    static MAX_IN_USE: Cell<isize> = const { Cell::new(0) };
}

/// Counts an allocation, unless it has failed.
fn count(allocated: *mut u8, layout: Layout) -> *mut u8 {
    if !allocated.is_null() {
        let in_use = IN_USE.get() + layout.size().cast_signed();
        IN_USE.set(in_use);
        MAX_IN_USE.set(MAX_IN_USE.get().max(in_use));
    }
    allocated
}

// SAFETY: every call goes to the system's allocator; the counts need no allocation and no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller meets the system allocator's contract, which is the same.
        count(unsafe { System.alloc(layout) }, layout)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        count(unsafe { System.alloc_zeroed(layout) }, layout)
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        IN_USE.set(IN_USE.get() - layout.size().cast_signed());
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

/// The memory that this thread has in use, in bytes.
pub fn in_use() -> usize {
    IN_USE.get().cast_unsigned()
}

/// Runs `work`. Returns how much the memory in use by this thread grew at most, and the result.
pub fn max_in_use<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = IN_USE.get();
    MAX_IN_USE.set(before);
    let result = work();
    ((MAX_IN_USE.get() - before).cast_unsigned(), result)
}

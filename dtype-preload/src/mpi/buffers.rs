//! Memory for packed bytes. Freed memory is kept for the next message, because the system clears each page of new memory.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The least and the greatest size, as powers of two.
const LEAST: u32 = 10;
const GREATEST: u32 = 31;

/// The number of buffers of a size that are kept.
const KEPT: usize = 16;

/// Bytes that are kept for later messages.
const MOST_KEPT: usize = 64 << 20;

/// Bytes in use at a time. Beyond them, messages are left to the library.
const MOST_USED: usize = 1 << 30;

/// The alignment of the vector kernels' stores.
const ALIGN: usize = 64;

static SLOTS: [[AtomicPtr<u8>; KEPT]; (GREATEST - LEAST + 1) as usize] =
    [const { [const { AtomicPtr::new(ptr::null_mut()) }; KEPT] }; (GREATEST - LEAST + 1) as usize];

/// Bytes in the slots, and bytes in use.
static IN_SLOTS: AtomicUsize = AtomicUsize::new(0);
static IN_USE: AtomicUsize = AtomicUsize::new(0);

/// Memory for packed bytes. It is not initialised.
#[derive(Debug)]
pub(super) struct Buffer {
    start: NonNull<u8>,
    /// The size is `1 << (LEAST + class)`.
    class: u32,
}

// SAFETY: the memory belongs to the buffer alone.
unsafe impl Send for Buffer {}
// SAFETY: as above; all access goes through pointers.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// At least `len` bytes; `None` if too much memory is in use.
    pub(super) fn new(len: usize) -> Option<Self> {
        let class = (usize::BITS - len.saturating_sub(1).leading_zeros()).saturating_sub(LEAST);
        let slots = SLOTS.get(class as usize)?;
        let size = size_of_class(class);
        if IN_USE.fetch_add(size, Ordering::Relaxed) >= MOST_USED {
            IN_USE.fetch_sub(size, Ordering::Relaxed);
            return None;
        }
        for slot in slots {
            if slot.load(Ordering::Relaxed).is_null() {
                continue;
            }
            if let Some(start) = NonNull::new(slot.swap(ptr::null_mut(), Ordering::Acquire)) {
                IN_SLOTS.fetch_sub(size, Ordering::Relaxed);
                return Some(Self { start, class });
            }
        }
        // SAFETY: the size is not zero.
        let start = NonNull::new(unsafe { alloc(layout(class)) });
        if start.is_none() {
            IN_USE.fetch_sub(size, Ordering::Relaxed);
        }
        Some(Self { start: start?, class })
    }

    pub(super) fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// The first bytes.
    ///
    /// # Safety
    ///
    /// They must have been written, and nothing may write them meanwhile.
    pub(super) unsafe fn bytes(&self, len: usize) -> &[u8] {
        assert!(len <= size_of_class(self.class));
        // SAFETY: within the memory; the caller guarantees the rest.
        unsafe { slice::from_raw_parts(self.as_ptr(), len) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let size = size_of_class(self.class);
        IN_USE.fetch_sub(size, Ordering::Relaxed);
        if IN_SLOTS.load(Ordering::Relaxed) + size <= MOST_KEPT {
            for slot in &SLOTS[self.class as usize] {
                let (empty, start) = (ptr::null_mut(), self.as_ptr());
                // Counted before another thread can take it.
                if slot.load(Ordering::Relaxed).is_null() {
                    IN_SLOTS.fetch_add(size, Ordering::Relaxed);
                    let put =
                        slot.compare_exchange(empty, start, Ordering::Release, Ordering::Relaxed);
                    if put.is_ok() {
                        return;
                    }
                    IN_SLOTS.fetch_sub(size, Ordering::Relaxed);
                }
            }
        }
        // SAFETY: made by `alloc` with this layout, and not in a slot.
        unsafe { dealloc(self.as_ptr(), layout(self.class)) };
    }
}

const fn size_of_class(class: u32) -> usize {
    1 << (LEAST + class)
}

fn layout(class: u32) -> Layout {
    Layout::from_size_align(size_of_class(class), ALIGN).expect("at most 2 GiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_up_to_a_bound() {
        let first = Buffer::new(5000).unwrap();
        let start = first.as_ptr();
        drop(first);
        let again = Buffer::new(8192).unwrap();
        assert_eq!(again.as_ptr(), start);
        // SAFETY: memory of this size.
        unsafe { again.as_ptr().add(8191).write(7) };
        assert!(Buffer::new(usize::MAX).is_none());
        assert!(Buffer::new(1 << 31).is_none_or(|buffer| buffer.class == GREATEST - LEAST));
    }

    #[test]
    fn no_two_buffers_are_the_same() {
        std::thread::scope(|scope| {
            for thread in 0..4_u8 {
                scope.spawn(move || {
                    for round in 0..if cfg!(miri) { 10 } else { 2000 } {
                        let all: Vec<_> = (0..5).filter_map(|_| Buffer::new(2000)).collect();
                        assert_eq!(all.len(), 5);
                        for one in &all {
                            // SAFETY: memory of this size.
                            unsafe { one.as_ptr().write_bytes(thread ^ round as u8, 2000) };
                        }
                        for one in &all {
                            // SAFETY: written above.
                            let bytes = unsafe { one.bytes(2000) };
                            assert!(bytes.iter().all(|&byte| byte == thread ^ round as u8));
                        }
                    }
                });
            }
        });
    }
}

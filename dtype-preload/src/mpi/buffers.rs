//! Memory for packed bytes. Freed memory is kept for the next message, because the system clears each page of new memory.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::mode::Mode;

/// The least and the greatest size, as powers of two.
const LEAST: u32 = 10;
const GREATEST: u32 = 31;

/// The greatest number of buffers of a size that are kept, and their bytes.
const KEPT: usize = 16;
const KEPT_BYTES: usize = 16 << 20;

/// Larger buffers are not kept.
const LONGEST_KEPT: usize = 64 << 20;

/// Bytes that are allocated at a time. Beyond them, messages are left to the library.
const MOST: usize = 1 << 30;

/// The alignment of the vector kernels' stores.
const ALIGN: usize = 64;

static SLOTS: [[AtomicPtr<u8>; KEPT]; (GREATEST - LEAST + 1) as usize] =
    [const { [const { AtomicPtr::new(ptr::null_mut()) }; KEPT] }; (GREATEST - LEAST + 1) as usize];

/// Bytes in use and in the slots.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

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
        for slot in slots(class)? {
            if !slot.load(Ordering::Relaxed).is_null()
                && let Some(start) = NonNull::new(slot.swap(ptr::null_mut(), Ordering::Acquire))
            {
                return Some(Self { start, class });
            }
        }
        let size = size_of_class(class);
        // Where this library is loaded in all ranks, it must receive whatever they send.
        let most = if Mode::get().everywhere { usize::MAX } else { MOST };
        if ALLOCATED.fetch_add(size, Ordering::Relaxed) >= most {
            ALLOCATED.fetch_sub(size, Ordering::Relaxed);
            return None;
        }
        // SAFETY: the size is not zero.
        let start = NonNull::new(unsafe { alloc(layout(class)) });
        if start.is_none() {
            ALLOCATED.fetch_sub(size, Ordering::Relaxed);
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
        let (empty, start) = (ptr::null_mut(), self.as_ptr());
        for slot in slots(self.class).unwrap_or_default() {
            let put = |slot: &AtomicPtr<u8>| {
                slot.compare_exchange(empty, start, Ordering::Release, Ordering::Relaxed).is_ok()
            };
            if slot.load(Ordering::Relaxed).is_null() && put(slot) {
                return;
            }
        }
        // SAFETY: made by `alloc` with this layout, and not in a slot.
        unsafe { dealloc(start, layout(self.class)) };
        ALLOCATED.fetch_sub(size_of_class(self.class), Ordering::Relaxed);
    }
}

/// The places for buffers of a class that are kept; `None` if no buffer is so large.
fn slots(class: u32) -> Option<&'static [AtomicPtr<u8>]> {
    let slots = SLOTS.get(class as usize)?;
    let size = size_of_class(class);
    let len = if size > LONGEST_KEPT { 0 } else { (KEPT_BYTES / size).clamp(1, KEPT) };
    Some(&slots[..len])
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
                    for round in 0..if cfg!(miri) { 10 } else { 2000_u32 } {
                        let pattern = thread ^ round.to_le_bytes()[0];
                        let all: Vec<_> = (0..5).filter_map(|_| Buffer::new(2000)).collect();
                        assert_eq!(all.len(), 5);
                        for one in &all {
                            // SAFETY: memory of this size.
                            unsafe { one.as_ptr().write_bytes(pattern, 2000) };
                        }
                        for one in &all {
                            // SAFETY: written above.
                            let bytes = unsafe { one.bytes(2000) };
                            assert!(bytes.iter().all(|&byte| byte == pattern));
                        }
                    }
                });
            }
        });
    }
}

//! Memory for the library's copies of texts of variable length while it reads.
//!
//! Any number of items in a file can refer to one long text, and the library copies the text for each item. So the memory is
//! limited.

use std::ffi::c_void;
use std::ptr;

/// Copies of texts, of limited total length. They live as long as this value, even if the library fails halfway.
#[derive(Debug)]
pub(crate) struct Arena {
    copies: Vec<Vec<u8>>,
    /// Bytes that may still be copied.
    left: usize,
    is_full: bool,
}

impl Arena {
    pub(crate) const fn new(limit: usize) -> Self {
        Self { copies: Vec::new(), left: limit, is_full: false }
    }

    /// Whether the library has requested more than the limit allows.
    pub(crate) const fn is_full(&self) -> bool {
        self.is_full
    }

    /// Room for `size` bytes, without alignment. It does not move when the arena grows.
    fn room(&mut self, size: usize) -> Option<*mut u8> {
        let Some(left) = self.left.checked_sub(size) else {
            self.is_full = true;
            return None;
        };
        let mut copy = Vec::new();
        copy.try_reserve_exact(size).ok()?;
        self.copies.try_reserve(1).ok()?;
        let start = copy.as_mut_ptr();
        self.copies.push(copy);
        self.left = left;
        Some(start)
    }

    /// The function that the library calls for memory. A null pointer makes the library fail.
    ///
    /// # Safety
    ///
    /// `arena` must point to an arena that nothing else uses during the call.
    pub(crate) unsafe extern "C" fn allocate(size: usize, arena: *mut c_void) -> *mut c_void {
        // SAFETY: guaranteed by the caller.
        let arena = unsafe { &mut *arena.cast::<Self>() };
        arena.room(size).map_or(ptr::null_mut(), <*mut u8>::cast)
    }

    /// The function that the library calls to free such memory. It does nothing, because the arena frees the memory.
    pub(crate) extern "C" fn free(_memory: *mut c_void, _arena: *mut c_void) {}
}

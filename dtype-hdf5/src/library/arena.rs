//! Memory that the library asks for while it reads texts of variable length.
//!
//! A file can have one long text and any number of items that refer to it, and the library copies the text for each of them.

use std::ffi::c_void;
use std::ptr;

/// The copies of texts, of limited length. They are there as long as this is, also if the library failed halfway.
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

    /// Whether more was asked for than the limit allows.
    pub(crate) const fn is_full(&self) -> bool {
        self.is_full
    }

    /// Room for so many bytes, at no particular alignment. It does not move when the arena grows.
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

    /// What the library calls for memory; a null pointer makes it fail.
    ///
    /// # Safety
    ///
    /// `arena` must point to an arena that nothing else uses during the call.
    pub(crate) unsafe extern "C" fn allocate(size: usize, arena: *mut c_void) -> *mut c_void {
        // SAFETY: the caller guarantees it.
        let arena = unsafe { &mut *arena.cast::<Self>() };
        arena.room(size).map_or(ptr::null_mut(), <*mut u8>::cast)
    }

    /// What the library calls to free such memory: nothing, because the arena frees it.
    pub(crate) extern "C" fn free(_memory: *mut c_void, _arena: *mut c_void) {}
}

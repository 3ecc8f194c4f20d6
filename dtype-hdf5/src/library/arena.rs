//! Memory for the library's copies of texts of variable length while it reads.
//!
//! Any number of items in a file can refer to one long text, and the library copies the text for each item. So the memory is
//! limited.

use std::ffi::{CStr, c_void};
use std::ptr;

/// The least number of bytes to allocate at once.
const BLOCK: usize = 1 << 16;

/// Copies of texts, of limited total length. They live as long as this value, even if the library fails halfway.
#[derive(Debug)]
pub(crate) struct Arena {
    /// Many copies share a block, because most texts are short.
    blocks: Vec<Vec<u8>>,
    limit: usize,
    /// Bytes of all copies.
    len: usize,
    is_full: bool,
}

impl Arena {
    pub(crate) const fn new(limit: usize) -> Self {
        Self { blocks: Vec::new(), limit, len: 0, is_full: false }
    }

    /// Whether the library has requested more than the limit allows.
    pub(crate) const fn is_full(&self) -> bool {
        self.is_full
    }

    /// Bytes of all copies, with the zeros that end them.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// The text at an address that the library got for it; `None` for a null pointer, or any other address.
    pub(crate) fn text(&self, address: usize) -> Option<&CStr> {
        self.blocks.iter().find_map(|block| {
            let start = address.checked_sub(block.as_ptr().addr())?;
            CStr::from_bytes_until_nul(block.get(start..)?).ok()
        })
    }

    /// Room for `size` bytes, without alignment. It does not move when the arena grows.
    fn room(&mut self, size: usize) -> Option<*mut u8> {
        let len = self.len.checked_add(size).filter(|len| *len <= self.limit);
        let Some(len) = len else {
            self.is_full = true;
            return None;
        };
        let has_room = |block: &Vec<u8>| block.capacity() - block.len() >= size;
        if !self.blocks.last().is_some_and(has_room) {
            let mut block = Vec::new();
            // As long as all blocks before, so that there are few in which to look for a text.
            block.try_reserve_exact(size.max(BLOCK).max(self.len)).ok()?;
            self.blocks.try_reserve(1).ok()?;
            self.blocks.push(block);
        }
        let block = self.blocks.last_mut()?;
        let start = block.len();
        block.resize(start + size, 0);
        self.len = len;
        Some(block.as_mut_ptr().wrapping_add(start))
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

//! A second convertor at the position of another one. The library advances it, for comparison.

use std::mem::MaybeUninit;
use std::ptr;

use super::layout::{Convertor, KEPT, SEND};
use super::originals::{PREPARE_RECEIVE, PREPARE_SEND, RAW, SET_POSITION};

/// Room for an `opal_convertor_t` of any supported version.
const ROOM: usize = 512;

/// The library's own convertor for a message that this engine converts.
///
/// It must not be moved, because the library writes an address inside the convertor into it.
#[derive(Debug)]
#[repr(C, align(16))]
pub(super) struct Shadow {
    memory: [MaybeUninit<u8>; ROOM],
}

impl Shadow {
    pub(super) fn new() -> Self {
        Self { memory: [MaybeUninit::new(0); ROOM] }
    }

    /// Prepares the convertor for a message of `count` elements of the type of `of` at `base`, and moves it to `position`, or
    /// to the start of the value that holds `position`. Returns the resulting position; `None` if the library refuses.
    ///
    /// # Safety
    ///
    /// The library must have prepared `of`, and its type must be alive. `base` must be valid for reading or writing, as the
    /// message's direction requires.
    pub(super) unsafe fn prepare(
        &mut self,
        of: &Convertor,
        base: *mut u8,
        count: usize,
        direction: u32,
        position: usize,
    ) -> Option<usize> {
        let prepare = if direction == SEND { &PREPARE_SEND } else { &PREPARE_RECEIVE };
        let (prepare, set_position) = (prepare.get()?, SET_POSITION.get()?);
        let convertor = self.convertor();
        // SAFETY: the memory is zeroed and has room for a convertor, whose layout was compared with the library's. The fields
        // set here are those of a convertor that was constructed and personalized.
        unsafe {
            (*convertor).object.class = of.object.class;
            (*convertor).object.references = 1;
            (*convertor).remote_arch = of.remote_arch;
            (*convertor).master = of.master;
            (*convertor).flags = of.flags & KEPT;
            (*convertor).stack = (&raw mut (*convertor).static_stack).cast();
            (*convertor).stack_size = 5;
            if prepare(convertor, of.datatype, count, base) != 0 {
                return None;
            }
            let mut at = position;
            if position > 0 && set_position(convertor, &raw mut at) != 0 {
                return None;
            }
            Some(at)
        }
    }

    /// Packs up to `out.len()` bytes, or unpacks all of them, and returns the number.
    ///
    /// # Safety
    ///
    /// [`prepare`](Self::prepare) must have prepared the convertor, and its requirements must still hold.
    pub(super) unsafe fn advance(&mut self, bytes: *mut u8, len: usize) -> usize {
        let convertor = self.convertor();
        // SAFETY: prepared, as the caller guarantees.
        let advance = unsafe { (*convertor).advance };
        let Some(advance) = advance else { return 0 };
        let mut iov = libc::iovec { iov_base: bytes.cast(), iov_len: len };
        let (mut vectors, mut total) = (1, len);
        // SAFETY: the library's function for this convertor, with the arguments that the library passes.
        unsafe { advance(convertor, &raw mut iov, &raw mut vectors, &raw mut total) };
        total
    }

    /// Collects segments of memory, as addresses and lengths, until they have `bytes` bytes or the message ends.
    ///
    /// # Safety
    ///
    /// As for [`advance`](Self::advance).
    pub(super) unsafe fn segments(&mut self, bytes: usize, collected: &mut Vec<(usize, usize)>) {
        let Some(raw) = RAW.get() else { return };
        let convertor = self.convertor();
        let mut found = 0;
        while found < bytes {
            let empty = libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 };
            let (mut iov, mut vectors, mut total) = ([empty; 32], 32, 0);
            // SAFETY: prepared, as the caller guarantees; the arguments are those that the library passes.
            let done =
                unsafe { raw(convertor, iov.as_mut_ptr(), &raw mut vectors, &raw mut total) };
            let segments = iov.iter().take(vectors as usize);
            collected.extend(segments.map(|segment| (segment.iov_base.addr(), segment.iov_len)));
            found += total;
            if done != 0 || total == 0 {
                return;
            }
        }
    }

    fn convertor(&mut self) -> *mut Convertor {
        const { assert!(size_of::<Convertor>() + 64 < ROOM) };
        ptr::from_mut(&mut self.memory).cast()
    }
}

impl Drop for Shadow {
    fn drop(&mut self) {
        let convertor = self.convertor();
        // SAFETY: the convertor is prepared or zeroed. If its own stack has no room, the library allocates one with `malloc`.
        unsafe {
            if (*convertor).stack_size > 5 {
                libc::free((*convertor).stack);
            }
        }
    }
}

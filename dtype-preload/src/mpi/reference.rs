//! The library's own types, for comparisons in the mode `verify`.

use std::ffi::{c_int, c_void};

use super::abi::{Word, abi};
use super::library::FREE_PART;
use crate::original::{is_running, originals};

originals! {
    static CONTIGUOUS = c"PMPI_Type_contiguous": unsafe extern "C" fn(c_int, Word, *mut c_void) -> c_int;
    static COMMIT = c"PMPI_Type_commit": unsafe extern "C" fn(*mut c_void) -> c_int;
}

/// A type of the library that is alive as long as this. The program may free its own before a message ends.
#[derive(Debug)]
pub(super) struct Reference(pub(super) Word);

impl Reference {
    /// # Safety
    ///
    /// MPI must be running, and the datatype must be alive.
    pub(super) unsafe fn new(datatype: Word) -> Option<Self> {
        let mut copy: Word = 0;
        let at = (&raw mut copy).cast();
        // Not a duplicate, for which the library would call the functions that copy the program's attributes.
        //
        // SAFETY: there is room for a handle.
        unsafe {
            (CONTIGUOUS.get()?(1, datatype, at) == 0 && COMMIT.get()?(at) == 0)
                .then(|| Self(abi().read(at, 0)))
        }
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        // A thread may keep the last type that it has found until the process ends.
        if !is_running() {
            return;
        }
        let mut copy: Word = 0;
        let at = (&raw mut copy).cast();
        // SAFETY: there is room for a handle, and the type was made by `new`.
        FREE_PART.get().map(|free| unsafe {
            abi().write(at, self.0);
            free(at)
        });
    }
}

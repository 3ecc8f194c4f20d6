//! The communicators that exist.
//!
//! `MPI_Pack` does not use its communicator, but refuses one that does not exist. The first call with a communicator goes to
//! the library, which refuses the communicator if it does not exist. After that, the communicator is known to exist until it is
//! freed.

use std::ffi::{c_int, c_void};

use super::handle_set::{COMMUNICATOR, HandleSet};
use super::library::is_known;
use super::numbers::{COMM_SELF, COMM_WORLD, Handle};
use super::word::{Word, handle};
use crate::original::{NO_ORIGINAL, Original, originals};

type Free = unsafe extern "C" fn(*mut c_void) -> c_int;

// Each name leads to the next function of the same name, so that a tool loaded after this library sees the call as well.
originals! {
    static FREE = c"MPI_Comm_free": Free;
    static PROFILED_FREE = c"PMPI_Comm_free": Free;
    static DISCONNECT = c"MPI_Comm_disconnect": Free;
    static PROFILED_DISCONNECT = c"PMPI_Comm_disconnect": Free;
}

/// The communicators that the library has accepted and the program has not freed since.
static ACCEPTED: HandleSet<COMMUNICATOR> = HandleSet::new();

/// Whether a communicator is known to exist, and MPI is running.
#[inline]
pub(super) fn is_communicator(word: Word) -> bool {
    let handle = handle(word);
    handle == COMM_WORLD || handle == COMM_SELF || ACCEPTED.contains(handle)
}

/// Records that the library has accepted a communicator.
pub(super) fn accepted(word: Word) {
    if !is_communicator(word) {
        ACCEPTED.insert(handle(word));
    }
}

/// # Safety
///
/// As `MPI_Comm_free`.
unsafe fn free(original: &Original<Free>, communicator: *mut c_void) -> c_int {
    let Some(original) = original.get() else { return NO_ORIGINAL };
    // Before the call: afterwards, another thread may have a new communicator with this handle.
    if is_known() {
        // SAFETY: the caller's argument: null, or the address of a handle, as the library is known.
        if let Some(handle) = unsafe { communicator.cast::<Handle>().as_ref() } {
            ACCEPTED.remove(*handle);
        }
    }
    // SAFETY: the caller's argument.
    unsafe { original(communicator) }
}

macro_rules! exported {
    ($($name:ident = $ORIGINAL:ident;)+) => {$(
        /// Replaces MPI's function of this name.
        ///
        /// # Safety
        ///
        /// As for the original.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name(communicator: *mut c_void) -> c_int {
            // SAFETY: the caller's argument.
            unsafe { free(&$ORIGINAL, communicator) }
        }
    )+};
}

// The names are those of the standard.
exported! {
    MPI_Comm_free = FREE;
    PMPI_Comm_free = PROFILED_FREE;
    MPI_Comm_disconnect = DISCONNECT;
    PMPI_Comm_disconnect = PROFILED_DISCONNECT;
}

//! The end of MPI, after which the library refuses all calls that need it.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::original::{NO_ORIGINAL, Original, originals};

type Finalize = unsafe extern "C" fn() -> c_int;

// Each name leads to the next function of the same name, so that a tool behind this library sees the call as well.
originals! {
    static FINALIZE = c"MPI_Finalize": Finalize;
    static PROFILED_FINALIZE = c"PMPI_Finalize": Finalize;
}

static ENDED: AtomicBool = AtomicBool::new(false);

/// Whether MPI has ended. It never begins again.
#[inline]
pub(super) fn has_ended() -> bool {
    ENDED.load(Ordering::Relaxed)
}

/// # Safety
///
/// As `MPI_Finalize`.
unsafe fn finalize(original: &Original<Finalize>) -> c_int {
    let Some(original) = original.get() else { return NO_ORIGINAL };
    // SAFETY: it has no arguments.
    let code = unsafe { original() };
    // Not before: the functions that delete the program's attributes may pack.
    if code == 0 {
        ENDED.store(true, Ordering::Relaxed);
    }
    code
}

/// In front of MPI's function of this name.
///
/// # Safety
///
/// As for the original.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Finalize() -> c_int {
    // SAFETY: the caller guarantees it.
    unsafe { finalize(&FINALIZE) }
}

/// In front of MPI's function of this name.
///
/// # Safety
///
/// As for the original.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn PMPI_Finalize() -> c_int {
    // SAFETY: the caller guarantees it.
    unsafe { finalize(&PROFILED_FINALIZE) }
}

//! The end of MPI, after which the library refuses all calls that need it: `MPI_Finalize`, or the end of the last session.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::library::is_known;
use super::word::Word;
use crate::original::{NO_ORIGINAL, Original, originals};

type Finalize = unsafe extern "C" fn() -> c_int;
type BeginSession = unsafe extern "C" fn(Word, Word, *mut c_void) -> c_int;
type EndSession = unsafe extern "C" fn(*mut c_void) -> c_int;
type Ask = unsafe extern "C" fn(*mut c_int) -> c_int;

// Each name leads to the next function of the same name, so that a tool behind this library sees the call as well.
originals! {
    static FINALIZE = c"MPI_Finalize": Finalize;
    static PROFILED_FINALIZE = c"PMPI_Finalize": Finalize;
    static BEGIN = c"MPI_Session_init": BeginSession;
    static PROFILED_BEGIN = c"PMPI_Session_init": BeginSession;
    static END = c"MPI_Session_finalize": EndSession;
    static PROFILED_END = c"PMPI_Session_finalize": EndSession;
    static IS_INITIALIZED = c"PMPI_Initialized": Ask;
    static IS_FINALIZED = c"PMPI_Finalized": Ask;
}

static ENDED: AtomicBool = AtomicBool::new(false);

/// Sessions that have begun and not ended.
static SESSIONS: AtomicUsize = AtomicUsize::new(0);

/// Whether MPI has ended. It does not begin again: MPICH 4.0 crashes in a session after the last one.
#[inline]
pub(super) fn has_ended() -> bool {
    ENDED.load(Ordering::Relaxed)
}

/// Whether MPI runs without a session, from `MPI_Init` to `MPI_Finalize`.
fn has_world() -> bool {
    let ask = |original: &Original<Ask>| {
        let mut answer = 0;
        // SAFETY: callable at any time; the number lives through the call.
        original.get().map(|ask| unsafe { ask(&raw mut answer) });
        answer != 0
    };
    ask(&IS_INITIALIZED) && !ask(&IS_FINALIZED)
}

/// # Safety
///
/// As `MPI_Finalize`.
unsafe fn finalize(original: &Original<Finalize>) -> c_int {
    let Some(original) = original.get() else { return NO_ORIGINAL };
    // SAFETY: it has no arguments.
    let code = unsafe { original() };
    // Not before: the functions that delete the program's attributes may pack.
    if code == 0 && SESSIONS.load(Ordering::Relaxed) == 0 {
        ENDED.store(true, Ordering::Relaxed);
    }
    code
}

/// # Safety
///
/// As `MPI_Session_init`.
unsafe fn begin_session(
    original: &Original<BeginSession>,
    info: Word,
    handler: Word,
    session: *mut c_void,
) -> c_int {
    let Some(original) = original.get() else { return NO_ORIGINAL };
    // SAFETY: the caller's arguments.
    let code = unsafe { original(info, handler, session) };
    if code == 0 {
        SESSIONS.fetch_add(1, Ordering::Relaxed);
    }
    code
}

/// # Safety
///
/// As `MPI_Session_finalize`.
unsafe fn end_session(original: &Original<EndSession>, session: *mut c_void) -> c_int {
    let Some(original) = original.get() else { return NO_ORIGINAL };
    // SAFETY: the caller's argument.
    let code = unsafe { original(session) };
    if code == 0 && SESSIONS.fetch_sub(1, Ordering::Relaxed) == 1 && is_known() && !has_world() {
        ENDED.store(true, Ordering::Relaxed);
    }
    code
}

macro_rules! exported {
    ($($name:ident = $function:ident, $ORIGINAL:ident($($argument:ident: $type:ty),*);)+) => {$(
        /// In front of MPI's function of this name.
        ///
        /// # Safety
        ///
        /// As for the original.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            // SAFETY: the caller's arguments.
            unsafe { $function(&$ORIGINAL, $($argument),*) }
        }
    )+};
}

// The names are the standard's.
exported! {
    MPI_Finalize = finalize, FINALIZE();
    PMPI_Finalize = finalize, PROFILED_FINALIZE();
    MPI_Session_init = begin_session, BEGIN(info: Word, handler: Word, session: *mut c_void);
    PMPI_Session_init = begin_session, PROFILED_BEGIN(info: Word, handler: Word, session: *mut c_void);
    MPI_Session_finalize = end_session, END(session: *mut c_void);
    PMPI_Session_finalize = end_session, PROFILED_END(session: *mut c_void);
}

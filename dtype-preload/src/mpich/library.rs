//! Determines whether the MPI library is a known MPICH, and looks up its functions.

use std::ffi::{CStr, c_char, c_int};
use std::sync::OnceLock;

use super::numbers::{Handle, MAX_LIBRARY_VERSION_STRING, THREAD_MULTIPLE};
use crate::boundary::contain;
use crate::mode::Mode;
use crate::original::{is_initialized, originals};
use crate::report;

/// `MPI_Aint`.
pub(super) type Aint = isize;

/// `MPI_Count`.
pub(super) type Count = i64;

type Ask = unsafe extern "C" fn(*mut c_int) -> c_int;

originals! {
    static IS_FINALIZED = c"PMPI_Finalized": Ask;
    static GET_LIBRARY_VERSION = c"PMPI_Get_library_version":
        unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;
    static QUERY_THREAD = c"PMPI_Query_thread": Ask;
    // The forms with large counts, which all known versions have: the other forms call the error handler for types made with
    // large counts.
    pub(super) static GET_ENVELOPE = c"PMPI_Type_get_envelope_c":
        unsafe extern "C" fn(
            Handle, *mut Count, *mut Count, *mut Count, *mut Count, *mut c_int,
        ) -> c_int;
    pub(super) static GET_CONTENTS = c"PMPI_Type_get_contents_c":
        unsafe extern "C" fn(
            Handle, Count, Count, Count, Count, *mut c_int, *mut Aint, *mut Count, *mut Handle,
        ) -> c_int;
    pub(super) static GET_EXTENT = c"PMPI_Type_get_extent":
        unsafe extern "C" fn(Handle, *mut Aint, *mut Aint) -> c_int;
    pub(super) static GET_SIZE = c"PMPI_Type_size_x": unsafe extern "C" fn(Handle, *mut i64) -> c_int;
    pub(super) static FREE_PART = c"PMPI_Type_free": unsafe extern "C" fn(*mut Handle) -> c_int;
}

static FOUND: OnceLock<bool> = OnceLock::new();

/// Whether the library is a known MPICH and the mode is not `off`. The first call determines this.
#[inline]
pub(super) fn is_supported() -> bool {
    *FOUND.get_or_init(|| contain(|| Mode::get().on && look()) == Some(true))
}

/// Whether an earlier call of [`is_supported`] found a known MPICH.
#[inline]
pub(super) fn is_known() -> bool {
    FOUND.get() == Some(&true)
}

/// Whether several threads may call MPI at the same time. Called while MPI is running.
pub(super) fn has_threads() -> bool {
    static THREADS: OnceLock<bool> = OnceLock::new();
    *THREADS.get_or_init(|| {
        let mut level = THREAD_MULTIPLE;
        // SAFETY: the number lives through the call. If the call fails, the safe answer remains.
        QUERY_THREAD.get().map(|query| unsafe { query(&raw mut level) });
        level >= THREAD_MULTIPLE
    })
}

/// Whether MPI is running, from `MPI_Init` to `MPI_Finalize`. After that, the library refuses all calls that need MPI.
///
/// MPI also runs in a session, but no function of MPI tells whether a session is open. To count sessions, this library would
/// have to export `MPI_Session_init`, and programs with a library without sessions would find that function. So if a program
/// only has sessions, its packing is left to MPICH.
pub(super) fn is_running() -> bool {
    let mut finalized = 0;
    // SAFETY: the functions may be called at any time; the number lives through the call.
    is_initialized()
        && IS_FINALIZED
            .get()
            .is_some_and(|ask| unsafe { ask(&raw mut finalized) } == 0 && finalized == 0)
}

fn look() -> bool {
    let known = match version() {
        Some(text) => check(&text),
        None => Some(Err("it does not say its version".to_owned())),
    };
    match known {
        Some(known) => {
            let is_known = known.is_ok();
            report::begin(known);
            is_known
        }
        None => false,
    }
}

fn version() -> Option<String> {
    let mut text: [c_char; MAX_LIBRARY_VERSION_STRING] = [0; MAX_LIBRARY_VERSION_STRING];
    let mut len = 0;
    // SAFETY: the function may be called at any time; the text has the room that the library's header requires.
    if unsafe { GET_LIBRARY_VERSION.get()?(text.as_mut_ptr(), &raw mut len) } != 0 {
        return None;
    }
    text[MAX_LIBRARY_VERSION_STRING - 1] = 0;
    // SAFETY: the text ends with a zero, at the latest the one that was just written.
    Some(unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned())
}

/// The name of a library whose version string is known, or why the library is not supported; `None` for Open MPI, which is
/// [recognised elsewhere](crate::openmpi).
fn check(text: &str) -> Option<Result<String, String>> {
    let field = |name: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(name))
            .map(|value| value.trim_start_matches(':').trim())
    };
    if text.starts_with("Open MPI") {
        return None;
    }
    let Some(version) = field("MPICH Version") else {
        let name = text.lines().next().unwrap_or_default();
        return Some(Err(format!("{name}: only Open MPI and MPICH are known")));
    };
    let name = format!("MPICH {version}");
    if !version.starts_with("4.0.") {
        return Some(Err(format!("{name}: only the versions 4.0.x are known")));
    }
    let options = field("MPICH configure").unwrap_or_default();
    let device = ["--with-cuda", "--with-hip", "--with-ze"];
    if let Some(option) = device.iter().find(|option| options.contains(**option)) {
        return Some(Err(format!(
            "{name}: it was built with {option}, and may have device memory"
        )));
    }
    Some(Ok(name))
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn versions_are_recognized() {
        let text = |version, options| {
            format!(
                "MPICH Version:\t{version}\nMPICH Device:\tch4:ucx\nMPICH configure:\t{options}\n"
            )
        };
        assert_eq!(check(&text("4.0.2", "--enable-shared")), Some(Ok("MPICH 4.0.2".to_owned())));
        assert!(check(&text("4.2.1", "")).unwrap().is_err());
        assert!(check(&text("4.0.2", "--with-cuda=/usr")).unwrap().is_err());
        assert!(check("Intel(R) MPI Library 2021.13").unwrap().is_err());
        assert_eq!(check("Open MPI v4.1.4, package: Debian OpenMPI"), None);
    }
}

//! Determines which MPI library this is, and what may be taken over in it.

use std::env;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

use super::abi::{self, MAX_LIBRARY_VERSION_STRING, Word, abi};
use crate::boundary::contain;
use crate::mode::Mode;
use crate::original::{next, originals};
use crate::report;
use crate::stats::does_not_see;

/// `MPI_Aint`.
pub(super) type Aint = isize;

/// `MPI_Count`.
pub(super) type Count = i64;

type Ask = unsafe extern "C" fn(*mut c_int) -> c_int;

originals! {
    static GET_LIBRARY_VERSION = c"PMPI_Get_library_version":
        unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;
    static GET_VERSION = c"PMPI_Get_version": unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
    static QUERY_THREAD = c"PMPI_Query_thread": Ask;
    // The forms with large counts, which all known versions have: the other forms call the error handler for types made with
    // large counts.
    pub(super) static GET_ENVELOPE = c"PMPI_Type_get_envelope_c":
        unsafe extern "C" fn(
            Word, *mut Count, *mut Count, *mut Count, *mut Count, *mut c_int,
        ) -> c_int;
    pub(super) static GET_CONTENTS = c"PMPI_Type_get_contents_c":
        unsafe extern "C" fn(
            Word, Count, Count, Count, Count, *mut c_int, *mut Aint, *mut Count, *mut c_void,
        ) -> c_int;
    pub(super) static GET_EXTENT = c"PMPI_Type_get_extent":
        unsafe extern "C" fn(Word, *mut Aint, *mut Aint) -> c_int;
    pub(super) static GET_SIZE = c"PMPI_Type_size_x": unsafe extern "C" fn(Word, *mut i64) -> c_int;
    pub(super) static FREE_PART = c"PMPI_Type_free": unsafe extern "C" fn(*mut c_void) -> c_int;
}

/// A library in which calls of MPI are taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Library {
    name: String,
    /// The greatest number of packed bytes that are sent in the place of elements. Any number can be received.
    pub(super) longest_send: usize,
    /// The least number of packed bytes that are packed here for regular types (see `types.rs`), whose messages the
    /// library sends well if they are short. `MPI_Pack` of such types is left to the library, unless the number is 0.
    pub(super) least_regular: usize,
    /// Whether the library converts to `external32` as far as [known](super::external).
    pub(super) converts: bool,
    /// Whether the hook in UCX is known to serve the library.
    pub(super) has_ucx_hook: bool,
}

static FOUND: OnceLock<Option<Library>> = OnceLock::new();

/// The library, if it is known and the mode is not `off`. The first call determines this.
#[inline]
pub(super) fn library() -> Option<&'static Library> {
    FOUND.get_or_init(|| contain(|| Mode::get().on.then(look).flatten()).flatten()).as_ref()
}

/// Whether calls of MPI are taken over in this library.
#[inline]
pub(super) fn is_supported() -> bool {
    library().is_some()
}

/// Whether several threads may call MPI at the same time. Called while MPI is running.
pub(super) fn has_threads() -> bool {
    static THREADS: OnceLock<bool> = OnceLock::new();
    *THREADS.get_or_init(|| {
        let mut level = abi().thread_multiple;
        // SAFETY: the number lives through the call. If the call fails, the safe answer remains.
        QUERY_THREAD.get().map(|query| unsafe { query(&raw mut level) });
        level >= abi().thread_multiple
    })
}

fn look() -> Option<Library> {
    let is_standard = is_standard_abi();
    let known = match version() {
        Some(text) => {
            check(&text, is_standard, &|name| env::var(name).is_ok_and(|value| value != "0"))
        }
        None => Some(Err("it does not say its version".to_owned())),
    }?;
    let known = known.and_then(|mut library| {
        if Mode::get().everywhere {
            library.longest_send = usize::MAX;
        }
        // Libraries derived from MPICH 3 lack it.
        let is_old = next(c"PMPI_Type_get_envelope_c").is_null();
        if is_old {
            Err(format!("{}: it lacks functions of MPI 4.0", library.name))
        } else {
            Ok(library)
        }
    });
    if known.is_ok() {
        abi::set_standard(is_standard);
    }
    does_not_see(match &known {
        Ok(library) if library.longest_send == usize::MAX => {
            "one-sided operations, reductions and files"
        }
        _ => {
            "one-sided operations, reductions, files and what a rank sends to itself in a collective operation"
        }
    });
    report::begin(known.as_ref().map(|library| library.name.clone()).map_err(String::clone));
    known.ok()
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

/// Whether the library has the ABI of MPI 5.0. (MPICH 4.3 has a draft of it, with other numbers.)
fn is_standard_abi() -> bool {
    type Pair = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
    originals! {
        static GET_ABI = c"PMPI_Abi_get_version": Pair;
    }
    let ask = |function: Pair| {
        let (mut major, mut minor) = (-1, -1);
        // SAFETY: both functions may be called at any time; the numbers live through the call.
        let code = unsafe { function(&raw mut major, &raw mut minor) };
        if code == 0 { major } else { -1 }
    };
    !next(c"PMPI_Abi_get_version").is_null()
        && GET_ABI.get().map(ask) == Some(1)
        && GET_VERSION.get().map(ask) >= Some(5)
}

/// Packed bytes that MPICH 4.0 to 4.3 send without a handshake. They deliver longer contiguous messages wrongly, or not at all, to
/// a receiver with a derived datatype: MPICH 4.0.2 over UCX from 8 KiB, MPICH 4.3.2 in shared memory from 16 KiB.
const SHORT_SEND: usize = 4096;

/// Variables that change those limits.
const LIMITS: [&str; 5] = [
    "UCX_RNDV_THRESH",
    "UCX_RNDV_INTRA_THRESH",
    "UCX_MAX_EAGER",
    "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE",
    "MPIR_CVAR_CH4_IPC_ZE_QUEUE_THRESHOLD",
];

/// Variables by which the libraries are told that buffers may be on a device.
const DEVICES: [&str; 5] = [
    "I_MPI_OFFLOAD",
    "MPICH_GPU_SUPPORT_ENABLED",
    "MV2_USE_CUDA",
    "MVP_USE_CUDA",
    "MPIR_CVAR_ENABLE_GPU",
];

/// The library of a version string, or why it is not supported; `None` for Open MPI, which is
/// [recognised elsewhere](crate::openmpi).
fn check(
    text: &str,
    is_standard: bool,
    is_set: &dyn Fn(&str) -> bool,
) -> Option<Result<Library, String>> {
    let field = |name: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(name))
            .map(|value| value.trim_start_matches([':', ' ']).trim())
    };
    if text.starts_with("Open MPI") && !is_standard {
        return None;
    }
    let of_this_abi = if is_standard { ", standard ABI" } else { "" };
    let first = text.lines().next().unwrap_or_default().trim();
    let (name, is_complete, is_tested) = if let Some(version) = field("MPICH Version") {
        let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
        if major < Some(4) {
            return Some(Err(format!("MPICH {version}: only MPICH 4.0 and newer are known")));
        }
        (format!("MPICH {version}"), major >= Some(5), version.starts_with("4.0."))
    } else if let Some(version) = first.strip_prefix("Intel(R) MPI Library ") {
        let version = version.split(' ').next().unwrap_or_default();
        let year = version.split('.').next().and_then(|year| year.parse::<u32>().ok());
        if year < Some(2021) {
            return Some(Err(format!("Intel MPI {version}: only 2021 and newer are known")));
        }
        // Older releases are built on MPICH 3 and 4.0, and were not tried.
        let number = version.split('.').nth(1).and_then(|number| number.parse::<u32>().ok());
        (format!("Intel MPI {version}"), year > Some(2021) || number >= Some(18), false)
    } else if is_standard || first.contains("MVAPICH") || text.contains("CRAY MPICH") {
        (first.trim_end_matches(':').to_owned(), false, false)
    } else {
        return Some(Err(format!(
            "{first}: only Open MPI, MPICH, Intel MPI, MVAPICH and Cray's are known"
        )));
    };
    let name = name + of_this_abi;
    let options = field("MPICH configure").unwrap_or_default();
    let device = ["--with-cuda", "--with-hip", "--with-ze"];
    if let Some(option) = device.iter().find(|option| options.contains(**option)) {
        return Some(Err(format!(
            "{name}: it was built with {option}, and may have device memory"
        )));
    }
    if let Some(variable) = DEVICES.iter().find(|variable| is_set(variable)) {
        return Some(Err(format!("{name}: {variable} is set, and there may be device memory")));
    }
    let longest_send = if is_complete {
        usize::MAX
    } else if LIMITS.iter().any(|variable| is_set(variable)) {
        0
    } else {
        SHORT_SEND
    };
    let least_regular = match () {
        () if is_tested => 0,
        () if name.starts_with("Intel") => 512,
        () => 12 << 10,
    };
    let (converts, has_ucx_hook) = (is_tested, is_tested);
    Some(Ok(Library { name, longest_send, least_regular, converts, has_ucx_hook }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mpich(version: &str, options: &str) -> String {
        format!("MPICH Version:\t{version}\nMPICH Device:\tch4:ucx\nMPICH configure:\t{options}\n")
    }

    #[test]
    fn versions_are_recognized() {
        let look =
            |text: &str, is_standard, set: &str| check(text, is_standard, &|name| name == set);
        let longest = |text: &str, set| look(text, false, set).unwrap().unwrap().longest_send;
        assert_eq!(longest(&mpich("4.0.2", ""), ""), SHORT_SEND);
        assert_eq!(longest(&mpich("4.3.2", ""), ""), SHORT_SEND);
        assert_eq!(longest(&mpich("4.3.2", ""), "UCX_RNDV_THRESH"), 0);
        assert_eq!(longest(&mpich("5.0.2", ""), "UCX_RNDV_THRESH"), usize::MAX);
        assert_eq!(longest("Intel(R) MPI Library 2021.18.1 for Linux* OS\n", ""), usize::MAX);
        assert_eq!(longest("Intel(R) MPI Library 2021.13 for Linux* OS\n", ""), SHORT_SEND);
        let refused = |text: &str, set| look(text, false, set).unwrap().is_err();
        assert!(refused(&mpich("3.4.2", ""), ""));
        assert!(refused(&mpich("5.0.2", "--with-cuda=/usr"), ""));
        assert!(refused(&mpich("5.0.2", ""), "MPIR_CVAR_ENABLE_GPU"));
        assert!(refused("Intel(R) MPI Library 2019.9 for Linux* OS", ""));
        assert!(refused("Another MPI 1.0", ""));
        assert_eq!(look("Open MPI v4.1.4, package: Debian OpenMPI", false, ""), None);
        let standard = look("Open MPI v6.0.0", true, "").unwrap().unwrap();
        assert_eq!(
            (&*standard.name, standard.longest_send),
            ("Open MPI v6.0.0, standard ABI", SHORT_SEND)
        );
    }
}

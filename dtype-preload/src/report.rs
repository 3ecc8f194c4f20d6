//! What a process reports in the modes `verify` and `stats`: at once, why everything is left to the MPI library; at exit, the
//! report of `stats`, or why nothing was verified or counted.

use std::ffi::CStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

use crate::boundary::{contain, say};
use crate::mode::{Mode, VARIABLE};
use crate::original::{is_initialized, next};
use crate::{stats, verify};

/// The MPI library of this process, or why everything is left to it.
static LIBRARY: OnceLock<Result<String, String>> = OnceLock::new();

/// The process that loaded this library, or that first called it. Its children made by `fork` print nothing.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Records which library was found, or why everything is left to it.
pub(crate) fn begin(library: Result<String, String>) {
    PROCESS.store(process::id(), Ordering::Relaxed);
    if let Ok(()) = LIBRARY.set(library)
        && let Some(Err(why)) = LIBRARY.get()
    {
        let Mode { verify, stats, .. } = Mode::get();
        let why = || format!("everything is left to the MPI library: {why}");
        say_nothing_is(verify, stats, &why);
    }
}

/// The dynamic linker calls this when it has loaded this library.
#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;

extern "C" fn loaded() {
    extern "C" fn at_exit() {
        contain(end);
    }

    let value = env::var(VARIABLE).unwrap_or_default();
    let (mode, unknown) = Mode::parse(&value);
    if mode.reports() || unknown.is_some() {
        PROCESS.store(process::id(), Ordering::Relaxed);
        // SAFETY: the function does not unwind. It stays loaded until the process ends, as any library does that the linker was
        // told to load.
        unsafe { libc::atexit(at_exit) };
    }
}

fn end() {
    if PROCESS.load(Ordering::Relaxed) != process::id() {
        return;
    }
    match LIBRARY.get() {
        Some(Ok(library)) => {
            let Mode { verify, stats, .. } = Mode::get();
            let has_moved = stats::dtype_preload_moved() > 0;
            if stats && has_moved {
                say(format_args!("{}", stats::report(&name(), library)));
            }
            let verified = verify && !verify::has_compared();
            say_nothing_is(verified, stats && !has_moved, &|| {
                format!("{library}: {}", stats::why_nothing())
            });
        }
        // This was printed when it was found out.
        Some(Err(_)) => {}
        None => {
            let mode = Mode::get();
            if let Some(why) = why_not_called() {
                say_nothing_is(mode.verify, mode.stats, &|| why.to_owned());
            }
        }
    }
}

/// Prints why nothing is verified, or counted, or neither.
fn say_nothing_is(verified: bool, counted: bool, why: &dyn Fn() -> String) {
    let done = match (verified, counted) {
        (true, true) => "verified or counted",
        (true, false) => "verified",
        (false, true) => "counted",
        (false, false) => return,
    };
    say(format_args!("dtype-preload: {}: nothing is {done}: {}\n", name(), why()));
}

/// Why this library was never called; `None` if the process is not an MPI program, such as a shell that starts one.
fn why_not_called() -> Option<&'static str> {
    if next(c"PMPI_Initialized").is_null() {
        let is_static = rank().is_some() && names_mpi().unwrap_or(false);
        return is_static.then_some("the program is linked with its MPI library statically");
    }
    if !is_initialized() {
        return None;
    }
    Some(if Mode::get().on {
        "the program has used no derived datatype, or its MPI library is not known"
    } else {
        "DTYPE_PRELOAD has the word off"
    })
}

/// Whether the executable contains the name of the function that every MPI program calls.
fn names_mpi() -> Option<bool> {
    const NAME: &CStr = c"MPI_Init";
    let bytes = fs::read("/proc/self/exe").ok()?;
    Some(bytes.windows(NAME.count_bytes()).any(|part| part == NAME.to_bytes()))
}

/// The rank of this process, if a launcher has set it.
fn rank() -> Option<String> {
    ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"].iter().find_map(|name| env::var(name).ok())
}

fn name() -> String {
    rank().map_or_else(|| format!("process {}", process::id()), |rank| format!("rank {rank}"))
}

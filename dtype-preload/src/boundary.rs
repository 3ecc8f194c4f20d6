//! Where foreign code calls this library.

use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{fmt, ptr};

/// Runs code that a foreign caller called; `None` if it panics. The caller then does what it would do without this library.
pub(crate) fn contain<R>(run: impl FnOnce() -> R) -> Option<R> {
    // A panic leaves nothing half changed that outlives the call: tables are changed by single calls of the standard library's
    // maps, and everything else belongs to the caller.
    catch_unwind(AssertUnwindSafe(run)).ok()
}

/// Writes to standard error in one call, because other processes may write there, too. If that fails, as for a pipe that no
/// process reads, nothing is written. (`eprint!` would panic, and the signal `SIGPIPE` would end the program.)
pub(crate) fn say(text: fmt::Arguments<'_>) {
    let text = fmt::format(text);
    let (mut pipe, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: the functions write the sets, which live through the calls; the masks are this thread's.
    let was_pending = unsafe {
        libc::sigemptyset(pipe.as_mut_ptr());
        libc::sigaddset(pipe.as_mut_ptr(), libc::SIGPIPE);
        let mut pending = MaybeUninit::uninit();
        libc::sigpending(pending.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, pipe.as_ptr(), before.as_mut_ptr());
        libc::sigismember(pending.as_ptr(), libc::SIGPIPE) == 1
    };
    let result = io::stderr().write_all(text.as_bytes());
    let is_broken = result.is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
    let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the sets were written above. Only the signal of this write is taken, not one of the program's own.
    unsafe {
        if is_broken && !was_pending {
            libc::sigtimedwait(pipe.as_ptr(), ptr::null_mut(), &raw const now);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut());
    }
}

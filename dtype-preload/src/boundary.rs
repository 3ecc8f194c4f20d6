//! Where foreign code calls this library.

use std::fmt;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs code that a foreign caller called: `None` if it panics. The caller then does what it would have done without
/// this library.
pub(crate) fn contain<R>(run: impl FnOnce() -> R) -> Option<R> {
    // Nothing that outlives the call is left half changed: the tables are changed by single calls of the standard
    // library's maps, and everything else belongs to the caller.
    catch_unwind(AssertUnwindSafe(run)).ok()
}

/// Writes to standard error, all at once: other processes may write there, too. Where that fails, as in a pipe that nobody
/// reads, nothing is said; `eprint!` would panic.
pub(crate) fn say(text: fmt::Arguments<'_>) {
    let _ = io::stderr().write_all(fmt::format(text).as_bytes());
}

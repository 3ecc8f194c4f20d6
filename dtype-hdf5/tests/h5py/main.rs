//! Tests that start Python, in a process of their own: Python inherits the files that its parent has open, with their locks.

mod conversions;
mod files;
mod names;
mod pytables;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// One test after the other: a process that a test starts inherits the files that others have open, and the library's locks on
/// them.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

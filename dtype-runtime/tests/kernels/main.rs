//! Tests that select kernels. The selection applies to the whole process, so these tests have a process of their own.

#[path = "../model/mod.rs"]
mod model;
#[cfg(feature = "derive")]
#[path = "../seeds/mod.rs"]
mod seeds;
#[cfg(feature = "derive")]
#[path = "../tags/mod.rs"]
mod tags;

#[cfg(feature = "derive")]
mod columns;
#[cfg(feature = "std")]
mod decisions;
#[cfg(feature = "derive")]
mod explain;
#[cfg(all(unix, target_pointer_width = "64"))]
mod guard_pages;
#[cfg(feature = "std")]
mod instances;
#[cfg(feature = "derive")]
mod padding;
#[cfg(feature = "derive")]
mod races;
mod same_bytes;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held by each test that selects kernels, so that no other test selects meanwhile.
fn alone() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

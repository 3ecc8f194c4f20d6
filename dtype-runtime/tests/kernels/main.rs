//! Tests that select kernels. The selection applies to the whole process, so these tests have a process of their own.

#[cfg(feature = "derive")]
mod columns;
#[cfg(all(feature = "std", feature = "derive"))]
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

use dtype_runtime::isa::{Isa, available, select};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The lock of the tests that select kernels: only one of them runs at a time.
fn alone() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Selects each instruction set of this machine in turn, and prints a line for each that the machine lacks.
fn each_isa() -> impl Iterator<Item = Isa> {
    let (has, lacks): (Vec<Isa>, Vec<Isa>) = Isa::ALL.iter().partition(|isa| available(**isa));
    for isa in lacks {
        println!("left out: no {isa} in this machine");
    }
    has.into_iter().inspect(|isa| select(*isa).unwrap())
}

//! The identity of this process, and numbers that no other process has.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{OnceLock, RwLock};

/// The numbers of the workers of this process. While this is locked for reading, no worker is destroyed.
pub(crate) static WORKERS: RwLock<BTreeSet<u64>> = RwLock::new(BTreeSet::new());

fn seed() -> &'static RandomState {
    static SEED: OnceLock<RandomState> = OnceLock::new();
    // A child of `fork` has the same seed, but another process identifier.
    SEED.get_or_init(RandomState::new)
}

/// A number that no other process has, on any machine. Addresses of memory are valid only in a process with the same number.
pub(crate) fn id() -> u64 {
    seed().hash_one(process::id())
}

/// A number that is never returned again, and that peers cannot guess. It is not 0.
pub(crate) fn fresh() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = seed().hash_one((process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
        if number != 0 {
            return number;
        }
    }
}

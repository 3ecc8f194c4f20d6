//! Which process this is.

use std::hash::{BuildHasher, RandomState};
use std::process;
use std::sync::OnceLock;

/// A number that other processes, on any machine, do not have. Addresses of memory mean something only where this is the
/// same.
pub(crate) fn id() -> u64 {
    static SEED: OnceLock<RandomState> = OnceLock::new();
    // The seed is random. A child of `fork` has the same seed, and another process identifier.
    SEED.get_or_init(RandomState::new).hash_one(process::id())
}

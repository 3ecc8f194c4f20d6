//! The operations of a worker that UCX has not completed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of operations that no thread waits for and whose callback UCX has not called. The worker must not be destroyed
/// before this is 0.
///
/// Its owners change it during calls with the worker. The last owner, which reads it, is synchronised with all others.
#[derive(Clone, Default)]
pub(crate) struct Unfinished(Arc<AtomicUsize>);

impl Unfinished {
    /// Counts an operation that is about to be started.
    pub(crate) fn begin(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Discounts an operation that has completed, or that was not started after all.
    pub(crate) fn end(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether any operation is unfinished.
    pub(crate) fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}

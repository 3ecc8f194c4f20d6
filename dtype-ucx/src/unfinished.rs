//! The operations of a worker that UCX has not completed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of operations that no thread awaits and whose callback UCX has not called. While there are any, the worker
/// must not be destroyed.
///
/// Its owners change it in calls with the worker. The last owner, which reads it, has synchronised with all others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unfinished(Arc<AtomicUsize>);

impl Unfinished {
    /// An operation is about to be started.
    pub(crate) fn begin(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// An operation that was begun has completed, or was not started.
    pub(crate) fn end(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether any operation is unfinished.
    pub(crate) fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}

//! A type that was compiled.

use std::sync::Arc;
use std::time::Instant;

use dtype_runtime::Committed;

use crate::stats::{self, Row};

/// A compiled type, with the row of the report that counts its use.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) committed: Committed,
    /// Present if there will be a report.
    row: Option<Arc<Row>>,
}

impl Compiled {
    pub(crate) fn new(committed: Committed) -> Self {
        let row = stats::row_of(&committed);
        Self { committed, row }
    }

    /// Runs a call that moves some bytes, and counts it if there will be a report.
    #[inline]
    pub(crate) fn counted<R>(&self, bytes: usize, run: impl FnOnce() -> R) -> R {
        let Some(row) = &self.row else { return run() };
        let start = Instant::now();
        let result = run();
        row.add(bytes, start.elapsed());
        result
    }
}

//! A type that was compiled.

use std::sync::Arc;
use std::time::Instant;

use dtype_runtime::types::Entry;
use dtype_runtime::{Basic, Committed};

use crate::mode::Mode;
use crate::stats::{self, Row};

/// A compiled type, with the row of the report in which its use is counted.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) committed: Committed,
    /// The row of the report, if the mode prints one.
    row: Option<Arc<Row>>,
    /// Whether some values have padding, which MPI libraries may leave out: a `long double` of 10 bytes takes 16. Only computed
    /// if results are compared.
    pub(crate) has_padding: bool,
}

impl Compiled {
    pub(crate) fn new(committed: Committed) -> Self {
        let row = stats::row_of(&committed);
        let has_padding = Mode::get().verify && has_padding(&committed);
        Self { committed, row, has_padding }
    }

    /// The bytes with which memory is filled before the library writes there for a comparison: those of this engine if the
    /// library may leave out some, otherwise their complement.
    pub(crate) fn library_start(&self, here: &[u8]) -> Vec<u8> {
        here.iter().map(|&byte| if self.has_padding { byte } else { !byte }).collect()
    }

    /// Runs a call that moves some bytes, and counts the bytes; the call, too, if the mode prints a report.
    #[inline]
    pub(crate) fn counted<R>(&self, bytes: usize, run: impl FnOnce() -> R) -> R {
        stats::moves(bytes);
        let Some(row) = &self.row else { return run() };
        let start = Instant::now();
        let result = run();
        row.add(bytes, start.elapsed());
        result
    }
}

fn has_padding(committed: &Committed) -> bool {
    committed.as_type().description().entries().iter().any(|entry| match entry {
        Entry::Elem(elem) => is_padded(elem.basic),
        Entry::Loop(_) | Entry::EndLoop(_) => false,
    })
}

/// Whether a basic type's values have padding.
const fn is_padded(basic: Basic) -> bool {
    matches!(basic, Basic::LongDouble | Basic::LongDoubleComplex | Basic::CxxLongDoubleComplex)
}

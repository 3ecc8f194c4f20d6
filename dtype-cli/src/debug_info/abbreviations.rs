//! The tables of abbreviations that units refer to.
//!
//! Any number of units may share a table: those of one object after `ld -r`, `dwz` or link-time optimization do.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use dtype_stored::{Budget, Exceeded};
use gimli::{Abbreviation, Abbreviations, AttributeSpecification, DebugAbbrev, DebugAbbrevOffset};
use gimli::{Reader as _, constants as dw};

use super::sections::Slice;

/// An object's number, and the offset of a table in its section.
type Key = (usize, usize);

type Table = OnceLock<Result<Arc<Abbreviations>, gimli::Error>>;

/// Tables of abbreviations. Each is parsed once, by the first unit that needs it.
#[derive(Debug, Default)]
pub(super) struct Tables {
    all: Mutex<HashMap<Key, Arc<Table>>>,
}

impl Tables {
    /// The table at an offset of a section. If the budget is used up, this is any error.
    pub(super) fn get(
        &self,
        object: usize,
        offset: DebugAbbrevOffset,
        section: Slice<'_>,
        budget: &Budget,
    ) -> Result<Arc<Abbreviations>, gimli::Error> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let table = Arc::clone(all.entry((object, offset.0)).or_default());
        // Other threads may parse other tables meanwhile.
        drop(all);
        let parse = || {
            count(section, offset.0, budget)?;
            DebugAbbrev::from(section).abbreviations(offset).map(Arc::new)
        };
        table.get_or_init(parse).clone()
    }
}

/// Counts what a table takes, before it is parsed.
fn count(mut section: Slice<'_>, offset: usize, budget: &Budget) -> Result<(), gimli::Error> {
    // What a vector that grows takes while it is copied.
    const ENTRY: usize = 3 * size_of::<Abbreviation>();
    const ATTRIBUTE: usize = 3 * size_of::<AttributeSpecification>();
    let ended = |_: Exceeded| gimli::Error::OffsetOutOfBounds(offset as u64);
    section.skip(offset)?;
    while section.read_uleb128()? != 0 {
        section.read_uleb128()?;
        section.read_u8()?;
        let mut attributes = 0;
        loop {
            let (name, form) = (section.read_uleb128()?, section.read_uleb128()?);
            if (name, form) == (0, 0) {
                break;
            }
            if form == u64::from(dw::DW_FORM_implicit_const.0) {
                section.read_sleb128()?;
            }
            attributes += 1;
        }
        budget.work(1 + attributes).map_err(ended)?;
        budget.hold(ENTRY + ATTRIBUTE * attributes).map_err(ended)?;
    }
    Ok(())
}

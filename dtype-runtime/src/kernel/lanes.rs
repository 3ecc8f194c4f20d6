//! Whether the values in packed records lie in their ranges.

use super::registers::{Registers, compiled_for_selected};
use crate::plan::Lanes;

/// Whether all values in `count` packed records lie in their ranges; `None` if the machine lacks the instructions.
#[inline]
pub(crate) fn all_valid(all: &Lanes, records: &[u8], count: usize) -> Option<bool> {
    debug_assert_eq!(records.len(), count * all.size());
    // SAFETY: nothing is required but the instructions, which the dispatch sees to.
    unsafe { by_registers(all, records, count) }
}

compiled_for_selected! {
    /// # Safety
    ///
    /// None: the dispatch selects instructions that the processor has.
    unsafe fn by_registers[][](all: &Lanes, records: &[u8], count: usize) -> Option<bool>
        = R => R::all_valid(all, records, count);
}

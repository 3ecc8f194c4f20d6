//! Whether the values in packed records lie in their ranges.

use super::registers::{Registers, compiled_for_selected};
use crate::kernels::selected;
use crate::plan::Lanes;

/// Whether all values in whole packed records lie in their ranges; `None` if the machine lacks the instructions.
#[inline]
pub(crate) fn all_valid(all: &Lanes, records: &[u8]) -> Option<bool> {
    if !selected().permutes() {
        return None;
    }
    // SAFETY: nothing is required but the instructions, which the dispatch sees to.
    unsafe { by_registers(all, records) }
}

compiled_for_selected! {
    /// # Safety
    ///
    /// None: the dispatch selects instructions that the processor has.
    unsafe fn by_registers[][](all: &Lanes, records: &[u8]) -> Option<bool>
        = R => R::all_valid(all, records);
}

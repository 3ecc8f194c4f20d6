//! Arrays of small structs as columns, and back.
//!
//! See [`Gather`] for the idea. The last records, and all of them without the instructions, are copied column by column.

use super::direction::{Pack, Steps, Unpack, Way};
use super::registers::{Registers, compiled_for_selected};
use super::rows::strided;
use crate::kernels::selected;
use crate::plan::{Constant, Gather, MOST_COLUMNS};

/// Whether the selected kernels copy several records at a time.
#[inline]
pub(crate) fn is_gathering() -> bool {
    selected().permutes()
}

/// Copies `count` records, the first at `memory`, to the columns.
///
/// # Safety
///
/// The data of the columns must be readable in each record, and each column writable for as many bytes as these are. No two
/// of them must overlap.
#[inline]
pub(crate) unsafe fn gather<G: Constant>(
    count: usize,
    memory: *mut u8,
    columns: [*mut u8; MOST_COLUMNS],
) {
    // SAFETY: passed on to the caller.
    unsafe {
        let done = if is_gathering() { pack::<G>(count, memory, columns) } else { 0 };
        rest::<Pack>(G::GATHER, done..count, memory, columns);
    }
}

/// Copies columns to the data of `count` records, the first at `memory`.
///
/// # Safety
///
/// As [`gather`], with the memory written and the columns read.
#[inline]
pub(crate) unsafe fn scatter<G: Constant>(
    count: usize,
    memory: *mut u8,
    columns: [*mut u8; MOST_COLUMNS],
) {
    // SAFETY: passed on to the caller.
    unsafe {
        let done = if is_gathering() { unpack::<G>(count, memory, columns) } else { 0 };
        rest::<Unpack>(G::GATHER, done..count, memory, columns);
    }
}

/// Copies some of the records column by column.
///
/// # Safety
///
/// As [`gather`] or [`scatter`].
unsafe fn rest<D: Way>(
    all: &Gather,
    records: core::ops::Range<usize>,
    memory: *mut u8,
    columns: [*mut u8; MOST_COLUMNS],
) {
    if records.is_empty() {
        return;
    }
    for (place, column) in all.places().iter().zip(columns) {
        let steps = Steps { memory: all.stride().cast_signed(), packed: place.len };
        let memory = memory.wrapping_add(records.start * all.stride() + place.offset);
        let column = column.wrapping_add(records.start * place.len);
        // SAFETY: the values of this column in these records, which the caller guarantees.
        unsafe { strided::<D>(place.len, records.len(), steps, memory, column) };
    }
}

compiled_for_selected! {
    /// Copies the first records, and returns their number.
    ///
    /// # Safety
    ///
    /// As [`gather`].
    unsafe fn pack[G: Constant][G](count: usize, memory: *mut u8, columns: [*mut u8; MOST_COLUMNS]) -> usize
        = R => R::gather::<G>(count, memory, columns);
}

compiled_for_selected! {
    /// Copies the first records, and returns their number.
    ///
    /// # Safety
    ///
    /// As [`scatter`].
    unsafe fn unpack[G: Constant][G](count: usize, memory: *mut u8, columns: [*mut u8; MOST_COLUMNS]) -> usize
        = R => R::scatter::<G>(count, memory, columns);
}

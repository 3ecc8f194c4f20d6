//! Copies arrays of small structs to columns, and back.
//!
//! [`Gather`] explains how. Machines without the instructions copy the records column by column.

use super::direction::{Steps, Way};
use super::registers::{Registers, compiled_for_selected};
use super::strided::strided;
use crate::isa::selected;
use crate::plan::{Constant, Gather, MAX_COLUMNS};

/// Whether the selected kernels copy several records at a time.
#[inline]
pub(crate) fn is_gathering() -> bool {
    selected().permutes()
}

/// Copies `count` records, the first at `memory`, to the columns, or back.
///
/// # Safety
///
/// `memory` must be valid for `D` on the data of the columns in each record, and each column on as many bytes. Records and
/// columns must not overlap.
#[inline]
pub(crate) unsafe fn columns<D: Way, G: Constant>(
    count: usize,
    memory: *mut u8,
    columns: &[*mut u8; MAX_COLUMNS],
) {
    // SAFETY: both copy these records; the second only if the first has copied nothing.
    unsafe {
        if !together::<D, G>(count, memory, columns) {
            one_by_one::<D>(G::GATHER, count, memory, columns);
        }
    }
}

compiled_for_selected! {
    /// Copies several records at a time, or returns `false`.
    ///
    /// # Safety
    ///
    /// What [`columns`] requires.
    unsafe fn together[D: Way, G: Constant][D, G](count: usize, memory: *mut u8, columns: &[*mut u8; MAX_COLUMNS]) -> bool
        = R, without avx2 => R::columns::<D, G>(count, memory, columns);
}

/// Copies the records column by column.
///
/// # Safety
///
/// `memory` must be valid for `D` on the data of the columns in each record, and each column on as many bytes.
unsafe fn one_by_one<D: Way>(
    gather: &Gather,
    count: usize,
    memory: *mut u8,
    columns: &[*mut u8; MAX_COLUMNS],
) {
    for (place, &column) in gather.places().iter().zip(columns) {
        let steps = Steps { memory: gather.stride().cast_signed(), packed: place.len };
        let memory = memory.wrapping_add(place.offset);
        // SAFETY: the caller guarantees the values of this column in all records.
        unsafe { strided::<D>(place.len, count, steps, memory, column) };
    }
}

#[cfg(test)]
mod tests {
    use super::super::direction::{Pack, Unpack};
    use super::*;
    use crate::plan::Place;

    /// Records of 24 bytes, with gaps: an `f64`, a `u32`, a byte.
    struct Three;

    impl Constant for Three {
        const GATHER: &'static Gather = &{
            let mut places = [Place { offset: 0, len: 0 }; MAX_COLUMNS];
            places[0] = Place { offset: 0, len: 8 };
            places[1] = Place { offset: 8, len: 4 };
            places[2] = Place { offset: 20, len: 1 };
            Gather::new(places, 3, 24).expect("five records lie in a window")
        };
    }

    const MARK: u8 = 0xee;

    /// Bytes around each array: more than a window.
    const AROUND: usize = 256;

    fn room(bytes: usize) -> Vec<u8> {
        vec![MARK; AROUND + bytes + AROUND]
    }

    /// The first bytes of the columns.
    fn starts(columns: &mut [Vec<u8>; 3]) -> [*mut u8; MAX_COLUMNS] {
        let mut starts = [core::ptr::null_mut(); MAX_COLUMNS];
        for (start, column) in starts.iter_mut().zip(columns) {
            *start = column.as_mut_ptr().wrapping_add(AROUND);
        }
        starts
    }

    #[test]
    fn nothing_else_is_written() {
        let (all, lens) = (Three::GATHER, [8, 4, 1]);
        for count in 0..40 {
            let records: Vec<u8> = (0..=250_u8).cycle().take(count * 24).collect();
            let mut memory = room(count * 24);
            memory[AROUND..][..count * 24].copy_from_slice(&records);
            let mut columns = lens.map(|len| room(count * len));
            let mut expected = columns.clone();
            let mut image = room(count * 24);
            for record in 0..count {
                for ((column, len), place) in expected.iter_mut().zip(lens).zip(all.places()) {
                    let from = record * 24 + place.offset;
                    let value = &records[from..][..len];
                    column[AROUND + record * len..][..len].copy_from_slice(value);
                    image[AROUND + from..][..len].copy_from_slice(value);
                }
            }
            let starts = starts(&mut columns);
            // SAFETY: there are this many records, and room for their values in each column.
            unsafe {
                super::columns::<Pack, Three>(count, memory.as_mut_ptr().add(AROUND), &starts);
            };
            assert_eq!(columns, expected, "{count} records to columns");

            let mut memory = room(count * 24);
            // SAFETY: as above; the memory is written.
            unsafe {
                super::columns::<Unpack, Three>(count, memory.as_mut_ptr().add(AROUND), &starts);
            };
            assert_eq!(memory, image, "{count} records from columns");
        }
    }

    #[test]
    fn columns_are_gathered_where_bytes_are_permuted() {
        assert_eq!(is_gathering(), selected().permutes());
    }
}

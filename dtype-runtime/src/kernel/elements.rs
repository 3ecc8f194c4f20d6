//! Copies values that are converted by keeping or reversing their bytes: one operation, or an array of structs.

use alloc::borrow::Cow;

use super::block::run;
use super::direction::{Steps, Way};
use super::record::Tiled;
use super::reverse::{reverse, reverse_value};
use super::strided::{blocks, strided};
use crate::plan::{Blocks, Elements, Op, Program, Values, bytewise_size, values};
use crate::representation::Form;

/// Executes the operation if its values are converted byte by byte. Returns whether they are.
///
/// # Safety
///
/// The bytes of all values, relative to `memory`, and as many from `packed` on must be valid for `D`.
pub(crate) unsafe fn bytewise<D: Way>(
    elements: &Elements,
    program: &Program,
    memory: *mut u8,
    packed: *mut u8,
) -> bool {
    // SAFETY: the same values. An operation on elements has one value in each block, so the length of a block is the
    // width of a value (`plan::Elements`).
    unsafe {
        match elements.form {
            Form::Same { .. } => {
                blocks::<D>(&elements.blocks, program, memory, packed);
            }
            Form::Reversed { width: width @ (2 | 4 | 8 | 16) } => {
                reversed_blocks::<D>(width, &elements.blocks, memory, packed);
            }
            _ => return false,
        }
    }
    true
}

/// Copies blocks, and reverses each value of `width` bytes: 2, 4, 8 or 16.
///
/// # Safety
///
/// The bytes of all blocks, relative to `memory`, and as many from `packed` on must be valid for `D`. The blocks must be whole
/// values.
#[expect(clippy::cast_possible_truncation, reason = "values in memory")]
pub(crate) unsafe fn reversed_blocks<D: Way>(
    width: u8,
    blocks: &Blocks,
    memory: *mut u8,
    packed: *mut u8,
) {
    // Blocks that touch become one.
    let Blocks { disp, len, count, stride } = blocks.normalized();
    let (len, count) = (len as usize, count as usize);
    let steps = Steps { memory: stride as isize, packed: len };
    // SAFETY: the caller guarantees the blocks.
    unsafe {
        reverse::<D>(width, len, count, steps, memory.wrapping_offset(disp as isize), packed);
    }
}

/// Repetitions of a few values that are converted byte by byte: an array of structs. They are [tiled](Tiled).
pub(crate) struct Records<'a> {
    values: Cow<'a, [Op]>,
    tiled: Tiled,
}

impl<'a> Records<'a> {
    /// `count` repetitions of a few operations.
    pub(crate) fn new(ops: &'a [Op], stride: i64, count: u64) -> Option<Self> {
        // Excluded first, because calls for few repetitions are the most frequent.
        Tiled::new(0, stride, count)?;
        let values = values(ops)?;
        let size = usize::try_from(bytewise_size(&values)?).ok()?;
        Some(Self { values, tiled: Tiled::new(size, stride, count)? })
    }

    /// `count` instances with these values.
    pub(crate) fn of_instances(values: &'a Values, extent: i64, count: u64) -> Option<Self> {
        let size = usize::try_from(values.size()).ok()?;
        let tiled = Tiled::new(size, extent, count)?;
        Some(Self { values: Cow::Borrowed(values.ops()), tiled })
    }

    /// Packed bytes of all repetitions.
    pub(crate) fn packed_size(&self) -> u64 {
        self.tiled.packed_size() as u64
    }

    /// # Safety
    ///
    /// The bytes of all values of all repetitions, relative to `memory`, and as many from `packed` on must be
    /// valid for `D`.
    pub(crate) unsafe fn execute<D: Way>(&self, memory: *mut u8, packed: *mut u8) {
        self.tiled.each::<D>(memory, packed, |records, steps, memory, packed| {
            let mut field = packed;
            for op in &*self.values {
                let Op::Elements(all) = op else { continue };
                // SAFETY: the caller guarantees all values of all records; these are one value of some of them.
                unsafe { column::<D>(all, records, steps, memory, field) };
                #[expect(clippy::cast_possible_truncation, reason = "few, see `bytewise_size`")]
                let bytes = (all.blocks.len * all.blocks.count) as usize;
                field = field.wrapping_add(bytes);
            }
        });
    }
}

/// Converts one value.
///
/// # Safety
///
/// As many bytes as the value has must be valid for `D` from `memory` and from `packed` on. It must have 1, 2, 4, 8 or 16
/// bytes.
#[inline(always)]
pub(crate) unsafe fn value<D: Way>(form: Form, memory: *mut u8, packed: *mut u8) {
    // SAFETY: the caller guarantees the bytes of the value.
    unsafe {
        match form {
            Form::Same { width } => run::<D>(memory, packed, width.into()),
            Form::Reversed { width } => reverse_value::<D>(width, memory, packed),
            Form::Integer { .. } | Form::Float { .. } => {}
        }
    }
}

/// Values at equal distances in each of `records` records.
///
/// # Safety
///
/// The bytes of these values in each record, relative to `memory`, and as many from `packed` on, advanced by the steps, must be
/// valid for `D`.
#[expect(clippy::cast_possible_truncation, reason = "values in memory")]
unsafe fn column<D: Way>(
    elements: &Elements,
    records: usize,
    steps: Steps,
    memory: *mut u8,
    packed: *mut u8,
) {
    // Values that touch become one block.
    let places = elements.blocks.normalized();
    let len = places.len as usize;
    for block in 0..places.count {
        let memory = memory.wrapping_offset(places.block(block) as isize);
        let packed = packed.wrapping_add(block as usize * len);
        // SAFETY: the caller guarantees the values of each record. `bytewise_size` has checked that the forms are bytewise, so a
        // reversed value has 2, 4, 8 or 16 bytes, and `len` is a multiple of its width.
        unsafe {
            match elements.form {
                Form::Same { .. } => strided::<D>(len, records, steps, memory, packed),
                Form::Reversed { width } => {
                    reverse::<D>(width, len, records, steps, memory, packed);
                }
                Form::Integer { .. } | Form::Float { .. } => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Elements;

    #[test]
    fn many_records_of_few_values_are_converted_value_by_value() {
        let value = |disp, width: u8| {
            let blocks = Blocks::run(disp, width.into());
            Op::Elements(Elements { blocks, form: Form::Reversed { width } })
        };
        let ops = [value(0, 4), value(8, 8)];
        assert_eq!(Records::new(&ops, 16, 100).unwrap().packed_size(), 1200);
        let values = Values::from_ops(&ops).unwrap();
        assert_eq!(Records::of_instances(&values, 16, 100).unwrap().packed_size(), 1200);
        // A single record, and values that are only copied.
        assert!(Records::new(&ops, 16, 1).is_none());
        assert!(Records::new(&[Op::Blocks(Blocks::run(0, 4))], 16, 100).is_none());
    }
}

//! Values that are converted, one by one or many alike.

use super::blocks::{Steps, blocks, strided};
use super::swap::{Reversing, Way};
use crate::commit::{Elements, Op, Tables, size};
use crate::representation::Form;

/// Executes the operation, if its values are converted byte by byte; returns whether they are.
///
/// # Safety
///
/// The bytes of all values, relative to `memory`, and as many from `packed` on must be valid for `D`.
pub(crate) unsafe fn bytewise<D: Way>(
    all: &Elements,
    tables: &Tables,
    memory: *mut u8,
    packed: *mut u8,
) -> bool {
    let places = all.places;
    // SAFETY: what the caller vouches for, passed on; the width of a value is the length of a block.
    unsafe {
        match all.form {
            Form::Same { .. } => blocks::<D>(places, tables, memory, packed),
            Form::Reversed { width: 2 } => {
                blocks::<Reversing<D, 2>>(places, tables, memory, packed)
            }
            Form::Reversed { width: 4 } => {
                blocks::<Reversing<D, 4>>(places, tables, memory, packed)
            }
            Form::Reversed { width: 8 } => {
                blocks::<Reversing<D, 8>>(places, tables, memory, packed)
            }
            Form::Reversed { width: 16 } => {
                blocks::<Reversing<D, 16>>(places, tables, memory, packed)
            }
            _ => return false,
        };
    }
    true
}

/// Bytes of memory and packed stream that a tile spans: a part of the first-level cache.
const TILE: usize = 8192;

/// Fewer repetitions than this are not worth the setup.
const FEWEST: u64 = 4;

/// Records with more packed bytes than this are better converted one by one.
const WIDEST: u64 = 256;

/// Repetitions of a few values that are converted byte by byte: an array of structs. As for bytes, they are taken
/// value by value, of all records of a tile.
pub(crate) struct Records<'a> {
    ops: &'a [Op],
    /// Packed bytes of one record.
    size: usize,
    /// Bytes of memory from one record to the next.
    stride: isize,
    count: usize,
    /// Records in a tile.
    tile: usize,
}

impl<'a> Records<'a> {
    /// `count` repetitions of a few operations.
    pub(crate) fn of(ops: &'a [Op], stride: i64, count: u64) -> Option<Self> {
        let has_kernel = |op: &Op| match op {
            Op::Elements(all) => all.form.is_bytewise() && all.places.len.is_power_of_two(),
            _ => false,
        };
        if count < FEWEST || ops.len() as u64 > WIDEST || !ops.iter().all(has_kernel) {
            return None;
        }
        let size = size(ops, Tables::empty());
        if size > WIDEST {
            return None;
        }
        let (stride, count) = (isize::try_from(stride).ok()?, usize::try_from(count).ok()?);
        let size = usize::try_from(size).ok()?;
        let tile = TILE / stride.unsigned_abs().max(size).max(1);
        (tile > 1).then_some(Self { ops, size, stride, count, tile })
    }

    /// Packed bytes of all repetitions.
    pub(crate) fn packed_size(&self) -> u64 {
        (self.size * self.count) as u64
    }

    /// # Safety
    ///
    /// The bytes of all values of all repetitions, relative to `memory`, and as many from `packed` on must be
    /// valid for `D`.
    pub(crate) unsafe fn execute<D: Way>(&self, mut memory: *mut u8, mut packed: *mut u8) {
        let mut left = self.count;
        while left > 0 {
            let records = left.min(self.tile);
            let mut field = packed;
            for op in self.ops {
                let Op::Elements(all) = op else { continue };
                // SAFETY: the caller vouches for these values in every record.
                unsafe { self.column::<D>(all, records, memory, field) };
                #[expect(clippy::cast_possible_truncation, reason = "at most `WIDEST`")]
                let bytes = (all.places.len * all.places.count) as usize;
                field = field.wrapping_add(bytes);
            }
            memory = memory.wrapping_offset(self.stride.wrapping_mul(records.cast_signed()));
            packed = packed.wrapping_add(self.size * records);
            left -= records;
        }
    }

    /// The values of one operation in so many records.
    ///
    /// # Safety
    ///
    /// As [`execute`](Self::execute), for these.
    #[expect(clippy::cast_possible_truncation, reason = "values in memory")]
    unsafe fn column<D: Way>(
        &self,
        all: &Elements,
        records: usize,
        memory: *mut u8,
        packed: *mut u8,
    ) {
        let steps = Steps { memory: self.stride, packed: self.size };
        let places = all.places.normalized();
        if let Form::Same { .. } = all.form
            && places.count == 1
        {
            let memory = memory.wrapping_offset(places.disp as isize);
            // SAFETY: as the caller vouches; values that touch are one block.
            return unsafe { strided::<D>(places.len as usize, records, steps, memory, packed) };
        }
        let len = all.places.len as usize;
        for value in 0..all.places.count {
            let memory = memory.wrapping_offset(all.places.block(value) as isize);
            let packed = packed.wrapping_add(value as usize * len);
            // SAFETY: as the caller vouches, one value of each record.
            unsafe {
                match all.form {
                    Form::Same { .. } => strided::<D>(len, records, steps, memory, packed),
                    Form::Reversed { width: 2 } => {
                        strided::<Reversing<D, 2>>(2, records, steps, memory, packed);
                    }
                    Form::Reversed { width: 4 } => {
                        strided::<Reversing<D, 4>>(4, records, steps, memory, packed);
                    }
                    Form::Reversed { width: 8 } => {
                        strided::<Reversing<D, 8>>(8, records, steps, memory, packed);
                    }
                    Form::Reversed { .. } => {
                        strided::<Reversing<D, 16>>(16, records, steps, memory, packed);
                    }
                    Form::Integer { .. } | Form::Float { .. } => {}
                }
            }
        }
    }
}

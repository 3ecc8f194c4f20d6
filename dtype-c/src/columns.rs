//! Arrays of structs as arrays of their members.

use std::ffi::c_void;
use std::ops::Range;
use std::slice;

use dtype_runtime::outline::{Outline, Parts};
use dtype_runtime::{Committed, Error, Type};

use crate::arguments::{Array, In, Out};
use crate::error::{Failure, boundary, dtype_error};
use crate::handle::{objects, release};
use crate::memory::Memory;
use crate::types::dtype_type;

objects! {
    /// A type's columns.
    dtype_columns = 0x6474_7405, "columns", Columns;
}

/// Bytes of records that are copied at a time, so that each column finds them in the first-level cache.
const BATCH: usize = 16_384;

/// A type whose members are columns.
#[derive(Debug)]
pub struct Columns {
    whole: Committed,
    /// Each member alone, at its place in a record.
    members: Vec<Committed>,
}

impl Columns {
    fn new(ty: &Type) -> Result<Self, Error> {
        let mut inner = Outline::Type(ty);
        let members = loop {
            match inner.parts() {
                Parts::Same(of) => inner = of,
                Parts::Members(members, _) => {
                    let alone = |member: &dtype_runtime::types::Member| {
                        let (length, place) = (member.blocklength, member.displacement);
                        let one =
                            Type::structure(&[length], &[place], slice::from_ref(&member.ty))?;
                        Ok(Type::resized(&one, ty.lb(), ty.extent())?.commit())
                    };
                    break members.iter().map(alone).collect::<Result<Vec<_>, Error>>()?;
                }
                _ => break vec![ty.commit()],
            }
        };
        Ok(Self { whole: ty.commit(), members })
    }

    /// Bytes of one record in a column.
    fn width(&self, column: usize) -> Result<usize, Failure> {
        let member = self.members.get(column).ok_or_else(|| {
            let number = self.members.len();
            Failure::argument(format!("column is {column}, expected less than {number}"))
        })?;
        Ok(member.packed_size(1)?)
    }

    /// The addresses of the columns, which must exist, be long enough, and lie apart from the records.
    fn check(
        &self,
        memory: Memory,
        count: usize,
        arrays: &[*mut u8],
        sizes: &[usize],
    ) -> Result<(), Failure> {
        if arrays.len() != self.members.len() {
            let (number, expected) = (arrays.len(), self.members.len());
            return Err(Failure::argument(format!(
                "number is {number}, expected {expected} columns"
            )));
        }
        let data = memory.check(&self.whole, count)?;
        for ((member, array), size) in self.members.iter().zip(arrays).zip(sizes) {
            let needed = member.packed_size(count)?;
            if array.is_null() {
                continue;
            }
            if *size < needed {
                let (needed, available) = (needed as u64, *size as u64);
                return Err(Error::DestinationTooSmall { needed, available }.into());
            }
            data.check_apart(&self.whole, count, array.cast_const(), needed)?;
        }
        Ok(())
    }

    /// Calls `copy` with each member, the address of the first record of a batch, the address of the batch in the column, and the
    /// number of records.
    fn each_batch(
        &self,
        memory: Memory,
        count: usize,
        arrays: &[*mut u8],
        mut copy: impl FnMut(&Committed, *mut u8, *mut u8, usize) -> Result<(), Error>,
    ) -> Result<(), Failure> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "addresses are the same modulo their width"
        )]
        let extent = self.whole.extent() as isize;
        let at_a_time = (BATCH / extent.unsigned_abs().max(1)).max(64);
        let mut first = 0;
        while first < count {
            let records = at_a_time.min(count - first);
            // All records lie in the memory, so no number overflows.
            let origin = memory.origin.wrapping_offset((first as isize).wrapping_mul(extent));
            for (member, array) in self.members.iter().zip(arrays) {
                if !array.is_null() {
                    let column = array.wrapping_add(first * member.packed_size(1)?);
                    copy(member, origin, column, records)?;
                }
            }
            first += records;
        }
        Ok(())
    }
}

/// Makes the columns of a type.
///
/// # Safety
///
/// `ty` is null or a handle that lives, `out` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_columns_new(
    ty: *const dtype_type,
    out: *mut *mut dtype_columns,
) -> dtype_error {
    // SAFETY: `ty` is null or a handle, `out` null or writable.
    let (ty, out) = unsafe { (In::new(ty), Out::new(out)) };
    boundary(|| {
        let (ty, out) = (ty.get("type")?, out.place("out")?);
        out.put_new(Columns::new(ty)?);
        Ok(())
    })
}

/// The end of the columns.
///
/// # Safety
///
/// `columns` is null or a handle of which the caller owns the reference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_columns_release(columns: *mut dtype_columns) {
    // SAFETY: `columns` is null or a handle with the reference of the caller.
    unsafe { release(columns) }
}

/// The number of columns.
///
/// # Safety
///
/// `columns` is null or a handle that lives, `out` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_columns_number(
    columns: *const dtype_columns,
    out: *mut usize,
) -> dtype_error {
    // SAFETY: `columns` is null or a handle, `out` null or writable.
    let (columns, out) = unsafe { (In::new(columns), Out::new(out)) };
    boundary(|| {
        let (columns, out) = (columns.get("columns")?, out.place("out")?);
        out.put(columns.members.len());
        Ok(())
    })
}

/// Bytes of one record in a column.
///
/// # Safety
///
/// `columns` is null or a handle that lives, `out` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_columns_width(
    columns: *const dtype_columns,
    column: usize,
    out: *mut usize,
) -> dtype_error {
    // SAFETY: `columns` is null or a handle, `out` null or writable.
    let (columns, out) = unsafe { (In::new(columns), Out::new(out)) };
    boundary(|| {
        let (columns, out) = (columns.get("columns")?, out.place("out")?);
        out.put(columns.width(column)?);
        Ok(())
    })
}

/// Copies records to columns.
///
/// # Safety
///
/// `columns` is null or a handle that lives. `memory` is null, or initialised and readable wherever the data of the records lie,
/// or for `memory_size` bytes. `arrays` and `sizes` are null or have `number` elements, and each array is null or writable for its
/// size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_columns_split(
    columns: *const dtype_columns,
    memory: *const c_void,
    memory_size: usize,
    count: usize,
    arrays: *const *mut c_void,
    sizes: *const usize,
    number: usize,
) -> dtype_error {
    // SAFETY: `columns` is null or a handle, the arrays are null or have `number` elements.
    let (columns, arrays, sizes) = unsafe {
        (In::new(columns), Array::new(arrays.cast::<*mut u8>(), number), Array::new(sizes, number))
    };
    boundary(|| {
        let columns = columns.get("columns")?;
        let memory = Memory::new(memory, memory_size);
        let (arrays, sizes) = (arrays.get("arrays")?, sizes.get("sizes")?);
        columns.check(memory, count, arrays, sizes)?;
        check_disjoint(columns, count, arrays)?;
        columns.each_batch(memory, count, arrays, |member, origin, column, records| {
            let range = 0..member.packed_size(records)? as u64;
            // SAFETY: the data of all records are readable and those of the column have room: the caller promises that of the
            // memories, whose sizes were just checked. They do not overlap.
            unsafe { member.pack_range_raw(origin, records, range, column) }
        })
    })
}

/// Refuses columns that overlap one another.
fn check_disjoint(columns: &Columns, count: usize, arrays: &[*mut u8]) -> Result<(), Failure> {
    let mut ranges = Vec::<Range<usize>>::with_capacity(arrays.len());
    for (member, array) in columns.members.iter().zip(arrays) {
        let start = array.addr();
        let end = start.checked_add(member.packed_size(count)?).ok_or_else(Failure::overlap)?;
        if !array.is_null() && start < end {
            ranges.push(start..end);
        }
    }
    ranges.sort_unstable_by_key(|range| range.start);
    let overlap = ranges.windows(2).any(|pair| pair[1].start < pair[0].end);
    if overlap { Err(Failure::overlap()) } else { Ok(()) }
}

/// Copies columns to records.
///
/// # Safety
///
/// `columns` is null or a handle that lives. `arrays` and `sizes` are null or have `number` elements, and each array is null or
/// readable for its size. `memory` is null, or writable wherever the data of the records lie, or for `memory_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_columns_join(
    columns: *const dtype_columns,
    arrays: *const *const c_void,
    sizes: *const usize,
    number: usize,
    memory: *mut c_void,
    memory_size: usize,
    count: usize,
) -> dtype_error {
    // SAFETY: `columns` is null or a handle, the arrays are null or have `number` elements.
    let (columns, arrays, sizes) = unsafe {
        (In::new(columns), Array::new(arrays.cast::<*mut u8>(), number), Array::new(sizes, number))
    };
    boundary(|| {
        let columns = columns.get("columns")?;
        let memory = Memory::new(memory, memory_size);
        let (arrays, sizes) = (arrays.get("arrays")?, sizes.get("sizes")?);
        columns.check(memory, count, arrays, sizes)?;
        columns.whole.check_overlap(count)?;
        columns.each_batch(memory, count, arrays, |member, origin, column, records| {
            let range = 0..member.packed_size(records)? as u64;
            // SAFETY: the data of all records are writable and those of the column readable: the caller promises that of the
            // memories, whose sizes were just checked. They do not overlap, nor do the records.
            unsafe { member.unpack_range_raw(column, range, origin, records) }
        })
    })
}

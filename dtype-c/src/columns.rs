//! Arrays of structs as arrays of their members.

use std::slice;

use dtype_runtime::outline::{Outline, Parts};
use dtype_runtime::{Committed, Error, Type};

use crate::boundary::{functions, release};
use crate::error::Failure;
use crate::handle::objects;
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

    /// Checks that there is an array for each column, long enough and apart from the records; and if arrays are written, from one
    /// another.
    fn check(
        &self,
        memory: Memory,
        count: usize,
        (arrays, sizes): (&[*mut u8], &[usize]),
        are_written: bool,
    ) -> Result<(), Failure> {
        if arrays.len() != self.members.len() {
            let (number, expected) = (arrays.len(), self.members.len());
            let text = format!("number is {number}, expected {expected} columns");
            return Err(Failure::argument(text));
        }
        let data = memory.check(&self.whole, count)?;
        let mut ranges = Vec::with_capacity(arrays.len());
        for ((member, array), size) in self.members.iter().zip(arrays).zip(sizes) {
            let needed = member.packed_size(count)?;
            if array.is_null() || needed == 0 {
                continue;
            }
            if *size < needed {
                let (needed, available) = (needed as u64, *size as u64);
                return Err(Error::DestinationTooSmall { needed, available }.into());
            }
            data.check_apart(&self.whole, count, (array.cast_const(), needed))?;
            ranges.push((array.addr(), array.addr().saturating_add(needed)));
        }
        ranges.sort_unstable();
        let overlap = ranges.windows(2).any(|pair| pair[1].0 < pair[0].1);
        if are_written && overlap { Err(Failure::overlap()) } else { Ok(()) }
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
        let all = self.members.iter().zip(arrays);
        // Of columns that are left out or without data, there may be any number of records.
        let all: Vec<_> = all.filter(|(ty, array)| !array.is_null() && ty.size() > 0).collect();
        let count = if all.is_empty() { 0 } else { count };
        #[expect(clippy::cast_possible_truncation, reason = "the distance of two addresses")]
        let extent = self.whole.extent() as isize;
        let at_a_time = (BATCH / extent.unsigned_abs().max(1)).max(64);
        for first in (0..count).step_by(at_a_time) {
            let records = at_a_time.min(count - first);
            // All records lie in the memory, so no number overflows.
            let origin = memory.origin.wrapping_offset((first as isize).wrapping_mul(extent));
            for (member, array) in &all {
                copy(member, origin, array.wrapping_add(first * member.packed_size(1)?), records)?;
            }
        }
        Ok(())
    }
}

functions! { COLUMNS:
    /// Makes the columns of a type.
    fn dtype_columns_new(object: [&dtype_type], out: [new dtype_columns]) {
        out.put_new(Columns::new(object.get()?)?)
    }

    /// The number of columns.
    fn dtype_columns_number(columns: [&dtype_columns], out: [out usize]) {
        out.put(columns.get()?.members.len())
    }

    /// Bytes of one record in a column.
    fn dtype_columns_width(columns: [&dtype_columns], column: usize, out: [out usize]) {
        out.put(columns.get()?.width(column)?)
    }

    /// Copies records to columns.
    fn dtype_columns_split(
        columns: [&dtype_columns], memory: [memory; memory_size], memory_size: usize, count: usize,
        arrays: [mut pointers; number], sizes: [usize; number], number: usize
    ) {
        let (columns, arrays) = (columns.get()?, arrays.get()?);
        columns.check(memory, count, (arrays, sizes.get()?), true)?;
        columns.each_batch(memory, count, arrays, |member, origin, column, records| {
            let range = 0..member.packed_size(records)? as u64;
            // SAFETY: the data of all records are readable and those of the column have room: the caller promises that of the
            // memories, whose sizes were just checked. They do not overlap.
            unsafe { member.pack_range_raw(origin, records, range, column) }
        })
    }

    /// Copies columns to records.
    fn dtype_columns_join(
        columns: [&dtype_columns], arrays: [pointers; number], sizes: [usize; number],
        number: usize, memory: [mut memory; memory_size], memory_size: usize, count: usize
    ) {
        let (columns, arrays) = (columns.get()?, arrays.get()?);
        columns.check(memory, count, (arrays, sizes.get()?), false)?;
        columns.whole.check_overlap(count)?;
        columns.each_batch(memory, count, arrays, |member, origin, column, records| {
            let range = 0..member.packed_size(records)? as u64;
            // SAFETY: the data of all records are writable and those of the column readable: the caller promises that of the
            // memories, whose sizes were just checked. They do not overlap, nor do the records.
            unsafe { member.unpack_range_raw(column, range, origin, records) }
        })
    }
}

release!(dtype_columns_release, dtype_columns);

//! A range of a packed stream: what a fragment of a message is.

use core::marker::PhantomData;
use core::ops::{ControlFlow, Range};

use super::cursor::{Instances, Part, Repeated, Visitor};
use crate::commit::{Blocks, List, Tables};
use crate::kernel::{self, Direction};

/// Copies whole records of a Rust type, by code that was compiled for it: from or to the first of them,
/// to or from the packed stream, so many.
pub(crate) type WholeRecords = unsafe fn(*mut u8, *mut u8, usize);

/// Copies a range of the packed stream, to or from `packed`, whole instances by `whole` if there is such.
///
/// # Safety
///
/// `memory + displacement` must be valid for `D` on every byte that the range names, and `packed` for as
/// many bytes as the range has. The two must not overlap. If `D` reads memory, all data of the instances must be
/// readable, because of a small record all are loaded to copy a part. `whole` must be for `D` and do what the
/// operations do for each instance.
pub(super) unsafe fn copy_range<D: Direction>(
    instances: &Instances<'_>,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    whole: Option<WholeRecords>,
) {
    let tables = instances.tables();
    let mut copier = Copier::<D> { tables, memory, packed, whole, direction: PhantomData };
    let _ = instances.visit(range, &mut copier);
}

/// Copies pieces. Made by [`copy_range`] only, whose caller vouches for all pieces of the range, which are those
/// that it visits.
struct Copier<'a, D> {
    /// Those of the operations.
    tables: &'a Tables,
    memory: *mut u8,
    /// Where the next piece is in the packed stream.
    packed: *mut u8,
    whole: Option<WholeRecords>,
    direction: PhantomData<D>,
}

impl<D> Copier<'_, D> {
    fn at(&self, disp: i64) -> *mut u8 {
        #[expect(clippy::cast_possible_truncation, reason = "displacements of data, in memory")]
        self.memory.wrapping_offset(disp as isize)
    }
}

impl<D: Direction> Visitor for Copier<'_, D> {
    #[expect(clippy::cast_possible_truncation, reason = "bytes in memory")]
    fn run(&mut self, disp: i64, len: u64) -> ControlFlow<()> {
        let len = len as usize;
        // SAFETY: a piece of the range.
        unsafe { kernel::run::<D>(self.at(disp), self.packed, len) };
        self.packed = self.packed.wrapping_add(D::advance(len));
        ControlFlow::Continue(())
    }

    fn blocks(&mut self, all: &Blocks) -> ControlFlow<()> {
        // SAFETY: a piece of the range.
        self.packed = unsafe { kernel::blocks::<D>(*all, self.tables, self.memory, self.packed) };
        ControlFlow::Continue(())
    }

    fn list(&mut self, list: &List, tables: &Tables, shift: i64) -> ControlFlow<()> {
        // SAFETY: a piece of the range, and the tables are those of the list.
        self.packed = unsafe { kernel::list::<D>(list, tables, self.at(shift), self.packed) };
        ControlFlow::Continue(())
    }

    #[expect(clippy::cast_possible_truncation, reason = "bytes of a record")]
    fn part(&mut self, part: &Part<'_>) -> Option<ControlFlow<()>> {
        let bytes = part.bytes.start as usize..part.bytes.end as usize;
        let len = bytes.len();
        let (all, memory) = (part.permutation, self.at(part.shift));
        // SAFETY: a piece of the range, not empty, and the permutation is that of the record. The data of the record
        // that are not in the range are those of an instance nevertheless, and readable where memory is read, as the
        // caller vouches.
        let done = unsafe { D::permute_part(all, bytes, memory, self.packed) };
        if !done {
            return None;
        }
        self.packed = self.packed.wrapping_add(D::advance(len));
        Some(ControlFlow::Continue(()))
    }

    fn repeated(&mut self, all: &Repeated<'_>) -> Option<ControlFlow<()>> {
        let Repeated { ops, tables, count, stride, shift } = *all;
        // SAFETY: a piece of the range, and the tables are those of the operations.
        self.packed = unsafe {
            kernel::repeated::<D>(ops, tables, count, stride, self.at(shift), self.packed)
        };
        Some(ControlFlow::Continue(()))
    }

    #[expect(clippy::cast_possible_truncation, reason = "instances in memory")]
    fn instances(&mut self, size: u64, all: &Repeated<'_>) -> Option<ControlFlow<()>> {
        let Some(whole) = self.whole else { return self.repeated(all) };
        // SAFETY: a piece of the range: so many instances, the first of them displaced by the shift.
        unsafe { whole(self.at(all.shift), self.packed, all.count as usize) };
        let bytes = (size * all.count) as usize;
        self.packed = self.packed.wrapping_add(D::advance(bytes));
        Some(ControlFlow::Continue(()))
    }
}

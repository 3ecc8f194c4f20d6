//! Copies between two places in memory with the same layout.

use alloc::vec::Vec;
use core::ops::ControlFlow;

use super::buffer::{Buffer, BufferMut};
use super::cursor::{Fragment, Instances, Repeated, Visitor};
use crate::commit::Committed;
use crate::error::Error;
use crate::kernel;
use crate::plan::{Blocks, List, Lists, Op, Program};

impl Committed {
    /// Copies the data of `count` instances from one buffer to another, as packing and unpacking would, without the
    /// packed bytes in between. Gaps are neither read nor written.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`]; [`Error::OutOfBounds`] if the data reach outside either memory; [`Error::Overlap`] if
    /// they name a byte more than once. Nothing is written then.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Buffer, Type};
    /// let column = Type::vector(3, 1, 4, &Type::basic(Basic::U8))?.commit();
    /// let mut matrix = *b"............";
    /// column.copy(Buffer::new(b"abcdefghijkl").origin(1), &mut matrix, 1)?;
    /// assert_eq!(&matrix, b"b...f...j...");
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Sendrecv")]
    pub fn copy<'a, 'b>(
        &self,
        from: impl Into<Buffer<'a>>,
        to: impl Into<BufferMut<'b>>,
        count: usize,
    ) -> Result<(), Error> {
        let (from, mut to) = (from.into(), to.into());
        self.check_span(from.len() as u64, from.origin, count)?;
        self.check_span(to.len() as u64, to.origin, count)?;
        // SAFETY: all bytes that the instances name lie in the two memories, as just checked, one of which is borrowed
        // and the other borrowed exclusively, so they do not overlap.
        unsafe { self.copy_raw(from.pointer(), to.pointer(), count) }
    }

    /// As [`copy`](Self::copy), from one origin to another in the same memory. The two layouts may overlap: the result
    /// is as if all data had been read before the first byte was written. Overlapping layouts take a buffer of the
    /// size of the data.
    ///
    /// # Errors
    ///
    /// As [`copy`](Self::copy), and [`Error::Allocation`].
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let pairs = Type::vector(2, 2, 3, &Type::basic(Basic::U8))?.commit();
    /// let mut memory = *b"ab.cd...";
    /// pairs.copy_within(&mut memory, 0, 1, 1)?;
    /// assert_eq!(&memory, b"aabccd..");
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn copy_within(
        &self,
        memory: &mut [u8],
        from_origin: i64,
        to_origin: i64,
        count: usize,
    ) -> Result<(), Error> {
        self.check_span(memory.len() as u64, from_origin, count)?;
        self.check_span(memory.len() as u64, to_origin, count)?;
        let base = memory.as_mut_ptr();
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the pointers of data are the same modulo their width"
        )]
        let [from, to] = [from_origin, to_origin].map(|at| base.wrapping_offset(at as isize));
        // SAFETY: all bytes that the instances name, from either origin, lie in the memory, as just checked,
        // which is borrowed exclusively.
        unsafe { self.copy_raw(from, to, count) }
    }

    /// As [`copy_within`](Self::copy_within), from one raw origin to another, which may be in the same memory.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`], [`Error::Overlap`], [`Error::Allocation`]. Nothing is written then.
    ///
    /// # Safety
    ///
    /// Every byte of data that `count` instances name must be initialised and readable at its displacement from `from`,
    /// writable at its displacement from `to`, each in the same allocation as its origin, and not be accessed by anyone
    /// else during the call. If the memory holds Rust values, the bytes must make valid ones.
    pub unsafe fn copy_raw(&self, from: *const u8, to: *mut u8, count: usize) -> Result<(), Error> {
        let size = self.packed_size(count)?;
        self.check_overlap(count)?;
        if self.spans_meet(from, to, count) {
            let mut packed = Vec::new();
            packed
                .try_reserve_exact(size)
                .map_err(|_| Error::Allocation { count: size, stride: 1 })?;
            packed.resize(size, 0);
            // SAFETY: the caller guarantees the memory; the buffer is a new one.
            unsafe {
                self.pack_raw(from, count, &mut packed)?;
                self.unpack_raw(&packed, to, count)?;
            }
            return Ok(());
        }
        let instances = Instances::of_plan(self.plan(), count as u64);
        let mut mover = Mover { from: from.cast_mut(), to, program: self.plan().program() };
        let _ = instances.visit(0..size as u64, &mut mover);
        Ok(())
    }

    /// Whether the ranges from the first to the last byte of data at two origins overlap.
    fn spans_meet(&self, from: *const u8, to: *mut u8, count: usize) -> bool {
        let steps = count.saturating_sub(1) as u128;
        let length = u128::from(self.true_extent().unsigned_abs())
            + steps * u128::from(self.extent().unsigned_abs());
        u128::from(from.addr().abs_diff(to.addr()) as u64) < length
    }
}

/// Copies the blocks of instances from one memory to another.
///
/// # Invariant
///
/// Only [`Committed::copy_raw`] makes it, and it visits exactly the instances that were given there. So everything
/// that is visited is readable at its displacement from `from`, writable at its displacement from `to`, and the
/// two do not overlap.
struct Mover<'a> {
    from: *mut u8,
    to: *mut u8,
    /// The program of the operations.
    program: &'a Program,
}

impl Mover<'_> {
    /// Copies `count` blocks, the first at displacement `disp`.
    #[expect(clippy::cast_possible_truncation, reason = "blocks in memory")]
    fn blocks_at(&mut self, disp: i64, len: u64, count: u64, stride: i64) {
        let (disp, step) = (disp as isize, stride as isize);
        let steps = kernel::Steps { memory: step, packed: step.cast_unsigned() };
        let (from, to) = (self.from.wrapping_offset(disp), self.to.wrapping_offset(disp));
        let all = Blocks { disp: 0, len, count, stride };
        // SAFETY: data of the instances, read in the one memory and written at the same displacement in the other.
        unsafe {
            if kernel::permuted_blocks::<kernel::Move>(&all, self.program, from, to).is_none() {
                kernel::strided::<kernel::Move>(len as usize, count as usize, steps, from, to);
            }
        }
    }
}

impl Visitor for Mover<'_> {
    fn run(&mut self, disp: i64, len: u64) -> ControlFlow<()> {
        self.blocks_at(disp, len, 1, 0);
        ControlFlow::Continue(())
    }

    fn blocks(&mut self, blocks: &Blocks) -> ControlFlow<()> {
        let Blocks { disp, len, count, stride } = blocks.normalized();
        self.blocks_at(disp, len, count, stride);
        ControlFlow::Continue(())
    }

    #[expect(clippy::cast_possible_truncation, reason = "displacements of data, in memory")]
    fn list(&mut self, list: &List, lists: &Lists, shift: i64) -> ControlFlow<()> {
        let from = self.from.wrapping_offset(shift as isize);
        let to = self.to.wrapping_offset(shift.wrapping_add(list.disp()) as isize);
        // SAFETY: as in `blocks_at`, and the list belongs to the tables.
        unsafe { kernel::list::<kernel::Move>(list, lists, from, to) };
        ControlFlow::Continue(())
    }

    #[expect(clippy::cast_possible_truncation, reason = "bytes and displacements, in memory")]
    fn permuted(&mut self, part: &Fragment<'_>) -> Option<ControlFlow<()>> {
        let bytes = part.bytes.start as usize..part.bytes.end as usize;
        let from = self.from.wrapping_offset(part.shift as isize);
        let to = self.to.wrapping_offset(part.shift as isize);
        // SAFETY: as in `blocks_at`; the permutation belongs to the instances, which do not overlap.
        let done = unsafe { kernel::permute::<kernel::Move>(part.permutation, bytes, from, to) };
        done.then_some(ControlFlow::Continue(()))
    }

    /// Records that are not a permutation are copied block by block, if they are single blocks: one block of all
    /// records, then the next.
    #[expect(clippy::cast_possible_truncation, reason = "displacements of data, in memory")]
    fn repeated(&mut self, repeated: &Repeated<'_>) -> Option<ControlFlow<()>> {
        let Repeated { ops, program, count, stride, shift } = *repeated;
        let from = self.from.wrapping_offset(shift as isize);
        let to = self.to.wrapping_offset(shift as isize);
        // SAFETY: as in `blocks_at`.
        let permuted = unsafe {
            kernel::permuted_records::<kernel::Move>(ops, program, count, stride, from, to)
        };
        if permuted.is_some() {
            return Some(ControlFlow::Continue(()));
        }
        let single = |op: &Op| matches!(op, Op::Blocks(blocks) if blocks.count == 1);
        if !ops.iter().all(single) {
            return None;
        }
        for op in ops {
            if let Op::Blocks(block) = op {
                self.blocks_at(block.disp.wrapping_add(shift), block.len, count, stride);
            }
        }
        Some(ControlFlow::Continue(()))
    }
}

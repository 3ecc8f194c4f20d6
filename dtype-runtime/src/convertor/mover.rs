//! Copies between two places in memory: with the same layout, or with two layouts of one signature.

use core::mem::MaybeUninit;
use core::ops::ControlFlow;

use super::buffer::{Buffer, BufferMut};
use super::checks::allocate;
use super::copier::copy_range;
use super::cursor::{Instances, Repeated, Visitor};
use super::ranges::{at, copy_permuted, length};
use crate::commit::Committed;
use crate::error::Error;
use crate::isa::selected;
use crate::kernel::{self, Move, Pack, Unpack};
use crate::plan::{Blocks, List, Lists, Op, Program, choose};

/// Bytes of the stage between two memories: a part of the first-level cache.
const STAGE: usize = 8192;
const STAGE_BYTES: u64 = STAGE as u64;

/// So few bytes go through the stage whatever they are, because visiting their blocks would take longer.
const FEW: usize = 64;

impl Committed {
    /// Copies the data of `count` instances from one buffer to another, as packing and unpacking would, but without packed
    /// bytes in between. Gaps are neither read nor written.
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
        self.check_span(from.len() as u64, from.origin.into(), count)?;
        self.check_span(to.len() as u64, to.origin.into(), count)?;
        // SAFETY: all bytes that the instances name lie in the two memories, as just checked. One memory is borrowed and the
        // other is borrowed exclusively, so they do not overlap.
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
        self.check_span(memory.len() as u64, from_origin.into(), count)?;
        self.check_span(memory.len() as u64, to_origin.into(), count)?;
        let base = memory.as_mut_ptr();
        let [from, to] = [from_origin, to_origin].map(|origin| at(base, origin));
        // SAFETY: all bytes that the instances name, from either origin, lie in the memory, as just checked, and the memory is
        // borrowed exclusively.
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
    /// writable at its displacement from `to`, each in the same allocation as its origin, and not be accessed by anything
    /// else during the call. If the memory holds Rust values, the bytes must make valid ones.
    pub unsafe fn copy_raw(&self, from: *const u8, to: *mut u8, count: usize) -> Result<(), Error> {
        let size = self.packed_size(count)?;
        self.check_overlap(count)?;
        if self.spans_meet(from, to, count) {
            let mut packed = allocate(size, 1)?;
            packed.resize(size, 0);
            // SAFETY: the caller guarantees that the data are readable at one origin and writable at the other. The buffer was
            // just allocated, so it overlaps neither.
            unsafe {
                self.pack_raw(from, count, &mut packed)?;
                self.unpack_raw(&packed, to, count)?;
            }
            return Ok(());
        }
        if size <= FEW || size > STAGE && choose::are_staged(self.plan(), selected()) {
            // SAFETY: passed on to the caller; the spans do not meet, as just checked.
            unsafe {
                let instances = Instances::of_plan(self.plan(), count as u64);
                copy_staged((&instances, from.cast_mut()), (&instances, to));
            }
            return Ok(());
        }
        let instances = Instances::of_plan(self.plan(), count as u64);
        let mut mover = Mover { from: from.cast_mut(), to, program: self.plan().program() };
        let _ = instances.visit(0..size as u64, &mut mover);
        Ok(())
    }

    /// Copies the data of `count` instances to those of another layout, as packing with this type and unpacking with `other`
    /// would. The layouts may overlap; then this takes a buffer of the size of the data.
    ///
    /// # Errors
    ///
    /// [`Error::SignatureMismatch`] if the instances on both sides do not have the same basic datatypes in the same order;
    /// [`Error::CountTooLarge`]; [`Error::Overlap`] if the other instances name a byte more than once; [`Error::Allocation`].
    /// Nothing is written then.
    ///
    /// # Safety
    ///
    /// Every byte of data that the instances name must be initialised and readable at its displacement from `from`, and every
    /// byte that the other instances name must be writable at its displacement from `to`, each in the same allocation as its
    /// origin, and not be accessed by anything else during the call. If the memory holds Rust values, the bytes must make valid
    /// ones.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// // The columns of a matrix become its rows.
    /// let (u8, mut rows) = (Type::basic(Basic::U8), [0; 6]);
    /// let column = Type::resized(&Type::vector(2, 1, 3, &u8)?, 0, 1)?.commit();
    /// let all = Type::contiguous(6, &u8)?.commit();
    /// // SAFETY: three columns of two, and six elements, lie in the two arrays.
    /// unsafe { column.copy_to_raw(b"abcdef".as_ptr(), 3, &all, rows.as_mut_ptr(), 1)? };
    /// assert_eq!(&rows, b"adbecf");
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub unsafe fn copy_to_raw(
        &self,
        from: *const u8,
        count: usize,
        other: &Self,
        to: *mut u8,
        other_count: usize,
    ) -> Result<(), Error> {
        let size = self.packed_size(count)?;
        let all = |ty: &Self, count: usize| ty.fingerprint().repeated(count as u64).hash();
        let (expected, actual) = (all(other, other_count), all(self, count));
        if expected != actual || other.packed_size(other_count)? != size {
            return Err(Error::SignatureMismatch { expected, actual });
        }
        other.check_overlap(other_count)?;
        let spans = (self.span(count), other.span(other_count));
        let meet = spans.0.zip(spans.1).is_some_and(|(one, two)| {
            let (from, to) = (from.addr() as i128, to.addr() as i128);
            from + one.start < to + two.end && to + two.start < from + one.end
        });
        if meet {
            let mut packed = allocate(size, 1)?;
            packed.resize(size, 0);
            // SAFETY: the caller guarantees that the data are readable at one origin and writable at the other. The buffer was
            // just allocated, so it overlaps neither.
            unsafe {
                self.pack_raw(from, count, &mut packed)?;
                other.unpack_raw(&packed, to, other_count)?;
            }
            return Ok(());
        }
        let here = Instances::of_plan(self.plan(), count as u64);
        let there = Instances::of_plan(other.plan(), other_count as u64);
        // SAFETY: passed on to the caller. Both have the same number of packed bytes, and the spans do not meet, as just checked.
        unsafe { copy_staged((&here, from.cast_mut()), (&there, to)) };
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

/// Copies the data of instances to those of others, which have as many packed bytes, a stage at a time: packs them and unpacks
/// them at once. The stage stays in the first-level cache, so this takes less time than packing and unpacking all data.
///
/// # Safety
///
/// As [`Committed::copy_to_raw`], for the instances at both origins, whose data must not overlap.
unsafe fn copy_staged(
    (here, from): (&Instances<'_>, *mut u8),
    (there, to): (&Instances<'_>, *mut u8),
) {
    let size = here.size();
    let mut stage = [MaybeUninit::<u8>::uninit(); STAGE];
    let stage = stage.as_mut_ptr().cast::<u8>();
    // Whole instances, if a stage holds some, so that each is copied at once.
    let step = match here.size_of_one() {
        one @ 1..=STAGE_BYTES => STAGE_BYTES - STAGE_BYTES % one,
        _ => STAGE_BYTES,
    };
    let (mut packs, mut unpacks, mut next) = (0, 0, 0);
    while next < size {
        let range = next..size.min(next + step);
        next = range.end;
        // SAFETY: a range of the packed bytes of both, for which the stage has room. Its data are readable at one origin and
        // writable at the other, as the caller guarantees, and unpacking reads what packing has written.
        unsafe {
            copy_range::<Pack>(here, range.clone(), from, stage, &mut packs);
            copy_range::<Unpack>(there, range, to, stage, &mut unpacks);
        }
    }
}

/// Copies the blocks of instances from one memory to another.
///
/// # Invariant
///
/// Only [`Committed::copy_raw`] makes a `Mover`, and it visits exactly the instances passed to `copy_raw`. So everything
/// visited is readable at its displacement from `from`, writable at its displacement from `to`, and the two do not overlap.
struct Mover<'a> {
    from: *mut u8,
    to: *mut u8,
    /// The program of the operations.
    program: &'a Program,
}

impl Visitor for Mover<'_> {
    fn run(&mut self, disp: i64, len: u64) -> ControlFlow<()> {
        self.blocks(&Blocks { disp, len, count: 1, stride: 0 })
    }

    fn blocks(&mut self, blocks: &Blocks) -> ControlFlow<()> {
        let all = blocks.normalized();
        let (from, to) = (at(self.from, all.disp), at(self.to, all.disp));
        let (len, count) = (length(all.len), length(all.count));
        #[expect(clippy::cast_possible_truncation, reason = "blocks in memory")]
        let step = all.stride as isize;
        let steps = kernel::Steps { memory: step, packed: step.cast_unsigned() };
        // SAFETY: data of the instances, read from one memory and written to the other at the same displacement.
        unsafe {
            if kernel::permuted_blocks::<Move>(&all, self.program, from, to).is_none() {
                kernel::strided::<Move>(len, count, steps, from, to);
            }
        }
        ControlFlow::Continue(())
    }

    fn list(&mut self, list: &List, lists: &Lists, shift: i64) -> ControlFlow<()> {
        let (from, to) = (at(self.from, shift), at(self.to, shift.wrapping_add(list.disp())));
        // SAFETY: data of the instances, read from one memory and written to the other; the list belongs to the tables.
        unsafe { kernel::list::<Move>(list, lists, from, to) };
        ControlFlow::Continue(())
    }

    /// Records that are not a permutation, and consist of a few blocks, are copied block by block: the first block of all
    /// records, then the second, and so on.
    fn repeated(&mut self, repeated: &Repeated<'_>) -> Option<ControlFlow<()>> {
        let Repeated { ops, count, stride, shift, .. } = *repeated;
        let (from, to) = (at(self.from, shift), at(self.to, shift));
        // SAFETY: data of the instances, read from one memory and written to the other; the iterations do not overlap.
        if unsafe { copy_permuted::<Move>(repeated, from, to) }.is_some() {
            return Some(ControlFlow::Continue(()));
        }
        let few = |op: &Op| matches!(op, Op::Blocks(blocks) if blocks.count <= count);
        if !ops.iter().all(few) {
            return None;
        }
        for op in ops {
            let Op::Blocks(all) = op else { continue };
            for block in 0..all.count {
                let disp = all.block(block).wrapping_add(shift);
                let _ = self.blocks(&Blocks { disp, len: all.len, count, stride });
            }
        }
        Some(ControlFlow::Continue(()))
    }
}

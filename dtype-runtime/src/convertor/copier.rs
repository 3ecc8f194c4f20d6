//! Copies a range of a packed stream: a fragment of a message.

use core::marker::PhantomData;
use core::ops::{ControlFlow, Range};

use super::cursor::{Fragment, Instances, Repeated, Visitor, of_list};
use crate::kernel::{self, Direction, Way};
use crate::plan::{Blocks, Cut, List, Lists, Op, Permutation, Plan, Program};

/// Copies values of a Rust type, by code compiled for this type: a pointer to the first value, a pointer to its packed
/// bytes, and the number of values. Padding may be loaded, and stored as it was.
pub(crate) type WholeRecords = unsafe fn(*mut u8, *mut u8, usize);

/// Copies a range of the packed bytes of values of a Rust type, likewise: a pointer to the first value, a pointer to the
/// first byte of the range, and the range, counted from the first value. Padding of values that do not lie in the range as a
/// whole is not accessed.
pub(crate) type PartOfRecords = unsafe fn(*mut u8, *mut u8, Range<u64>);

/// The code that was compiled for a Rust type and a direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Routines {
    pub(crate) whole: WholeRecords,
    /// Absent if a record has so many runs that they are not written out.
    pub(crate) part: Option<PartOfRecords>,
}

/// Copies a range of the packed stream, to or from `packed`. `whole`, if present, copies whole instances. `near` is kept from
/// one range of a stream to the next: a guess in which block of a list the next one starts.
///
/// # Safety
///
/// `memory + displacement` must be valid for `D` on every byte that the range names, and so must `packed` for the
/// length of the range. The two must not overlap. If `D` reads memory, all data of the instances must be readable,
/// because all data of a small record are loaded to copy a part of it. `whole` must be for `D` and do the same as
/// the operations for each instance.
#[inline]
pub(super) unsafe fn copy_range<D: Direction>(
    instances: &Instances<'_>,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    whole: Option<WholeRecords>,
    near: &mut usize,
) {
    let program = instances.program();
    let mut copier = Copier::<D> { program, memory, packed, whole, near, direction: PhantomData };
    let _ = instances.visit(range, &mut copier);
}

/// As [`copy_range`], for `count` instances of a plan.
///
/// # Safety
///
/// As [`copy_range`].
#[inline(always)]
pub(super) unsafe fn copy_of_plan<D: Way>(
    plan: &Plan,
    count: u64,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    near: &mut usize,
) {
    let program = plan.program();
    let len = range.end - range.start;
    let is_part = 0 < len && len < plan.size();
    // SAFETY: passed on to the caller.
    unsafe {
        if count > 1 {
            copy_of_several::<D>(plan, count, range, memory, packed, near);
        } else if is_part && let Some(all) = program.single() {
            copy_of_blocks::<D>(all, program, range, memory, packed);
        } else if is_part && let [Op::List(list)] = program.instance() {
            copy_of_list::<D>(list, program.lists(), range, memory, packed, near);
        } else if is_part && let Some(cut) = program.cut(len) {
            copy_of_one::<D>(cut, plan, range, memory, packed, near);
        } else {
            copy_by_program::<D>(plan, count, range, memory, packed, near);
        }
    }
}

/// As [`copy_of_plan`], by the permutation of the instances or of their iterations, or as blocks, or as records of a few runs,
/// or instance by instance, whichever comes first: `copy_range` would come to the same, after more steps.
///
/// # Safety
///
/// As [`copy_range`].
#[inline(never)]
#[expect(clippy::cast_possible_truncation, reason = "bytes and displacements in memory")]
unsafe fn copy_of_several<D: Way>(
    plan: &Plan,
    count: u64,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    near: &mut usize,
) {
    let (program, len) = (plan.program(), range.end - range.start);
    // All instances are copied as `execute` chooses.
    if len == plan.size() * count {
        // SAFETY: all bytes of the instances, which the caller guarantees.
        return unsafe { kernel::execute::<D>(plan, count, memory, packed) };
    }
    if let Some((all, disp)) = program.of_any_bytes(len) {
        let memory = memory.wrapping_offset(disp as isize);
        // SAFETY: passed on to the caller. The permutation is that of the instances, or of their iterations.
        if unsafe { copy_of_records::<D>(all, range.clone(), memory, packed) } {
            return;
        }
    }
    if let Some(all) = program.single()
        && program.records().is_none()
    {
        // SAFETY: passed on to the caller.
        return unsafe { copy_of_block_instances::<D>(all, plan, range, memory, packed) };
    }
    if let Some(all) = program.records() {
        let (disp, from) = all.find(range.start);
        let memory = memory.wrapping_offset(disp);
        // SAFETY: the caller guarantees the bytes of the range, the first of which is in this record.
        return unsafe { kernel::part_of_records::<D>(all, from, len as usize, memory, packed) };
    }
    // SAFETY: passed on to the caller.
    unsafe {
        // Less than an instance is cut.
        match program.cut(len.min(plan.size())) {
            Some(cut) => copy_of_cut_instances::<D>(cut, plan, range, memory, packed, near),
            None => copy_by_program::<D>(plan, count, range, memory, packed, near),
        }
    }
}

/// As [`copy_of_plan`], for a part of records that are a permutation. Returns false without an effect if the machine lacks the
/// instructions.
///
/// # Safety
///
/// As [`copy_range`]; the plan's bytes must be records of this permutation, in packed order, and `memory` what the
/// displacements of the first record count from.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "bytes and displacements in memory")]
unsafe fn copy_of_records<D: Way>(
    all: &Permutation,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
) -> bool {
    let first = all.record_of(range.start);
    let before = first * all.size() as u64;
    let memory = memory.wrapping_offset(all.stride().wrapping_mul(first as isize));
    let bytes = (range.start - before) as usize..(range.end - before) as usize;
    // SAFETY: the caller guarantees the bytes of the range, the first of which is in this record; all data of the records, if
    // memory is read; and that they do not overlap, if it is written.
    unsafe { kernel::permute::<D>(all, bytes, memory, packed) }
}

/// As [`copy_of_plan`], for a part of several instances: the end of the first one, whole instances, and the start of the last.
/// `copy_range` would come to the same, after more steps. `part` copies a range of an instance, and `whole` a number of them,
/// both from the origin of an instance.
///
/// # Safety
///
/// As [`copy_range`]; `part` and `whole` may require no more than that for the bytes that they copy.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "bytes and displacements in memory")]
pub(super) unsafe fn copy_of_instances(
    plan: &Plan,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    mut part: impl FnMut(Range<u64>, *mut u8, *mut u8),
    whole: impl FnOnce(u64, *mut u8, *mut u8),
) {
    let (size, extent) = (plan.size(), plan.extent() as isize);
    let (first, from) = (range.start / size, range.start % size);
    let mut memory = memory.wrapping_offset(extent.wrapping_mul(first as isize));
    let (mut packed, mut left) = (packed, range.end - range.start);
    if from > 0 {
        let bytes = left.min(size - from);
        part(from..from + bytes, memory, packed);
        (memory, packed) = (memory.wrapping_offset(extent), packed.wrapping_add(bytes as usize));
        left -= bytes;
    }
    let number = left / size;
    if number > 0 {
        whole(number, memory, packed);
        memory = memory.wrapping_offset(extent.wrapping_mul(number as isize));
        packed = packed.wrapping_add((number * size) as usize);
        left -= number * size;
    }
    if left > 0 {
        part(0..left, memory, packed);
    }
}

/// [`copy_of_instances`] that are blocks at equal distances.
///
/// # Safety
///
/// As [`copy_range`]; an instance must be these blocks.
unsafe fn copy_of_block_instances<D: Way>(
    all: &Blocks,
    plan: &Plan,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
) {
    let (program, extent) = (plan.program(), plan.extent());
    // SAFETY: passed on to the caller.
    unsafe {
        copy_of_instances(
            plan,
            range,
            memory,
            packed,
            |range, memory, packed| copy_of_blocks::<D>(all, program, range, memory, packed),
            |number, memory, packed| {
                kernel::repeated_blocks::<D>(all, program, number, extent, memory, packed);
            },
        );
    }
}

/// [`copy_of_instances`] that are cut in one level.
///
/// # Safety
///
/// As [`copy_range`]; `cut` must be that of an instance of the plan.
#[inline(never)]
unsafe fn copy_of_cut_instances<D: Way>(
    cut: Cut<'_>,
    plan: &Plan,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    near: &mut usize,
) {
    // SAFETY: passed on to the caller.
    unsafe {
        copy_of_instances(
            plan,
            range,
            memory,
            packed,
            |range, memory, packed| copy_of_one::<D>(cut, plan, range, memory, packed, near),
            |number, memory, packed| kernel::execute::<D>(plan, number, memory, packed),
        );
    }
}

/// As [`copy_of_plan`], for a part of one instance. `copy_range` would come to the same, after more steps.
///
/// # Safety
///
/// As [`copy_of_cut_instances`]; the range must lie in the one instance.
#[inline(always)]
unsafe fn copy_of_one<D: Way>(
    cut: Cut<'_>,
    plan: &Plan,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    near: &mut usize,
) {
    // SAFETY: passed on to the caller.
    unsafe {
        match cut {
            Cut::List(list, lists) => copy_of_list::<D>(list, lists, range, memory, packed, near),
            Cut::Records(all) => {
                // Another thread may have selected instructions that do not permute.
                if !copy_of_records::<D>(all, range.clone(), memory, packed) {
                    copy_by_program::<D>(plan, 1, range, memory, packed, near);
                }
            }
        }
    }
}

/// As [`copy_of_plan`], for a part of one instance that is blocks at equal distances: `copy_range` would come to the same,
/// after more steps.
///
/// # Safety
///
/// As [`copy_range`].
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "bytes and displacements in memory")]
unsafe fn copy_of_blocks<D: Way>(
    all: &Blocks,
    program: &Program,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
) {
    let Some(first) = range.start.checked_div(all.len) else { return };
    let before = first * all.len;
    let memory = memory.wrapping_offset(all.block(first) as isize);
    let bytes = (range.start - before) as usize..(range.end - before) as usize;
    // SAFETY: the caller guarantees the bytes of the range, the first of which is in this block; all of the blocks, if memory
    // is read; and that they do not overlap, if it is written.
    unsafe { kernel::part_of_blocks::<D>(all, program, bytes, memory, packed) }
}

/// As [`copy_of_plan`], for a part of one instance that is a list: `copy_range` would come to the same, after more steps.
///
/// # Safety
///
/// As [`copy_range`]; the list must be of these tables.
#[inline(never)]
unsafe fn copy_of_list<D: Way>(
    list: &List,
    lists: &Lists,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    near: &mut usize,
) {
    // Nobody else is given the visitor, whose invariant the caller guarantees.
    let program = Program::empty();
    let mut copier =
        Copier::<D> { program, memory, packed, whole: None, near, direction: PhantomData };
    let _ = of_list(list, lists, range, 0, &mut copier);
}

/// As [`copy_of_plan`], without a permutation for parts of the stream.
///
/// # Safety
///
/// As [`copy_range`].
#[inline(never)]
unsafe fn copy_by_program<D: Direction>(
    plan: &Plan,
    count: u64,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    near: &mut usize,
) {
    let instances = Instances::of_plan(plan, count);
    // SAFETY: all bytes of the instances, or bytes of the range, which the caller guarantees. No routines are passed.
    unsafe {
        if range == (0..instances.size()) {
            return kernel::execute::<D>(plan, count, memory, packed);
        }
        copy_range::<D>(&instances, range, memory, packed, None, near);
    }
}

/// Copies the blocks of a range.
///
/// # Invariant
///
/// Only [`copy_range`] and [`copy_of_list`] make it, and it visits exactly the range that was given there. So everything that
/// is visited is valid for `D`: at its displacement from `memory`, and from `packed` on, which advances by the bytes visited.
/// The blocks that say "of the range" rest on this.
struct Copier<'a, D> {
    /// The program of the operations.
    program: &'a Program,
    memory: *mut u8,
    /// Offset of the next byte of the range in the fragment.
    packed: *mut u8,
    whole: Option<WholeRecords>,
    near: &'a mut usize,
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
        // SAFETY: bytes of the range.
        unsafe { kernel::run::<D>(self.at(disp), self.packed, len) };
        self.packed = self.packed.wrapping_add(D::advance(len));
        ControlFlow::Continue(())
    }

    fn blocks(&mut self, all: &Blocks) -> ControlFlow<()> {
        // SAFETY: bytes of the range.
        self.packed = unsafe { kernel::blocks::<D>(all, self.program, self.memory, self.packed) };
        ControlFlow::Continue(())
    }

    fn list(&mut self, list: &List, lists: &Lists, shift: i64) -> ControlFlow<()> {
        // SAFETY: bytes of the range, and the list belongs to the tables.
        self.packed = unsafe { kernel::list::<D>(list, lists, self.at(shift), self.packed) };
        ControlFlow::Continue(())
    }

    #[expect(clippy::cast_possible_truncation, reason = "bytes in memory")]
    fn list_within(&mut self, list: &List, lists: &Lists, shift: i64, bytes: u64) -> Option<usize> {
        let (memory, limit) = (self.at(shift), bytes as usize);
        // SAFETY: bytes of the range, of which `bytes` are left, and the list belongs to the tables.
        let (number, end) =
            unsafe { kernel::list_within::<D>(list, lists, limit, memory, self.packed) };
        self.packed = end;
        Some(number)
    }

    fn near(&self) -> usize {
        *self.near
    }

    fn ended_near(&mut self, block: usize) {
        *self.near = block;
    }

    #[expect(clippy::cast_possible_truncation, reason = "bytes of a record")]
    fn part(&mut self, part: &Fragment<'_>) -> Option<ControlFlow<()>> {
        let bytes = part.bytes.start as usize..part.bytes.end as usize;
        let len = bytes.len();
        let (all, memory) = (part.permutation, self.at(part.shift));
        // SAFETY: bytes of the range, which start in the first record, and the permutation belongs to the record. The
        // data of the record that are not in the range still belong to an instance, and are readable if memory is read,
        // as the caller of `copy_range` guarantees. Only instances that do not overlap are ever written.
        let done = unsafe { kernel::permute::<D>(all, bytes, memory, self.packed) };
        if !done {
            return None;
        }
        self.packed = self.packed.wrapping_add(D::advance(len));
        Some(ControlFlow::Continue(()))
    }

    fn permuted(&mut self, part: &Fragment<'_>) -> Option<ControlFlow<()>> {
        self.part(part)
    }

    fn repeated(&mut self, all: &Repeated<'_>) -> Option<ControlFlow<()>> {
        let Repeated { ops, program, count, stride, shift } = *all;
        // SAFETY: bytes of the range, and the operations belong to the program.
        self.packed = unsafe {
            kernel::repeated::<D>(ops, program, count, stride, self.at(shift), self.packed)
        };
        Some(ControlFlow::Continue(()))
    }

    #[expect(clippy::cast_possible_truncation, reason = "instances in memory")]
    fn instances(&mut self, size: u64, all: &Repeated<'_>) -> Option<ControlFlow<()>> {
        let Some(whole) = self.whole else { return self.repeated(all) };
        // SAFETY: whole instances of the range, `count` of them, the first displaced by the shift.
        unsafe { whole(self.at(all.shift), self.packed, all.count as usize) };
        let bytes = (size * all.count) as usize;
        self.packed = self.packed.wrapping_add(D::advance(bytes));
        Some(ControlFlow::Continue(()))
    }
}

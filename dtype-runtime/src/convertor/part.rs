//! Copies any range of the packed bytes of an operation, or of instances, without descending into them: by a permutation, as
//! records, as blocks, or as a list.

use core::ops::Range;

use super::cursor::{Level, Repeated, Splittable};
use crate::kernel::{self, Way};
use crate::plan::choose::{self, Use};
use crate::plan::{
    Cut, Flat, Instances, List, Lists, Op, Permutation, Plan, Program, Split, split,
};

/// A displacement as an address.
#[expect(clippy::cast_possible_truncation, reason = "displacements of data, in memory")]
pub(super) fn at(memory: *mut u8, disp: i64) -> *mut u8 {
    memory.wrapping_offset(disp as isize)
}

/// A number of bytes of one fragment.
#[expect(clippy::cast_possible_truncation, reason = "bytes of one fragment")]
pub(super) fn length(bytes: u64) -> usize {
    bytes as usize
}

/// Copies the packed bytes `range` of `of`. Returns false if the caller must split the range; the caller then copies all of it
/// again. `near` is a guess at the list block in which the range starts, and is updated for the next range.
///
/// # Safety
///
/// The bytes of the range, at their displacements from `memory`, and as many from `packed` on must be valid for `D`. If memory
/// is read, all data of the instances must be readable; if it is written, they must not overlap. Lists must belong to their
/// tables.
#[inline]
pub(super) unsafe fn copy_part<D: Way>(
    of: &Splittable<'_>,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    near: &mut usize,
) -> bool {
    // SAFETY: passed on to the caller.
    unsafe {
        match *of {
            Splittable::Repeated(all) => {
                part_of_repeated::<D>(all, range, at(memory, all.shift), packed, near)
            }
            Splittable::Blocks(all, program) => {
                kernel::part_of_blocks::<D>(all, program, range, memory, packed);
                true
            }
            Splittable::List(list, lists, shift) => {
                part_of_list::<D>(list, lists, range, at(memory, shift), packed, near);
                true
            }
        }
    }
}

/// The permutation that copies so many packed bytes of these operations, all of them if `None`, and the displacement that the
/// permutation's are relative to.
pub(super) fn permutation<'a>(
    repeated: &Repeated<'a>,
    bytes: Option<u64>,
    what: Use,
) -> Option<(&'a Permutation, i64)> {
    let Repeated { ops, program, level, count, stride, .. } = *repeated;
    match level {
        // For a part of a single value, a permutation does not pay.
        Level::Values(permutation) => {
            permutation.filter(|_| count > 1).map(|permutation| (permutation, 0))
        }
        Level::Instances(plan) if count > 1 => {
            let bytes = bytes.unwrap_or_else(|| plan.size() * count);
            let all = choose::permuted_instances(plan, bytes, what)?;
            Some((&all.permuted.permutation, all.disp))
        }
        Level::Instances(_) => None,
        Level::Loop => {
            let permuted = program.body(ops, stride, u64::MAX)?.permuted.as_ref()?;
            let bytes = bytes.unwrap_or_else(|| permuted.permutation.size() as u64 * count);
            permuted.pays(what, bytes).then_some((&permuted.permutation, 0))
        }
    }
}

/// Copies all packed bytes of these operations by their permutation, and returns their number. Returns `None` without an effect
/// if there is no permutation, or if the machine lacks the instructions.
///
/// # Safety
///
/// As [`copy_part`], for all bytes.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "wraps as an address does"
)]
pub(super) unsafe fn copy_permuted<D: kernel::Direction>(
    repeated: &Repeated<'_>,
    memory: *mut u8,
    packed: *mut u8,
) -> Option<u64> {
    let (permutation, disp) = permutation(repeated, None, D::USE)?;
    let one = match repeated.level {
        Level::Instances(plan) => plan.size(),
        Level::Values(_) | Level::Loop => permutation.size() as u64,
    };
    let bytes = one * repeated.count;
    let (memory, packed) = (at(memory, disp), D::counterpart(packed, disp as usize));
    // SAFETY: passed on to the caller; the permutation is that of the iterations, or of the iterations inside them.
    unsafe { part_of_permutation::<D>(permutation, 0..bytes, memory, packed) }.then_some(bytes)
}

/// [`copy_part`] of operations that are executed several times.
///
/// # Safety
///
/// As [`copy_part`].
unsafe fn part_of_repeated<D: Way>(
    repeated: &Repeated<'_>,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    near: &mut usize,
) -> bool {
    // SAFETY: passed on to the caller. The permutation is that of the iterations.
    unsafe {
        if let Level::Instances(plan) = repeated.level {
            return part_of_instances::<D>(plan, repeated.count, range, memory, packed, near);
        }
        let Repeated { ops, count, stride, .. } = *repeated;
        match permutation(repeated, Some(range.end - range.start), D::USE) {
            Some((permutation, disp)) => {
                part_of_permutation::<D>(permutation, range, at(memory, disp), packed)
            }
            None => part_of_columns::<D>(ops, count, stride, range, memory, packed),
        }
    }
}

/// [`copy_part`] of `count` instances: by their permutation, as records of a few runs, as columns, or, for instances of a
/// single level, instance by instance. The cursor splits all other fragments, which takes more steps.
///
/// # Safety
///
/// As [`copy_part`].
#[inline(always)]
pub(super) unsafe fn part_of_instances<D: Way>(
    plan: &Plan,
    count: u64,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    near: &mut usize,
) -> bool {
    let (program, bytes) = (plan.program(), range.end - range.start);
    if count == 1 {
        let Some(cut) = program.part_of_one(bytes) else { return false };
        // SAFETY: passed on to the caller.
        return unsafe { part_of_one::<D>(cut, program, range, memory, packed, near) };
    }
    // SAFETY: passed on to the caller. The permutation is that of the instances, or of their iterations.
    unsafe {
        if let Some(Instances { permuted, disp, .. }) =
            choose::permuted_instances(plan, bytes, D::USE)
            && part_of_permutation::<D>(
                &permuted.permutation,
                range.clone(),
                at(memory, *disp),
                packed,
            )
        {
            return true;
        }
        if let Some(records) = program.records() {
            let (disp, from) = records.find(range.start);
            let first = memory.wrapping_offset(disp);
            kernel::part_of_records::<D>(records, from, length(bytes), first, packed);
            return true;
        }
        let (ops, stride) = (program.instance(), plan.extent());
        if part_of_columns::<D>(ops, count, stride, range.clone(), memory, packed) {
            return true;
        }
        part_of_several::<D>(plan, range, memory, packed, near)
    }
}

/// [`copy_part`] of repetitions of one operation that are columns of a matrix. Returns false without an effect for others.
///
/// # Safety
///
/// As there.
#[inline]
unsafe fn part_of_columns<D: Way>(
    ops: &[Op],
    count: u64,
    stride: i64,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
) -> bool {
    let [Op::Blocks(column)] = ops else { return false };
    // SAFETY: passed on to the caller.
    unsafe { kernel::part_of_grid::<D>(column, count, stride, range, memory, packed) }
}

/// [`copy_part`] of instances of a single level: the end of the first, whole instances, and the start of the last. If it
/// returns false, some bytes may be copied already.
///
/// # Safety
///
/// As [`copy_part`].
#[inline(never)]
unsafe fn part_of_several<D: Way>(
    plan: &Plan,
    range: Range<u64>,
    memory: *mut u8,
    mut packed: *mut u8,
    near: &mut usize,
) -> bool {
    let (program, size, extent) = (plan.program(), plan.size(), plan.extent());
    // The range may be less than one instance.
    let bytes = (range.end - range.start).min(size);
    let Some(cut) = program.part_of_one(bytes) else { return false };
    let instance = |item: u64| at(memory, extent.wrapping_mul(item.cast_signed()));
    let Split { head, whole, tail } = split(range, size);
    // SAFETY: bytes of the range, which the caller guarantees, instance by instance.
    unsafe {
        if let Some(head) = head {
            let (bytes, first) = (length(head.bytes.end - head.bytes.start), instance(head.item));
            let done = part_of_one::<D>(cut, program, head.bytes, first, packed, near);
            if !done || (whole.is_empty() && tail.is_none()) {
                return done;
            }
            packed = packed.wrapping_add(bytes);
        }
        let number = whole.end - whole.start;
        if let Cut::Records(all) = cut {
            // One by one, because values may be converted, and `execute` would skip those.
            for item in whole {
                if !part_of_permutation::<D>(&all.permutation, 0..size, instance(item), packed) {
                    return false;
                }
                packed = packed.wrapping_add(length(size));
            }
        } else if number > 0 {
            kernel::execute::<D>(plan, number, instance(whole.start), packed);
            packed = packed.wrapping_add(length(number * size));
        }
        if let Some(tail) = tail {
            return part_of_one::<D>(cut, program, tail.bytes, instance(tail.item), packed, near);
        }
    }
    true
}

/// [`copy_part`] of one instance. Returns false without an effect if the machine lacks the instructions.
///
/// # Safety
///
/// As [`copy_part`]; `cut` must be made for the instance.
#[inline(always)]
unsafe fn part_of_one<D: Way>(
    cut: Cut<'_>,
    program: &Program,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    near: &mut usize,
) -> bool {
    // SAFETY: passed on to the caller.
    unsafe {
        match cut {
            Cut::Records(all) => part_of_permutation::<D>(&all.permutation, range, memory, packed),
            Cut::Blocks(all) => {
                kernel::part_of_blocks::<D>(all, program, range, memory, packed);
                true
            }
            Cut::List(list) => {
                part_of_list::<D>(list, program.lists(), range, memory, packed, near);
                true
            }
            Cut::Flat(Flat { list, lists, .. }) => {
                part_of_list::<D>(list, lists, range, memory, packed, near);
                true
            }
        }
    }
}

/// [`copy_part`] of records that are a permutation. Returns false without an effect if the machine lacks the instructions.
///
/// # Safety
///
/// As [`copy_part`]; the bytes must be those of records of this permutation, in packed order, and displacements in the first
/// record must be relative to `memory`.
#[inline]
pub(super) unsafe fn part_of_permutation<D: kernel::Direction>(
    permutation: &Permutation,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
) -> bool {
    let first = permutation.record_of(range.start);
    let before = first * permutation.size() as u64;
    let memory = at(memory, (permutation.stride() as i64).wrapping_mul(first.cast_signed()));
    let bytes = length(range.start - before)..length(range.end - before);
    // SAFETY: the caller guarantees the bytes of the range, which starts in this record. If memory is read, the caller
    // guarantees all data of the records; if it is written, that the records do not overlap.
    unsafe { kernel::permute::<D>(permutation, bytes, memory, packed) }
}

/// [`copy_part`] of a list: the end of one block, whole blocks, and the start of one block.
///
/// # Safety
///
/// As [`copy_part`]; the list must belong to these tables.
#[inline(never)]
unsafe fn part_of_list<D: Way>(
    list: &List,
    lists: &Lists,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    near: &mut usize,
) {
    let (entries, first) = (lists.entries(list), at(memory, list.disp()));
    let block_at =
        |block| entries.get(block).map_or(first, |(offset, _)| first.wrapping_add(length(offset)));
    let (mut block, start) = entries.find(range.start, *near);
    let (into, mut left, mut packed) = (range.start - start, range.end - range.start, packed);
    // SAFETY: bytes of the range, which the caller guarantees, block by block.
    unsafe {
        if into > 0 {
            let rest = entries.start(block + 1) - range.start;
            let bytes = left.min(rest);
            kernel::run::<D>(block_at(block).wrapping_add(length(into)), packed, length(bytes));
            (packed, left) = (packed.wrapping_add(length(bytes)), left - bytes);
            block += usize::from(bytes == rest);
        }
        let rest = list.part(block, list.count as usize);
        if left > 0 {
            let (blocks, end) =
                kernel::list_within::<D>(&rest, lists, length(left), memory, packed);
            block += blocks;
            let rest = length(left) - (end.addr() - packed.addr());
            if rest > 0 {
                kernel::run::<D>(block_at(block), end, rest);
            }
        }
    }
    // After the last block comes the first block of the next instance.
    *near = if block < list.count as usize { block } else { 0 };
}

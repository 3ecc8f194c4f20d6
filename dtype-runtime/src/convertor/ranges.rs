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
/// again. `search_hint` is a guess at the list block in which the range starts, and is updated for the next range.
///
/// # Safety
///
/// `memory` and `packed` must be valid for `D` on the bytes of the range: at their displacements, and one after another. If `D`
/// reads memory, all data of the instances must be readable; if it writes memory, they must not overlap. Lists must belong to
/// their tables.
#[inline]
pub(super) unsafe fn try_copy_range<D: Way>(
    of: &Splittable<'_>,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    search_hint: &mut usize,
) -> bool {
    // SAFETY: each copies just this range, for which the caller guarantees both pointers; with the shift, displacements are
    // relative to the address passed on.
    unsafe {
        match *of {
            Splittable::Repeated(all) => {
                try_copy_repeated::<D>(all, range, at(memory, all.shift), packed, search_hint)
            }
            Splittable::Blocks(all, program) => {
                kernel::part_of_blocks::<D>(all, program, range, memory, packed);
                true
            }
            Splittable::List(list, lists, shift) => {
                copy_range_of_list::<D>(list, lists, range, at(memory, shift), packed, search_hint);
                true
            }
        }
    }
}

/// The permutation that copies that many packed bytes of these operations, all of them if `None`, and the displacement that the
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
/// `memory` and `packed` must be valid for `D` on all packed bytes of these operations. If `D` writes memory, their data must
/// not overlap.
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
    // SAFETY: the range is all packed bytes of the operations, for which the caller guarantees both pointers. The permutation
    // is that of the iterations, or of the iterations inside them.
    unsafe { try_copy_permuted::<D>(permutation, 0..bytes, memory, packed) }.then_some(bytes)
}

/// [`try_copy_range`] of operations that are executed several times.
///
/// # Safety
///
/// `memory` and `packed` must be valid for `D` on the bytes of the range, and displacements be relative to `memory`. If `D`
/// reads memory, all data of the iterations must be readable; if it writes memory, they must not overlap.
unsafe fn try_copy_repeated<D: Way>(
    repeated: &Repeated<'_>,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    search_hint: &mut usize,
) -> bool {
    // SAFETY: each copies just this range of the same iterations, for which the caller guarantees both pointers. The
    // permutation is that of the iterations.
    unsafe {
        if let Level::Instances(plan) = repeated.level {
            return try_copy_instances::<D>(
                plan,
                repeated.count,
                range,
                memory,
                packed,
                search_hint,
            );
        }
        let Repeated { ops, count, stride, .. } = *repeated;
        match permutation(repeated, Some(range.end - range.start), D::USE) {
            Some((permutation, disp)) => {
                try_copy_permuted::<D>(permutation, range, at(memory, disp), packed)
            }
            None => try_copy_columns::<D>(ops, count, stride, range, memory, packed),
        }
    }
}

/// [`try_copy_range`] of `count` instances: by their permutation, as records of a few runs, as columns, or, for instances of a
/// single level, instance by instance. The cursor splits all other fragments, which takes more steps.
///
/// # Safety
///
/// `memory` and `packed` must be valid for `D` on the bytes of the range. If `D` reads memory, all data of the instances must
/// be readable; if it writes memory, they must not overlap.
#[inline(always)]
pub(super) unsafe fn try_copy_instances<D: Way>(
    plan: &Plan,
    count: u64,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    search_hint: &mut usize,
) -> bool {
    let (program, bytes) = (plan.program(), range.end - range.start);
    if count == 1 {
        let Some(cut) = program.part_of_one(bytes) else { return false };
        // SAFETY: the range is one of the only instance, whose origin is `memory`; `cut` is made for it.
        return unsafe { try_copy_one::<D>(cut, program, range, memory, packed, search_hint) };
    }
    // SAFETY: each copies just this range of the instances, for which the caller guarantees both pointers. The permutation and
    // the records are those of the instances, or of their iterations, and start at the displacement that is added to `memory`.
    unsafe {
        if let Some(Instances { permuted, disp, .. }) =
            choose::permuted_instances(plan, bytes, D::USE)
            && try_copy_permuted::<D>(
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
        if try_copy_columns::<D>(ops, count, stride, range.clone(), memory, packed) {
            return true;
        }
        try_copy_several::<D>(plan, range, memory, packed, search_hint)
    }
}

/// [`try_copy_range`] of repetitions of one operation that are columns of a matrix. Returns false without an effect for others.
///
/// # Safety
///
/// `memory` and `packed` must be valid for `D` on the bytes of the range.
#[inline]
unsafe fn try_copy_columns<D: Way>(
    ops: &[Op],
    count: u64,
    stride: i64,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
) -> bool {
    let [Op::Blocks(column)] = ops else { return false };
    // SAFETY: the column, repeated, is these operations, for whose range the caller guarantees both pointers.
    unsafe { kernel::part_of_grid::<D>(column, count, stride, range, memory, packed) }
}

/// [`try_copy_range`] of instances of a single level: the end of the first, whole instances, and the start of the last. If it
/// returns false, some bytes may be copied already.
///
/// # Safety
///
/// `memory` and `packed` must be valid for `D` on the bytes of the range. If `D` reads memory, all data of the instances must
/// be readable; if it writes memory, they must not overlap.
#[inline(never)]
unsafe fn try_copy_several<D: Way>(
    plan: &Plan,
    range: Range<u64>,
    memory: *mut u8,
    mut packed: *mut u8,
    search_hint: &mut usize,
) -> bool {
    let (program, size, extent) = (plan.program(), plan.size(), plan.extent());
    // The range may be less than one instance.
    let bytes = (range.end - range.start).min(size);
    let Some(cut) = program.part_of_one(bytes) else { return false };
    let instance = |item: u64| at(memory, extent.wrapping_mul(item.cast_signed()));
    let Split { head, whole, tail } = split(range, size);
    // SAFETY: the range, split at the instances: each copy gets the origin of its instance, and the packed bytes after those of
    // the copy before it. `cut` is made for an instance, with which a permutation starts.
    unsafe {
        if let Some(head) = head {
            let (bytes, first) = (length(head.bytes.end - head.bytes.start), instance(head.item));
            let done = try_copy_one::<D>(cut, program, head.bytes, first, packed, search_hint);
            if !done || (whole.is_empty() && tail.is_none()) {
                return done;
            }
            packed = packed.wrapping_add(bytes);
        }
        let number = whole.end - whole.start;
        if let Cut::Records(all) = cut {
            // One by one, because values may be converted, and `execute` would skip those.
            for item in whole {
                if !try_copy_permuted::<D>(&all.permutation, 0..size, instance(item), packed) {
                    return false;
                }
                packed = packed.wrapping_add(length(size));
            }
        } else if number > 0 {
            kernel::execute::<D>(plan, number, instance(whole.start), packed);
            packed = packed.wrapping_add(length(number * size));
        }
        if let Some(tail) = tail {
            return try_copy_one::<D>(
                cut,
                program,
                tail.bytes,
                instance(tail.item),
                packed,
                search_hint,
            );
        }
    }
    true
}

/// [`try_copy_range`] of one instance. Returns false without an effect if the machine lacks the instructions.
///
/// # Safety
///
/// `memory`, the instance's origin, and `packed` must be valid for `D` on the bytes of the range. If `D` reads memory, all data
/// of the instance must be readable; if it writes memory, they must not overlap. `cut` must be made for the instance.
#[inline(always)]
unsafe fn try_copy_one<D: Way>(
    cut: Cut<'_>,
    program: &Program,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    search_hint: &mut usize,
) -> bool {
    // SAFETY: what `cut` was made of is the whole instance, for whose range the caller guarantees both pointers. A list belongs
    // to the tables beside it.
    unsafe {
        match cut {
            Cut::Records(all) => try_copy_permuted::<D>(&all.permutation, range, memory, packed),
            Cut::Blocks(all) => {
                kernel::part_of_blocks::<D>(all, program, range, memory, packed);
                true
            }
            Cut::List(list) => {
                copy_range_of_list::<D>(list, program.lists(), range, memory, packed, search_hint);
                true
            }
            Cut::Flat(Flat { list, lists, .. }) => {
                copy_range_of_list::<D>(list, lists, range, memory, packed, search_hint);
                true
            }
        }
    }
}

/// [`try_copy_range`] of records that are a permutation. Returns false without an effect if the machine lacks the instructions.
///
/// # Safety
///
/// The range must be one of records of this permutation, in packed order, and displacements in the first record be relative to
/// `memory`. `memory` and `packed` must be valid for `D` on the bytes of the range. If `D` reads memory, all data of the
/// records must be readable; if it writes memory, they must not overlap.
#[inline]
pub(super) unsafe fn try_copy_permuted<D: kernel::Direction>(
    permutation: &Permutation,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
) -> bool {
    let first = permutation.record_of(range.start);
    let before = first * permutation.size() as u64;
    let memory = at(memory, (permutation.stride() as i64).wrapping_mul(first.cast_signed()));
    let bytes = length(range.start - before)..length(range.end - before);
    // SAFETY: both pointers are valid on the bytes of the range, which starts in this record, at its address. If memory is
    // read, all data of the records are readable; if it is written, the records do not overlap.
    unsafe { kernel::permute::<D>(permutation, bytes, memory, packed) }
}

/// [`try_copy_range`] of a list: the end of one block, whole blocks, and the start of one block.
///
/// # Safety
///
/// `memory` and `packed` must be valid for `D` on the bytes of the range. The list must belong to these tables.
#[inline(never)]
unsafe fn copy_range_of_list<D: Way>(
    list: &List,
    lists: &Lists,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    search_hint: &mut usize,
) {
    let (entries, first) = (lists.entries(list), at(memory, list.disp()));
    let block_at =
        |block| entries.get(block).map_or(first, |(offset, _)| first.wrapping_add(length(offset)));
    let (mut block, start) = entries.find(range.start, *search_hint);
    let (into, mut left, mut packed) = (range.start - start, range.end - range.start, packed);
    // SAFETY: the range, split at the blocks: each copy ends no later than the range, and gets the address of its block, and
    // the packed bytes after those of the copy before it.
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
    *search_hint = if block < list.count as usize { block } else { 0 };
}

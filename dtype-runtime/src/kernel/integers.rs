//! Converts integers of 8 bytes to integers of 4, and back: a `long` on two kinds of machine.
//!
//! One loop serves both signed and unsigned integers, with `s` = 2³¹ for signed and 0 for unsigned ones. `v` fits 4 bytes
//! exactly if `v + s`, as an unsigned number, fits 4 bytes. A narrow `v`, as an unsigned number, is widened by `(v ^ s) − s`.

use super::direction::Way;
use super::registers::compiled_for_selected;
use crate::plan::Elements;
use crate::representation::{ByteOrder, Form};

/// The integers: their first addresses, the strides in bytes, and their number.
///
/// Its maker promises that each integer can be read, and, unless the task is [`Task::Check`], that each place can be written.
#[derive(Clone, Copy)]
struct Series {
    from: *const u8,
    to: *mut u8,
    from_step: isize,
    to_step: isize,
    count: usize,
    /// 2³¹ for signed integers, 0 for unsigned ones.
    sign: u64,
}

/// What to do with these integers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// Check whether all of them fit 4 bytes, and write nothing.
    Check,
    /// Convert them. Integers that do not fit lose their upper half.
    Convert,
}

/// Performs the task for all values, if their widths are 4 and 8. Returns whether all of them fit; `None` for values of other
/// widths.
///
/// # Safety
///
/// The bytes of all values, relative to `memory`, and as many from `packed` on must be valid for `D`. For
/// [`Task::Check`], the side that `D` writes need not be valid.
#[expect(clippy::cast_possible_truncation, reason = "values in memory")]
pub(crate) unsafe fn integers<D: Way>(
    elements: &Elements,
    task: Task,
    memory: *mut u8,
    packed: *mut u8,
) -> Option<bool> {
    let Form::Integer { signed, memory: here, packed: there, order } = elements.form else {
        return None;
    };
    let narrows = match (here, there) {
        (8, 4) => D::PACKS,
        (4, 8) => !D::PACKS,
        _ => return None,
    };
    let blocks = elements.blocks;
    let memory = memory.wrapping_offset(blocks.disp as isize);
    let (stride, step, count) =
        (blocks.stride as isize, blocks.len as isize, blocks.count as usize);
    let (from, to) = D::ends(memory, packed);
    let (from_step, to_step) = if D::PACKS { (stride, step) } else { (step, stride) };
    let series = Series { from, to, from_step, to_step, count, sign: u64::from(signed) << 31 };
    let swap = order != ByteOrder::NATIVE;
    let (swap_from, swap_to) = (swap && !D::PACKS, swap && D::PACKS);
    // SAFETY: the values are what the caller guarantees, read and written as the task says.
    Some(unsafe { run(task, narrows, swap_from, swap_to, series) })
}

compiled_for_selected! {
    /// Checks or converts.
    ///
    /// # Safety
    ///
    /// What [`Series`] promises.
    unsafe fn run[][](task: Task, narrows: bool, from: bool, to: bool, series: Series) -> bool = _R => all(task, narrows, from, to, series);
}

/// As [`run`], with a separate loop for integers that are contiguous on both sides. At most one side has its bytes swapped.
///
/// # Safety
///
/// What [`Series`] promises.
#[inline(always)]
unsafe fn all(task: Task, narrows: bool, swap_from: bool, swap_to: bool, series: Series) -> bool {
    let (wide, thin) = if narrows { (8, 4) } else { (4, 8) };
    let dense = Series { from_step: wide, to_step: thin, ..series };
    let is_dense = (series.from_step, series.to_step) == (wide, thin);
    // SAFETY: the same integers: `dense` is the series, with its steps known to the compiler.
    unsafe {
        macro_rules! each {
            ($run:expr) => {
                if is_dense { $run(dense) } else { $run(series) }
            };
        }
        match (task, narrows, swap_from, swap_to) {
            (Task::Check, false, ..) => true,
            (Task::Check, true, false, _) => each!(fit::<false>),
            (Task::Check, true, true, _) => each!(fit::<true>),
            (Task::Convert, true, false, false) => each!(narrow::<false, false>),
            (Task::Convert, true, false, true) => each!(narrow::<false, true>),
            (Task::Convert, true, true, _) => each!(narrow::<true, false>),
            (Task::Convert, false, false, false) => each!(widen::<false, false>),
            (Task::Convert, false, false, true) => each!(widen::<false, true>),
            (Task::Convert, false, true, _) => each!(widen::<true, false>),
        }
    }
}

/// Whether all integers of 8 bytes fit 4.
///
/// # Safety
///
/// What [`Series`] promises for [`Task::Check`].
#[inline(always)]
unsafe fn fit<const SWAP: bool>(series: Series) -> bool {
    let Series { from, from_step, count, sign, .. } = series;
    let mut excess = 0;
    let mut from = from;
    for _ in 0..count {
        // SAFETY: the caller guarantees the integers; this is one of them.
        let value = unsafe { from.cast::<u64>().read_unaligned() };
        let value = if SWAP { value.swap_bytes() } else { value };
        excess |= value.wrapping_add(sign) >> 32;
        from = from.wrapping_offset(from_step);
    }
    excess == 0
}

/// Writes integers of 8 bytes as integers of 4; returns whether all of them fit.
///
/// # Safety
///
/// What [`Series`] promises.
#[inline(always)]
unsafe fn narrow<const SWAP_FROM: bool, const SWAP_TO: bool>(series: Series) -> bool {
    let Series { mut from, mut to, from_step, to_step, count, sign } = series;
    let mut excess = 0;
    for _ in 0..count {
        // SAFETY: the caller guarantees the integers on both sides; this is one of them.
        unsafe {
            let value = from.cast::<u64>().read_unaligned();
            let value = if SWAP_FROM { value.swap_bytes() } else { value };
            excess |= value.wrapping_add(sign) >> 32;
            #[expect(clippy::cast_possible_truncation, reason = "seen to fit, or said not to")]
            let value = value as u32;
            let value = if SWAP_TO { value.swap_bytes() } else { value };
            to.cast::<u32>().write_unaligned(value);
        }
        from = from.wrapping_offset(from_step);
        to = to.wrapping_offset(to_step);
    }
    excess == 0
}

/// Writes integers of 4 bytes as integers of 8. All of them fit.
///
/// # Safety
///
/// What [`Series`] promises.
#[inline(always)]
unsafe fn widen<const SWAP_FROM: bool, const SWAP_TO: bool>(series: Series) -> bool {
    let Series { mut from, mut to, from_step, to_step, count, sign } = series;
    for _ in 0..count {
        // SAFETY: the caller guarantees the integers on both sides; this is one of them.
        unsafe {
            let value = from.cast::<u32>().read_unaligned();
            let value = u64::from(if SWAP_FROM { value.swap_bytes() } else { value });
            let value = (value ^ sign).wrapping_sub(sign);
            let value = if SWAP_TO { value.swap_bytes() } else { value };
            to.cast::<u64>().write_unaligned(value);
        }
        from = from.wrapping_offset(from_step);
        to = to.wrapping_offset(to_step);
    }
    true
}

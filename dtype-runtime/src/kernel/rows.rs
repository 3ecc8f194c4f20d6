//! Blocks of one length in one or two dimensions: the loops in which most time is spent.

use core::hint;
use core::ops::Range;

use super::direction::{Direction, Pack, Steps, Transfer, Unpack, Way, each};
use super::moves::{any, by_block, long, three, touching, two};
use super::registers::{Portable, Registers, compiled_for_selected};
use crate::plan::choose::{self, PerBlock};
use crate::plan::{Blocks, SHORT};

compiled_for_selected! {
    /// Copies `count` blocks of `len` bytes.
    ///
    /// # Safety
    ///
    /// For each block, `len` bytes from `memory` and from `packed` on, advanced by the steps, must be valid for `D`.
    pub(crate) unsafe fn strided[D: Direction][D](
        len: usize, count: usize, steps: Steps, memory: *mut u8, packed: *mut u8,
    ) = R => rows::<D, R, true>(len, [(count, steps), (1, steps)], memory, packed);
}

/// As [`strided`], for callers in other crates: without a type, so that these share the code.
///
/// # Safety
///
/// As [`strided`].
#[inline]
pub(crate) unsafe fn shared<D: Direction>(
    len: usize,
    count: usize,
    steps: Steps,
    memory: *mut u8,
    packed: *mut u8,
) {
    /// # Safety
    ///
    /// As [`strided`].
    #[inline(never)]
    unsafe fn pack(len: usize, count: usize, steps: Steps, memory: *mut u8, packed: *mut u8) {
        // SAFETY: passed on to the caller.
        unsafe { strided::<Pack>(len, count, steps, memory, packed) };
    }
    /// # Safety
    ///
    /// As [`strided`].
    #[inline(never)]
    unsafe fn unpack(len: usize, count: usize, steps: Steps, memory: *mut u8, packed: *mut u8) {
        // SAFETY: passed on to the caller.
        unsafe { strided::<Unpack>(len, count, steps, memory, packed) };
    }
    // SAFETY: passed on to the caller; the function does what `D` does.
    unsafe {
        match D::TRANSFER {
            Transfer::Pack => pack(len, count, steps, memory, packed),
            Transfer::Unpack => unpack(len, count, steps, memory, packed),
            Transfer::Move | Transfer::Zero => {
                each(count, steps, memory, packed, |memory, packed| D::copy(memory, packed, len));
            }
        }
    }
}

compiled_for_selected! {
    /// Copies blocks of `len` bytes in two dimensions, the inner one first.
    ///
    /// # Safety
    ///
    /// As [`strided`], for each step of the outer dimension.
    pub(crate) unsafe fn grid[D: Direction][D](
        len: usize, dimensions: [(usize, Steps); 2], memory: *mut u8, packed: *mut u8,
    ) = R => rows::<D, R, false>(len, dimensions, memory, packed);
}

compiled_for_selected! {
    /// Copies the packed bytes `range` of blocks of `len` bytes, `stride` bytes apart in memory, counted from the start of the
    /// first. It copies block by block, so the blocks should be long.
    ///
    /// # Safety
    ///
    /// The bytes of the range, relative to `memory`, and as many from `packed` on must be valid for `D`. The range must start
    /// in the first block, or be empty.
    pub(super) unsafe fn part_of_long[D: Way][D](
        len: usize, stride: isize, range: Range<usize>, memory: *mut u8, packed: *mut u8,
    ) = R => {
        let (mut block, mut packed) = (memory, packed);
        let (mut into, mut left) = (range.start, range.end - range.start);
        while left > 0 {
            let bytes = left.min(len - into);
            any::<D, R>(block.wrapping_add(into), packed, bytes);
            block = block.wrapping_offset(stride);
            packed = packed.wrapping_add(bytes);
            (into, left) = (0, left - bytes);
        }
    };
}

/// Copies the packed bytes `range` of blocks of `len` bytes, `stride` bytes apart in memory, counted from the start of the
/// first.
///
/// # Safety
///
/// As [`part_of_long`].
pub(super) unsafe fn column<D: Way>(
    len: usize,
    stride: isize,
    range: Range<usize>,
    memory: *mut u8,
    packed: *mut u8,
) {
    // SAFETY: passed on to the caller.
    unsafe {
        if len as u64 > SHORT {
            part_of_long::<D>(len, stride, range, memory, packed);
        } else {
            ends_and_rows::<D, Portable>(len, stride, range, memory, packed);
        }
    }
}

/// Copies the packed bytes `range` of blocks of `len` bytes, `stride` bytes apart in memory, counted from the start of the
/// first: the end of the first block, the whole blocks after it by [`strided`], and the start of the last.
///
/// # Safety
///
/// As [`part_of_long`], for `D`. The processor must have the instructions of `R`.
#[inline(always)]
pub(super) unsafe fn ends_and_rows<D: Direction, R: Registers>(
    len: usize,
    stride: isize,
    range: Range<usize>,
    memory: *mut u8,
    packed: *mut u8,
) {
    let (mut block, mut packed) = (memory, packed);
    let (into, mut left) = (range.start, range.end - range.start);
    let steps = Steps { memory: stride, packed: D::advance(len) };
    // SAFETY: the bytes of the range, which the caller guarantees, block by block.
    unsafe {
        if into > 0 {
            let bytes = left.min(len - into);
            any::<D, R>(block.wrapping_add(into), packed, bytes);
            block = block.wrapping_offset(stride);
            packed = packed.wrapping_add(D::advance(bytes));
            left -= bytes;
        }
        let (count, rest) = (left / len, left % len);
        strided::<D>(len, count, steps, block, packed);
        if rest > 0 {
            let last = block.wrapping_offset(stride.wrapping_mul(count.cast_signed()));
            any::<D, R>(last, packed.wrapping_add(D::advance(left - rest)), rest);
        }
    }
}

/// [`grid`] with the registers `R`.
///
/// If the compiler knows the length, a copy is one load and one store, so each arm of [`by_block!`] has a loop of its own.
/// `IS_ONE` says that there is one row, which may be long.
///
/// # Safety
///
/// As [`grid`].
#[inline(always)]
unsafe fn rows<D: Direction, R: Registers, const IS_ONE: bool>(
    len: usize,
    [(count, steps), (number, apart)]: [(usize, Steps); 2],
    memory: *mut u8,
    packed: *mut u8,
) {
    // Loops instead of calls of `each`: of so many closures, the compiler leaves some as separate functions, which are not
    // compiled for these registers.
    macro_rules! each_block {
        (|$m:ident, $p:ident| $copy:expr) => {{
            let (mut row, mut packed_row) = (memory, packed);
            for _ in 0..number {
                let (mut $m, mut $p) = (row, packed_row);
                for _ in 0..count {
                    $copy;
                    $m = $m.wrapping_offset(steps.memory);
                    $p = $p.wrapping_add(steps.packed);
                }
                row = row.wrapping_offset(apart.memory);
                packed_row = packed_row.wrapping_add(apart.packed);
            }
        }};
    }
    // Four blocks at a time, each at its distance from the first: a processor makes two moves in the time in which it steps to
    // the next block. The compiler would step from one to the next if it knew that one distance is twice the other.
    macro_rules! each_move {
        (|$m:ident, $p:ident| $copy:expr) => {{
            // Fewer blocks are not worth the detour through memory that hides it.
            if !IS_ONE || count < 32 || !D::IS_PACKED {
                each_block!(|$m, $p| $copy);
                return;
            }
            let (mut row, mut packed_row) = (memory, packed);
            let two = hint::black_box(steps.times(2));
            let three = Steps {
                memory: two.memory.wrapping_add(steps.memory),
                packed: two.packed.wrapping_add(steps.packed),
            };
            for _ in 0..number {
                let (mut $m, mut $p) = (row, packed_row);
                macro_rules! step {
                    ($of:expr) => {
                        let $m = $m.wrapping_offset($of.memory);
                        let $p = $p.wrapping_add($of.packed);
                        $copy;
                    };
                }
                for _ in 0..count / 4 {
                    $copy;
                    step!(steps);
                    step!(two);
                    step!(three);
                    $m = $m.wrapping_offset(two.memory.wrapping_mul(2));
                    $p = $p.wrapping_add(two.packed.wrapping_mul(2));
                }
                for _ in 0..count % 4 {
                    $copy;
                    $m = $m.wrapping_offset(steps.memory);
                    $p = $p.wrapping_add(steps.packed);
                }
                row = row.wrapping_offset(apart.memory);
                packed_row = packed_row.wrapping_add(apart.packed);
            }
        }};
    }
    let row = Blocks { disp: 0, len: len as u64, count: count as u64, stride: steps.memory as i64 };
    let per = choose::strided(&row, number as u64, apart.memory as i64, R::ISA, D::USE);
    // SAFETY: the caller guarantees every block, and the moves are those for its length.
    unsafe { by_block!(D, R, per, len, each_block, each_move) }
}

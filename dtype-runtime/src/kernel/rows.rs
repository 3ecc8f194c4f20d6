//! Blocks of one length in one or two dimensions: the loops where most of the time is spent.

use core::hint;
use core::ops::Range;

use super::chosen::{Kernel, PerBlock};
use super::direction::{Direction, Steps, Way, each};
use super::moves::{self, any, by_length, long, three, touching, two};
use super::pieces;
use super::registers::{Portable, Registers, compiled_for_selected};
use crate::kernels::{Isa, selected};
use crate::plan::SHORT;

/// Whether some registers make [`strided`] faster than copying each block in [`pieces`].
pub(crate) const fn may_beat_pieces(len: usize) -> bool {
    64 < len && len <= moves::LONG
}

/// Whether the registers that are selected do.
#[inline(always)]
pub(crate) fn beats_pieces(len: usize) -> bool {
    may_beat_pieces(len)
        && match selected() {
            // In pieces, longer blocks take twice as many moves, or a call each.
            Isa::Avx2 => len > pieces::MAX_LEN,
            Isa::Avx512 => true,
            _ => false,
        }
}

compiled_for_selected! {
    /// Copies `count` blocks of `len` bytes.
    ///
    /// # Safety
    ///
    /// For each block, `len` bytes from `memory` and from `packed` on, advanced by the steps, must be valid for `D`.
    pub(crate) unsafe fn strided[D: Direction][D](
        len: usize, count: usize, steps: Steps, memory: *mut u8, packed: *mut u8,
    ) = R => rows::<D, R>(Kernel::Strided, len, [(count, steps), (1, steps)], memory, packed);
}

compiled_for_selected! {
    /// Copies blocks of `len` bytes in two dimensions, the inner one first.
    ///
    /// # Safety
    ///
    /// As [`strided`], for each step of the outer dimension.
    pub(crate) unsafe fn grid[D: Direction][D](
        len: usize, dimensions: [(usize, Steps); 2], memory: *mut u8, packed: *mut u8,
    ) = R => rows::<D, R>(Kernel::Grid, len, dimensions, memory, packed);
}

compiled_for_selected! {
    /// Copies the packed bytes `range` of blocks of `len` bytes, `stride` bytes apart in memory, counted from the start of the
    /// first: one block after the other, so the blocks should be long.
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
/// A length that is known when this is compiled turns a copy into a load and a store: hence a loop for each arm of
/// [`by_length!`].
///
/// # Safety
///
/// As [`grid`].
#[inline(always)]
unsafe fn rows<D: Direction, R: Registers>(
    kernel: impl FnOnce(PerBlock) -> Kernel,
    len: usize,
    [(count, steps), (number, apart)]: [(usize, Steps); 2],
    memory: *mut u8,
    packed: *mut u8,
) {
    // Loops instead of calls of `each`: the compiler leaves some of so many closures as functions of their own, which are
    // not compiled for these registers.
    macro_rules! each_block {
        ($moves:expr, |$m:ident, $p:ident| $copy:expr) => {
            if !D::chosen(|| kernel($moves), packed) {
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
            }
        };
    }
    // SAFETY: the caller guarantees every block, and the moves of `by_length` cover its length exactly.
    unsafe {
        // A conversion of the bytes is fastest with full registers.
        if !D::IS_COPY && len > if R::REVERSES { 16 } else { 64 } {
            each(number, apart, memory, packed, |memory, packed| {
                D::copy_long(len, count, steps, memory, packed);
            });
        } else if are_stored_in_halves::<D>(len, count, steps.memory, apart.memory) {
            // A length that the compiler does not know, so that it does not make one store of the two.
            let opaque = hint::black_box(len);
            if len == 4 {
                let moves = PerBlock::Moves { number: 2, width: 2 };
                each_block!(moves, |m, p| two::<D, 2>(m, p, opaque));
            } else if len == 8 {
                let moves = PerBlock::Moves { number: 2, width: 4 };
                each_block!(moves, |m, p| two::<D, 4>(m, p, opaque));
            } else {
                let moves = PerBlock::Moves { number: 2, width: 8 };
                each_block!(moves, |m, p| two::<D, 8>(m, p, opaque));
            }
        } else {
            by_length!(D, R, len, each_block);
        }
    }
}

/// Whether blocks of `len` bytes are stored by two moves, `count` blocks `stride` bytes apart in each row, and the rows `apart`
/// bytes from one another.
///
/// Lines 512 bytes apart share an eighth of a cache's sets. A loop that stores once in each fills the store buffer of a Zen 5
/// before the first line is there, and lines are evicted before their store is done. With two stores in each line, half as many
/// lines are on their way: blocks of 8 bytes take a third of the time. At multiples of 1024 bytes, two do not help, but four
/// do, in two blocks that are neighbours.
const fn are_stored_in_halves<D: Direction>(
    len: usize,
    count: usize,
    stride: isize,
    apart: isize,
) -> bool {
    if !D::IS_PLAIN || D::IS_PLAIN_PACKING {
        return false;
    }
    let (stride, apart) = (stride.unsigned_abs(), apart.unsigned_abs());
    // Whether the blocks of a row are in one line.
    if stride < 64 {
        matches!(len, 4 | 8 | 16) && apart > 0 && apart % 512 == 0 && count < 4
    } else {
        matches!(len, 8 | 16) && stride % 1024 == 512 && apart >= stride
    }
}

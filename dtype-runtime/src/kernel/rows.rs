//! Blocks of one length in one or two dimensions: the loops in which most time is spent.

use core::hint;
use core::ops::Range;

use super::chosen::{Kernel, PerBlock};
use super::direction::{Direction, Steps, Way};
use super::moves::{self, any, by_length, long, three, touching, two};
use super::pieces;
use super::registers::{Portable, Registers, compiled_for_selected};
use crate::kernels::{Isa, selected};
use crate::plan::SHORT;

/// Whether some registers make [`strided`] faster for blocks of `len` bytes than copying each in [`pieces`].
pub(crate) const fn may_beat_pieces(len: usize) -> bool {
    64 < len && len <= moves::LONG
}

/// Whether the selected registers do.
#[inline(always)]
pub(crate) fn beats_pieces(len: usize) -> bool {
    may_beat_pieces(len) && beats_pieces_with(selected(), len)
}

#[inline(always)]
fn beats_pieces_with(isa: Isa, len: usize) -> bool {
    match isa {
        // Cut into pieces, longer blocks take twice as many moves, or a call each.
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
/// If the compiler knows the length, a copy is one load and one store, so each arm of [`by_length!`] has a loop of its own.
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
    // Loops instead of calls of `each`: of so many closures, the compiler leaves some as separate functions, which are not
    // compiled for these registers.
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
        if are_stored_in_halves::<D>(len, count, steps.memory, apart.memory) {
            // Hides the length from the compiler, which would otherwise merge the two stores into one.
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

/// Whether blocks of `len` bytes are stored by two moves each. There are `count` blocks in a row, `stride` bytes apart, and the
/// rows are `apart` bytes apart.
///
/// Lines 512 bytes apart share an eighth of a cache's sets. A loop with one store in each line fills the store buffer of a Zen
/// 5 before the first line arrives, and lines are evicted before their stores are done. With two stores in each line, half as
/// many lines are in flight, and blocks of 8 bytes take a third of the time. At multiples of 1024 bytes, two stores do not
/// help, but four do: two in each of two neighbouring blocks.
const fn are_stored_in_halves<D: Direction>(
    len: usize,
    count: usize,
    stride: isize,
    apart: isize,
) -> bool {
    if D::PACKS || !D::IS_PACKED {
        return false;
    }
    let (stride, apart) = (stride.unsigned_abs(), apart.unsigned_abs());
    // Whether the blocks of a row share a line.
    if stride < 64 {
        matches!(len, 4 | 8 | 16) && apart > 0 && apart % 512 == 0 && count < 4
    } else {
        matches!(len, 8 | 16) && stride % 1024 == 512 && apart >= stride
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Move, Pack, Unpack};

    #[test]
    fn long_records_are_copied_in_rows() {
        assert_eq!([64, 65, 1024, 1025].map(may_beat_pieces), [false, true, true, false]);
        let with = |isa| [65, 128, 129].map(|len| beats_pieces_with(isa, len));
        assert_eq!(with(Isa::Portable), [false; 3]);
        assert_eq!(with(Isa::Avx2), [false, false, true]);
        assert_eq!(with(Isa::Avx512), [true; 3]);
        // The selected registers decide.
        let isa = selected();
        assert!(!beats_pieces(64));
        assert_eq!([65, 129].map(beats_pieces), [65, 129].map(|len| beats_pieces_with(isa, len)));
    }

    #[test]
    fn blocks_in_the_same_sets_are_stored_in_halves() {
        /// The lengths of the blocks that are stored in halves.
        fn lengths<D: Direction>(count: usize, stride: isize, apart: isize) -> Vec<usize> {
            (1..40).filter(|len| are_stored_in_halves::<D>(*len, count, stride, apart)).collect()
        }
        // Rows of up to three blocks in one line.
        for (stride, apart) in [(4, 512), (-16, 1024), (63, -1536)] {
            assert_eq!(lengths::<Unpack>(3, stride, apart), [4, 8, 16]);
            assert_eq!(lengths::<Unpack>(1, stride, apart), [4, 8, 16]);
            assert!(lengths::<Unpack>(4, stride, apart).is_empty());
        }
        for apart in [0, 511, 256, 800] {
            assert!(lengths::<Unpack>(3, 8, apart).is_empty(), "{apart}");
        }
        // Blocks each in a line of its own.
        for (stride, apart) in [(512, 512), (-512, 4096), (1536, -2000)] {
            assert_eq!(lengths::<Unpack>(10, stride, apart), [8, 16]);
        }
        for (stride, apart) in [(64, 512), (512, 511), (1024, 4096), (600, 4096)] {
            assert!(lengths::<Unpack>(3, stride, apart).is_empty(), "{stride} {apart}");
        }
        // Packing stores no blocks to memory, and stores are not all that moving does.
        assert!(lengths::<Pack>(3, 4, 512).is_empty() && lengths::<Move>(3, 4, 512).is_empty());
    }
}

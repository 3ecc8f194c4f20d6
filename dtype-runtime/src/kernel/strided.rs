//! Blocks of one length at equal distances, in one or two dimensions: what most plans consist of, and the loops in which most
//! time is spent.

use core::hint;
use core::ops::Range;

use super::block::{any, by_block, long, three, touching, two};
use super::direction::{Direction, Pack, Steps, Unpack, Way};
use super::permute::{permute, permuted_blocks};
use super::registers::{Portable, Registers, compiled_for_selected};
use crate::isa::selected;
use crate::plan::choose::{self, PerBlock};
use crate::plan::{Blocks, Program, SHORT};

/// The displacement, the length, the number and the stride of blocks in memory.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "they are in memory")]
pub(super) const fn in_memory(all: &Blocks) -> (isize, usize, usize, isize) {
    (all.disp as isize, all.len as usize, all.count as usize, all.stride as isize)
}

/// Executes one operation. Returns the end of the packed bytes.
///
/// # Safety
///
/// The bytes of all blocks, relative to `memory`, and as many from `packed` on must be valid for `D`.
#[inline]
pub(crate) unsafe fn blocks<D: Direction>(
    all: &Blocks,
    program: &Program,
    memory: *mut u8,
    packed: *mut u8,
) -> *mut u8 {
    let (disp, len, count, stride) = in_memory(all);
    let memory = memory.wrapping_offset(disp);
    let end = packed.wrapping_add(D::advance(len.wrapping_mul(count)));
    // SAFETY: `memory` is the first block, and its `count` blocks are those that the caller guarantees.
    unsafe {
        if choose::are_few(all) {
            any::<D, Portable>(memory, packed, len);
            if count == 2 {
                let next = packed.wrapping_add(D::advance(len));
                any::<D, Portable>(memory.wrapping_offset(stride), next, len);
            }
        } else if !choose::may_be_column(all)
            || permuted_blocks::<D>(all, program, memory, packed).is_none()
        {
            let steps = Steps { memory: stride, packed: D::advance(len) };
            strided::<D>(len, count, steps, memory, packed);
        }
    }
    end
}

/// Copies the packed bytes `range` of blocks.
///
/// # Safety
///
/// The bytes of the range, relative to `memory`, and as many from `packed` on must be valid for `D`; if memory is read, all of
/// the blocks must be readable; if it is written, they must not overlap.
#[inline(always)]
pub(crate) unsafe fn part<D: Way>(
    blocks: &Blocks,
    program: &Program,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
) {
    // SAFETY: the same blocks and the same range. A long one is counted from the block in which it starts.
    unsafe {
        if blocks.len > SHORT {
            let (range, first) = from_block(blocks, range.start / blocks.len, range, memory);
            let (_, len, _, stride) = in_memory(blocks);
            part_of_long::<D>(len, stride, range, first, packed);
        } else if blocks.len > 0 {
            part_of_short::<D>(blocks, program, range, memory, packed);
        }
    }
}

/// The range counted from the start of a block, and the address of that block.
#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "bytes of one fragment, and of blocks in memory"
)]
fn from_block(
    blocks: &Blocks,
    block: u64,
    range: Range<u64>,
    memory: *mut u8,
) -> (Range<usize>, *mut u8) {
    let before = block * blocks.len;
    let range = (range.start - before) as usize..(range.end - before) as usize;
    (range, memory.wrapping_offset(blocks.block(block) as isize))
}

/// As [`part`], for blocks of at most [`SHORT`] bytes. A permutation copies them if there is one; otherwise the end of the
/// first block, the whole blocks after it, and the start of the last are copied.
///
/// # Safety
///
/// As [`part`] requires; the blocks must have bytes.
#[inline(never)]
unsafe fn part_of_short<D: Way>(
    blocks: &Blocks,
    program: &Program,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
) {
    // SAFETY: what is copied are the bytes of the range, counted from the record or block in which it starts. The permutation is
    // that of the blocks: what it reads beside the range is data of these, all of which the caller guarantees to be readable.
    unsafe {
        let count = (range.end - range.start) / blocks.len;
        if let Some(all) = choose::column(blocks, count, program, selected(), D::USE) {
            let (range, first) =
                from_block(blocks, all.record_of(range.start), range.clone(), memory);
            if permute::<D>(all, range, first, packed) {
                return;
            }
        }
        let (range, first) = from_block(blocks, range.start / blocks.len, range, memory);
        let (_, len, _, stride) = in_memory(blocks);
        ends_and_rows::<D, Portable>(len, stride, range, first, packed);
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
    ) = R => by_moves::<D, R, true>(len, [(count, steps), (1, steps)], memory, packed);
}

/// As [`strided`], for callers in other crates: without a type, so that these share the code.
///
/// # Safety
///
/// As [`strided`] requires of each block.
#[inline]
pub(crate) unsafe fn strided_shared<D: Way>(
    len: usize,
    count: usize,
    steps: Steps,
    memory: *mut u8,
    packed: *mut u8,
) {
    /// # Safety
    ///
    /// As [`strided`] requires of each block.
    #[inline(never)]
    unsafe fn pack(len: usize, count: usize, steps: Steps, memory: *mut u8, packed: *mut u8) {
        // SAFETY: the same blocks.
        unsafe { strided::<Pack>(len, count, steps, memory, packed) };
    }
    /// # Safety
    ///
    /// As [`strided`] requires of each block.
    #[inline(never)]
    unsafe fn unpack(len: usize, count: usize, steps: Steps, memory: *mut u8, packed: *mut u8) {
        // SAFETY: the same blocks.
        unsafe { strided::<Unpack>(len, count, steps, memory, packed) };
    }
    let shared = if D::PACKS { pack } else { unpack };
    // SAFETY: the same blocks, and the function does what `D` does.
    unsafe { shared(len, count, steps, memory, packed) };
}

compiled_for_selected! {
    /// Copies blocks of `len` bytes in two dimensions, the inner one first.
    ///
    /// # Safety
    ///
    /// For each block, `len` bytes from `memory` and from `packed` on, advanced by the steps of both dimensions, must be valid
    /// for `D`.
    pub(crate) unsafe fn grid[D: Direction][D](
        len: usize, dimensions: [(usize, Steps); 2], memory: *mut u8, packed: *mut u8,
    ) = R => by_moves::<D, R, false>(len, dimensions, memory, packed);
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
/// The bytes of the range, relative to `memory`, and as many from `packed` on must be valid for `D`. The range must start in
/// the first block, or be empty.
pub(super) unsafe fn column<D: Way>(
    len: usize,
    stride: isize,
    range: Range<usize>,
    memory: *mut u8,
    packed: *mut u8,
) {
    // SAFETY: the same range of the same blocks.
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
/// The bytes of the range, relative to `memory`, and as many from `packed` on must be valid for `D`. The range must start in
/// the first block, or be empty. The processor must have the instructions of `R`.
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
/// For each block, `len` bytes from `memory` and from `packed` on, advanced by the steps of both dimensions, must be valid for
/// `D`. The processor must have the instructions of `R`.
#[inline(always)]
unsafe fn by_moves<D: Direction, R: Registers, const IS_ONE: bool>(
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

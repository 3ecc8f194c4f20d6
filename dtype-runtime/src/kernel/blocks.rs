//! Blocks at equal distances: what most plans consist of.

use core::ops::Range;

use super::direction::{Direction, Steps, Way, each};
use super::grid::Grid;
use super::moves::any;
use super::permute;
use super::registers::Portable;
use super::rows::{ends_and_rows, part_of_long, strided};
use crate::isa::selected;
use crate::plan::choose::{self, Kernel};
use crate::plan::{Blocks, Program, SHORT};

/// Executes one operation. Returns the end of the packed bytes.
///
/// # Safety
///
/// The bytes of all blocks, relative to `memory`, and as many from `packed` on must be valid for `D`.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "lengths and counts of blocks in memory")]
pub(crate) unsafe fn blocks<D: Direction>(
    all: &Blocks,
    program: &Program,
    memory: *mut u8,
    packed: *mut u8,
) -> *mut u8 {
    let Blocks { disp, len, count, stride } = *all;
    let memory = memory.wrapping_offset(disp as isize);
    let (len, count) = (len as usize, count as usize);
    let end = packed.wrapping_add(D::advance(len.wrapping_mul(count)));
    // SAFETY: the caller guarantees all of the blocks.
    unsafe {
        if choose::are_few(all) {
            any::<D, Portable>(memory, packed, len);
            if count == 2 {
                let next = packed.wrapping_add(D::advance(len));
                any::<D, Portable>(memory.wrapping_offset(stride as isize), next, len);
            }
        } else if !choose::may_be_column(all)
            || permute::blocks::<D>(all, program, memory, packed).is_none()
        {
            let steps = Steps { memory: stride as isize, packed: D::advance(len) };
            strided::<D>(len, count, steps, memory, packed);
        }
    }
    end
}

/// Executes one operation `count` times, `apart` bytes apart, by a kernel for rows. Returns the end of the packed bytes.
///
/// # Safety
///
/// As [`blocks`], for each repetition.
#[expect(
    clippy::cast_possible_truncation,
    reason = "lengths, counts and distances of blocks in memory"
)]
pub(super) unsafe fn rows<D: Direction>(
    kernel: Kernel<'_>,
    row: &Blocks,
    program: &Program,
    count: u64,
    apart: i64,
    memory: *mut u8,
    packed: *mut u8,
) -> *mut u8 {
    let memory = memory.wrapping_offset(row.disp as isize);
    let size = D::advance((row.len as usize).wrapping_mul(row.count as usize));
    // SAFETY: the caller guarantees all repetitions.
    unsafe {
        if let Kernel::PermutedRows(_) = kernel {
            let row = Blocks { disp: 0, ..*row };
            let apart = Steps { memory: apart as isize, packed: size };
            each(count as usize, apart, memory, packed, |memory, packed| {
                blocks::<D>(&row, program, memory, packed);
            });
        } else {
            let together = if let Kernel::Tiles(together) = kernel { together } else { 1 };
            Grid::new(row, count, apart, together).execute::<D>(memory, packed);
        }
    }
    packed.wrapping_add(size.wrapping_mul(count as usize))
}

/// Copies the packed bytes `range` of blocks.
///
/// # Safety
///
/// The bytes of the range, relative to `memory`, and as many from `packed` on must be valid for `D`; if memory is read, all of
/// the blocks must be readable; if it is written, they must not overlap.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "lengths of blocks in memory")]
pub(crate) unsafe fn part<D: Way>(
    blocks: &Blocks,
    program: &Program,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
) {
    // SAFETY: passed on to the caller; the first byte of the range is in this block.
    unsafe {
        if blocks.len > SHORT {
            let (range, first) = from_block(blocks, range.start / blocks.len, range, memory);
            let (len, stride) = (blocks.len as usize, blocks.stride as isize);
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
/// As [`part`]; the blocks must have bytes.
#[inline(never)]
#[expect(clippy::cast_possible_truncation, reason = "lengths of blocks in memory")]
unsafe fn part_of_short<D: Way>(
    blocks: &Blocks,
    program: &Program,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
) {
    // SAFETY: passed on to the caller; the permutation is that of the blocks, and the first byte of the range is in this record
    // or block. What is copied without one are the bytes of the range, block by block.
    unsafe {
        let count = (range.end - range.start) / blocks.len;
        if let Some(all) = choose::column(blocks, count, program, selected(), D::USE) {
            let (range, first) =
                from_block(blocks, all.record_of(range.start), range.clone(), memory);
            if permute::permute::<D>(all, range, first, packed) {
                return;
            }
        }
        let (range, first) = from_block(blocks, range.start / blocks.len, range, memory);
        let (len, stride) = (blocks.len as usize, blocks.stride as isize);
        ends_and_rows::<D, Portable>(len, stride, range, first, packed);
    }
}

/// Copies one run of bytes.
///
/// # Safety
///
/// As [`Direction::copy`].
#[inline]
pub(crate) unsafe fn run<D: Direction>(memory: *mut u8, packed: *mut u8, len: usize) {
    // SAFETY: passed on to the caller.
    unsafe { any::<D, Portable>(memory, packed, len) }
}

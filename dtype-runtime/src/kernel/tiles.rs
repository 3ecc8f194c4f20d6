//! Blocks in two dimensions whose neighbours in memory are far apart in the packed stream: transposes.
//!
//! The columns of a matrix, one after another, are such: each column takes every line of the cache that the next
//! one takes again, and a matrix with rows of a page or so puts all of them in the same few places of the cache,
//! which cannot hold them until then. So several columns are copied together, row by row, as many as lie in two
//! lines; the packed stream then has as many places that are written, or read, side by side.

use super::blocks::{Direction, Steps, strided};
use crate::commit::Blocks;

/// Bytes of memory that the blocks of a row in a tile span, if they are neighbours.
const ROW: usize = 128;

/// Fewer rows than this are still in the cache when the next column comes.
const FEWEST_ROWS: u64 = 16;

/// Blocks in two dimensions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tiles {
    /// Bytes of each block.
    len: usize,
    /// Number of columns, each of which is packed as a whole.
    columns: usize,
    /// Bytes of memory from one column to the next.
    column: isize,
    /// Number of blocks in a column.
    rows: usize,
    /// Bytes of memory from one block of a column to the next.
    row: isize,
    /// Columns in a tile.
    together: usize,
}

impl Tiles {
    /// `count` columns that are `stride` bytes apart, if they are narrow and it pays to copy several together.
    pub(super) fn of(column: &Blocks, count: u64, stride: i64) -> Option<Self> {
        let apart = usize::try_from(stride.unsigned_abs()).ok()?;
        let together = ROW.checked_div(apart)?;
        let is_narrow = together > 1 && column.len <= stride.unsigned_abs();
        // Rows of lines of their own.
        let is_far = column.stride.unsigned_abs() >= ROW as u64;
        if !is_narrow || !is_far || column.count < FEWEST_ROWS || count < 2 {
            return None;
        }
        Some(Self {
            len: usize::try_from(column.len).ok()?,
            columns: usize::try_from(count).ok()?,
            column: isize::try_from(stride).ok()?,
            rows: usize::try_from(column.count).ok()?,
            row: isize::try_from(column.stride).ok()?,
            together,
        })
    }

    /// Copies all blocks; `memory` is where the first one is. Returns the end of what was packed.
    ///
    /// # Safety
    ///
    /// The bytes of all blocks, and as many from `packed` on as these are, must be valid for `D`.
    pub(super) unsafe fn execute<D: Direction>(&self, memory: *mut u8, packed: *mut u8) -> *mut u8 {
        let whole = self.columns - self.columns % self.together;
        // SAFETY: the blocks that the caller vouches for: first those of whole tiles, and then the columns that are
        // left, one narrower tile. The pointers wrap, as the gaps need not lie in the memory.
        unsafe {
            match (self.len, self.together) {
                (16, 8) => self.tiles::<D, 16, 8>(memory, packed),
                (8, 16) => self.tiles::<D, 8, 16>(memory, packed),
                (4, 32) => self.tiles::<D, 4, 32>(memory, packed),
                _ => {
                    for first in (0..whole).step_by(self.together) {
                        self.tile::<D>(first, self.together, memory, packed);
                    }
                }
            }
            self.tile::<D>(whole, self.columns - whole, memory, packed);
        }
        packed.wrapping_add(D::advance(self.len * self.rows * self.columns))
    }

    /// Copies the tiles of `T` columns of blocks of `L` bytes.
    ///
    /// # Safety
    ///
    /// As [`execute`](Self::execute); these must be the sizes.
    unsafe fn tiles<D: Direction, const L: usize, const T: usize>(
        &self,
        memory: *mut u8,
        packed: *mut u8,
    ) {
        let apart = D::advance(L * self.rows);
        for first in (0..self.columns / T).map(|tile| tile * T) {
            let mut memory = memory.wrapping_offset(self.column.wrapping_mul(first.cast_signed()));
            let mut packed = packed.wrapping_add(apart * first);
            for _ in 0..self.rows {
                for column in 0..T {
                    let from = memory.wrapping_offset(self.column * column.cast_signed());
                    // SAFETY: one of the blocks that the caller vouches for.
                    unsafe { D::copy(from, packed.wrapping_add(apart * column), L) };
                }
                memory = memory.wrapping_offset(self.row);
                packed = packed.wrapping_add(D::advance(L));
            }
        }
    }

    /// Copies one tile of so many columns, or none.
    ///
    /// # Safety
    ///
    /// As [`execute`](Self::execute).
    unsafe fn tile<D: Direction>(
        &self,
        first: usize,
        columns: usize,
        memory: *mut u8,
        packed: *mut u8,
    ) {
        let steps = Steps { memory: self.column, packed: D::advance(self.len * self.rows) };
        let mut memory = memory.wrapping_offset(self.column.wrapping_mul(first.cast_signed()));
        let mut packed = packed.wrapping_add(steps.packed * first);
        for _ in 0..self.rows {
            // SAFETY: blocks that the caller vouches for, one of each column.
            unsafe { strided::<D>(self.len, columns, steps, memory, packed) };
            memory = memory.wrapping_offset(self.row);
            packed = packed.wrapping_add(D::advance(self.len));
        }
    }
}

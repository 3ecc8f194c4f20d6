//! Blocks in two dimensions whose neighbours in memory are far apart in the packed stream: transposes.
//!
//! Take the columns of a matrix of `f64` with 512 columns, packed one after another. A row has 4096 bytes. Each element
//! of a column lies in another line of the cache, and lines 4096 bytes apart share the same few ways of it: by the time
//! that the next column needs a line again, the line is gone. Each line is then fetched eight times for its eight
//! elements.
//!
//! So several columns are copied together, row by row: as many as lie in [`ROW`] bytes, here 16. Each line is fetched
//! once, and the packed stream is written at 16 positions, 8 bytes further with each row. The columns that remain form
//! a narrower tile.
//!
//! The lines of those 16 positions must stay in the cache until they are full. If the matrix has 512 rows, the positions are
//! 4096 bytes apart, and their lines share the same few ways, too. So a tile has no more columns than a set has [`WAYS`].

use super::chosen::Kernel;
use super::direction::{Direction, Steps};
use super::rows::strided;
use crate::plan::Blocks;

/// Bytes of memory that the blocks of a row in a tile span, if they are neighbours.
const ROW: usize = 128;

/// Bytes from one line of the first-level cache to the next one in the same set.
const SAME_SET: usize = 4096;

/// The number of lines in a set that can be relied on.
const WAYS: usize = 8;

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
    /// `count` columns at a stride of `stride` bytes, if they are narrow and it pays to copy several together.
    pub(super) fn of<D: Direction>(column: &Blocks, count: u64, stride: i64) -> Option<Self> {
        let apart = usize::try_from(stride.unsigned_abs()).ok()?;
        let together = ROW.checked_div(apart)?;
        let is_narrow = together > 1 && column.len <= stride.unsigned_abs();
        // Each row lies in other cache lines than the row before.
        let is_far = column.stride.unsigned_abs() >= ROW as u64;
        if !is_narrow || !is_far || column.count < FEWEST_ROWS || count < 2 {
            return None;
        }
        let (len, rows) = (usize::try_from(column.len).ok()?, usize::try_from(column.count).ok()?);
        Some(Self {
            len,
            columns: usize::try_from(count).ok()?,
            column: isize::try_from(stride).ok()?,
            rows,
            row: isize::try_from(column.stride).ok()?,
            together: if D::IS_PLAIN_PACKING {
                together.min(most_streams(len * rows))
            } else {
                together
            },
        })
    }

    /// Copies all blocks; `memory` points to the first one. Returns the end of the packed bytes.
    ///
    /// # Safety
    ///
    /// The bytes of all blocks, and as many bytes from `packed` on, must be valid for `D`.
    pub(super) unsafe fn execute<D: Direction>(&self, memory: *mut u8, packed: *mut u8) -> *mut u8 {
        // SAFETY: passed on to the caller.
        if unsafe { D::chosen(|| Kernel::Tiles, packed) } {
            return packed;
        }
        let whole = self.columns - self.columns % self.together;
        // SAFETY: the blocks that the caller guarantees: first the blocks of whole tiles, and then the remaining
        // columns as one narrower tile. The pointers wrap, as the gaps need not lie in the memory.
        unsafe {
            match (self.len, self.together) {
                (16, 8) => self.tiles::<D, 16, 8>(memory, packed),
                (8, 16) => self.tiles::<D, 8, 16>(memory, packed),
                (4, 32) => self.tiles::<D, 4, 32>(memory, packed),
                (8, WAYS) if D::IS_PLAIN_PACKING => self.tiles::<D, 8, WAYS>(memory, packed),
                (4, WAYS) if D::IS_PLAIN_PACKING => self.tiles::<D, 4, WAYS>(memory, packed),
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
                    // SAFETY: one of the blocks that the caller guarantees.
                    unsafe { D::copy(from, packed.wrapping_add(apart * column), L) };
                }
                memory = memory.wrapping_offset(self.row);
                packed = packed.wrapping_add(D::advance(L));
            }
        }
    }

    /// Copies one tile of `columns` columns from column `first` on; there may be none.
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
            // SAFETY: blocks that the caller guarantees, one of each column.
            unsafe { strided::<D>(self.len, columns, steps, memory, packed) };
            memory = memory.wrapping_offset(self.row);
            packed = packed.wrapping_add(D::advance(self.len));
        }
    }
}

/// The most streams, `apart` bytes from one another, whose lines all stay in the cache.
fn most_streams(apart: usize) -> usize {
    let shared = 1 << apart.trailing_zeros().min(SAME_SET.trailing_zeros());
    WAYS * (SAME_SET / shared)
}

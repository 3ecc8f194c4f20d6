//! Blocks in two dimensions: the columns of a matrix, packed one after another.
//!
//! Take a matrix of `f64` with 512 rows and 512 columns. A row has 4096 bytes. Each element of a column lies in a cache line of
//! its own, and lines 4096 bytes apart share the few ways of one set: when the next column needs a line again, it has been
//! evicted. So each line is fetched eight times, once for each of its eight elements.
//!
//! So several columns are copied together, row by row: a *tile* has as many columns as lie in 128 bytes, here 16. Each line
//! is fetched once, and the packed stream is written at 16 positions, 8 bytes further with each row. The columns that remain
//! form a narrower tile.
//!
//! The lines of those 16 positions must stay in the cache until they are full. Here the positions are 4096 bytes apart, so
//! their lines share the ways of one set, too. So a tile has no more columns than a set has ways.
//!
//! A part of the packed stream consists of a few such areas. Take 6 rows, and blocks 15 to 32: the last 3 of column 2 (`h`),
//! all of columns 3 and 4 (`w`), and the first 3 of column 5 (`t`). Copied together, the columns have these rows:
//!
//! ```text
//! column  2 3 4 5
//! row 0     w w t     three columns
//! row 1     w w t
//! row 2     w w t
//! row 3   h w w       three columns
//! row 4   h w w
//! row 5   h w w
//! ```
//!
//! With one more block in `h`, row 2 would have four columns; with one less, row 3 would have two.

use core::ops::Range;

use super::block::any;
use super::direction::{Direction, Steps, Way, each};
use super::registers::Portable;
use super::strided::{self, column};
use crate::plan::choose::{self, Kernel};
use crate::plan::{Blocks, Part, Program, Split, split};

/// Executes one operation `count` times, `apart` bytes apart, by a kernel for rows. Returns the end of the packed bytes.
///
/// # Safety
///
/// The bytes of all blocks in each repetition, relative to `memory`, and as many from `packed` on must be valid for `D`.
#[expect(clippy::cast_possible_truncation, reason = "counts and distances of blocks in memory")]
pub(super) unsafe fn rows<D: Direction>(
    kernel: Kernel<'_>,
    row: &Blocks,
    program: &Program,
    count: u64,
    apart: i64,
    memory: *mut u8,
    packed: *mut u8,
) -> *mut u8 {
    let (disp, len, in_row, _) = strided::in_memory(row);
    let size = D::advance(len.wrapping_mul(in_row));
    // SAFETY: a row is one repetition, and a grid is all of them, from its first block on; the caller guarantees these.
    unsafe {
        if let Kernel::PermutedRows(_) = kernel {
            let apart = Steps { memory: apart as isize, packed: size };
            each(count as usize, apart, memory, packed, |memory, packed| {
                strided::blocks::<D>(row, program, memory, packed);
            });
        } else {
            let together = if let Kernel::Tiles(together) = kernel { together } else { 1 };
            let memory = memory.wrapping_offset(disp);
            Grid::new(row, count, apart, together).execute::<D>(memory, packed);
        }
    }
    packed.wrapping_add(size.wrapping_mul(count as usize))
}

/// How many lines a set of the first-level cache has at least: the columns of a narrower tile.
const WAYS: usize = 8;

/// Blocks in two dimensions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    /// Bytes of each block.
    len: usize,
    /// Number of columns, each of which is packed as a whole.
    columns: usize,
    /// Bytes of memory from the start of one column to the next.
    column: isize,
    /// Number of blocks in a column.
    rows: usize,
    /// Bytes of memory from one block of a column to the next.
    row: isize,
    /// Columns in a tile; 1 if each column is copied by itself.
    together: usize,
}

impl Grid {
    /// `count` columns, `stride` bytes apart, `together` of them in a tile.
    #[expect(clippy::cast_possible_truncation, reason = "lengths, counts and distances in memory")]
    pub(super) fn new(column: &Blocks, count: u64, stride: i64, together: usize) -> Self {
        Self {
            len: column.len as usize,
            columns: count as usize,
            column: stride as isize,
            rows: column.count as usize,
            row: column.stride as isize,
            together,
        }
    }

    /// Copies all blocks; `memory` points to the first one.
    ///
    /// # Safety
    ///
    /// The bytes of all blocks, and as many bytes from `packed` on, must be valid for `D`.
    pub(super) unsafe fn execute<D: Direction>(&self, memory: *mut u8, packed: *mut u8) {
        // SAFETY: this area is all blocks.
        unsafe { self.area::<D>(0..self.columns, 0..self.rows, memory, packed) };
    }

    /// Copies the packed bytes `range`; `memory` points to the first block of all, `packed` to the first byte of the range.
    ///
    /// # Safety
    ///
    /// The bytes of the range, and as many from `packed` on, must be valid for `D`.
    unsafe fn part<D: Way>(&self, range: Range<u64>, memory: *mut u8, packed: *mut u8) {
        // The first packed byte of the first block.
        let origin = packed.wrapping_sub(index(range.start));
        let Split { head, whole, tail } = split(range, (self.len * self.rows) as u64);
        let columns = index(whole.start)..index(whole.end);
        let ends = [head, tail];
        // SAFETY: these bytes are the part of the range in each column, and the caller guarantees the range.
        unsafe {
            if self.together > 1 && (!columns.is_empty() || ends.iter().all(Option::is_some)) {
                return self.part_of_tiles::<D>(columns, ends, memory, origin);
            }
            if !columns.is_empty() {
                self.area::<D>(columns, 0..self.rows, memory, origin);
            }
            for Part { item, bytes } in ends.into_iter().flatten() {
                let (item, start, end) = (index(item), index(bytes.start), index(bytes.end));
                let row = start / self.len;
                let before = row * self.len;
                let memory = self.memory(item, row, memory);
                let packed = self.packed::<D>(item, 0, origin).wrapping_add(start);
                column::<D>(self.len, self.row, start - before..end - before, memory, packed);
            }
        }
    }

    /// As [`part`](Self::part), for a range over several columns: the end of one, some whole columns, and the start of one.
    /// `packed` is the first packed byte of all blocks.
    ///
    /// # Safety
    ///
    /// The bytes of the range in memory, and its packed bytes, counted from `packed` on, must be valid for `D`.
    unsafe fn part_of_tiles<D: Way>(
        &self,
        whole: Range<usize>,
        [head, tail]: [Option<Part>; 2],
        memory: *mut u8,
        packed: *mut u8,
    ) {
        let (len, rows) = (self.len, self.rows);
        let (mut columns, mut start, mut end) = (whole.clone(), rows, 0);
        // SAFETY: bytes of the range: part of a block at each end, and the blocks between the two.
        unsafe {
            if let Some(head) = head {
                columns.start -= 1;
                let (row, into) = (index(head.bytes.start) / len, index(head.bytes.start) % len);
                start = row;
                if into > 0 {
                    let memory = self.memory(columns.start, row, memory).wrapping_add(into);
                    let packed = self.packed::<D>(columns.start, row, packed).wrapping_add(into);
                    any::<D, Portable>(memory, packed, len - into);
                    start += 1;
                }
            }
            if let Some(tail) = tail {
                let (row, bytes) = (index(tail.bytes.end) / len, index(tail.bytes.end) % len);
                end = row;
                if bytes > 0 {
                    let memory = self.memory(columns.end, row, memory);
                    let packed = self.packed::<D>(columns.end, row, packed);
                    any::<D, Portable>(memory, packed, bytes);
                }
                columns.end += 1;
            }
            let area = |columns, rows| self.area::<D>(columns, rows, memory, packed);
            area(whole.start..columns.end, 0..start.min(end));
            if start < end {
                area(columns.clone(), start..end);
            } else {
                area(whole.clone(), end..start);
            }
            area(columns.start..whole.end, start.max(end)..rows);
        }
    }

    /// The address of a block's first byte.
    fn memory(&self, column: usize, row: usize, memory: *mut u8) -> *mut u8 {
        let column = self.column.wrapping_mul(column.cast_signed());
        memory.wrapping_offset(column).wrapping_offset(self.row.wrapping_mul(row.cast_signed()))
    }

    /// The address of a block's first packed byte.
    fn packed<D: Direction>(&self, column: usize, row: usize, packed: *mut u8) -> *mut u8 {
        packed.wrapping_add(D::advance(self.len).wrapping_mul(self.rows.wrapping_mul(column) + row))
    }

    /// Copies some rows of some columns; `memory` and `packed` point to the first block of all.
    ///
    /// # Safety
    ///
    /// The bytes of these blocks, on both sides, must be valid for `D`.
    unsafe fn area<D: Direction>(
        &self,
        columns: Range<usize>,
        rows: Range<usize>,
        memory: *mut u8,
        packed: *mut u8,
    ) {
        let in_row = Steps { memory: self.column, packed: D::advance(self.len * self.rows) };
        let down = Steps { memory: self.row, packed: D::advance(self.len) };
        let at = |column| {
            (self.memory(column, rows.start, memory), self.packed::<D>(column, rows.start, packed))
        };
        if rows.is_empty() || columns.is_empty() {
            return;
        }
        if self.together == 1 {
            let (memory, packed) = at(columns.start);
            // SAFETY: the caller guarantees the blocks.
            unsafe {
                strided::grid::<D>(
                    self.len,
                    [(rows.len(), down), (columns.len(), in_row)],
                    memory,
                    packed,
                );
            }
            return;
        }
        let mut first = columns.start;
        while first < columns.end {
            let number = self.together.min(columns.end - first);
            let (memory, packed) = at(first);
            let rows = rows.len();
            // SAFETY: the caller guarantees the blocks; these are the ones in this tile.
            unsafe {
                match (self.len, number) {
                    (16, 8) => self.tile::<D, 16, 8>(rows, memory, packed),
                    (8, 16) => self.tile::<D, 8, 16>(rows, memory, packed),
                    (4, 16) => self.tile::<D, 4, 16>(rows, memory, packed),
                    (8, WAYS) if D::PACKS => {
                        self.tile::<D, 8, WAYS>(rows, memory, packed);
                    }
                    (4, WAYS) if D::PACKS => {
                        self.tile::<D, 4, WAYS>(rows, memory, packed);
                    }
                    (len, 1) => {
                        strided::grid::<D>(len, [(rows, down), (1, down)], memory, packed);
                    }
                    (len, _) => {
                        strided::grid::<D>(len, [(number, in_row), (rows, down)], memory, packed);
                    }
                }
            }
            first += number;
        }
    }

    /// Copies a tile of `T` columns, whose blocks have `L` bytes. `memory` and `packed` point to its first block.
    ///
    /// # Safety
    ///
    /// The bytes of the tile, on both sides, must be valid for `D`. `L` must be the length of the grid's blocks, and the tile
    /// must have `T` columns.
    unsafe fn tile<D: Direction, const L: usize, const T: usize>(
        &self,
        rows: usize,
        memory: *mut u8,
        packed: *mut u8,
    ) {
        let apart = D::advance(L * self.rows);
        let (mut memory, mut packed) = (memory, packed);
        for _ in 0..rows {
            for column in 0..T {
                let from = memory.wrapping_offset(self.column * column.cast_signed());
                // SAFETY: the caller guarantees the blocks; this is one of them.
                unsafe { D::copy(from, packed.wrapping_add(apart * column), L) };
            }
            memory = memory.wrapping_offset(self.row);
            packed = packed.wrapping_add(D::advance(L));
        }
    }
}

/// Copies the packed bytes `range` of `count` columns, `stride` bytes apart. Returns false without an effect if a permutation
/// may copy each column, or if the number of columns or rows exceeds `usize`.
///
/// # Safety
///
/// The bytes of the range, relative to `memory`, and as many from `packed` on must be valid for `D`. A column must have data.
pub(crate) unsafe fn part<D: Way>(
    column: &Blocks,
    count: u64,
    stride: i64,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
) -> bool {
    // Counts beyond `usize` mean that the same bytes are copied again and again; the cursor handles that.
    let are_in_memory = usize::try_from(count).is_ok() && usize::try_from(column.count).is_ok();
    if choose::may_be_column(column) || !are_in_memory {
        return false;
    }
    #[expect(clippy::cast_possible_truncation, reason = "a displacement in memory")]
    let memory = memory.wrapping_offset(column.disp as isize);
    // SAFETY: the grid has the blocks of these columns, the first of them at `memory`; the range is the same.
    unsafe {
        let together = choose::together(column, count, stride, D::USE);
        Grid::new(column, count, stride, together).part::<D>(range, memory, packed);
    }
    true
}

/// A number of bytes or blocks in memory.
#[expect(clippy::cast_possible_truncation, reason = "in memory")]
fn index(number: u64) -> usize {
    number as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Pack, Unpack};
    use crate::plan::choose::Use;

    /// Each part of the packed bytes of matrices, with tiles and without, compared with a copy byte by byte.
    #[test]
    fn any_part_of_a_matrix_is_a_few_areas() {
        // Bytes of a block; blocks in a column, and their stride; number of columns, and their stride.
        let matrices = [
            (8, 10, 4096, 5, 8),
            (4, 9, 4096, 37, 4),
            (16, 9, 2048 * 3, 9, 16),
            (3, 17, 2048, 4, 5),
            (2, 12, 4096, 3, -2),
            (8, 3, 64, 4, 8),
            (70, 2, 100, 3, 500),
        ];
        for (len, rows, row, columns, column) in matrices {
            let blocks = Blocks { disp: 0, len, count: rows, stride: row };
            let together = choose::together(&blocks, columns, column, Use::Pack);
            let grid = Grid::new(&blocks, columns, column, together);
            let (size, span) = (len * rows * columns, (rows + 1) * row.unsigned_abs() + 8192);
            // The first block's index in that memory.
            let origin = 4096;
            let places: Vec<usize> = (0..size)
                .map(|byte| {
                    let (block, into) = (byte / len, byte % len);
                    let place = (block % rows).cast_signed() * row
                        + (block / rows).cast_signed() * column
                        + into.cast_signed();
                    index((origin + place).cast_unsigned())
                })
                .collect();
            let memory: Vec<u8> = (0..span).map(|byte| (byte % 251) as u8).collect();
            let step = if cfg!(miri) { 397 } else { 5 };
            for start in (0..size).step_by(step) {
                for end in (start + 1..=size).rev().step_by(step) {
                    let range = index(start)..index(end);
                    let expected: Vec<u8> =
                        places[range.clone()].iter().map(|place| memory[*place]).collect();
                    let mut packed = vec![0; range.len()];
                    let mut copy = memory.clone();
                    for place in &places[range.clone()] {
                        copy[*place] = 0;
                    }
                    let first = memory.as_ptr().wrapping_add(4096).cast_mut();
                    // SAFETY: the memory has all blocks, and the buffer has room for the range.
                    unsafe { grid.part::<Pack>(start..end, first, packed.as_mut_ptr()) };
                    assert_eq!(packed, expected, "{grid:?} {range:?}");
                    let first = copy.as_mut_ptr().wrapping_add(4096);
                    // SAFETY: as above.
                    unsafe { grid.part::<Unpack>(start..end, first, packed.as_mut_ptr()) };
                    assert!(copy == memory, "{grid:?} {range:?}");
                }
            }
        }
    }
}

//! Blocks at equal distances: the leaf of every plan.

use core::ops::Range;

use super::isa::compiled_for_selected;
use super::moves::{any, long, three, two};
use super::permute;
use super::tiles::Tiles;
use crate::commit::{Blocks, Permutation, Tables};

/// What is done with a block of memory and its place in the packed stream.
pub(crate) trait Direction {
    /// Whether the bytes go over as they are: then a few moves are faster than a call.
    const IS_COPY: bool = true;

    /// # Safety
    ///
    /// Both pointers must be valid for `len` bytes in the way that the implementation says, and the
    /// two ranges must not overlap.
    unsafe fn copy(memory: *mut u8, packed: *mut u8, len: usize);

    /// Copies `count` blocks, each longer than what is worth a loop of its own.
    ///
    /// # Safety
    ///
    /// As [`strided`].
    #[inline(always)]
    unsafe fn copy_long(len: usize, count: usize, steps: Steps, memory: *mut u8, packed: *mut u8) {
        each(count, steps, memory, packed, |memory, packed| {
            // SAFETY: one of the blocks that the caller vouches for.
            unsafe { Self::copy(memory, packed, len) }
        });
    }

    /// How far the packed stream advances with a block of `len` bytes.
    #[inline(always)]
    fn advance(len: usize) -> usize {
        len
    }

    /// Where a block of a list is on the other side, which may have the same layout.
    #[inline(always)]
    fn place(packed: *mut u8, offset: usize) -> *mut u8 {
        let _ = offset;
        packed
    }

    /// Copies `count` records at once, if the machine has instructions for it; else nothing is done.
    ///
    /// # Safety
    ///
    /// As [`copy`](Self::copy), for the data of the records and their packed bytes.
    #[inline(always)]
    unsafe fn permute(all: &Permutation, count: usize, memory: *mut u8, packed: *mut u8) -> bool {
        let _ = (all, count, memory, packed);
        false
    }

    /// Copies the bytes of a part of one record, likewise.
    ///
    /// # Safety
    ///
    /// As [`copy`](Self::copy), for the bytes of the part; the record's other data must be readable if memory is
    /// read. The part must not be empty and lie in the packed bytes of a record.
    #[inline(always)]
    unsafe fn permute_part(
        all: &Permutation,
        part: Range<usize>,
        memory: *mut u8,
        packed: *mut u8,
    ) -> bool {
        let _ = (all, part, memory, packed);
        false
    }
}

/// Reads memory, writes the packed stream.
pub(crate) struct Pack;

/// Reads the packed stream, writes memory.
pub(crate) struct Unpack;

/// Reads memory, writes another memory of the same layout in the place of the packed stream.
pub(crate) struct Move;

/// Writes zeros to memory; there is no packed stream.
pub(crate) struct Zero;

impl Direction for Pack {
    #[inline(always)]
    unsafe fn copy(memory: *mut u8, packed: *mut u8, len: usize) {
        // SAFETY: the caller vouches for reading `memory` and writing `packed`.
        unsafe { packed.copy_from_nonoverlapping(memory, len) }
    }

    #[inline(always)]
    unsafe fn permute(all: &Permutation, count: usize, memory: *mut u8, packed: *mut u8) -> bool {
        // SAFETY: the caller vouches for reading `memory` and writing `packed`.
        unsafe { permute::pack(all, count, memory, packed) }
    }

    #[inline(always)]
    unsafe fn permute_part(
        all: &Permutation,
        part: Range<usize>,
        memory: *mut u8,
        packed: *mut u8,
    ) -> bool {
        // SAFETY: the caller vouches for reading `memory` and writing `packed`.
        unsafe { permute::pack_part(all, part, memory, packed) }
    }
}

impl Direction for Unpack {
    #[inline(always)]
    unsafe fn copy(memory: *mut u8, packed: *mut u8, len: usize) {
        // SAFETY: the caller vouches for reading `packed` and writing `memory`.
        unsafe { memory.copy_from_nonoverlapping(packed, len) }
    }

    #[inline(always)]
    unsafe fn permute(all: &Permutation, count: usize, memory: *mut u8, packed: *mut u8) -> bool {
        // SAFETY: the caller vouches for reading `packed` and writing `memory`.
        unsafe { permute::unpack(all, count, memory, packed) }
    }

    #[inline(always)]
    unsafe fn permute_part(
        all: &Permutation,
        part: Range<usize>,
        memory: *mut u8,
        packed: *mut u8,
    ) -> bool {
        // SAFETY: the caller vouches for reading `packed` and writing `memory`.
        unsafe { permute::unpack_part(all, part, memory, packed) }
    }
}

impl Direction for Move {
    #[inline(always)]
    unsafe fn copy(memory: *mut u8, packed: *mut u8, len: usize) {
        // SAFETY: the caller vouches for reading `memory` and writing `packed`.
        unsafe { packed.copy_from_nonoverlapping(memory, len) }
    }

    #[inline(always)]
    fn advance(_len: usize) -> usize {
        0
    }

    #[inline(always)]
    fn place(packed: *mut u8, offset: usize) -> *mut u8 {
        packed.wrapping_add(offset)
    }

    #[inline(always)]
    unsafe fn permute(all: &Permutation, count: usize, memory: *mut u8, packed: *mut u8) -> bool {
        // SAFETY: the caller vouches for reading `memory` and writing `packed`, which do not overlap.
        unsafe { permute::copy(all, count, memory, packed) }
    }
}

impl Direction for Zero {
    #[inline(always)]
    unsafe fn copy(memory: *mut u8, _packed: *mut u8, len: usize) {
        // SAFETY: the caller vouches for writing `memory`.
        unsafe { memory.write_bytes(0, len) }
    }

    #[inline(always)]
    fn advance(_len: usize) -> usize {
        0
    }
}

/// Executes one operation. Returns the end of what was packed.
///
/// # Safety
///
/// The bytes of all blocks, relative to `memory`, and as many from `packed` on must be valid for
/// `D`.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "lengths and counts of blocks in memory")]
pub(crate) unsafe fn blocks<D: Direction>(
    all: Blocks,
    tables: &Tables,
    memory: *mut u8,
    packed: *mut u8,
) -> *mut u8 {
    let Blocks { disp, len, count, stride } = all;
    let memory = memory.wrapping_offset(disp as isize);
    let (len, count) = (len as usize, count as usize);
    if count == 1 {
        // SAFETY: the one block that the caller vouches for.
        unsafe { any::<D, 16>(memory, packed, len) };
        return packed.wrapping_add(D::advance(len));
    }
    if permute::may_be_for(&all)
        // SAFETY: all of the blocks.
        && let Some(end) = unsafe { permute::blocks::<D>(all, tables, memory, packed) }
    {
        return end;
    }
    let steps = Steps { memory: stride as isize, packed: D::advance(len) };
    // SAFETY: what the caller vouches for, passed on.
    unsafe { strided::<D>(len, count, steps, memory, packed) };
    packed.wrapping_add(D::advance(len * count))
}

/// Executes one operation `count` times, `apart` bytes apart. Returns the end of what was packed.
///
/// # Safety
///
/// As [`blocks`], for each repetition.
#[expect(
    clippy::cast_possible_truncation,
    reason = "lengths, counts and distances of blocks in memory"
)]
pub(super) unsafe fn repeated<D: Direction>(
    row: Blocks,
    tables: &Tables,
    count: u64,
    apart: i64,
    memory: *mut u8,
    packed: *mut u8,
) -> *mut u8 {
    if let Some(all) = row.repeated(count, apart) {
        // SAFETY: the same bytes, as one operation.
        return unsafe { blocks::<D>(all.normalized(), tables, memory, packed) };
    }
    let memory = memory.wrapping_offset(row.disp as isize);
    if let Some(tiles) = Tiles::of(&row, count, apart) {
        // SAFETY: the same bytes, in another order of copying.
        return unsafe { tiles.execute::<D>(memory, packed) };
    }
    let (len, in_row, count) = (row.len as usize, row.count as usize, count as usize);
    let size = D::advance(len * in_row);
    let apart = Steps { memory: apart as isize, packed: size };
    if permute::is_for(&row, tables) {
        let row = Blocks { disp: 0, ..row };
        each(count, apart, memory, packed, |memory, packed| {
            // SAFETY: one of the repetitions that the caller vouches for.
            unsafe { blocks::<D>(row, tables, memory, packed) };
        });
    } else {
        let steps = Steps { memory: row.stride as isize, packed: D::advance(len) };
        // SAFETY: what the caller vouches for, passed on.
        unsafe { grid::<D>(len, [(in_row, steps), (count, apart)], memory, packed) };
    }
    packed.wrapping_add(size * count)
}

/// Copies one run of bytes.
///
/// # Safety
///
/// As [`Direction::copy`].
#[inline]
pub(crate) unsafe fn run<D: Direction>(memory: *mut u8, packed: *mut u8, len: usize) {
    // SAFETY: what the caller vouches for, passed on.
    unsafe { any::<D, 16>(memory, packed, len) }
}

/// The distances from one block to the next, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Steps {
    pub(crate) memory: isize,
    pub(crate) packed: usize,
}

compiled_for_selected! {
    /// Copies `count` blocks of `len` bytes.
    ///
    /// # Safety
    ///
    /// For each block, `len` bytes from `memory` and from `packed` on, advanced by the steps, must be
    /// valid for `D`.
    pub(crate) unsafe fn strided[D: Direction][D](
        len: usize, count: usize, steps: Steps, memory: *mut u8, packed: *mut u8,
    ) {
        portable: rows::<D, 16>(len, [(count, steps), (1, steps)], memory, packed),
        avx2: rows::<D, 32>(len, [(count, steps), (1, steps)], memory, packed),
        avx512: rows::<D, 64>(len, [(count, steps), (1, steps)], memory, packed),
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
    ) {
        portable: rows::<D, 16>(len, dimensions, memory, packed),
        avx2: rows::<D, 32>(len, dimensions, memory, packed),
        avx512: rows::<D, 64>(len, dimensions, memory, packed),
    }
}

/// [`grid`] with registers of `R` bytes.
///
/// A length that is known when this is compiled turns a copy into a load and a store. There are few
/// such lengths; those between two powers of two are covered by two copies that overlap.
///
/// # Safety
///
/// As [`grid`].
#[inline(always)]
unsafe fn rows<D: Direction, const R: usize>(
    len: usize,
    [(count, steps), (number, apart)]: [(usize, Steps); 2],
    memory: *mut u8,
    packed: *mut u8,
) {
    macro_rules! each_block {
        ($copy:expr) => {
            each(number, apart, memory, packed, |memory, packed| {
                each(count, steps, memory, packed, $copy);
            })
        };
    }
    // SAFETY: the blocks that the caller vouches for, of lengths that the moves cover.
    unsafe {
        match len {
            0 => {}
            1 => each_block!(|m, p| D::copy(m, p, 1)),
            2 => each_block!(|m, p| D::copy(m, p, 2)),
            3 => each_block!(|m, p| two::<D, 2>(m, p, len)),
            4 => each_block!(|m, p| D::copy(m, p, 4)),
            5..8 => each_block!(|m, p| two::<D, 4>(m, p, len)),
            8 => each_block!(|m, p| D::copy(m, p, 8)),
            9..16 => each_block!(|m, p| two::<D, 8>(m, p, len)),
            16 => each_block!(|m, p| D::copy(m, p, 16)),
            // What else is done with the bytes is best done with all of a register.
            17.. if !D::IS_COPY && (R == 64 || len > 64) => {
                each(number, apart, memory, packed, |memory, packed| {
                    D::copy_long(len, count, steps, memory, packed);
                });
            }
            17..32 => each_block!(|m, p| two::<D, 16>(m, p, len)),
            32 => each_block!(|m, p| D::copy(m, p, 32)),
            33..=48 if R == 16 => each_block!(|m, p| three::<D, 16>(m, p, len)),
            33..=64 => each_block!(|m, p| two::<D, 32>(m, p, len)),
            _ => each_block!(|m, p| long::<D, R>(m, p, len)),
        }
    }
}

/// Calls `copy` for each block. The pointers step over what lies between without touching it, the
/// last time past the end, which is why they wrap.
#[inline(always)]
pub(super) fn each(
    count: usize,
    steps: Steps,
    mut memory: *mut u8,
    mut packed: *mut u8,
    mut copy: impl FnMut(*mut u8, *mut u8),
) {
    for _ in 0..count {
        copy(memory, packed);
        memory = memory.wrapping_offset(steps.memory);
        packed = packed.wrapping_add(steps.packed);
    }
}

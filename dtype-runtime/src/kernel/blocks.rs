//! Blocks at equal distances: the leaf of every plan.

use core::ops::Range;

use super::irregular::four;
use super::permute;
use crate::commit::{Blocks, FEWEST_BLOCKS, Permutation, Tables};

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
#[expect(clippy::cast_possible_truncation, reason = "lengths and counts of blocks in memory")]
pub(crate) unsafe fn blocks<D: Direction>(
    all: Blocks,
    tables: &Tables,
    memory: *mut u8,
    packed: *mut u8,
) -> *mut u8 {
    let all = all.normalized();
    let Blocks { disp, len, count, stride } = all;
    let memory = memory.wrapping_offset(disp as isize);
    if count == 1 {
        // SAFETY: the one block that the caller vouches for.
        unsafe { D::copy(memory, packed, len as usize) };
        return packed.wrapping_add(D::advance(len as usize));
    }
    if count >= FEWEST_BLOCKS
        // SAFETY: all of the blocks.
        && let Some(end) = unsafe { permute::blocks::<D>(all, tables, memory, packed) }
    {
        return end;
    }
    let (len, count) = (len as usize, count as usize);
    let steps = Steps { memory: stride as isize, packed: D::advance(len) };
    // SAFETY: what the caller vouches for, passed on.
    unsafe { strided::<D>(len, count, steps, memory, packed) };
    packed.wrapping_add(D::advance(len * count))
}

/// The distances from one block to the next, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Steps {
    pub(crate) memory: isize,
    pub(crate) packed: usize,
}

/// Copies `count` blocks of `len` bytes.
///
/// A length that is known when this is compiled turns a copy into a load and a store. There are few
/// such lengths; those between two powers of two are covered by two copies that overlap.
///
/// # Safety
///
/// For each block, `len` bytes from `memory` and from `packed` on, advanced by the steps, must be
/// valid for `D`.
pub(crate) unsafe fn strided<D: Direction>(
    len: usize,
    count: usize,
    steps: Steps,
    memory: *mut u8,
    packed: *mut u8,
) {
    // SAFETY: what the caller vouches for, passed on; each `pair` covers `len` bytes, because its
    // width is at least half of that.
    unsafe {
        match len {
            0 => {}
            1 => single::<D, 1>(count, steps, memory, packed),
            2 => single::<D, 2>(count, steps, memory, packed),
            3 => pair::<D, 2>(len, count, steps, memory, packed),
            4 => single::<D, 4>(count, steps, memory, packed),
            5..8 => pair::<D, 4>(len, count, steps, memory, packed),
            8 => single::<D, 8>(count, steps, memory, packed),
            9..16 => pair::<D, 8>(len, count, steps, memory, packed),
            16 => single::<D, 16>(count, steps, memory, packed),
            17..32 => pair::<D, 16>(len, count, steps, memory, packed),
            32 => single::<D, 32>(count, steps, memory, packed),
            33..=48 => triple::<D, 16>(len, count, steps, memory, packed),
            49..=64 => pair::<D, 32>(len, count, steps, memory, packed),
            65..=128 if D::IS_COPY => each(count, steps, memory, packed, |memory, packed| {
                four::<D, 32>(memory, packed, len);
            }),
            _ => D::copy_long(len, count, steps, memory, packed),
        }
    }
}

/// # Safety
///
/// As [`strided`], for blocks of `W` bytes.
unsafe fn single<D: Direction, const W: usize>(
    count: usize,
    steps: Steps,
    memory: *mut u8,
    packed: *mut u8,
) {
    each(count, steps, memory, packed, |memory, packed| {
        // SAFETY: one of the blocks that the caller vouches for.
        unsafe { D::copy(memory, packed, W) }
    });
}

/// # Safety
///
/// As [`strided`]; `len` must be between `W` and `2 · W`.
unsafe fn pair<D: Direction, const W: usize>(
    len: usize,
    count: usize,
    steps: Steps,
    memory: *mut u8,
    packed: *mut u8,
) {
    let second = len - W;
    each(count, steps, memory, packed, |memory, packed| {
        // SAFETY: the first and the last `W` bytes of one of the blocks that the caller vouches for.
        // They overlap, and write the same bytes there.
        unsafe {
            D::copy(memory, packed, W);
            D::copy(memory.add(second), packed.wrapping_add(second), W);
        }
    });
}

/// # Safety
///
/// As [`strided`]; `len` must be between `2 · W` and `3 · W`.
unsafe fn triple<D: Direction, const W: usize>(
    len: usize,
    count: usize,
    steps: Steps,
    memory: *mut u8,
    packed: *mut u8,
) {
    let third = len - W;
    each(count, steps, memory, packed, |memory, packed| {
        // SAFETY: the first, the second and the last `W` bytes of one of the blocks that the caller vouches for.
        // The last two overlap, and write the same bytes there.
        unsafe {
            D::copy(memory, packed, W);
            D::copy(memory.add(W), packed.wrapping_add(W), W);
            D::copy(memory.add(third), packed.wrapping_add(third), W);
        }
    });
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

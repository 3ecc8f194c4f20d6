//! Blocks at equal distances: the leaf of every plan.

use crate::commit::Blocks;

/// What is done with a block of memory and its place in the packed stream.
pub(crate) trait Direction {
    /// # Safety
    ///
    /// Both pointers must be valid for `len` bytes in the way that the implementation says, and the
    /// two ranges must not overlap.
    unsafe fn copy(memory: *mut u8, packed: *mut u8, len: usize);

    /// How far the packed stream advances with a block of `len` bytes.
    #[inline(always)]
    fn advance(len: usize) -> usize {
        len
    }
}

/// Reads memory, writes the packed stream.
pub(crate) struct Pack;

/// Reads the packed stream, writes memory.
pub(crate) struct Unpack;

/// Writes zeros to memory; there is no packed stream.
pub(crate) struct Zero;

impl Direction for Pack {
    #[inline(always)]
    unsafe fn copy(memory: *mut u8, packed: *mut u8, len: usize) {
        // SAFETY: the caller vouches for reading `memory` and writing `packed`.
        unsafe { packed.copy_from_nonoverlapping(memory, len) }
    }
}

impl Direction for Unpack {
    #[inline(always)]
    unsafe fn copy(memory: *mut u8, packed: *mut u8, len: usize) {
        // SAFETY: the caller vouches for reading `packed` and writing `memory`.
        unsafe { memory.copy_from_nonoverlapping(packed, len) }
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
pub(super) unsafe fn blocks<D: Direction>(all: Blocks, memory: *mut u8, packed: *mut u8) -> *mut u8 {
    let Blocks { disp, len, count, stride } = all.normalized();
    let memory = memory.wrapping_offset(disp as isize);
    let (len, count, stride) = (len as usize, count as usize, stride as isize);
    // A length that is known when this is compiled turns the copy into a load and a store.
    // SAFETY: what the caller vouches for, passed on.
    unsafe {
        match len {
            _ if count == 1 => {
                D::copy(memory, packed, len);
                packed.wrapping_add(D::advance(len))
            }
            1 => fixed::<D, 1>(memory, stride, packed, count),
            2 => fixed::<D, 2>(memory, stride, packed, count),
            4 => fixed::<D, 4>(memory, stride, packed, count),
            8 => fixed::<D, 8>(memory, stride, packed, count),
            12 => fixed::<D, 12>(memory, stride, packed, count),
            16 => fixed::<D, 16>(memory, stride, packed, count),
            24 => fixed::<D, 24>(memory, stride, packed, count),
            32 => fixed::<D, 32>(memory, stride, packed, count),
            _ => any::<D>(len, memory, stride, packed, count),
        }
    }
}

/// # Safety
///
/// As [`blocks`].
unsafe fn fixed<D: Direction, const LEN: usize>(
    memory: *mut u8,
    stride: isize,
    packed: *mut u8,
    count: usize,
) -> *mut u8 {
    // SAFETY: as the caller vouches; with the length known, `any` is compiled for it.
    unsafe { any::<D>(LEN, memory, stride, packed, count) }
}

/// # Safety
///
/// As [`blocks`].
#[inline(always)]
unsafe fn any<D: Direction>(
    len: usize,
    mut memory: *mut u8,
    stride: isize,
    mut packed: *mut u8,
    count: usize,
) -> *mut u8 {
    for _ in 0..count {
        // SAFETY: one of the blocks that the caller vouches for. The pointers step over what lies
        // between without touching it, the last time past the end, which is why they wrap.
        unsafe { D::copy(memory, packed, len) };
        memory = memory.wrapping_offset(stride);
        packed = packed.wrapping_add(D::advance(len));
    }
    packed
}

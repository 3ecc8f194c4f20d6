//! Which side is read and which is written. Packing, unpacking, moving and zeroing differ only in that.

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::{_mm_loadu_si128, _mm_storeu_si128};

use crate::plan::choose::Use;

/// What a kernel does with each block it visits.
///
/// A kernel is generic over it and knows only which bytes of memory belong to which packed bytes. In the promises of functions,
/// bytes are *valid for `D`* if memory and the packed stream are valid for the reads or writes that [`USE`](Self::USE) names,
/// and do not overlap there.
pub(crate) trait Direction {
    /// Which side is read and which is written, and what a kernel is chosen for. Unpacking keeps the gaps, except by kernels
    /// that say otherwise.
    const USE: Use;

    /// Whether there is a packed stream to read or write.
    const IS_PACKED: bool = matches!(Self::USE, Use::Pack | Use::Unpack | Use::Keep);

    /// Whether the direction writes the packed stream.
    const PACKS: bool = matches!(Self::USE, Use::Pack);

    /// Source and destination, if the direction packs or unpacks.
    #[inline(always)]
    fn ends(memory: *mut u8, packed: *mut u8) -> (*const u8, *mut u8) {
        if Self::PACKS { (memory, packed) } else { (packed, memory) }
    }

    /// Copies one block.
    ///
    /// # Safety
    ///
    /// Both pointers must be valid for `D` on `len` bytes, and the two ranges must not overlap.
    #[inline(always)]
    unsafe fn copy(memory: *mut u8, packed: *mut u8, len: usize) {
        // SAFETY: the caller guarantees `len` bytes on both sides, valid for the reads or writes that `USE` names.
        unsafe {
            match Self::USE {
                Use::Pack | Use::Move => packed.copy_from_nonoverlapping(memory, len),
                Use::Unpack | Use::Keep => memory.copy_from_nonoverlapping(packed, len),
                Use::Zero => memory.write_bytes(0, len),
            }
        }
    }

    /// Copies 16 bytes by one move, even if a later copy overwrites some of them. (With [`copy`](Self::copy), the optimizer
    /// would shorten the move to the bytes that remain, and 5 bytes take two moves.)
    ///
    /// # Safety
    ///
    /// Both pointers must be valid for `D` on 16 bytes, and the two ranges must not overlap.
    #[inline(always)]
    unsafe fn copy_16(memory: *mut u8, packed: *mut u8) {
        // SAFETY: the caller guarantees 16 bytes on both sides, valid for the reads or writes that `USE` names. They need
        // no alignment.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            if Self::IS_PACKED {
                let (from, to) = Self::ends(memory, packed);
                return _mm_storeu_si128(to.cast(), _mm_loadu_si128(from.cast()));
            }
            Self::copy(memory, packed, 16);
        }
    }

    /// How far a block of `len` bytes advances the packed stream.
    #[inline(always)]
    fn advance(len: usize) -> usize {
        if Self::IS_PACKED { len } else { 0 }
    }

    /// The other side of a block that lies `offset` bytes after the start of its list in memory.
    #[inline(always)]
    fn counterpart(packed: *mut u8, offset: usize) -> *mut u8 {
        if matches!(Self::USE, Use::Move) { packed.wrapping_add(offset) } else { packed }
    }
}

/// Reads memory, writes the packed stream.
pub(crate) struct Pack;

/// Reads the packed stream, writes memory.
pub(crate) struct Unpack;

/// Reads memory, writes another memory of the same layout instead of the packed stream.
pub(crate) struct Move;

/// Writes zeros to memory; there is no packed stream.
pub(crate) struct Zero;

impl Direction for Pack {
    const USE: Use = Use::Pack;
}

impl Direction for Unpack {
    const USE: Use = Use::Keep;
}

impl Direction for Move {
    const USE: Use = Use::Move;
}

impl Direction for Zero {
    const USE: Use = Use::Zero;
}

/// A [`Direction`] between memory and the packed stream.
pub(crate) trait Way: Direction {}

impl Way for Pack {}

impl Way for Unpack {}

/// The distances from one block to the next, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Steps {
    pub(crate) memory: isize,
    pub(crate) packed: usize,
}

impl Steps {
    /// The distances over that many blocks.
    pub(super) const fn times(self, number: usize) -> Self {
        Self {
            memory: self.memory.wrapping_mul(number.cast_signed()),
            packed: self.packed.wrapping_mul(number),
        }
    }
}

/// Calls `copy` for each block.
///
/// The pointers step over gaps without touching them, and past the end after the last block, which is why they wrap.
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

//! Blocks at irregular displacements: the lists of a plan.

use super::block::{any, by_block, four, long, three, touching, two};
use super::direction::Direction;
use super::registers::{Registers, compiled_for_selected};
use crate::plan::choose::{self, PerBlock};
use crate::plan::{Entries, List, Lists};

/// A number in an entry as an offset in memory or in the packed stream. Offsets of data fit `isize`; others may wrap, and
/// pointer arithmetic wraps back.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "wraps by design, see above")]
fn offset(number: impl Into<u64>) -> usize {
    number.into() as usize
}

/// Executes a list. Returns the end of the packed bytes.
///
/// # Safety
///
/// The list must belong to these tables. The bytes of all blocks, relative to `memory`, and as many from `packed` on must be
/// valid for `D`.
#[inline]
pub(crate) unsafe fn list<D: Direction>(
    all: &List,
    lists: &Lists,
    memory: *mut u8,
    packed: *mut u8,
) -> *mut u8 {
    // SAFETY: no limit: all of the blocks, which the caller guarantees.
    unsafe { list_within::<D>(all, lists, usize::MAX, memory, packed).1 }
}

compiled_for_selected! {
    /// Executes the blocks of a list that fit in `limit` packed bytes, up to the first one that does not. Returns their number
    /// and the end of the packed bytes.
    ///
    /// # Safety
    ///
    /// The list must belong to these tables. The bytes of these blocks, relative to `memory`, and as many from `packed` on must
    /// be valid for `D`.
    pub(crate) unsafe fn list_within[D: Direction][D](
        all: &List, lists: &Lists, limit: usize, memory: *mut u8, packed: *mut u8,
    ) -> (usize, *mut u8) = R, without avx2 => entries::<D, R>(all, lists, limit, memory, packed);
}

/// [`list_within`] with the registers `R`.
///
/// # Safety
///
/// What [`list_within`] requires; the processor must have the instructions of `R`.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "displacements and lengths in memory")]
unsafe fn entries<D: Direction, R: Registers>(
    list: &List,
    lists: &Lists,
    limit: usize,
    memory: *mut u8,
    packed: *mut u8,
) -> (usize, *mut u8) {
    let memory = memory.wrapping_offset(list.disp() as isize);
    let entries = lists.entries(list);
    let per = choose::list(&entries, list.moves(), R::ISA, D::USE);
    // SAFETY: the entries are those of the blocks that the caller guarantees, and the moves are those for their lengths.
    unsafe {
        match entries {
            Entries::Even(offsets, len) => {
                even::<D, R>(per, offsets, len as usize, limit, memory, packed)
            }
            Entries::WideEven(offsets, len) => {
                wide_even::<D, R>(offsets, len as usize, limit, memory, packed)
            }
            Entries::Varied(entries) => varied::<D, R>(per, entries, limit, memory, packed),
            Entries::WideVaried(entries) => {
                spans::<D, u64, false>(entries, limit, memory, packed, any::<D, R>)
            }
        }
    }
}

/// The offsets of the blocks of `len` bytes that fit in `limit` packed bytes.
#[inline(always)]
fn within<O>(offsets: &[O], len: usize, limit: usize) -> &[O] {
    let all = offsets.len().saturating_mul(len);
    let number = if limit < all { limit / len } else { offsets.len() };
    offsets.get(..number).unwrap_or(offsets)
}

/// Copies blocks of `len` bytes.
///
/// # Safety
///
/// `len` bytes from each offset from `memory` on, and as many from `packed` on as all blocks have, must be valid for `D`. The
/// blocks must be copied as `choose` says for this length.
#[inline(always)]
unsafe fn even<D: Direction, R: Registers>(
    per: PerBlock,
    offsets: &[u32],
    len: usize,
    limit: usize,
    memory: *mut u8,
    packed: *mut u8,
) -> (usize, *mut u8) {
    let offsets = within(offsets, len, limit);
    let mut next = packed;
    // Loops, for the reason given in `strided`.
    macro_rules! each_block {
        (|$m:ident, $p:ident| $copy:expr) => {
            each_block!(offsets, |$m, $p| $copy)
        };
        ($some:expr, |$m:ident, $p:ident| $copy:expr) => {
            for offset in $some {
                let offset = self::offset(*offset);
                let ($m, $p) = (memory.wrapping_add(offset), D::counterpart(next, offset));
                $copy;
                next = next.wrapping_add(D::advance(len));
            }
        };
    }
    // Four blocks at a time: a loop of so few instructions takes up to twice as long where it crosses a cache line.
    macro_rules! each_move {
        (|$m:ident, $p:ident| $copy:expr) => {
            if D::IS_PACKED {
                let (fours, rest) = offsets.as_chunks::<4>();
                for four in fours {
                    each_block!(four, |$m, $p| $copy);
                }
                each_block!(rest, |$m, $p| $copy);
            } else {
                each_block!(|$m, $p| $copy);
            }
        };
    }
    // SAFETY: the caller guarantees every block, and the moves are those for its length.
    unsafe { by_block!(D, R, per, len, each_block, each_move) }
    (offsets.len(), next)
}

/// As [`even`], for offsets beyond 32 bits: each block is a cache miss, whatever the moves.
///
/// # Safety
///
/// `len` bytes from each offset from `memory` on, and as many from `packed` on as all blocks have, must be valid for `D`.
#[inline(always)]
unsafe fn wide_even<D: Direction, R: Registers>(
    offsets: &[u64],
    len: usize,
    limit: usize,
    memory: *mut u8,
    packed: *mut u8,
) -> (usize, *mut u8) {
    let offsets = within(offsets, len, limit);
    let mut next = packed;
    for offset in offsets {
        let offset = self::offset(*offset);
        let (memory, packed) = (memory.wrapping_add(offset), D::counterpart(next, offset));
        // SAFETY: the caller guarantees the blocks; this is one of them.
        unsafe { any::<D, R>(memory, packed, len) };
        next = next.wrapping_add(D::advance(len));
    }
    (offsets.len(), next)
}

/// Copies blocks of different lengths.
///
/// # Safety
///
/// The bytes of each block from `memory` and from `packed` on must be valid for `D`, and the moves must cover the length of
/// each.
#[inline(always)]
unsafe fn varied<D: Direction, R: Registers>(
    per: PerBlock,
    entries: &[[u32; 2]],
    limit: usize,
    memory: *mut u8,
    packed: *mut u8,
) -> (usize, *mut u8) {
    macro_rules! each_block {
        ($copy:expr) => {
            spans::<D, u32, true>(entries, limit, memory, packed, $copy)
        };
    }
    // SAFETY: the caller guarantees the blocks, and that the moves cover the length of each; `any` covers every length.
    unsafe {
        match per {
            PerBlock::Two1 => each_block!(two::<D, 1>),
            PerBlock::Two2 => each_block!(two::<D, 2>),
            PerBlock::Two4 => each_block!(two::<D, 4>),
            PerBlock::Two8 => each_block!(two::<D, 8>),
            PerBlock::Two16 => each_block!(two::<D, 16>),
            PerBlock::Two32 => each_block!(two::<D, 32>),
            PerBlock::Masked32 if R::ISA.masks() && D::IS_PACKED => {
                each_block!(masked::<D, R, 32>)
            }
            PerBlock::Masked64 if R::ISA.masks() && D::IS_PACKED => {
                each_block!(masked::<D, R, 64>)
            }
            PerBlock::Four1 => each_block!(four::<D, 1>),
            PerBlock::Four2 => each_block!(four::<D, 2>),
            PerBlock::Four4 => each_block!(four::<D, 4>),
            PerBlock::Four8 => each_block!(four::<D, 8>),
            PerBlock::Four16 => each_block!(four::<D, 16>),
            PerBlock::Four32 => each_block!(four::<D, 32>),
            _ => spans::<D, u32, false>(entries, limit, memory, packed, any::<D, R>),
        }
    }
}

/// Copies `len` bytes under a mask of `W` bytes.
///
/// # Safety
///
/// `len` bytes must be valid for `D` on both sides, and `len` must be at most `W`. `D` must pack or unpack, and the processor
/// must have the instructions of `R`.
#[inline(always)]
unsafe fn masked<D: Direction, R: Registers, const W: usize>(
    memory: *mut u8,
    packed: *mut u8,
    len: usize,
) {
    let (from, to) = D::ends(memory, packed);
    // SAFETY: the caller guarantees the bytes of the block.
    unsafe { R::masked::<W>(from, to, len) };
}

/// Calls `copy` for each block that fits. Returns the number of blocks and the end of the packed bytes.
///
/// The last block that fits is not searched for: with lengths that vary, the processor would mispredict most comparisons of a
/// search. Instead the loop takes eight blocks at a time while eight more fit, a comparison that the processor predicts well,
/// and then single blocks. Only the code for blocks that are `SHORT`, have narrow entries and have packed bytes does so;
/// elsewhere it would not pay for its size.
///
/// # Safety
///
/// The bytes of each block from `memory` and from `packed` on must be valid for `D`, and `copy` sound for the length of each.
#[inline(always)]
unsafe fn spans<D: Direction, O: Copy + Into<u64>, const SHORT: bool>(
    entries: &[[O; 2]],
    limit: usize,
    memory: *mut u8,
    packed: *mut u8,
    copy: unsafe fn(*mut u8, *mut u8, usize),
) -> (usize, *mut u8) {
    // A part of a list does not start at its first packed byte.
    let origin = entries.first().map_or(0, |[_, origin]| offset(*origin));
    let start = |entry: &[O; 2]| offset(entry[1]).wrapping_sub(origin);
    let mut end = packed;
    let mut each = |entry: &[O; 2], next: &[O; 2]| {
        let ([from, to], offset) = ([start(entry), start(next)], self::offset(entry[0]));
        let len = to - from;
        let to = D::counterpart(packed.wrapping_add(D::advance(from)), offset);
        // SAFETY: the caller guarantees the blocks; this is one of them.
        unsafe { copy(memory.wrapping_add(offset), to, len) };
        end = to.wrapping_add(D::advance(len));
    };
    let mut rest = entries;
    if const { SHORT && D::IS_PACKED && size_of::<O>() <= size_of::<u32>() } {
        while let Some(several) = rest.first_chunk::<9>()
            && start(&several[8]) <= limit
        {
            for at in 0..8 {
                each(&several[at], &several[at + 1]);
            }
            rest = &rest[8..];
        }
    }
    while let [entry, next, ..] = rest
        && start(next) <= limit
    {
        each(entry, next);
        rest = &rest[1..];
    }
    (entries.len() - rest.len(), end)
}

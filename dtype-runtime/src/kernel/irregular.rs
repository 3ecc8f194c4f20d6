//! Blocks at irregular displacements: the lists of a plan.

use super::chosen::{Kernel, PerBlock};
use super::direction::Direction;
use super::moves::{any, by_length, four, long, three, touching, two};
use super::registers::{Registers, compiled_for_selected};
use crate::plan::{Entries, List, Lists, Moves, Width};

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
    // SAFETY: passed on to the caller.
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
/// As [`list_within`].
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
    // SAFETY: the entries are those of the blocks that the caller guarantees. `Moves::of` (`plan/list.rs`) chose the moves of a
    // varied list for the least and the greatest of its lengths.
    unsafe {
        match lists.entries(list) {
            Entries::Even(offsets, len) => {
                even::<D, _, R>(offsets, len as usize, limit, memory, packed)
            }
            Entries::WideEven(offsets, len) => {
                even::<D, _, R>(offsets, len as usize, limit, memory, packed)
            }
            Entries::Varied(entries) => {
                varied::<D, _, R>(list.moves(), entries, limit, memory, packed)
            }
            Entries::WideVaried(entries) => {
                varied::<D, _, R>(list.moves(), entries, limit, memory, packed)
            }
        }
    }
}

/// Copies blocks of `len` bytes.
///
/// # Safety
///
/// `len` bytes from each offset from `memory` on, and as many from `packed` on as all blocks have, must be valid for `D`.
#[inline(always)]
unsafe fn even<D: Direction, O: Copy + Into<u64>, R: Registers>(
    offsets: &[O],
    len: usize,
    limit: usize,
    memory: *mut u8,
    packed: *mut u8,
) -> (usize, *mut u8) {
    let all = offsets.len().saturating_mul(len);
    let number = if limit < all { limit / len } else { offsets.len() };
    let offsets = offsets.get(..number).unwrap_or(offsets);
    // A loop, for the reason given in `rows`.
    macro_rules! each_block {
        ($moves:expr, |$m:ident, $p:ident| $copy:expr) => {
            if D::chosen(|| Kernel::List($moves), packed) {
                (0, packed)
            } else {
                let mut next = packed;
                macro_rules! each {
                    ($some:expr) => {
                        for offset in $some {
                            let offset = self::offset(*offset);
                            let ($m, $p) = (memory.wrapping_add(offset), D::counterpart(next, offset));
                            $copy;
                            next = next.wrapping_add(D::advance(len));
                        }
                    };
                }
                if D::IS_PACKED && matches!($moves, PerBlock::Moves { number: 1, .. }) {
                    // Four blocks at a time: a loop of so few instructions takes up to twice as long where it crosses a cache
                    // line.
                    let (fours, rest) = offsets.as_chunks::<4>();
                    for four in fours {
                        each!(four);
                    }
                    each!(rest);
                } else {
                    each!(offsets);
                }
                (offsets.len(), next)
            }
        };
    }
    // SAFETY: the caller guarantees every block, and the moves cover its length exactly.
    unsafe {
        if const { size_of::<O>() > size_of::<u32>() } {
            // Blocks whose offsets need more than 32 bits: each is a cache miss, whatever the moves.
            each_block!(PerBlock::Varied, |m, p| any::<D, R>(m, p, len))
        } else {
            by_length!(D, R, len, each_block)
        }
    }
}

/// Copies blocks of different lengths.
///
/// # Safety
///
/// The bytes of each block from `memory` and from `packed` on must be valid for `D`, and the moves
/// must cover the length of each.
#[inline(always)]
unsafe fn varied<D: Direction, O: Copy + Into<u64>, R: Registers>(
    moves: Moves,
    entries: &[[O; 2]],
    limit: usize,
    memory: *mut u8,
    packed: *mut u8,
) -> (usize, *mut u8) {
    macro_rules! each_block {
        ($number:literal, $width:literal, $copy:expr) => {
            each_block!(PerBlock::Moves { number: $number, width: $width }, true, $copy)
        };
        ($moves:expr, $are_short:literal, $copy:expr) => {
            if D::chosen(|| Kernel::List($moves), packed) {
                (0, packed)
            } else {
                spans::<D, O, $are_short>(entries, limit, memory, packed, $copy)
            }
        };
    }
    // SAFETY: passed on to the caller.
    unsafe {
        if const { size_of::<O>() > size_of::<u32>() } {
            // As in `even`: each is a cache miss.
            return each_block!(PerBlock::Varied, false, any::<D, R>);
        }
        match moves {
            Moves::Two(Width::W1) => each_block!(2, 1, two::<D, 1>),
            Moves::Two(Width::W2) => each_block!(2, 2, two::<D, 2>),
            Moves::Two(Width::W4) => each_block!(2, 4, two::<D, 4>),
            Moves::Two(Width::W8) => each_block!(2, 8, two::<D, 8>),
            Moves::Two(Width::W16) => each_block!(2, 16, two::<D, 16>),
            Moves::Two(Width::W32) => each_block!(2, 32, two::<D, 32>),
            // One masked move replaces four moves, or branches that the processor mispredicts.
            Moves::Four(Width::W1 | Width::W2 | Width::W4 | Width::W8) | Moves::UpTo32
                if R::MASKS && D::MAY_MASK =>
            {
                each_block!(PerBlock::Masked { width: 32 }, true, masked::<D, R, 32>)
            }
            Moves::UpTo64 if R::MASKS && D::MAY_MASK => {
                each_block!(PerBlock::Masked { width: 64 }, true, masked::<D, R, 64>)
            }
            Moves::Four(Width::W1) => each_block!(4, 1, four::<D, 1>),
            Moves::Four(Width::W2) => each_block!(4, 2, four::<D, 2>),
            Moves::Four(Width::W4) => each_block!(4, 4, four::<D, 4>),
            Moves::Four(Width::W8) => each_block!(4, 8, four::<D, 8>),
            Moves::Four(Width::W16) => each_block!(4, 16, four::<D, 16>),
            Moves::Four(Width::W32) => each_block!(4, 32, four::<D, 32>),
            _ => each_block!(PerBlock::Varied, false, any::<D, R>),
        }
    }
}

/// Copies `len` bytes under a mask of `W` bytes.
///
/// # Safety
///
/// As [`Direction::copy`]; `len` must be at most `W`. `D` must pack or unpack, or copy nothing, and the processor must have the
/// instructions of `R`.
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
/// As [`varied`]; `copy` must be sound for the length of each block.
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

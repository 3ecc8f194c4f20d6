//! Blocks at irregular places: the lists of a plan.

use super::blocks::Direction;
use crate::commit::{Entries, List, Moves, Tables, Width};

/// An entry's number, as an offset in memory or in the packed stream.
trait Word: Copy {
    /// Numbers that lead to data fit; on the way they may wrap, which the pointers' arithmetic undoes.
    fn offset(self) -> usize;
}

impl Word for u32 {
    #[inline(always)]
    fn offset(self) -> usize {
        self as usize
    }
}

impl Word for u64 {
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "wraps by design, see above")]
    fn offset(self) -> usize {
        self as usize
    }
}

/// Executes a list. Returns the end of what was packed.
///
/// # Safety
///
/// The bytes of all blocks, relative to `memory`, and as many from `packed` on must be valid for `D`.
#[expect(clippy::cast_possible_truncation, reason = "displacements and lengths in memory")]
pub(crate) unsafe fn list<D: Direction>(
    list: &List,
    tables: &Tables,
    memory: *mut u8,
    packed: *mut u8,
) -> *mut u8 {
    let memory = memory.wrapping_offset(list.disp() as isize);
    // SAFETY: the entries are those of the blocks that the caller vouches for, and the moves cover
    // any of their lengths.
    unsafe {
        match tables.entries(list) {
            Entries::Even(offsets, len) => even::<D, _>(offsets, len as usize, memory, packed),
            Entries::WideEven(offsets, len) => even::<D, _>(offsets, len as usize, memory, packed),
            Entries::Varied(entries) => varied::<D, _>(list.moves(), entries, memory, packed),
            Entries::WideVaried(entries) => varied::<D, _>(list.moves(), entries, memory, packed),
        }
    }
}

/// Copies blocks of `len` bytes.
///
/// # Safety
///
/// `len` bytes from each offset from `memory` on, and as many from `packed` on as these are together,
/// must be valid for `D`.
unsafe fn even<D: Direction, O: Word>(
    offsets: &[O],
    len: usize,
    memory: *mut u8,
    packed: *mut u8,
) -> *mut u8 {
    // SAFETY: what the caller vouches for, passed on; each `two` covers `len` bytes, because its width
    // is at least half of that and no more than all.
    unsafe {
        match len {
            1 => each::<D, O>(offsets, len, memory, packed, |m, p| D::copy(m, p, 1)),
            2 => each::<D, O>(offsets, len, memory, packed, |m, p| D::copy(m, p, 2)),
            3 => each::<D, O>(offsets, len, memory, packed, |m, p| two::<D, 2>(m, p, len)),
            4 => each::<D, O>(offsets, len, memory, packed, |m, p| D::copy(m, p, 4)),
            5..8 => each::<D, O>(offsets, len, memory, packed, |m, p| two::<D, 4>(m, p, len)),
            8 => each::<D, O>(offsets, len, memory, packed, |m, p| D::copy(m, p, 8)),
            9..16 => each::<D, O>(offsets, len, memory, packed, |m, p| two::<D, 8>(m, p, len)),
            16 => each::<D, O>(offsets, len, memory, packed, |m, p| D::copy(m, p, 16)),
            17..32 => each::<D, O>(offsets, len, memory, packed, |m, p| two::<D, 16>(m, p, len)),
            32 => each::<D, O>(offsets, len, memory, packed, |m, p| D::copy(m, p, 32)),
            33..=64 => each::<D, O>(offsets, len, memory, packed, |m, p| two::<D, 32>(m, p, len)),
            _ => each::<D, O>(offsets, len, memory, packed, |m, p| D::copy(m, p, len)),
        }
    }
}

/// Calls `copy` for each block. Returns the end of what was packed.
#[inline(always)]
fn each<D: Direction, O: Word>(
    offsets: &[O],
    len: usize,
    memory: *mut u8,
    mut packed: *mut u8,
    mut copy: impl FnMut(*mut u8, *mut u8),
) -> *mut u8 {
    for offset in offsets {
        let offset = offset.offset();
        copy(memory.wrapping_add(offset), D::place(packed, offset));
        packed = packed.wrapping_add(D::advance(len));
    }
    packed
}

/// Copies blocks of different lengths.
///
/// # Safety
///
/// The bytes of each block from `memory` and from `packed` on must be valid for `D`, and the moves
/// must cover the length of each.
unsafe fn varied<D: Direction, O: Word>(
    moves: Moves,
    entries: &[[O; 2]],
    memory: *mut u8,
    packed: *mut u8,
) -> *mut u8 {
    // SAFETY: what the caller vouches for, passed on.
    unsafe {
        match moves {
            Moves::Two(Width::W1) => spans::<D, O>(entries, memory, packed, two::<D, 1>),
            Moves::Two(Width::W2) => spans::<D, O>(entries, memory, packed, two::<D, 2>),
            Moves::Two(Width::W4) => spans::<D, O>(entries, memory, packed, two::<D, 4>),
            Moves::Two(Width::W8) => spans::<D, O>(entries, memory, packed, two::<D, 8>),
            Moves::Two(Width::W16) => spans::<D, O>(entries, memory, packed, two::<D, 16>),
            Moves::Two(Width::W32) => spans::<D, O>(entries, memory, packed, two::<D, 32>),
            Moves::Four(Width::W1) => spans::<D, O>(entries, memory, packed, four::<D, 1>),
            Moves::Four(Width::W2) => spans::<D, O>(entries, memory, packed, four::<D, 2>),
            Moves::Four(Width::W4) => spans::<D, O>(entries, memory, packed, four::<D, 4>),
            Moves::Four(Width::W8) => spans::<D, O>(entries, memory, packed, four::<D, 8>),
            Moves::Four(Width::W16) => spans::<D, O>(entries, memory, packed, four::<D, 16>),
            Moves::Four(Width::W32) => spans::<D, O>(entries, memory, packed, four::<D, 32>),
            Moves::Any => spans::<D, O>(entries, memory, packed, any::<D>),
        }
    }
}

/// Calls `copy` for each block. Returns the end of what was packed.
///
/// # Safety
///
/// As [`varied`]; `copy` must be sound for the length of each block.
#[inline(always)]
unsafe fn spans<D: Direction, O: Word>(
    entries: &[[O; 2]],
    memory: *mut u8,
    packed: *mut u8,
    copy: unsafe fn(*mut u8, *mut u8, usize),
) -> *mut u8 {
    let mut end = packed;
    // A part of a list does not start at its first packed byte.
    let origin = entries.first().map_or(0, |[_, origin]| origin.offset());
    for pair in entries.windows(2) {
        let ([offset, from], [_, to]) = (pair[0], pair[1]);
        let len = to.offset() - from.offset();
        let offset = offset.offset();
        let to = D::place(packed.wrapping_add(D::advance(from.offset() - origin)), offset);
        // SAFETY: one of the blocks that the caller vouches for.
        unsafe { copy(memory.wrapping_add(offset), to, len) };
        end = to.wrapping_add(D::advance(len));
    }
    end
}

/// Copies `len` bytes by two moves.
///
/// # Safety
///
/// As [`Direction::copy`]; `len` must be between `W` and `2 · W`.
#[inline(always)]
unsafe fn two<D: Direction, const W: usize>(memory: *mut u8, packed: *mut u8, len: usize) {
    let second = len - W;
    // SAFETY: the first and the last `W` bytes of those that the caller vouches for. They overlap, and
    // write the same bytes there.
    unsafe {
        D::copy(memory, packed, W);
        D::copy(memory.add(second), packed.wrapping_add(second), W);
    }
}

/// Copies `len` bytes by four moves, which is faster than to decide how many are needed: processors
/// guess, and guess wrong.
///
/// # Safety
///
/// As [`Direction::copy`]; `len` must be between `W` and `4 · W`.
#[inline(always)]
pub(super) unsafe fn four<D: Direction, const W: usize>(
    memory: *mut u8,
    packed: *mut u8,
    len: usize,
) {
    let last = len - W;
    let (second, third) = (last.min(W), last.saturating_sub(W));
    // SAFETY: the first `2 · W` bytes and the last `2 · W`, or less where there are less: all of those
    // that the caller vouches for, and no others, as each move starts no later than `last`. Where they
    // overlap they write the same bytes.
    unsafe {
        D::copy(memory, packed, W);
        D::copy(memory.add(second), packed.wrapping_add(second), W);
        D::copy(memory.add(third), packed.wrapping_add(third), W);
        D::copy(memory.add(last), packed.wrapping_add(last), W);
    }
}

/// Copies `len` bytes.
///
/// # Safety
///
/// As [`Direction::copy`].
#[inline(always)]
pub(crate) unsafe fn any<D: Direction>(memory: *mut u8, packed: *mut u8, len: usize) {
    // SAFETY: each arm covers the `len` bytes that the caller vouches for, and no others.
    unsafe {
        match len {
            0 => {}
            1 => D::copy(memory, packed, 1),
            2..4 => two::<D, 2>(memory, packed, len),
            4..8 => two::<D, 4>(memory, packed, len),
            8..16 => two::<D, 8>(memory, packed, len),
            16..32 => two::<D, 16>(memory, packed, len),
            32..64 => two::<D, 32>(memory, packed, len),
            64..=128 => four::<D, 32>(memory, packed, len),
            _ => D::copy(memory, packed, len),
        }
    }
}

//! Blocks at irregular places: the lists of a plan.

use super::blocks::Direction;
use super::isa::compiled_for_selected;
use super::moves::{any, four, long, two};
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

compiled_for_selected! {
    /// Executes a list. Returns the end of what was packed.
    ///
    /// # Safety
    ///
    /// The bytes of all blocks, relative to `memory`, and as many from `packed` on must be valid for `D`.
    pub(crate) unsafe fn list[D: Direction][D](
        list: &List, tables: &Tables, memory: *mut u8, packed: *mut u8,
    ) -> *mut u8 {
        portable: entries::<D, 16>(list, tables, memory, packed),
        avx2: entries::<D, 32>(list, tables, memory, packed),
        avx512: entries::<D, 64>(list, tables, memory, packed),
    }
}

/// [`list`] with registers of `R` bytes.
///
/// # Safety
///
/// As [`list`].
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "displacements and lengths in memory")]
unsafe fn entries<D: Direction, const R: usize>(
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
            Entries::Even(offsets, len) => even::<D, _, R>(offsets, len as usize, memory, packed),
            Entries::WideEven(offsets, len) => {
                even::<D, _, R>(offsets, len as usize, memory, packed)
            }
            Entries::Varied(entries) => varied::<D, _, R>(list.moves(), entries, memory, packed),
            Entries::WideVaried(entries) => {
                varied::<D, _, R>(list.moves(), entries, memory, packed)
            }
        }
    }
}

/// Copies blocks of `len` bytes.
///
/// # Safety
///
/// `len` bytes from each offset from `memory` on, and as many from `packed` on as these are together,
/// must be valid for `D`.
#[inline(always)]
unsafe fn even<D: Direction, O: Word, const R: usize>(
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
            _ => each::<D, O>(offsets, len, memory, packed, |m, p| long::<D, R>(m, p, len)),
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
#[inline(always)]
unsafe fn varied<D: Direction, O: Word, const R: usize>(
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
            Moves::Any => spans::<D, O>(entries, memory, packed, any::<D, R>),
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

//! Small records as permutations of bytes: the one place that decides which instructions execute one.

#[cfg(target_arch = "x86_64")]
mod avx512;

#[cfg(test)]
mod tests;

use core::ops::Range;

use super::{Direction, isa};
use crate::commit::{Blocks, FEWEST_BLOCKS, Op, Permutation, Tables};

/// Executes operations `count` times, if they are a permutation and the machine has the instructions for
/// it. Returns the end of what was packed.
///
/// # Safety
///
/// As [`repeated`](super::repeated).
#[inline(never)]
pub(crate) unsafe fn records<D: Direction>(
    ops: &[Op],
    tables: &Tables,
    count: u64,
    stride: i64,
    memory: *mut u8,
    packed: *mut u8,
) -> Option<*mut u8> {
    let all = tables.of_records(ops, stride, count)?;
    let count = usize::try_from(count).ok()?;
    // SAFETY: the permutation is that of the operations.
    let done = unsafe { D::permute(all, count, memory, packed) };
    done.then(|| packed.wrapping_add(D::advance(all.size() * count)))
}

/// Executes the operations that are repeated with each instance, likewise.
///
/// # Safety
///
/// As [`repeated`](super::repeated).
#[inline]
pub(super) unsafe fn instances<D: Direction>(
    tables: &Tables,
    count: u64,
    memory: *mut u8,
    packed: *mut u8,
) -> Option<*mut u8> {
    let all = tables.of_instances(count)?;
    let count = usize::try_from(count).ok()?;
    // SAFETY: the permutation is that of the operations.
    let done = unsafe { D::permute(all, count, memory, packed) };
    done.then(|| packed.wrapping_add(D::advance(all.size() * count)))
}

/// Copies blocks, the first of them at `memory`, likewise.
///
/// # Safety
///
/// As [`blocks`](super::blocks()), whatever the displacement.
#[inline(never)]
pub(crate) unsafe fn blocks<D: Direction>(
    all: Blocks,
    tables: &Tables,
    memory: *mut u8,
    packed: *mut u8,
) -> Option<*mut u8> {
    let permutation = tables.of_blocks(all)?;
    let count = usize::try_from(all.count).ok()?;
    // SAFETY: the permutation is that of blocks of this length, so far apart.
    let done = unsafe { D::permute(permutation, count, memory, packed) };
    done.then(|| packed.wrapping_add(D::advance(permutation.size() * count)))
}

/// Whether it is worth looking up whether these blocks are copied by a permutation.
#[inline]
pub(super) fn may_be_for(all: &Blocks) -> bool {
    /// Two blocks that are further apart do not lie in a vector.
    const FURTHEST: u64 = 64;
    all.count >= FEWEST_BLOCKS && all.stride.unsigned_abs() < FURTHEST
}

/// Whether the machine copies these blocks by a permutation.
pub(super) fn is_for(all: &Blocks, tables: &Tables) -> bool {
    may_be_for(all) && isa::selected() == isa::Isa::Avx512 && tables.of_blocks(*all).is_some()
}

/// Calls a routine in the form that the machine has selected, for as many vectors as the permutation has; whether
/// there is one. The caller has to be what the routine asks for, but for the instructions.
macro_rules! by_selected {
    ($routine:ident($all:ident, $what:ident, $from:ident, $to:ident)) => {
        match isa::selected() {
            #[cfg(target_arch = "x86_64")]
            isa::Isa::Avx512 => {
                // SAFETY: the processor has the instructions; the caller vouches for the memory.
                unsafe {
                    match $all.vectors() {
                        1 => avx512::$routine::<1>($all, $what, $from, $to),
                        _ => avx512::$routine::<2>($all, $what, $from, $to),
                    }
                }
                true
            }
            _ => {
                let _ = ($all, $what, $from, $to);
                false
            }
        }
    };
}

/// Packs `count` records. Returns whether the machine has the instructions for it; if not, nothing was
/// done, and it has to be done in another way.
///
/// # Safety
///
/// `memory + displacement` must be readable for every byte of data of the records, and `packed` writable
/// for as many bytes as these are. The two must not overlap.
#[inline]
pub(crate) unsafe fn pack(
    all: &Permutation,
    count: usize,
    memory: *const u8,
    packed: *mut u8,
) -> bool {
    by_selected!(pack(all, count, memory, packed))
}

/// Unpacks `count` records; as [`pack`].
///
/// # Safety
///
/// `packed` must be readable for the packed bytes of the records, and `memory + displacement` writable for
/// every byte of data. The two must not overlap.
#[inline]
pub(crate) unsafe fn unpack(
    all: &Permutation,
    count: usize,
    memory: *mut u8,
    packed: *const u8,
) -> bool {
    by_selected!(unpack(all, count, memory, packed))
}

/// Copies the data of `count` records to a memory of the same layout; as [`pack`].
///
/// # Safety
///
/// `from + displacement` must be readable and `to + displacement` writable for every byte of data of the
/// records. None of them may be read after it was written.
#[inline]
pub(crate) unsafe fn copy(all: &Permutation, count: usize, from: *const u8, to: *mut u8) -> bool {
    by_selected!(copy(all, count, from, to))
}

/// Packs some bytes of one record, those of `part`; as [`pack`].
///
/// # Safety
///
/// `memory + displacement` must be readable for every byte of data of the record, and `packed` writable for as
/// many bytes as the part has. The two must not overlap. The part must not be empty and lie in the packed bytes
/// of a record.
#[inline]
pub(crate) unsafe fn pack_part(
    all: &Permutation,
    part: Range<usize>,
    memory: *const u8,
    packed: *mut u8,
) -> bool {
    by_selected!(pack_part(all, part, memory, packed))
}

/// Unpacks some bytes of one record, those of `part`; as [`unpack`].
///
/// # Safety
///
/// `packed` must be readable for as many bytes as the part has, and `memory + displacement` writable for the data
/// that these are. The two must not overlap. The part must not be empty and lie in the packed bytes of a record.
#[inline]
pub(crate) unsafe fn unpack_part(
    all: &Permutation,
    part: Range<usize>,
    memory: *mut u8,
    packed: *const u8,
) -> bool {
    by_selected!(unpack_part(all, part, memory, packed))
}

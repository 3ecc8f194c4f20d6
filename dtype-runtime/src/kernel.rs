//! The copy routines: the only place, with `typed`, and with `convertor::foreign` for single values, where memory
//! is touched through raw pointers.
//!
//! One walk over the operations of a plan serves every [`Direction`]. What it copies is decided one
//! level up, where spans are checked; here the pointers are trusted.

mod blocks;
pub(crate) mod choice;
pub(crate) mod elements;
pub(crate) mod integers;
mod irregular;
pub mod isa;
mod moves;
mod permute;
pub(crate) mod pieces;
mod records;
mod swap;
mod tiles;

pub(crate) use blocks::{Direction, Move, Pack, Steps, Unpack, Zero, blocks, run, strided};
pub(crate) use irregular::list;
pub(crate) use permute::{blocks as permuted_blocks, records as permuted_records};
pub(crate) use swap::{Reversing, Way};

use crate::commit::{Blocks, List, Op, Plan, Tables};

/// Instances of so many blocks are copied block by block, even where the last one touches the first one of the next
/// instance: that saves one of them, and takes the others apart.
const FEWEST_WITHOUT_SEAMS: u64 = 8;

/// Executes a plan for `count` instances.
///
/// # Safety
///
/// `memory + displacement` must be valid for `D` on every byte that the plan names for instances 0
/// to `count − 1`, and `packed` for as many bytes as these are together. The two must not overlap.
pub(crate) unsafe fn execute<D: Direction>(
    plan: &Plan,
    count: u64,
    memory: *mut u8,
    packed: *mut u8,
) {
    let (tables, extent) = (plan.tables(), plan.extent());
    if let Some(all) = tables.single()
        && (count == 1 || all.count >= FEWEST_WITHOUT_SEAMS)
    {
        // SAFETY: all that an instance is, for each of them.
        unsafe {
            // Most of what is called for a few bytes, where every step to get there shows.
            if count == 1 {
                blocks::<D>(all, tables, memory, packed);
            } else {
                blocks::repeated::<D>(all, tables, count, extent, memory, packed);
            }
        }
        return;
    }
    let [prologue, steady, epilogue] = tables.parts();
    let mut packed = packed;
    // SAFETY: the three parts together name the bytes of the instances and nothing else, each part
    // with the displacements that the plan gives it; the caller vouches for those.
    unsafe {
        match count {
            0 => {}
            1 => {
                let first = if prologue.is_empty() { steady } else { prologue };
                packed = once::<D>(first, tables, memory, packed);
                once::<D>(epilogue, tables, memory, packed);
            }
            _ => {
                packed = operations::<D>(prologue, tables, memory, packed);
                let turns = plan.repetitions(count);
                packed = match permute::instances::<D>(tables, turns, memory, packed) {
                    Some(end) => end,
                    None => repeated::<D>(steady, tables, turns, extent, memory, packed),
                };
                let last = memory.wrapping_offset(offset(extent, count - 1));
                operations::<D>(epilogue, tables, last, packed);
            }
        }
    }
}

/// Executes a constant program `count` times, `stride` bytes apart.
///
/// # Safety
///
/// As [`execute`], for the bytes that the operations name in each repetition.
pub(crate) unsafe fn program<D: Direction>(
    ops: &[Op],
    count: u64,
    stride: i64,
    memory: *mut u8,
    packed: *mut u8,
) {
    // SAFETY: what the caller vouches for, passed on. Lists are made at run time only.
    unsafe { repeated::<D>(ops, Tables::empty(), count, stride, memory, packed) };
}

/// Executes operations `count` times, `stride` bytes apart. Returns the end of what was packed.
///
/// # Safety
///
/// As [`execute`], for the bytes that the operations name in each repetition; the lists among them
/// must be those of the tables.
pub(crate) unsafe fn repeated<D: Direction>(
    ops: &[Op],
    tables: &Tables,
    count: u64,
    stride: i64,
    memory: *mut u8,
    packed: *mut u8,
) -> *mut u8 {
    if ops.is_empty() {
        // However often.
        return packed;
    }
    if let [Op::Blocks(only)] = ops {
        // SAFETY: the same bytes.
        return unsafe { blocks::repeated::<D>(*only, tables, count, stride, memory, packed) };
    }
    if count > 1
        // SAFETY: the same bytes.
        && let Some(end) = unsafe { permute::records::<D>(ops, tables, count, stride, memory, packed) }
    {
        return end;
    }
    if let Some(record) = records::Record::of(ops, stride, count) {
        // SAFETY: the same bytes, in another order of copying.
        return unsafe { record.execute::<D>(memory, packed) };
    }
    let mut packed = packed;
    for turn in 0..count {
        // SAFETY: the caller vouches for every repetition.
        packed = unsafe {
            operations::<D>(ops, tables, memory.wrapping_offset(offset(stride, turn)), packed)
        };
    }
    packed
}

/// As [`operations`], for those of a single instance: often a few runs, where every step to get there shows.
///
/// # Safety
///
/// As there.
#[inline(always)]
unsafe fn once<D: Direction>(
    ops: &[Op],
    tables: &Tables,
    memory: *mut u8,
    packed: *mut u8,
) -> *mut u8 {
    let (mut packed, mut rest) = (packed, ops);
    while let [Op::Blocks(Blocks { disp, len, count: 1, .. }), after @ ..] = rest {
        #[expect(clippy::cast_possible_truncation, reason = "a run in memory")]
        let (disp, len) = (*disp as isize, *len as usize);
        // SAFETY: one of the operations that the caller vouches for.
        unsafe { run::<D>(memory.wrapping_offset(disp), packed, len) };
        packed = packed.wrapping_add(D::advance(len));
        rest = after;
    }
    if rest.is_empty() {
        return packed;
    }
    // SAFETY: the others.
    unsafe { operations::<D>(rest, tables, memory, packed) }
}

/// Executes operations once. Returns the end of what was packed.
///
/// # Safety
///
/// As [`repeated`], for the bytes that the operations name.
unsafe fn operations<D: Direction>(
    ops: &[Op],
    tables: &Tables,
    memory: *mut u8,
    packed: *mut u8,
) -> *mut u8 {
    let mut packed = packed;
    let mut rest = ops;
    while let [op, after @ ..] = rest {
        rest = after;
        match *op {
            // SAFETY: one of the operations that the caller vouches for.
            Op::Blocks(all) => packed = unsafe { blocks::<D>(all, tables, memory, packed) },
            // Plans of bytes have no values that are converted; those that do are executed elsewhere.
            Op::Elements(_) => {}
            // SAFETY: likewise; the list is one of the tables'.
            Op::List(all) => packed = unsafe { list::<D>(&all, tables, memory, packed) },
            Op::Loop { count, stride, items } => {
                let (body, behind) = after.split_at(items);
                rest = behind;
                // SAFETY: likewise.
                packed = unsafe { repeated::<D>(body, tables, count, stride, memory, packed) };
            }
        }
    }
    packed
}

/// A displacement as an offset. Those of data fit, because the data lie in memory; those that are
/// passed through on the way may wrap, which `wrapping_offset` undoes.
#[expect(clippy::cast_possible_truncation, reason = "wraps by design, see above")]
fn offset(stride: i64, turn: u64) -> isize {
    stride.wrapping_mul(turn.cast_signed()) as isize
}

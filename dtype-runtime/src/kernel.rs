//! The copy routines: what executes a plan.
//!
//! [`execute`] walks the operations of a plan and hands each to the kernel that [`choose`] names. A kernel is generic over a
//! [`Direction`](direction::Direction), so that packing, unpacking, moving and zeroing are the same code, and over the
//! [`Registers`](registers::Registers) of a set of instructions. It trusts its pointers: the caller has checked the
//! memory that the plan spans.
//!
//! | file | what |
//! |---|---|
//! | `direction` | which side is read and which is written |
//! | `registers` | what a set of instructions offers, and the dispatch to the one that is selected |
//! | `vector` | registers whose bytes are rearranged, and the dispatch for the kernels that use them |
//! | `x86_64`, `aarch64` | AVX2 and AVX-512, and NEON |
//! | `block` | one block: its length known at run time, or at compile time |
//! | `strided` | blocks at equal distances |
//! | `grid` | blocks in two dimensions that share cache lines: matrices |
//! | `irregular` | lists of blocks |
//! | `permute` | arrays of small structs, several at a time |
//! | `record` | records of a few runs: one instance, and arrays of structs |
//! | `shuffle` | slices of values, whose padding nobody else accesses |
//! | `gather` | arrays of small structs as columns, and back |
//! | `lanes` | values in packed records that must lie in a range |
//! | `reverse`, `integers`, `elements` | values that change on the way |
//!
//! Another instruction set needs a file that implements [`Vector`](vector::Vector), as `aarch64` does, an arm in
//! `compiled_for_vectors!`, which dispatches, and a variant of [`Isa`](crate::isa::Isa): the compiler then leads to the
//! questions in `isa` that each variant answers. One with masks or wide moves may implement `Registers`, too, with an arm
//! in `compiled_for_selected!`: then all kernels are compiled for it.

#[cfg(target_arch = "aarch64")]
mod aarch64;
pub(crate) mod block;
pub(crate) mod direction;
pub(crate) mod elements;
mod gather;
mod grid;
pub(crate) mod integers;
mod irregular;
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, reason = "only some machines have vectors")
)]
mod lanes;
#[cfg(test)]
pub(crate) mod measured;
mod permute;
mod record;
mod registers;
mod reverse;
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, reason = "only some machines have vectors")
)]
mod shuffle;
mod strided;
#[cfg(test)]
pub(crate) mod tests;
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, reason = "only some machines have vectors")
)]
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub(crate) use block::{constant, run};
pub(crate) use direction::{Direction, Move, Pack, Steps, Unpack, Way, Zero};
pub(crate) use gather::{columns, is_gathering};
pub(crate) use grid::part as part_of_grid;
pub(crate) use irregular::{list, list_within};
pub(crate) use lanes::test;
pub(crate) use permute::{permute, permute_or, permuted_blocks};
pub(crate) use record::part as part_of_records;
pub(crate) use record::{one, one_run};
pub(crate) use reverse::reverse;
pub(crate) use shuffle::{pack_values, unpack_values};
pub(crate) use strided::part as part_of_blocks;
pub(crate) use strided::{blocks, grid, strided, strided_shared};

use permute::permuted;
use registers::{Registers, compiled_for_selected};

use crate::isa::selected;
use crate::plan::choose::{self, Kernel};
use crate::plan::{Blocks, Flat, Op, Plan, Program, SHORT, items};

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
    // SAFETY: each arm copies these instances, and the last ones several.
    unsafe {
        match count {
            0 => {}
            1 => one::<D>(plan, memory, packed),
            _ if !selected().permutes() && plan.program().is_few_runs(count) => {
                few::<D>(plan.program(), count, memory, packed);
            }
            _ => several::<D>(plan, count, memory, packed),
        }
    }
}

compiled_for_selected! {
    /// Executes a plan for several instances. If they are permuted, that is the last thing that it does, so that it has no
    /// registers to save.
    ///
    /// # Safety
    ///
    /// There must be several instances. For these, the promise of [`execute`].
    unsafe fn several[D: Direction][D](
        plan: &Plan, count: u64, memory: *mut u8, packed: *mut u8,
    ) = R => {
        let bytes = plan.size() * count;
        #[expect(clippy::cast_possible_truncation, reason = "bytes and a displacement in memory")]
        if R::ISA.permutes()
            && let Some(all) = choose::permuted_instances(plan, bytes, D::USE)
            // The permutation is that of the instances, counted from the displacement.
            && let first = memory.wrapping_offset(all.disp as isize)
            && R::permute::<D>(&all.permuted.permutation, 0..bytes as usize, first, packed)
        {
            return;
        }
        unpermuted::<D>(plan, count, memory, packed);
    };
}

/// Executes a plan for several instances that are not permuted.
///
/// # Safety
///
/// The promise of [`execute`].
#[inline(never)]
unsafe fn unpermuted<D: Direction>(plan: &Plan, count: u64, memory: *mut u8, packed: *mut u8) {
    let program = plan.program();
    // SAFETY: the blocks, the records, or the repetitions are the instances: the same bytes.
    unsafe {
        if let Some(all) = choose::joined(plan, count) {
            blocks::<D>(&all, program, memory, packed);
        } else if let Some(all) = choose::records(program, count, D::USE) {
            let (disp, from) = all.find(0);
            #[expect(clippy::cast_possible_truncation, reason = "bytes in memory")]
            let len = (plan.size() * count) as usize;
            part_of_records::<D>(all, from, len, memory.wrapping_offset(disp), packed);
        } else if choose::are_walked(program, count) {
            walked::<D>(program.instance(), program, count, plan.extent(), memory, packed);
        } else {
            repeated::<D>(program.instance(), program, count, plan.extent(), memory, packed);
        }
    }
}

/// Executes a plan for a few instances that are [few runs](Program::is_few_runs), one by one.
///
/// # Safety
///
/// The promise of [`execute`].
#[inline(never)]
#[expect(clippy::cast_possible_truncation, reason = "short runs in memory")]
unsafe fn few<D: Direction>(program: &Program, count: u64, memory: *mut u8, packed: *mut u8) {
    let (instance, extent) = (program.instance(), offset(program.extent(), 1));
    let (mut memory, mut packed) = (memory, packed);
    // No longer than this, so that what copies longer runs is not compiled.
    let run_of = |op: &Op| match *op {
        Op::Blocks(Blocks { disp, len, .. }) => (disp as isize, len.min(SHORT) as usize),
        _ => (0, 0),
    };
    // SAFETY: called below for the runs of each instance, which the caller guarantees, and for as many packed bytes.
    let run = |disp, len, memory: *mut u8, packed: *mut u8| unsafe {
        self::run::<D>(memory.wrapping_offset(disp), packed, len);
    };
    // The runs of each instance: one and two are the most frequent, and are read only once.
    match instance {
        [only] => {
            let (disp, len) = run_of(only);
            for _ in 0..count {
                run(disp, len, memory, packed);
                packed = packed.wrapping_add(D::advance(len));
                memory = memory.wrapping_offset(extent);
            }
        }
        [first, second] => {
            let ((disp, len), (next, rest)) = (run_of(first), run_of(second));
            for _ in 0..count {
                run(disp, len, memory, packed);
                packed = packed.wrapping_add(D::advance(len));
                run(next, rest, memory, packed);
                packed = packed.wrapping_add(D::advance(rest));
                memory = memory.wrapping_offset(extent);
            }
        }
        _ => {
            for _ in 0..count {
                for op in instance {
                    let (disp, len) = run_of(op);
                    run(disp, len, memory, packed);
                    packed = packed.wrapping_add(D::advance(len));
                }
                memory = memory.wrapping_offset(extent);
            }
        }
    }
}

/// Executes a constant program `count` times, at a stride of `stride` bytes.
///
/// # Safety
///
/// The bytes that the operations name in each repetition, relative to `memory`, and as many from `packed` on must be valid for
/// `D`.
pub(crate) unsafe fn program<D: Direction>(
    ops: &[Op],
    count: u64,
    stride: i64,
    memory: *mut u8,
    packed: *mut u8,
) {
    // SAFETY: the same repetitions. Lists are made at run time only, so a constant program has none.
    unsafe { repeated::<D>(ops, Program::empty(), count, stride, memory, packed) };
}

/// Executes operations `count` times, at a stride of `stride` bytes. Returns the end of what was packed.
///
/// # Safety
///
/// The bytes that the operations name in each repetition, relative to `memory`, and as many from `packed` on must be valid for
/// `D`. The lists among the operations must be the program's.
pub(crate) unsafe fn repeated<D: Direction>(
    ops: &[Op],
    program: &Program,
    count: u64,
    stride: i64,
    memory: *mut u8,
    packed: *mut u8,
) -> *mut u8 {
    let room = &mut None;
    let kernel = choose::repeated(ops, program, count, stride, selected(), D::USE, room);
    // SAFETY: the caller guarantees the bytes of the repetitions: they are what the kernel was chosen for.
    unsafe {
        match kernel {
            Kernel::Nothing => packed,
            Kernel::Blocks(all) => blocks::<D>(&all, program, memory, packed),
            Kernel::Permutation(all) => match permuted::<D>(all, count, memory, packed) {
                Some(end) => end,
                // Another thread has selected other instructions meanwhile.
                None => walked::<D>(ops, program, count, stride, memory, packed),
            },
            Kernel::PermutedRows(_) | Kernel::Grid(_) | Kernel::Tiles(_) => match ops {
                [Op::Blocks(row)] => {
                    grid::rows::<D>(kernel, row, program, count, stride, memory, packed)
                }
                _ => packed,
            },
            Kernel::Runs(runs) => record::run_by_run::<D>(runs, stride, count, memory, packed),
            Kernel::Flat(Flat { list, lists, .. }) => {
                let mut packed = packed;
                for iteration in 0..count {
                    let memory = memory.wrapping_offset(offset(stride, iteration));
                    packed = self::list::<D>(list, lists, memory, packed);
                }
                packed
            }
            _ => walked::<D>(ops, program, count, stride, memory, packed),
        }
    }
}

/// As [`repeated`], one repetition after another.
///
/// # Safety
///
/// The promise of [`repeated`].
unsafe fn walked<D: Direction>(
    ops: &[Op],
    program: &Program,
    count: u64,
    stride: i64,
    memory: *mut u8,
    packed: *mut u8,
) -> *mut u8 {
    let mut packed = packed;
    for iteration in 0..count {
        let memory = memory.wrapping_offset(offset(stride, iteration));
        // SAFETY: one of the repetitions, which the caller guarantees.
        packed = unsafe { operations::<D>(ops, program, memory, packed) };
    }
    packed
}

/// Executes operations once. Returns the end of what was packed. Many are a few runs, where every step on the way shows.
/// Longer runs than these are copied in a loop or by a call, with which the loop here would not fit the registers.
///
/// # Safety
///
/// The bytes that the operations name, relative to `memory`, and as many from `packed` on must be valid for `D`. The lists among
/// the operations must be the program's.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "runs in memory")]
unsafe fn operations<D: Direction>(
    ops: &[Op],
    program: &Program,
    memory: *mut u8,
    packed: *mut u8,
) -> *mut u8 {
    let (mut packed, mut rest) = (packed, ops);
    while let [Op::Blocks(Blocks { disp, len: len @ ..=SHORT, count: 1, .. }), after @ ..] = rest {
        let (run, len) = (memory.wrapping_offset(*disp as isize), *len as usize);
        // SAFETY: one of the operations, which the caller guarantees.
        unsafe {
            self::run::<D>(run, packed, len);
        }
        packed = packed.wrapping_add(D::advance(len));
        rest = after;
    }
    if rest.is_empty() {
        return packed;
    }
    // SAFETY: the other operations, which the caller guarantees.
    unsafe { any_operations::<D>(rest, program, memory, packed) }
}

/// As [`operations`], where they are not all runs.
///
/// # Safety
///
/// The promise of [`operations`].
#[inline(never)]
unsafe fn any_operations<D: Direction>(
    ops: &[Op],
    program: &Program,
    memory: *mut u8,
    packed: *mut u8,
) -> *mut u8 {
    let mut packed = packed;
    for (op, body) in items(ops) {
        match op {
            // SAFETY: one of the operations, which the caller guarantees.
            Op::Blocks(all) => packed = unsafe { blocks::<D>(all, program, memory, packed) },
            // A plan of bytes converts no values; a plan that does is executed by `convertor`.
            Op::Elements(_) => {}
            // SAFETY: as above; the list belongs to the tables.
            Op::List(all) => packed = unsafe { list::<D>(all, program.lists(), memory, packed) },
            Op::Loop { count, stride, .. } => {
                // SAFETY: as above.
                packed = unsafe { repeated::<D>(body, program, *count, *stride, memory, packed) };
            }
        }
    }
    packed
}

/// The displacement of an iteration, as an offset. Displacements of data fit, because the data lie in memory. Those on
/// the way may wrap, which `wrapping_offset` undoes.
#[expect(clippy::cast_possible_truncation, reason = "wraps by design, see above")]
fn offset(stride: i64, iteration: u64) -> isize {
    stride.wrapping_mul(iteration.cast_signed()) as isize
}

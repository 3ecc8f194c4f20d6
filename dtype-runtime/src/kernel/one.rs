//! Copies one instance. Most such calls copy only a few bytes, so every step before the copy counts.
//!
//! - One run goes to [`run`] at once, and two short runs to [`two`]: neither reads operations.
//! - An instance of at least three operations and at most as many bytes as a register is copied by the permutation of the
//!   instances, if the machine executes one.
//! - Everything else is copied operation by operation.

use super::direction::Direction;
use super::registers::{Registers, compiled_for_selected};
use super::{blocks, operations};
use crate::plan::{One, Plan, Program, SHORT, TwoRuns, choose};

/// Executes a plan for one instance.
///
/// # Safety
///
/// As [`execute`](super::execute) for a count of 1.
#[inline(always)]
pub(crate) unsafe fn one<D: Direction>(plan: &Plan, memory: *mut u8, packed: *mut u8) {
    let program = plan.program();
    // SAFETY: passed on to the caller.
    unsafe {
        match program.one() {
            One::Two(runs) => two::<D>(runs, memory, packed),
            One::Small if D::IS_PACKED => small::<D>(program, memory, packed),
            One::Small | One::Operations => by_operations::<D>(program, memory, packed),
        }
    }
}

/// Copies an instance that is one run of `len` bytes.
///
/// # Safety
///
/// As [`Direction::copy`].
#[inline(never)]
pub(crate) unsafe fn run<D: Direction>(memory: *mut u8, packed: *mut u8, len: usize) {
    // SAFETY: passed on to the caller.
    unsafe { blocks::run::<D>(memory, packed, len) };
}

/// Copies an instance that is [`One::Two`].
///
/// # Safety
///
/// As [`one`].
#[inline(never)]
#[expect(clippy::cast_possible_truncation, reason = "lengths of short runs")]
unsafe fn two<D: Direction>(runs: &TwoRuns, memory: *mut u8, packed: *mut u8) {
    let TwoRuns { disps, lens } = *runs;
    let [first, second] = disps.map(|disp| memory.wrapping_offset(disp as isize));
    // The runs are at most this long, so that code for longer runs is not compiled.
    let [len, rest] = lens.map(|len| usize::from(len).min(SHORT as usize));
    // SAFETY: the caller guarantees the two runs of the instance.
    unsafe {
        blocks::run::<D>(first, packed, len);
        blocks::run::<D>(second, packed.wrapping_add(D::advance(len)), rest);
    }
}

compiled_for_selected! {
    /// As [`one`], for an instance that is [`One::Small`].
    ///
    /// # Safety
    ///
    /// As [`one`]; `D` must pack or unpack.
    unsafe fn small[D: Direction][D](
        program: &Program, memory: *mut u8, packed: *mut u8,
    ) = R, without avx2 => small_by::<D, R>(program, memory, packed);
}

/// [`small`] with the registers `R`. It ends with every call that it makes, so it saves no registers.
///
/// # Safety
///
/// As [`small`].
#[inline(always)]
unsafe fn small_by<D: Direction, R: Registers>(
    program: &Program,
    memory: *mut u8,
    packed: *mut u8,
) {
    // SAFETY: the permutation is that of the instances, so the instance is one of its records, counted from its origin. A
    // permutation is chosen only for instructions that permute. Otherwise passed on to the caller.
    unsafe {
        match choose::one_permuted(program, R::ISA, D::USE) {
            Some(permutation) => R::permute_one::<D>(permutation, memory, packed),
            None => by_operations::<D>(program, memory, packed),
        }
    }
}

/// As [`one`], operation by operation.
///
/// # Safety
///
/// As [`one`].
#[inline(never)]
unsafe fn by_operations<D: Direction>(program: &Program, memory: *mut u8, packed: *mut u8) {
    // SAFETY: the caller guarantees the bytes of one instance; these are its operations.
    unsafe { operations::<D>(program.instance(), program, memory, packed) };
}

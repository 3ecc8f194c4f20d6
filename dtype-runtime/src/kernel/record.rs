//! Records of a few short runs: one of them, or an array of structs.
//!
//! *One instance* is most often a few bytes, so every step before the copy counts. One run goes to [`one_run`] at once, and two
//! short runs to [`two`]: neither reads operations. An instance of at least three operations and at most as many bytes as a
//! register is copied by the permutation of the instances, if the machine executes one. Everything else is copied operation by
//! operation.
//!
//! *Many small records* are [permuted](super::permute).
//!
//! *Many others* are copied run by run. Take records of 16 bytes with an `f64` at 0 and a `u32` at 8. Copied record by record,
//! each run costs a branch on its length. So first the `f64` of 512 records is copied, by a loop that knows its length, then the
//! `u32` of the same 512 records. These 512 records are a *tile*: it has as many records as fit the first-level cache, so the
//! second loop finds there the lines that the first one fetched.
//!
//! A fragment of such an array ([`part`]) starts and ends anywhere in a record. Take records with runs of 40, 56 and 2 bytes,
//! and a fragment of 1024 bytes that starts at byte 60 of the first one. The fragment begins with the last 36 bytes of that
//! record's second run and its third run. Then come 10 whole records, copied run by run, and then the first 6 bytes of the last
//! record.

use super::block::{any, run};
use super::direction::{Direction, Steps};
use super::operations;
use super::registers::{Registers, compiled_for_selected};
use super::strided::{ends_and_rows, strided};
use crate::plan::{One, Plan, Program, Records, Run, SHORT, TwoRuns, choose};

/// Executes a plan for one instance.
///
/// # Safety
///
/// The data of the instance, relative to `memory`, and as many bytes from `packed` on must be valid for `D`.
#[inline(always)]
pub(crate) unsafe fn one<D: Direction>(plan: &Plan, memory: *mut u8, packed: *mut u8) {
    let program = plan.program();
    // SAFETY: the two runs, or the program's operations, are the data of the instance. `small` is called only to pack or unpack.
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
/// `len` bytes must be valid for `D` on both sides.
#[inline(never)]
pub(crate) unsafe fn one_run<D: Direction>(memory: *mut u8, packed: *mut u8, len: usize) {
    // SAFETY: the same run.
    unsafe { run::<D>(memory, packed, len) };
}

/// Copies an instance that is [`One::Two`].
///
/// # Safety
///
/// The two runs, relative to `memory`, and as many bytes from `packed` on must be valid for `D`.
#[inline(never)]
#[expect(clippy::cast_possible_truncation, reason = "lengths of short runs")]
unsafe fn two<D: Direction>(runs: &TwoRuns, memory: *mut u8, packed: *mut u8) {
    let TwoRuns { disps, lens } = *runs;
    let [first, second] = disps.map(|disp| memory.wrapping_offset(disp as isize));
    // The runs are at most this long, so that code for longer runs is not compiled.
    let [len, rest] = lens.map(|len| usize::from(len).min(SHORT as usize));
    // SAFETY: the two runs, which the caller guarantees; the packed bytes of the second follow those of the first.
    unsafe {
        run::<D>(first, packed, len);
        run::<D>(second, packed.wrapping_add(D::advance(len)), rest);
    }
}

compiled_for_selected! {
    /// Copies an instance that is [`One::Small`]. It ends with every call that it makes, so it saves no registers.
    ///
    /// # Safety
    ///
    /// The data of the instance, relative to `memory`, and as many bytes from `packed` on must be valid for `D`, which must pack
    /// or unpack.
    unsafe fn small[D: Direction][D](
        program: &Program, memory: *mut u8, packed: *mut u8,
    ) = R, without avx2 => match choose::one_permuted(program, R::ISA, D::USE) {
        // The permutation is that of the instances, so the instance is one of its records, counted from its origin.
        Some(permutation) if R::permute_one::<D>(permutation, memory, packed) => {}
        _ => by_operations::<D>(program, memory, packed),
    };
}

/// Copies one instance operation by operation.
///
/// # Safety
///
/// The data of the instance, relative to `memory`, and as many bytes from `packed` on must be valid for `D`.
#[inline(never)]
unsafe fn by_operations<D: Direction>(program: &Program, memory: *mut u8, packed: *mut u8) {
    // SAFETY: the caller guarantees the bytes of one instance; these are its operations.
    unsafe { operations::<D>(program.instance(), program, memory, packed) };
}

/// Repetitions of a few fields, a tile of records at a time.
pub(super) struct Tiled {
    /// Packed bytes of one record.
    size: usize,
    /// Bytes of memory from one record to the next.
    stride: isize,
    count: usize,
    /// Records in a tile.
    tile: usize,
}

impl Tiled {
    /// `count` records of `size` packed bytes, `stride` bytes apart, if they are copied a tile at a time. The last tile may have
    /// up to half as many records more.
    pub(super) fn new(size: usize, stride: i64, count: u64) -> Option<Self> {
        if !choose::are_near(size as u64, stride, count) {
            return None;
        }
        let (stride, count) = (isize::try_from(stride).ok()?, usize::try_from(count).ok()?);
        let tile = choose::TILE / stride.unsigned_abs().max(size).max(1);
        Some(Self { size, stride, count, tile })
    }

    /// Packed bytes of all records.
    pub(super) fn packed_size(&self) -> usize {
        self.size * self.count
    }

    /// Calls `copy` for each tile, with its number of records, the steps from one record to the next, and the first record on
    /// both sides. Returns the end of the packed bytes.
    ///
    /// The pointers wrap, because the origin of a record may lie outside the memory.
    #[inline(always)]
    pub(super) fn each<D: Direction>(
        &self,
        mut memory: *mut u8,
        mut packed: *mut u8,
        mut copy: impl FnMut(usize, Steps, *mut u8, *mut u8),
    ) -> *mut u8 {
        let steps = Steps { memory: self.stride, packed: D::advance(self.size) };
        let mut left = self.count;
        while left > 0 {
            // A tile takes up to half as many records more, instead of leaving them to a small tile.
            let records = if left <= self.tile + self.tile / 2 { left } else { self.tile };
            copy(records, steps, memory, packed);
            memory = memory.wrapping_offset(self.stride.wrapping_mul(records.cast_signed()));
            packed = packed.wrapping_add(D::advance(self.size * records));
            left -= records;
        }
        packed
    }
}

/// Copies `count` records of a few runs, `stride` bytes apart. Returns the end of the packed bytes.
///
/// # Safety
///
/// The runs of each record, relative to `memory`, and as many bytes from `packed` on must be valid for `D`.
pub(super) unsafe fn run_by_run<D: Direction>(
    runs: &[Run],
    stride: i64,
    count: u64,
    memory: *mut u8,
    packed: *mut u8,
) -> *mut u8 {
    let size = runs.iter().map(|run| run.len).sum();
    let Some(tiled) = Tiled::new(size, stride, count) else { return packed };
    // SAFETY: the tiles are of these records.
    unsafe { tiles::<D>(runs, &tiled, memory, packed) }
}

/// Copies records tile by tile: one run of all records of a tile, then the next. Returns the end of the packed bytes.
///
/// # Safety
///
/// The runs of each record, relative to `memory`, and as many bytes from `packed` on must be valid for `D`.
#[inline(always)]
unsafe fn tiles<D: Direction>(
    runs: &[Run],
    tiled: &Tiled,
    memory: *mut u8,
    packed: *mut u8,
) -> *mut u8 {
    tiled.each::<D>(memory, packed, |records, steps, memory, packed| {
        let mut field = packed;
        for run in runs {
            // SAFETY: the caller guarantees this run in all records; these are some of them.
            unsafe {
                let memory = memory.wrapping_offset(run.disp);
                strided::<D>(run.len, records, steps, memory, field);
            }
            field = field.wrapping_add(D::advance(run.len));
        }
    })
}

compiled_for_selected! {
    /// Copies `len` packed bytes of records, from byte `from` of the first on.
    ///
    /// # Safety
    ///
    /// `D` must pack or unpack. `memory + displacement` must be valid for `D` on each of these bytes, and `packed` on as many. The
    /// first of them must be in the first record.
    pub(crate) unsafe fn part[D: Direction][D](
        all: &Records, from: usize, len: usize, memory: *mut u8, packed: *mut u8,
    ) = R => part_by::<D, R>(all, from, len, memory, packed);
}

/// [`part`] with the registers `R`: the end of the first record, whole records, and the start of the last one.
///
/// # Safety
///
/// What [`part`] requires; the processor must have the instructions of `R`.
#[inline(always)]
unsafe fn part_by<D: Direction, R: Registers>(
    records: &Records,
    from: usize,
    len: usize,
    memory: *mut u8,
    packed: *mut u8,
) {
    let Records { ref runs, size, stride, .. } = *records;
    let (mut record, mut packed, mut left) = (memory, packed, len);
    // SAFETY: bytes of the first record, and of the records after it, each `stride` bytes further; the caller guarantees them.
    // The loop takes whole records only while at least that many bytes are left.
    unsafe {
        if let [run] = **runs {
            let first = record.wrapping_offset(run.disp);
            if size.cast_signed() == stride {
                // All records together are one run.
                return D::copy(first.wrapping_add(from), packed, len);
            }
            return ends_and_rows::<D, R>(size, stride, from..from + len, first, packed);
        }
        if from > 0 {
            let bytes = left.min(size - from);
            packed = part_of_one::<D, R>(runs, from, bytes, record, packed);
            record = record.wrapping_offset(stride);
            left -= bytes;
        }
        let count = left / size;
        if let Some(steps) = &records.steps
            && R::steps::<D>(steps, (size, stride), count, record, packed)
        {
            packed = packed.wrapping_add(count * size);
            record = record.wrapping_offset(stride.wrapping_mul(count.cast_signed()));
            left -= count * size;
        } else if let Some(tiled) = Tiled::new(size, stride as i64, count as u64) {
            packed = tiles::<D>(runs, &tiled, record, packed);
            record = record.wrapping_offset(stride.wrapping_mul(count.cast_signed()));
            left -= count * size;
        }
        while left > 0 {
            let bytes = left.min(size);
            packed = part_of_one::<D, R>(runs, 0, bytes, record, packed);
            record = record.wrapping_offset(stride);
            left -= bytes;
        }
    }
}

/// Copies `len` packed bytes of one record, from byte `from` on. Returns the end of the packed bytes.
///
/// # Safety
///
/// The bytes must be in the record. Relative to `memory`, and from `packed` on, they must be valid for `D`.
#[inline(always)]
unsafe fn part_of_one<D: Direction, R: Registers>(
    runs: &[Run],
    from: usize,
    len: usize,
    memory: *mut u8,
    packed: *mut u8,
) -> *mut u8 {
    let (mut from, mut left, mut packed) = (from, len, packed);
    for run in runs {
        if from >= run.len {
            from -= run.len;
            continue;
        }
        let bytes = left.min(run.len - from);
        let place = memory.wrapping_offset(run.disp).wrapping_add(from);
        // SAFETY: the caller guarantees the bytes; these are some of them.
        unsafe { any::<D, R>(place, packed, bytes) };
        packed = packed.wrapping_add(D::advance(bytes));
        (from, left) = (0, left - bytes);
        if left == 0 {
            break;
        }
    }
    packed
}

//! Which kernel copies what: the one place that decides.
//!
//! A function here takes what is to be copied (the values of a slice, instances, a loop, blocks, a list), how many of them, the
//! set of instructions, and the use, and returns a [`Kernel`]: plain data. The kernels execute it and decide nothing;
//! [`explain`](crate::explain) prints it. The [times](super::costs) of the kernels are in one file for each set of instructions.
//!
//! Small records can be copied by inlined moves, one run of many records after another, or several records at a time: permuted
//! or shuffled in registers. For these, what is computed in advance is the least number of records from which the register is
//! faster than the moves. Take records of 16 bytes with 1 byte at 0 and 8 bytes at 8, with AVX-512:
//!
//! ```text
//! moves        4 for each of the two, 8 for a record           (in sixteenths of a nanosecond)
//! permutation  4 records in each step of 14, so a step saves 4 · 8 − 14 = 18
//! call         88, which 5 steps save: from 20 records on, they are permuted
//! ```
//!
//! Derived and committed types share these functions. A derived type evaluates them at compile time; a plan does when it is
//! prepared, or at the first call.

#[cfg(test)]
pub(crate) mod tests;

pub(crate) mod records;

use super::Plan;
use super::flat::Flat;
use super::list::{Entries, List, Lists, Moves, Width};
use super::one::One;
use super::op::{Blocks, Op};
use super::permutation::Permutation;
use super::program::Program;
use super::records::Records;
use super::runs::{Run, RunList};
use super::shuffle::Shuffle;
use super::tables::Instances;
use crate::isa::{Isa, WIDTH};

pub(crate) use super::costs::{Use, Uses};
pub(crate) use records::{LONG, MAX_PIECES, Permuted, Slice, TILE, Ways, are_near, time_of};
use records::{MIN_BLOCKS, MIN_RECORDS};

/// The routine that copies all of something.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kernel<'a> {
    /// There is nothing to copy.
    Nothing,
    /// Each run or block by itself.
    Copy,
    /// Operation by operation, each by a kernel of its own.
    Walk,
    /// As these blocks, which have a kernel of their own.
    Blocks(Blocks),
    /// Blocks of one length at equal distances, one after another.
    Strided(PerBlock),
    /// Rows of such blocks.
    Grid(PerBlock),
    /// So many columns of a matrix at a time.
    Tiles(usize),
    /// Several records at once, by a permutation of bytes.
    Permutation(&'a Permutation),
    /// Several values of a slice at once, by shuffles.
    Shuffle(&'a Shuffle),
    /// Rows of blocks, each row by a permutation.
    PermutedRows(&'a Permutation),
    /// Many records: one run of all of them, then the next. A record may begin and end inside an instance.
    Records(&'a Records),
    /// Many records, each in several steps that rearrange a register. As for `Records`, a record may begin inside an instance.
    Steps(&'a Records),
    /// As `Records`, where a record is one repetition.
    Runs(&'a [Run]),
    /// Blocks at irregular displacements.
    List(PerBlock),
    /// Each repetition as a list with tables of its own.
    Flat(&'a Flat),
}

/// How a kernel copies each of its blocks. A number is the width of a move in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PerBlock {
    /// Not at all: it has no bytes.
    None,
    /// By one move.
    One1,
    One2,
    One4,
    One8,
    One16,
    One32,
    /// By two moves of different widths, which touch.
    Touching2_1,
    Touching4_2,
    Touching8_2,
    Touching8_4,
    Touching16_4,
    Touching16_8,
    Touching32_8,
    /// By two moves. If together they are longer than the block, they overlap.
    Two1,
    Two2,
    Two4,
    Two8,
    Two16,
    Two32,
    /// By two moves, each of half the block.
    Halves2,
    Halves4,
    Halves8,
    /// By three moves, which overlap.
    Three16,
    /// By four moves, which overlap.
    Four1,
    Four2,
    Four4,
    Four8,
    Four16,
    Four32,
    /// By one move under a mask that leaves out bytes beyond the block.
    Masked32,
    Masked64,
    /// In a loop or by a call.
    Long,
    /// By moves chosen by the length of each block.
    Varied,
}

/// The kernel for `count` instances of a plan.
pub(crate) fn instances<'a>(
    plan: &'a Plan,
    count: u64,
    isa: Isa,
    what: Use,
    room: &'a mut Option<RunList>,
) -> Kernel<'a> {
    match count {
        0 => Kernel::Nothing,
        1 => {
            let one = match plan.program().one() {
                One::Small => one_permuted(plan.program(), isa, what),
                One::Two(_) | One::Operations => None,
            };
            one.map_or(Kernel::Walk, Kernel::Permutation)
        }
        // Permutations win for any number of records.
        _ if !isa.permutes() && plan.program().is_few_runs(count) => Kernel::Copy,
        _ => match permuted_instances(plan, plan.size() * count, what) {
            Some(all) if isa.permutes() => Kernel::Permutation(&all.permuted.permutation),
            _ => several(plan, count, isa, what, room),
        },
    }
}

/// The permutation that copies one instance that is [small](One::Small), if there is one.
#[inline(always)]
pub(crate) fn one_permuted(program: &Program, isa: Isa, what: Use) -> Option<&Permutation> {
    if !isa.permutes() || matches!(what, Use::Move | Use::Zero) {
        return None;
    }
    let all = program.instances()?;
    all.are_records.then_some(&all.permuted.permutation)
}

/// The permutation that copies that many packed bytes of several instances, if that is faster, where the instructions permute.
#[inline(always)]
pub(crate) fn permuted_instances(plan: &Plan, bytes: u64, what: Use) -> Option<&Instances> {
    plan.program().instances().filter(|all| all.permuted.pays(what, bytes))
}

/// The kernel for several instances that are not permuted.
fn several<'a>(
    plan: &'a Plan,
    count: u64,
    isa: Isa,
    what: Use,
    room: &'a mut Option<RunList>,
) -> Kernel<'a> {
    let program = plan.program();
    if let Some(all) = joined(plan, count) {
        return Kernel::Blocks(all);
    }
    if let Some(all) = records(program, count, what) {
        let has_steps = isa.permutes() && all.steps.is_some();
        return if has_steps { Kernel::Steps(all) } else { Kernel::Records(all) };
    }
    if are_walked(program, count) {
        return Kernel::Walk;
    }
    repeated(program.instance(), program, count, plan.extent(), isa, what, room)
}

/// The blocks at equal distances that several instances are, if that is what they are.
#[inline(always)]
pub(crate) fn joined(plan: &Plan, count: u64) -> Option<Blocks> {
    Some(plan.program().single()?.repeated(count, plan.extent())?.normalized())
}

/// Several instances as records, if they are copied run by run. Moving and zeroing have no packed bytes that a record would be
/// found by.
#[inline(always)]
pub(crate) fn records(program: &Program, count: u64, what: Use) -> Option<&Records> {
    if count <= 2 || matches!(what, Use::Move | Use::Zero) {
        return None;
    }
    program.records().filter(|all| all.are_run_by_run())
}

/// Whether many instances are copied to another memory of the same layout through packed bytes, a few at a time: records of several
/// runs that are not permuted. Otherwise each run would be copied in all records before the next.
pub(crate) fn are_staged(plan: &Plan, isa: Isa) -> bool {
    let is_permuted = isa.permutes() && permuted_instances(plan, u64::MAX, Use::Move).is_some();
    !is_permuted && records(plan.program(), u64::MAX, Use::Pack).is_some()
}

/// Whether several instances, none of the above, are copied one after another.
#[inline(always)]
pub(crate) fn are_walked(program: &Program, count: u64) -> bool {
    // Blocks at equal distances that are no records have a kernel for rows.
    count < MIN_RECORDS && (program.single().is_none() || program.records().is_some())
}

/// The kernel for `count` repetitions of operations, `stride` bytes apart. `room` is for their runs, if no table has them.
pub(crate) fn repeated<'a>(
    ops: &'a [Op],
    program: &'a Program,
    count: u64,
    stride: i64,
    isa: Isa,
    what: Use,
    room: &'a mut Option<RunList>,
) -> Kernel<'a> {
    /// So many repetitions that are close together are copied run by run faster than one after another as a list.
    const MIN_RUN_BY_RUN: u64 = 8;

    if ops.is_empty() || count == 0 {
        return Kernel::Nothing;
    }
    let body = if count > 1 { program.body(ops, stride, count) } else { None };
    if isa.permutes()
        && let Some(all @ Permuted { permutation, .. }) =
            body.and_then(|body| body.permuted.as_ref())
        && all.pays(what, permutation.size() as u64 * count)
    {
        return Kernel::Permutation(permutation);
    }
    if let [Op::Blocks(row)] = ops {
        return rows(row, program, count, stride, isa, what);
    }
    let may_be_near = are_near(0, stride, count);
    if let Some(list) = body.and_then(|body| body.list.as_ref())
        && !(count >= MIN_RUN_BY_RUN && may_be_near)
    {
        return Kernel::Flat(list);
    }
    if may_be_near {
        let runs = if let Some(body) = body {
            body.runs.as_deref()
        } else {
            *room = RunList::expand(ops);
            room.as_ref().map(RunList::all)
        };
        if let Some(runs) = runs
            && runs
                .iter()
                .try_fold(0_u64, |sum, run| sum.checked_add(run.len as u64))
                .is_some_and(|size| are_near(size, stride, count))
        {
            return Kernel::Runs(runs);
        }
    }
    Kernel::Walk
}

/// The kernel for blocks at equal distances.
#[inline]
pub(crate) fn blocks<'a>(all: &Blocks, program: &'a Program, isa: Isa, what: Use) -> Kernel<'a> {
    if are_few(all) {
        return Kernel::Copy;
    }
    match column(all, all.count, program, isa, what) {
        Some(permutation) => Kernel::Permutation(permutation),
        None => Kernel::Strided(strided(all, 1, 0, isa, what)),
    }
}

/// Whether so few blocks are copied each by itself, because calling a kernel would take longer.
#[inline(always)]
pub(crate) const fn are_few(all: &Blocks) -> bool {
    matches!(all.count, 1 | 2)
}

/// The permutation by which `count` of these blocks are copied, if that is faster than one after another.
#[inline]
pub(crate) fn column<'a>(
    all: &Blocks,
    count: u64,
    program: &'a Program,
    isa: Isa,
    what: Use,
) -> Option<&'a Permutation> {
    if !may_be_column(all) || !isa.permutes() {
        return None;
    }
    let permuted = program.of_blocks(all)?;
    // The alternative is a loop of moves, as for slices, not a call of the kernel for records.
    let is_faster = what != Use::Zero && count >= permuted.from.of(what) as u64;
    is_faster.then_some(&permuted.permutation)
}

/// Whether it is worth looking for a permutation of these blocks.
#[inline]
pub(crate) const fn may_be_column(all: &Blocks) -> bool {
    // Two blocks at a greater distance do not lie in one vector.
    all.count >= MIN_BLOCKS && all.stride.unsigned_abs() < WIDTH as u64
}

/// The kernel for `count` rows of blocks, `apart` bytes apart.
fn rows<'a>(
    row: &Blocks,
    program: &'a Program,
    count: u64,
    apart: i64,
    isa: Isa,
    what: Use,
) -> Kernel<'a> {
    if let Some(all) = row.repeated(count, apart) {
        return Kernel::Blocks(all.normalized());
    }
    if let Some(permutation) = column(row, row.count, program, isa, what) {
        return Kernel::PermutedRows(permutation);
    }
    match together(row, count, apart, what) {
        1 => Kernel::Grid(strided(row, count, apart, isa, what)),
        columns => Kernel::Tiles(columns),
    }
}

/// Bytes of memory that a tile's row spans, if its blocks are adjacent.
const ROW: u64 = 128;

/// The greatest number of columns in a tile. With 32, unpacking takes twice as long where their packed bytes share ways.
const MAX_TOGETHER: u64 = 16;

/// Bytes of a line of the first-level cache.
const LINE: u64 = 64;

/// Bytes from one line of the first-level cache to the next one in the same set.
const SAME_SET: u64 = 4096;

/// How many lines a set of the first-level cache has at least.
const WAYS: u64 = 8;

/// How many of `count` columns of a matrix, `stride` bytes apart, are copied together: several if they are narrow and one column
/// is more than the cache keeps.
#[expect(clippy::cast_possible_truncation, reason = "at most 16")]
pub(crate) fn together(column: &Blocks, count: u64, stride: i64, what: Use) -> usize {
    let apart = stride.unsigned_abs();
    let is_narrow = apart <= ROW && column.len <= apart;
    // Whether each row lies in other cache lines than the row before it.
    let is_far = column.stride.unsigned_abs() >= ROW;
    let is_kept = column.count <= most_lines(column.stride.unsigned_abs());
    if count < 2 || !is_narrow || !is_far || is_kept {
        return 1;
    }
    let streams = most_lines(column.len * column.count);
    let most = if what == Use::Pack { streams.min(MAX_TOGETHER) } else { MAX_TOGETHER };
    (ROW / apart).min(most) as usize
}

/// The greatest number of lines, `apart` bytes from one another, that all stay in the cache.
fn most_lines(apart: u64) -> u64 {
    let shared =
        1 << apart.trailing_zeros().clamp(LINE.trailing_zeros(), SAME_SET.trailing_zeros());
    WAYS * (SAME_SET / shared)
}

/// How `number` rows of blocks, `apart` bytes apart, are copied block by block.
#[inline(always)]
pub(crate) const fn strided(
    row: &Blocks,
    number: u64,
    apart: i64,
    isa: Isa,
    what: Use,
) -> PerBlock {
    if are_stored_in_halves(row, number, apart, what) {
        return match row.len {
            4 => PerBlock::Halves2,
            8 => PerBlock::Halves4,
            _ => PerBlock::Halves8,
        };
    }
    per_block(row.len, isa)
}

/// Whether blocks are stored by two moves each. There are rows of such blocks, `apart` bytes apart.
///
/// Lines 512 bytes apart share an eighth of a cache's sets. A loop with one store in each line fills the store buffer of a Zen
/// 5 before the first line arrives, and lines are evicted before their stores are done. With two stores in each line, half as
/// many lines are in flight, and blocks of 8 bytes take a third of the time. At multiples of 1024 bytes, two stores do not
/// help, but four do: two in each of two neighbouring blocks.
const fn are_stored_in_halves(row: &Blocks, number: u64, apart: i64, what: Use) -> bool {
    if !matches!((row.len, what), (4 | 8 | 16, Use::Unpack | Use::Keep)) {
        return false;
    }
    let (stride, apart) = (row.stride.unsigned_abs(), apart.unsigned_abs());
    // Whether the blocks of a row share a line.
    if stride < LINE {
        number > 1 && apart > 0 && apart % 512 == 0 && row.count < 4
    } else {
        // A single row goes on like this.
        row.len > 4 && stride % 1024 == 512 && (number == 1 || apart >= stride)
    }
}

/// How blocks of one length are copied.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "at most 64")]
pub(crate) const fn per_block(len: u64, isa: Isa) -> PerBlock {
    /// For each length up to 64, where registers have 16 bytes, and where they have more.
    static MOVES: [[PerBlock; 65]; 2] = {
        let mut all = [[PerBlock::None; 65]; 2];
        let mut len = 0;
        while len <= 64 {
            all[0][len] = moves(len, true);
            all[1][len] = moves(len, false);
            len += 1;
        }
        all
    };
    if len > 64 { PerBlock::Long } else { MOVES[(isa.width() > 16) as usize][len as usize] }
}

/// The moves of a block. One or two cover any length from 1 to 64; registers of 16 bytes take three for most lengths from 33 to
/// 48.
const fn moves(len: usize, are_narrow: bool) -> PerBlock {
    match len {
        0 => PerBlock::None,
        1 => PerBlock::One1,
        2 => PerBlock::One2,
        3 => PerBlock::Touching2_1,
        4 => PerBlock::One4,
        6 => PerBlock::Touching4_2,
        5..8 => PerBlock::Two4,
        8 => PerBlock::One8,
        10 => PerBlock::Touching8_2,
        12 => PerBlock::Touching8_4,
        9..16 => PerBlock::Two8,
        16 => PerBlock::One16,
        20 => PerBlock::Touching16_4,
        24 => PerBlock::Touching16_8,
        17..32 => PerBlock::Two16,
        32 => PerBlock::One32,
        40 => PerBlock::Touching32_8,
        33..48 if are_narrow => PerBlock::Three16,
        _ => PerBlock::Two32,
    }
}

/// The kernel for a list of these tables.
pub(crate) fn of_list<'a>(list: &List, lists: &Lists, isa: Isa, what: Use) -> Kernel<'a> {
    Kernel::List(self::list(&lists.entries(list), list.moves(), isa, what))
}

/// How the blocks of a list are copied.
#[inline(always)]
pub(crate) const fn list(entries: &Entries<'_>, moves: Moves, isa: Isa, what: Use) -> PerBlock {
    // One masked move replaces four moves, or branches that the processor mispredicts.
    let masks = isa.masks() && !matches!(what, Use::Move | Use::Zero);
    match (entries, moves) {
        // The kernel is not compiled for AVX2.
        (Entries::Even(_, len), _) if matches!(isa, Isa::Avx2) => per_block(*len, Isa::Portable),
        (Entries::Even(_, len), _) => per_block(*len, isa),
        (Entries::Varied(_), Moves::Two(width)) => match width {
            Width::W1 => PerBlock::Two1,
            Width::W2 => PerBlock::Two2,
            Width::W4 => PerBlock::Two4,
            Width::W8 => PerBlock::Two8,
            Width::W16 => PerBlock::Two16,
            Width::W32 => PerBlock::Two32,
        },
        (
            Entries::Varied(_),
            Moves::Four(Width::W1 | Width::W2 | Width::W4 | Width::W8) | Moves::UpTo32,
        ) if masks => PerBlock::Masked32,
        (Entries::Varied(_), Moves::UpTo64) if masks => PerBlock::Masked64,
        (Entries::Varied(_), Moves::Four(width)) => match width {
            Width::W1 => PerBlock::Four1,
            Width::W2 => PerBlock::Four2,
            Width::W4 => PerBlock::Four4,
            Width::W8 => PerBlock::Four8,
            Width::W16 => PerBlock::Four16,
            Width::W32 => PerBlock::Four32,
        },
        // If offsets need more than 32 bits, each block is a cache miss, whatever the moves.
        (Entries::Varied(_), Moves::UpTo32 | Moves::UpTo64 | Moves::Any)
        | (Entries::WideEven(..) | Entries::WideVaried(_), _) => PerBlock::Varied,
    }
}

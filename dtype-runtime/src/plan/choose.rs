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

use super::Plan;
use super::byte_map::ByteMap;
use super::costs::{self, Cost};
use super::flat::Flat;
use super::list::{Entries, List, Lists, Moves, Width};
use super::op::{Blocks, Op};
use super::permutation::Permutation;
use super::program::{One, Program, TwoRuns};
use super::runs::{Records, Run, RunList};
use super::shuffle::Shuffle;
use super::tables::Instances;
use crate::kernels::{self, Isa, WIDTH};

/// What a kernel does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Packs.
    Pack,
    /// Unpacks to memory without values, whose gaps may be written.
    Unpack,
    /// Unpacks, and keeps the gaps.
    Keep,
    /// Copies between two memories of the same layout.
    Move,
    /// Writes zeros to memory.
    Zero,
}

/// One value for each use of a kernel that copies several records at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Uses<T> {
    pub(crate) pack: T,
    pub(crate) unpack: T,
    pub(crate) keep: T,
}

impl<T: Copy> Uses<T> {
    /// The value for a use. Moving is like packing: what a load costs, and a masked store.
    pub(crate) const fn of(&self, what: Use) -> T {
        match what {
            Use::Pack | Use::Move => self.pack,
            Use::Unpack => self.unpack,
            Use::Keep | Use::Zero => self.keep,
        }
    }
}

/// More records than there can be: another way is faster for any number.
pub(crate) const NEVER: usize = usize::MAX;

impl Uses<usize> {
    /// Never.
    pub(crate) const NEVER: Self = Self { pack: NEVER, unpack: NEVER, keep: NEVER };

    /// Whether no number of records is enough for any use.
    pub(crate) const fn is_never(&self) -> bool {
        self.pack == NEVER && self.unpack == NEVER && self.keep == NEVER
    }
}

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
    /// As `Records`, where a record is one repetition.
    Runs(&'a [Run]),
    /// Blocks at irregular displacements.
    List(PerBlock),
    /// Each repetition as a list with tables of its own.
    Flat(&'a Flat),
}

/// How a kernel copies each of its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PerBlock {
    /// Not at all: it has no bytes.
    None,
    /// By one move of so many bytes.
    One(Width),
    /// By two moves of so many bytes. If together they are longer than the block, they overlap.
    Two(Width),
    /// By two moves, each of half the block.
    Halves(Width),
    /// By three moves of 16 bytes, which overlap.
    Three,
    /// By four moves, which overlap.
    Four(Width),
    /// By two moves of these lengths, which touch.
    Touching(Width, Width),
    /// By one move of 32 bytes under a mask that leaves out bytes beyond the block.
    Masked32,
    /// As [`Masked32`](Self::Masked32), with 64 bytes.
    Masked64,
    /// In a loop or by a call.
    Long,
    /// By moves chosen by the length of each block.
    Varied,
}

/// What a period of these records costs that is permuted.
pub(crate) const fn permutation(all: &Permutation) -> Uses<Cost> {
    const fn cost(all: &Permutation, one: Cost, crossing: usize) -> Cost {
        let (memory, packed) = all.period();
        let narrower = if packed <= WIDTH / 2 { costs::avx512::NARROW } else { 0 };
        let apart = if memory.unsigned_abs() == WIDTH { 0 } else { crossing };
        Cost { call: one.call, step: one.step + apart - narrower }
    }
    use costs::avx512::{CROSSING, PERMUTATION, WIDE_PERMUTATION};
    if all.vectors() > 1 {
        return WIDE_PERMUTATION;
    }
    Uses {
        pack: cost(all, PERMUTATION.pack, CROSSING.pack),
        unpack: cost(all, PERMUTATION.unpack, CROSSING.unpack),
        keep: cost(all, PERMUTATION.keep, CROSSING.keep),
    }
}

/// The least numbers of records from which permuting them is faster than inlined moves that take `time` for each of them.
const fn permuted_from(all: &Permutation, time: usize) -> Uses<usize> {
    const fn from(all: &Permutation, time: usize, cost: Cost) -> usize {
        match cost.fewest_steps(time.saturating_mul(all.records())) {
            Some(steps) => steps * all.records(),
            None => NEVER,
        }
    }
    let cost = permutation(all);
    Uses {
        pack: from(all, time, cost.pack),
        unpack: from(all, time, cost.unpack),
        keep: from(all, time, cost.keep),
    }
}

/// The greatest numbers of packed bytes up to which permuting records is faster than a call of the kernel for records. That call takes
/// longer, so a permutation whose steps are slower is faster for a few records.
const fn permuted_to(all: &Permutation, runs: usize, time: usize) -> Uses<u64> {
    const fn to(all: &Permutation, runs: usize, time: usize, cost: Cost) -> u64 {
        use costs::portable::RECORDS;
        let theirs = time.saturating_mul(all.records());
        if cost.step <= theirs {
            return u64::MAX;
        }
        let calls = (RECORDS.call + runs * RECORDS.step).saturating_sub(cost.call);
        (calls * all.period().1 / (cost.step - theirs)) as u64
    }
    let cost = permutation(all);
    Uses {
        pack: to(all, runs, time, cost.pack),
        unpack: to(all, runs, time, cost.unpack),
        keep: to(all, runs, time, cost.keep),
    }
}

/// As [`permuted_from`], for shuffling with the instructions of `isa`.
pub(crate) const fn shuffled_from(all: &Shuffle, time: usize, isa: Isa) -> Uses<usize> {
    const fn from(all: &Shuffle, time: usize, register: Cost) -> usize {
        let period = Cost { step: register.step * all.number(), ..register };
        let time = time * all.records();
        match period.fewest_steps(time) {
            // So much shorter that it is likely to be shorter for data anywhere in memory.
            Some(periods) if 7 * period.step <= 6 * time => periods * all.records(),
            _ => NEVER,
        }
    }
    let costs = match isa {
        Isa::Avx2 => costs::avx2::SHUFFLE,
        Isa::Neon => costs::neon::SHUFFLE,
        Isa::Portable | Isa::Avx512 => return Uses::NEVER,
    };
    // A register may not load what two stores have just written: it would stall.
    let keeps = all.keeps_gaps();
    Uses {
        pack: if all.packs() { from(all, time, costs.pack) } else { NEVER },
        unpack: from(all, time, costs.unpack),
        keep: if keeps { from(all, time, costs.keep) } else { NEVER },
    }
}

/// Records that can be permuted, and how much of them is copied faster in this way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Permuted {
    pub(crate) permutation: Permutation,
    /// From how many records on, if the alternative is inlined moves.
    pub(crate) from: Uses<usize>,
    /// Up to how many packed bytes, if the alternative is a call of the kernel for records.
    to: Uses<u64>,
}

impl Permuted {
    /// The largest distance in bytes between two records. Beyond it, nearly every record lies in a page of its own, and the
    /// kernel's prefetches would evict lines that are still needed.
    const MAX_DISTANCE: u64 = 1024;

    /// The permutation of records that are `stride` bytes apart, if it may be faster than moves. A record is so many runs, and
    /// moving it takes `time`.
    pub(crate) const fn new(map: &ByteMap, stride: i64, runs: usize, time: usize) -> Option<Self> {
        if stride.unsigned_abs() > Self::MAX_DISTANCE {
            return None;
        }
        match Permutation::new(map, stride) {
            Some(permutation) => {
                let from = permuted_from(&permutation, time);
                let to = permuted_to(&permutation, runs, time);
                Some(Self { permutation, from, to })
            }
            None => None,
        }
    }

    /// Whether the permutation copies this many packed bytes faster than a call of another kernel.
    #[inline(always)]
    pub(crate) fn pays(&self, what: Use, bytes: u64) -> bool {
        what != Use::Zero && bytes <= self.to.of(what)
    }
}

/// The time to copy a record by moves, run by run.
pub(crate) const fn time_of(runs: &[Run]) -> usize {
    let (mut time, mut index) = (0, 0);
    while index < runs.len() {
        time += costs::moves(runs[index].len);
        index += 1;
    }
    time
}

/// How one instance of these operations, with `size` packed bytes, is copied.
#[inline(always)]
pub(super) fn one(ops: &[Op], size: u64) -> One {
    /// With fewer operations, a benchmark loop shows no difference, but a program that has just written the values, or soon
    /// reads them, stalls: processors forward a store to a later load of the same bytes only if neither is masked.
    const MIN_PERMUTED: usize = 3;

    if kernels::EXECUTES_PERMUTATIONS && ops.len() >= MIN_PERMUTED && size <= WIDTH as u64 {
        return One::Small;
    }
    TwoRuns::from_ops(ops).map_or(One::Operations, One::Two)
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
        1 => match one_permuted(plan.program(), isa, what) {
            Some(permutation) => Kernel::Permutation(permutation),
            None => Kernel::Walk,
        },
        // Permutations win for any number of records.
        _ if !isa.permutes() && plan.program().is_few_runs(count) => Kernel::Copy,
        _ => match permuted_instances(plan, plan.size() * count, what) {
            Some(all) if isa.permutes() => Kernel::Permutation(&all.permuted.permutation),
            _ => several(plan, count, isa, what, room),
        },
    }
}

/// The permutation that copies one instance, if that is faster than its operations.
#[inline(always)]
pub(crate) fn one_permuted(program: &Program, isa: Isa, what: Use) -> Option<&Permutation> {
    if !isa.permutes()
        || !matches!(program.one(), One::Small)
        || matches!(what, Use::Move | Use::Zero)
    {
        return None;
    }
    let all = program.instances()?;
    all.are_records.then_some(&all.permuted.permutation)
}

/// The permutation that copies so many packed bytes of several instances, if that is faster, where the instructions permute.
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
        return Kernel::Records(all);
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
        && let Some(all @ Permuted { permutation, .. }) = body.and_then(|body| body.permuted.as_ref())
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
            && runs.iter().try_fold(0_u64, |sum, run| sum.checked_add(run.len as u64)).is_some_and(
                |size| are_near(size, stride, count),
            )
        {
            return Kernel::Runs(runs);
        }
    }
    Kernel::Walk
}

/// Fewer repetitions than this are not worth the setup of copying them run by run.
const MIN_RECORDS: u64 = 4;

/// Bytes of memory or packed stream that a tile of records spans: a part of the first-level cache.
pub(crate) const TILE: usize = 8192;

/// The greatest distance in bytes between records that are copied run by run.
pub(crate) const MAX_RECORD_DISTANCE: u64 = TILE as u64 / MIN_RECORDS;

/// Whether `count` records of `size` packed bytes, `stride` bytes apart, are enough, and near enough to one another, to be
/// copied run by run, a tile at a time.
pub(crate) const fn are_near(size: u64, stride: i64, count: u64) -> bool {
    count >= MIN_RECORDS
        && stride.unsigned_abs() <= MAX_RECORD_DISTANCE
        && size <= MAX_RECORD_DISTANCE
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

/// Fewer blocks than this at equal distances are not worth a lookup.
pub(crate) const MIN_BLOCKS: u64 = 8;

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
    match row.len {
        len @ (4 | 8 | 16) if are_stored_in_halves(row, number, apart, what) => {
            PerBlock::Halves(match len {
                4 => Width::W2,
                8 => Width::W4,
                _ => Width::W8,
            })
        }
        len => per_block(len, isa),
    }
}

/// Whether blocks are stored by two moves each. There are rows of such blocks, `apart` bytes apart.
///
/// Lines 512 bytes apart share an eighth of a cache's sets. A loop with one store in each line fills the store buffer of a Zen
/// 5 before the first line arrives, and lines are evicted before their stores are done. With two stores in each line, half as
/// many lines are in flight, and blocks of 8 bytes take a third of the time. At multiples of 1024 bytes, two stores do not
/// help, but four do: two in each of two neighbouring blocks.
const fn are_stored_in_halves(row: &Blocks, number: u64, apart: i64, what: Use) -> bool {
    if !matches!(what, Use::Unpack | Use::Keep) {
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

/// How blocks of one length are copied. One or two moves cover any length from 1 to 64; registers of 16 bytes take three for
/// most lengths from 33 to 48.
#[inline(always)]
pub(crate) const fn per_block(len: u64, isa: Isa) -> PerBlock {
    use PerBlock::{One, Touching, Two};
    use Width::{W1, W2, W4, W8, W16, W32};
    match len {
        0 => PerBlock::None,
        1 => One(W1),
        2 => One(W2),
        3 => Touching(W2, W1),
        4 => One(W4),
        6 => Touching(W4, W2),
        5..8 => Two(W4),
        8 => One(W8),
        10 => Touching(W8, W2),
        12 => Touching(W8, W4),
        9..16 => Two(W8),
        16 => One(W16),
        20 => Touching(W16, W4),
        24 => Touching(W16, W8),
        17..32 => Two(W16),
        32 => One(W32),
        40 => Touching(W32, W8),
        33..48 if isa.width() == 16 => PerBlock::Three,
        33..=64 => Two(W32),
        _ => PerBlock::Long,
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
        (Entries::Varied(_), Moves::Two(width)) => PerBlock::Two(width),
        (
            Entries::Varied(_),
            Moves::Four(Width::W1 | Width::W2 | Width::W4 | Width::W8) | Moves::UpTo32,
        ) if masks => PerBlock::Masked32,
        (Entries::Varied(_), Moves::UpTo64) if masks => PerBlock::Masked64,
        (Entries::Varied(_), Moves::Four(width)) => PerBlock::Four(width),
        // If offsets need more than 32 bits, each block is a cache miss, whatever the moves.
        (Entries::Varied(_), Moves::UpTo32 | Moves::UpTo64 | Moves::Any)
        | (Entries::WideEven(..) | Entries::WideVaried(_), _) => PerBlock::Varied,
    }
}

/// How the values of a slice are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slice {
    /// By inlined moves.
    Moved,
    /// By their permutation.
    Permuted,
    /// By their shuffles.
    Shuffled,
    /// As long runs at equal distances.
    Strided,
}

/// From how many values of a derived type on there are faster ways to copy a slice than inlined moves.
pub(crate) struct Ways {
    /// Permuting them.
    pub(crate) permuted: Uses<usize>,
    /// Shuffling them, with AVX2 and with NEON.
    pub(crate) shuffled: Option<[Uses<usize>; 2]>,
    /// Bytes of the run that a value is; 0 if it is several.
    pub(crate) len: usize,
}

impl Ways {
    /// From how many records on shuffling them is faster than moves that take `time` for each; `None` if never.
    pub(crate) const fn shuffled(all: &Shuffle, time: usize) -> Option<[Uses<usize>; 2]> {
        let [avx2, neon] =
            [shuffled_from(all, time, Isa::Avx2), shuffled_from(all, time, Isa::Neon)];
        if avx2.is_never() && neon.is_never() { None } else { Some([avx2, neon]) }
    }

    /// Whether some number of values is permuted.
    pub(crate) const fn permutes(&self, what: Use) -> bool {
        self.permuted.of(what) < NEVER
    }

    /// Whether some number of values is shuffled.
    pub(crate) const fn shuffles(&self, what: Use) -> bool {
        match &self.shuffled {
            Some([avx2, neon]) => avx2.of(what) < NEVER || neon.of(what) < NEVER,
            None => false,
        }
    }

    /// How `count` values are copied. `owns_gaps` says that nothing else accesses the padding of the values. For few values, the
    /// selected instructions are not looked up. If none are selected yet, the kernel that permutes selects them.
    #[inline(always)]
    pub(crate) fn choose(&self, what: Use, count: usize, owns_gaps: bool) -> Slice {
        let is_shuffled = |[avx2, neon]: &[Uses<usize>; 2]| match kernels::decided() {
            Some(Isa::Avx2) => count >= avx2.of(what),
            Some(Isa::Neon) => count >= neon.of(what),
            _ => false,
        };
        if owns_gaps && kernels::ARE_SHUFFLED && self.shuffled.as_ref().is_some_and(is_shuffled) {
            return Slice::Shuffled;
        }
        if count >= self.permuted.of(what) && kernels::decided().is_none_or(Isa::permutes) {
            return Slice::Permuted;
        }
        if self.has_long_runs() && self.are_strided(count) {
            return Slice::Strided;
        }
        Slice::Moved
    }

    /// Whether a value is one run that the kernel for blocks copies faster than inlined pieces, with some instructions.
    pub(crate) const fn has_long_runs(&self) -> bool {
        LONGER_THAN_PIECES < self.len && self.len <= LONG
    }

    /// Whether `count` values are copied by the kernel for blocks.
    #[inline(always)]
    fn are_strided(&self, count: usize) -> bool {
        /// With fewer bytes than this, the call does not pay.
        const FEWEST_BYTES: usize = 800;
        count.saturating_mul(self.len) >= FEWEST_BYTES && beats_pieces(kernels::selected(), self.len)
    }
}

/// The longest run that is cut into pieces on every machine.
pub(crate) const MAX_PIECES: usize = 128;

/// The longest block that is copied by moves instead of a call, where registers are wider than 16 bytes.
pub(crate) const LONG: usize = 1024;

/// Runs of at most this length are copied in pieces.
const LONGER_THAN_PIECES: usize = 64;

/// Whether the kernel for blocks copies long runs faster than pieces do.
const fn beats_pieces(isa: Isa, len: usize) -> bool {
    match isa {
        // Cut into pieces, longer blocks take twice as many moves, or a call each.
        Isa::Avx2 => len > MAX_PIECES,
        Isa::Avx512 => true,
        Isa::Portable | Isa::Neon => false,
    }
}

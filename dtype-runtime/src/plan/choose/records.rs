//! How records are copied: the times of permuting, shuffling and moving them, and the numbers of records from which one is faster
//! than another.

use crate::isa::{self, Isa, WIDTH};
use crate::plan::byte_map::ByteMap;
use crate::plan::costs::{self, Cost, NEVER, Use, Uses};
use crate::plan::permutation::Permutation;
use crate::plan::runs::Run;
use crate::plan::shuffle::Shuffle;

/// What a period of these records costs that is permuted.
pub(crate) const fn permutation(all: &Permutation) -> Uses<Cost> {
    const fn cost(all: &Permutation, one: Cost, narrow: usize, apart: usize) -> Cost {
        let narrower = if all.period().1 <= WIDTH / 2 { narrow } else { 0 };
        Cost { call: one.call, step: one.step + apart - narrower }
    }
    use costs::avx512::{CROSSING, NARROW, PERMUTATION, WIDE_PERMUTATION};
    if all.vectors() > 1 {
        return WIDE_PERMUTATION;
    }
    let are_adjacent = all.period().0.unsigned_abs() == WIDTH;
    // Allocators align memory to 16 bytes. From there on, records of a greater stride may not reach the start of a line, with
    // which unpacking begins.
    let reach_lines = are_adjacent && all.stride().unsigned_abs() <= 16;
    let (loads, stores) = (!are_adjacent as usize, !reach_lines as usize);
    Uses {
        pack: cost(all, PERMUTATION.pack, NARROW.pack, loads * CROSSING.pack),
        unpack: cost(all, PERMUTATION.unpack, NARROW.unpack, stores * CROSSING.unpack),
        keep: cost(all, PERMUTATION.keep, NARROW.keep, stores * CROSSING.keep),
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

/// The greatest numbers of packed bytes up to which permuting records is faster than another kernel, which takes `time` for each
/// record. If the call of that kernel takes longer, a permutation whose steps are slower is faster for a few records.
const fn permuted_to(all: &Permutation, call: usize, time: usize) -> Uses<u64> {
    const fn to(all: &Permutation, call: usize, time: usize, cost: Cost) -> u64 {
        let theirs = time.saturating_mul(all.records());
        if cost.step <= theirs {
            return u64::MAX;
        }
        let calls = call.saturating_sub(cost.call);
        (calls * all.period().1 / (cost.step - theirs)) as u64
    }
    let cost = permutation(all);
    Uses {
        pack: to(all, call, time, cost.pack),
        unpack: to(all, call, time, cost.unpack),
        keep: to(all, call, time, cost.keep),
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
    /// Up to how many packed bytes, if the alternative is a call of another kernel.
    to: Uses<u64>,
}

impl Permuted {
    /// The largest distance in bytes between two records. Beyond it, nearly every record lies in a page of its own, and the
    /// kernel's prefetches would evict lines that are still needed.
    const MAX_DISTANCE: u64 = 1024;

    /// The permutation of records that are `stride` bytes apart, where moving a record takes `time`, and a kernel that does so
    /// has a call that takes `call`.
    pub(crate) const fn new(map: &ByteMap, stride: i64, call: usize, time: usize) -> Option<Self> {
        if stride.unsigned_abs() > Self::MAX_DISTANCE {
            return None;
        }
        match Permutation::new(map, stride) {
            Some(permutation) => {
                let from = permuted_from(&permutation, time);
                let to = permuted_to(&permutation, call, time);
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

/// Whether a record of these runs is copied in this number of steps, where the instructions permute, instead of run by run.
pub(crate) fn are_steps(runs: &[Run], steps: usize) -> bool {
    runs.len() > 1 && steps * costs::avx512::STEP.pack <= time_run_by_run(runs)
}

/// The time to copy a record by the kernel that copies one run of many records after another.
pub(crate) fn time_run_by_run(runs: &[Run]) -> usize {
    runs.iter().map(|run| costs::strided(run.len)).sum()
}

/// The time to copy a record by inlined moves.
pub(crate) const fn time_of(runs: &[Run]) -> usize {
    if let [Run { len, .. }] = runs
        && len.is_power_of_two()
        && *len <= 8
    {
        return costs::portable::LONE_MOVE;
    }
    let (mut time, mut index) = (0, 0);
    while index < runs.len() {
        time += costs::moves(runs[index].len);
        index += 1;
    }
    time
}

/// Fewer repetitions than this are not worth the setup of copying them run by run.
pub(super) const MIN_RECORDS: u64 = 4;

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

/// Fewer blocks than this at equal distances are not worth a lookup.
pub(crate) const MIN_BLOCKS: u64 = 8;

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
        if owns_gaps
            && let Some([avx2, neon]) = &self.shuffled
            && count >= avx2.of(what).min(neon.of(what))
        {
            let from = match isa::decided() {
                Some(Isa::Avx2) => avx2.of(what),
                Some(Isa::Neon) => neon.of(what),
                _ => NEVER,
            };
            if isa::ARE_SHUFFLED && count >= from {
                return Slice::Shuffled;
            }
        }
        if count >= self.permuted.of(what) && isa::decided().is_none_or(Isa::permutes) {
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
        count.saturating_mul(self.len) >= FEWEST_BYTES && beats_pieces(isa::selected(), self.len)
    }
}

/// The longest run that is cut into pieces on every machine.
pub(crate) const MAX_PIECES: usize = 128;

/// The longest block that is copied by moves instead of a call, where registers are wider than 16 bytes.
pub(crate) const LONG: usize = 1024;

/// Runs of at most this length are copied in pieces.
const LONGER_THAN_PIECES: usize = 64;

/// Whether the kernel for blocks copies long runs faster than pieces do.
pub(super) const fn beats_pieces(isa: Isa, len: usize) -> bool {
    match isa {
        // Cut into pieces, longer blocks take twice as many moves, or a call each.
        Isa::Avx2 => len > MAX_PIECES,
        Isa::Avx512 => true,
        Isa::Portable | Isa::Neon => false,
    }
}

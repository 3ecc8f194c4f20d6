//! The runs of a type as constants, and the loops over them.
//!
//! [`Layout<T>`] computes at compile time how the records of `T` are copied, and `execute` is compiled
//! to that one strategy. For `(u32, u8)`, 5 of 8 bytes:
//!
//! ```text
//! type map     u32 at 0, u8 at 4
//! operations   one block of 5 bytes at 0          (the two fields touch)
//! strategy     Runs([0..5])                       copied as 4 + 1 bytes for each record
//! permutation  8 records, 64 bytes → 40 bytes     from a number of records on, where the processor
//!                                                 has the instructions
//! ```
//!
//! Records larger than a register are not permuted. If each record is one run, with padding at its end for example, many
//! records are copied by the kernel for blocks at equal distances, with registers that not every machine has.

#[cfg(test)]
mod measured;
#[cfg(test)]
mod random;
#[cfg(test)]
mod tests;

use core::marker::PhantomData;
use core::ops::Range;

use super::moves::{Move, Moves};
use crate::commit::ConstantOps;
use crate::datatype::Datatype;
use crate::isa::selected;
use crate::kernel::{self, Steps, Unpack, Way};
use crate::plan::choose::{self, Kernel, Permuted, Slice, Use, Uses, Ways};
use crate::plan::{ByteMap, Op, Permutation, Program, Run, RunList, Shuffle, ShuffledBy};
use crate::typemap::TypeMap;
use crate::types::Type;

/// How the records of a type are copied.
#[expect(clippy::large_enum_variant, reason = "a constant")]
enum Strategy {
    /// There is nothing to copy.
    Nothing,
    /// A record is all data, in order: one copy for all records.
    Whole,
    /// Copies run by run, from constants.
    Runs(RunList),
    /// By the operations of the constant program.
    Program,
    /// Too large for a constant: the type is committed at each call.
    Commit,
}

/// Refuses, at compile time, a manually written map whose size differs from that of its type.
pub(crate) const fn assert_stride<T: Datatype>() {
    assert!(
        T::TYPE_MAP.stride() == size_of::<T>(),
        "the stride of the type map is not the size of the type"
    );
}

/// The constants of a type.
pub(crate) struct Layout<T>(PhantomData<T>);

impl<T: Datatype> Layout<T> {
    const PROGRAM: &'static ConstantOps<{ RunList::MAX_RUNS }> = &ConstantOps::packed(T::TYPE_MAP);

    /// The operations of one value, if they are a constant.
    pub(super) const OPS: Option<&'static [Op]> = Self::PROGRAM.ops();

    /// The bytes of small records.
    const BYTES: Option<ByteMap> = match Self::STRATEGY {
        Strategy::Runs(list) => ByteMap::from_runs(list),
        _ => None,
    };

    /// Small records as a permutation, if that is faster than the copies of `STRATEGY` for some use.
    const PERMUTED: &'static Option<Permuted> = &match Self::permuted(Self::time_of_a_record()) {
        Some(all) if !all.from.is_never() => Some(all),
        _ => None,
    };

    /// Small records as a permutation, the alternative to moves that take `time` for each.
    const fn permuted(time: usize) -> Option<Permuted> {
        match Self::BYTES {
            Some(map) => Permuted::new(&map, size_of::<T>() as i64, 0, time),
            None => None,
        }
    }

    /// As [`PERMUTED`](Self::PERMUTED), for streams of values.
    pub(super) const PERMUTATION: Option<&'static Permutation> = match Self::PERMUTED {
        Some(all) => Some(&all.permutation),
        None => None,
    };

    const STRATEGY: &'static Strategy = &{
        assert_stride::<T>();
        Strategy::new(T::TYPE_MAP, Self::OPS)
    };

    /// The runs, where they are copied one by one.
    const RUNS: &'static RunList = match Self::STRATEGY {
        Strategy::Runs(list) => list,
        _ => &RunList::EMPTY,
    };

    /// The moves of a record on its own.
    const MOVES: &'static Moves = &Moves::from_runs(Self::RUNS);
    const NUMBER_OF_MOVES: usize = Self::MOVES.len();

    /// The number of runs in one record.
    const NUMBER_OF_RUNS: usize = Self::RUNS.all().len();

    /// Where the last run of a record touches the first one of the next: the two as one run, the *link*, if copying it takes less
    /// time than copying both. Then the records are copied from behind the first run of one to behind the first run of the next.
    /// That is more code for a single record, so it is not done where many records are copied in another way.
    const LINKED: &'static Option<RunList> = &match Self::RUNS.linked(size_of::<T>()) {
        Some(list) if choose::time_of(list.all()) < choose::time_of(Self::RUNS.all()) => {
            match Self::permuted(choose::time_of(list.all())) {
                Some(all) if !all.from.is_never() => None,
                _ => Some(list),
            }
        }
        _ => None,
    };

    /// How the records are shuffled, if that is faster. If a type skips fields, it is not shuffled: its gaps are not padding,
    /// and another thread may write to them even while the value is only borrowed for reading (a skipped atomic, for example).
    const SHUFFLE: &'static Option<Shuffle> = &match Self::STRATEGY {
        Strategy::Runs(list) if !T::TYPE_MAP.skips_fields() => {
            match Shuffle::new(list, T::TYPE_MAP.size(), size_of::<T>()) {
                Some(all) if Ways::shuffled(&all, Self::time_of_a_record()).is_some() => Some(all),
                _ => None,
            }
        }
        _ => None,
    };

    /// From how many records on there are faster ways than the copies of `STRATEGY`.
    const WAYS: &'static Ways = &Ways {
        permuted: match Self::PERMUTED {
            Some(all) => all.from,
            None => Uses::NEVER,
        },
        shuffled: match Self::SHUFFLE {
            Some(all) => Ways::shuffled(all, Self::time_of_a_record()),
            None => None,
        },
        len: if Self::NUMBER_OF_RUNS == 1 { T::TYPE_MAP.size() } else { 0 },
    };

    /// The estimated time in which [`copy`](Self::copy) copies one of several records.
    const fn time_of_a_record() -> usize {
        match Self::LINKED {
            Some(list) => choose::time_of(list.all()),
            None => choose::time_of(Self::RUNS.all()),
        }
    }

    /// The kernel that copies the values of a slice. `run_list` holds the runs that it refers to.
    pub(crate) fn kernel(count: usize, run_list: &mut Option<RunList>) -> Kernel<'_> {
        // Instructions that are not selected yet would count as those that permute.
        let isa = selected();
        if count == 0 {
            return Kernel::Nothing;
        }
        match (Self::STRATEGY, Self::WAYS.choose(Use::Pack, count, true)) {
            (Strategy::Nothing, _) => Kernel::Nothing,
            (Strategy::Runs(_), Slice::Shuffled) => {
                Self::SHUFFLE.as_ref().map_or(Kernel::Copy, Kernel::Shuffle)
            }
            (Strategy::Runs(_), Slice::Permuted) => {
                Self::PERMUTATION.map_or(Kernel::Copy, Kernel::Permutation)
            }
            (Strategy::Runs(_), Slice::Strided) => {
                Kernel::Strided(choose::per_block(T::TYPE_MAP.size() as u64, isa))
            }
            (Strategy::Whole | Strategy::Runs(_), _) => Kernel::Copy,
            (Strategy::Program, _) => {
                let (ops, count) = (Self::OPS.unwrap_or(&[]), count as u64);
                let stride = size_of::<T>() as i64;
                choose::repeated(ops, Program::empty(), count, stride, isa, Use::Pack, run_list)
            }
            (Strategy::Commit, _) => Kernel::Walk,
        }
    }

    /// As [`execute`](Self::execute), for values, whose padding nothing else accesses. Padding is unchanged.
    ///
    /// # Safety
    ///
    /// `memory` must be valid for reading `count` values of `T`, and to unpack for writing them, initialised or not, and
    /// `packed` for what `D` does on `count · TYPE_MAP.size()` bytes; the two must not overlap.
    #[inline]
    pub(super) unsafe fn values<D: Way>(memory: *mut u8, packed: *mut u8, count: usize) {
        // SAFETY: the caller guarantees both pointers for `count` values, of which the data bytes are a part. `WAYS` has
        // shuffles only of records that are shuffled, and chooses them to pack only if the shuffle packs.
        unsafe {
            if const { Self::WAYS.shuffles(D::USE) }
                && count > 1
                && Self::WAYS.choose(D::USE, count, true) == Slice::Shuffled
            {
                Self::by_shuffles::<D, true>(memory, packed, count);
            } else {
                Self::execute::<D>(memory, packed, count);
            }
        }
    }

    /// As [`values`](Self::values) for unpacking, to memory without values: padding may be written.
    ///
    /// # Safety
    ///
    /// `memory` must be valid for reading and writing `count` values of `T`, initialised or not, and `packed` for reading
    /// `count · TYPE_MAP.size()` bytes; the two must not overlap.
    #[inline]
    pub(super) unsafe fn new_values(memory: *mut u8, packed: *mut u8, count: usize) {
        // SAFETY: the caller guarantees both pointers for `count` values, of which the data bytes are a part. `WAYS` has
        // shuffles only of records that are shuffled. There are no values yet, so writing to gaps changes none.
        unsafe {
            if const { Self::WAYS.shuffles(Use::Unpack) }
                && Self::WAYS.choose(Use::Unpack, count, true) == Slice::Shuffled
            {
                Self::by_shuffles::<Unpack, false>(memory, packed, count);
            } else {
                Self::execute::<Unpack>(memory, packed, count);
            }
        }
    }

    /// As [`values`](Self::values), with shuffles as far as possible. Not inlined, as [`kernel::permute_or`] is not: a caller
    /// that ends with this call saves no registers for it.
    ///
    /// # Safety
    ///
    /// `memory` must be valid for reading `count` values of `T`, and to unpack for writing them, initialised or not, and
    /// `packed` for what `D` does on `count · TYPE_MAP.size()` bytes; the two must not overlap.
    /// The records must be [shuffled](Self::SHUFFLE), and to pack, the shuffle must pack.
    #[inline(never)]
    unsafe fn by_shuffles<D: Way, const KEEPS_GAPS: bool>(
        memory: *mut u8,
        packed: *mut u8,
        count: usize,
    ) {
        // SAFETY: the caller guarantees both pointers. The runs were computed from the map of `T`, which skips no field, and
        // the stride is the size of `T`: the records are the values, and their gaps are padding, which by the promise of
        // `Datatype` only the borrower of the values accesses. The remaining records are copied last, because the kernel may
        // have written to their packed bytes.
        unsafe {
            let done = if const { D::PACKS } {
                kernel::pack_values::<Self>(count, memory, packed)
            } else {
                kernel::unpack_values::<Self, KEEPS_GAPS>(count, memory, packed)
            };
            let (memory, rest) = (memory.add(done * size_of::<T>()), count - done);
            let packed = packed.add(done * T::TYPE_MAP.size());
            Self::all_by_runs::<D>(memory, packed, 0..rest * T::TYPE_MAP.size());
        }
    }

    /// Copies the data of `count` records.
    ///
    /// `if const` leaves out unused code before code generation. A `match` on the strategy, which is not a number, would
    /// generate all of the code for each type, and only the optimizer would remove it.
    ///
    /// # Safety
    ///
    /// `memory` must be valid for what `D` does there (reading or writing) on the data bytes of `count`
    /// values of `T`, and `packed` on `count · TYPE_MAP.size()` bytes; the two must not overlap.
    #[inline]
    pub(crate) unsafe fn execute<D: Way>(memory: *mut u8, packed: *mut u8, count: usize) {
        // SAFETY: the caller guarantees both pointers. The permutation was computed from the map of `T`, so it touches the data
        // bytes of the records, which are values of `T`, one after another, so they do not overlap. Its range is all of them,
        // so it starts in front of the first and ends after the last, as `all_by_runs` requires; its end is whole records, too.
        unsafe {
            if count == 1 && const { Self::WAYS.permuted.of(D::USE) > 1 } {
                // With a constant count, no loop is left.
                if const { matches!(Self::STRATEGY, Strategy::Runs(_)) } {
                    Self::copy_record::<D, false, 0>(memory, packed);
                } else {
                    Self::copy::<D>(memory, packed, 1);
                }
            } else if const { Self::WAYS.permutes(D::USE) }
                && let Some(all) = Self::PERMUTATION
                && Self::WAYS.choose(D::USE, count, false) == Slice::Permuted
            {
                let bytes = 0..count * T::TYPE_MAP.size();
                kernel::permute_or::<D>(all, Self::all_by_runs::<D>, memory, packed, bytes);
            } else {
                // Inlined, because a call would take as long as two records.
                Self::copy::<D>(memory, packed, count);
            }
        }
    }

    /// As [`execute`](Self::execute), for one record whose fields the caller uses immediately: see [`Moves`].
    ///
    /// # Safety
    ///
    /// `memory` must be valid for what `D` does there on the data bytes of a value of `T`, and `packed` on `TYPE_MAP.size()`
    /// bytes; the two must not overlap.
    #[inline]
    pub(super) unsafe fn execute_one<D: Way>(memory: *mut u8, packed: *mut u8) {
        if const { Self::NUMBER_OF_MOVES == 0 } {
            // SAFETY: the same promise, with a count of 1.
            return unsafe { Self::execute::<D>(memory, packed, 1) };
        }
        // Unrolled by hand, for the reason given in `copy_record`.
        macro_rules! written_out {
            ($($j:literal)+) => {
                $( match Self::NUMBER_OF_MOVES {
                    $j => return,
                    _ => {}
                }
                let Move { disp, position, len } = Self::MOVES.get($j);
                // SAFETY: a part of a run of the record, and within its packed bytes: the caller guarantees both.
                unsafe { D::copy(memory.offset(disp), packed.add(position), len) }; )+
            };
        }
        const { assert!(Moves::MAX_MOVES == 16, "as many as are written out") }
        written_out!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    }

    /// As [`execute`](Self::execute), without the permutation.
    ///
    /// # Safety
    ///
    /// `memory` must be valid for what `D` does there on the data bytes of `count` values of `T`, and `packed` on `count ·
    /// TYPE_MAP.size()` bytes; the two must not overlap.
    #[inline]
    unsafe fn copy<D: Way>(memory: *mut u8, packed: *mut u8, count: usize) {
        let (stride, size) = (size_of::<T>(), T::TYPE_MAP.size());
        // SAFETY: the runs and operations were computed from the map of `T`, so they name its data bytes and have `size` bytes
        // in all. The offsets stay within `count · stride` and `count · size` bytes, for which the caller guarantees both
        // pointers.
        unsafe {
            if const { matches!(Self::STRATEGY, Strategy::Nothing) } {
            } else if const { matches!(Self::STRATEGY, Strategy::Whole) } {
                // Inlined moves, because a call would take much of the time of a single record.
                if count == 1 && size == 16 {
                    // With `copy`, the optimizer would make one call for both this and several records.
                    D::copy_16(memory, packed);
                } else if count == 1 {
                    kernel::constant::<D>(memory, packed, size);
                } else {
                    D::copy(memory, packed, count * size);
                }
            } else if const { matches!(Self::STRATEGY, Strategy::Runs(_)) } {
                if const { Self::WAYS.has_long_runs() }
                    && Self::WAYS.choose(D::USE, count, false) == Slice::Strided
                {
                    let memory = memory.offset(Self::RUNS.run(0).disp);
                    return Self::copy_long_runs::<D>(memory, packed, count);
                }
                if const { Self::LINKED.is_some() } && count > 1 {
                    return Self::copy_linked::<D>(memory, packed, count);
                }
                for i in 0..count {
                    Self::copy_record::<D, false, 0>(memory.add(i * stride), packed.add(i * size));
                }
            } else if const { matches!(Self::STRATEGY, Strategy::Program) } {
                let ops = Self::OPS.unwrap_or(&[]);
                kernel::program::<D>(ops, count as u64, stride as i64, memory, packed);
            } else {
                commit_and_execute::<T, D>(memory, packed, count);
            }
        }
    }

    /// Copies `count` records, at least one, whose last run and the first of the next are [one](Self::LINKED).
    ///
    /// # Safety
    ///
    /// `memory` must be valid for what `D` does there on the data bytes of `count` values of `T`, and `packed` on `count ·
    /// TYPE_MAP.size()` bytes; the two must not overlap.
    #[inline(always)]
    unsafe fn copy_linked<D: Way>(memory: *mut u8, packed: *mut u8, count: usize) {
        let (stride, size, first) = (size_of::<T>(), T::TYPE_MAP.size(), Self::RUNS.run(0));
        // SAFETY: the first run of the first record; for each record but the last, its other runs and the first one of the next
        // record; the other runs of the last record. So each run is copied once, to where its packed bytes are.
        unsafe {
            kernel::constant::<D>(memory.offset(first.disp), packed, first.len);
            let packed = packed.add(first.len);
            for i in 0..count - 1 {
                Self::copy_record::<D, true, 0>(memory.add(i * stride), packed.add(i * size));
            }
            let last = count - 1;
            Self::copy_record::<D, false, 1>(memory.add(last * stride), packed.add(last * size));
        }
    }

    /// Copies the runs of `count` records that are long runs, the first at `memory`.
    ///
    /// # Safety
    ///
    /// `memory` must be valid for what `D` does on `count` runs, one every `size_of::<T>()` bytes, and `packed` on `count ·
    /// TYPE_MAP.size()` bytes; the two must not overlap.
    #[inline(always)]
    unsafe fn copy_long_runs<D: Way>(memory: *mut u8, packed: *mut u8, count: usize) {
        // All bytes of a record are in its run.
        let len = T::TYPE_MAP.size();
        let steps = Steps { memory: size_of::<T>().cast_signed(), packed: D::advance(len) };
        // SAFETY: a run has all bytes of a record, and the steps go from one run to the next on both sides, for which the
        // caller guarantees both pointers.
        unsafe { kernel::strided_shared::<D>(len, count, steps, memory, packed) };
    }

    /// Whether [`copy_range`](Self::copy_range) copies parts of records.
    pub(super) const COPIES_RANGES: bool =
        !matches!(Self::STRATEGY, Strategy::Program | Strategy::Commit);

    /// Copies the packed bytes `range` of records, counted from the start of the first, where [`COPIES_RANGES`].
    ///
    /// [`COPIES_RANGES`]: Self::COPIES_RANGES
    ///
    /// # Safety
    ///
    /// The range must start in the first record, or be empty. `memory` must be valid for reading the values that lie in the
    /// range as a whole, and to unpack for writing them; of other values, for what `D` does on the data of the range. `packed`
    /// must be valid for what `D` does on as many bytes as the range has; the two must not overlap. If `D` reads memory, all
    /// data of the records in the range must be readable.
    #[inline(always)]
    pub(super) unsafe fn copy_range<D: Way>(memory: *mut u8, packed: *mut u8, range: Range<usize>) {
        if const { Self::WAYS.permutes(D::USE) }
            && let Some(all) = Self::PERMUTATION
            && Self::WAYS.choose(D::USE, range.len() / T::TYPE_MAP.size(), true) != Slice::Shuffled
        {
            // SAFETY: the permutation was computed from the map of `T`, so it touches the data bytes of the range and
            // nothing else, or, where it reads memory, all data of the records in the range. For these the caller guarantees
            // both pointers. The records are values of `T`, one after another, so they do not overlap. The requirements of
            // `copy_range_by_runs` are the same.
            unsafe {
                kernel::permute_or::<D>(all, Self::copy_range_by_runs::<D>, memory, packed, range);
            }
            return;
        }
        // SAFETY: this function requires the same of the range and of both pointers.
        unsafe { Self::copy_range_by_runs::<D>(memory, packed, range) }
    }

    /// As [`copy`](Self::copy), for the records whose packed bytes are `range`.
    /// ([`copy_range_by_runs`](Self::copy_range_by_runs) would do the same, but it computes more first and saves registers,
    /// which takes up to three nanoseconds.)
    ///
    /// # Safety
    ///
    /// The range must be the packed bytes of some records, from the first on. `memory` must be valid for what `D` does there on
    /// the data bytes of these records, and `packed` on the bytes of the range; the two must not overlap.
    unsafe fn all_by_runs<D: Way>(memory: *mut u8, packed: *mut u8, range: Range<usize>) {
        // SAFETY: the range is the packed bytes of that many records, for which the caller guarantees both pointers.
        unsafe { Self::copy::<D>(memory, packed, range.end / T::TYPE_MAP.size()) };
    }

    /// As [`copy_range`](Self::copy_range), without the permutation.
    ///
    /// # Safety
    ///
    /// The range must start in the first record, or be empty. `memory` must be valid for reading the values that lie in the
    /// range as a whole, and to unpack for writing them; of other values, for what `D` does on the data of the range. `packed`
    /// must be valid for what `D` does on as many bytes as the range has; the two must not overlap.
    unsafe fn copy_range_by_runs<D: Way>(memory: *mut u8, packed: *mut u8, range: Range<usize>) {
        let Range { start, end } = range;
        // SAFETY: the range is split into the end of the first record, whole records, and the start of the last. `memory` steps
        // to these records and `packed` past their bytes, for which the caller guarantees both pointers.
        unsafe {
            if const { matches!(Self::STRATEGY, Strategy::Whole) } {
                D::copy(memory.wrapping_add(start), packed, end - start);
            } else if const { matches!(Self::STRATEGY, Strategy::Runs(_)) } {
                let (stride, size) = (size_of::<T>(), T::TYPE_MAP.size());
                let (mut memory, mut packed, mut left) = (memory, packed, end);
                if start > 0 {
                    let to = end.min(size);
                    Self::copy_range_of_one::<D>(memory, packed, start..to);
                    memory = memory.wrapping_add(stride);
                    packed = packed.wrapping_add(to - start);
                    left -= to;
                }
                let (whole, rest) = (left / size, left % size);
                if const { Self::WAYS.shuffles(D::USE) }
                    && Self::WAYS.choose(D::USE, whole, true) == Slice::Shuffled
                {
                    Self::by_shuffles::<D, true>(memory, packed, whole);
                } else {
                    Self::copy::<D>(memory, packed, whole);
                }
                if rest > 0 {
                    let memory = memory.wrapping_add(whole * stride);
                    Self::copy_range_of_one::<D>(
                        memory,
                        packed.wrapping_add(whole * size),
                        0..rest,
                    );
                }
            }
        }
    }

    /// Copies some packed bytes of one record, run by run.
    ///
    /// # Safety
    ///
    /// The range must lie in the record. `memory`, the start of the record, must be valid for what `D` does on the data of the
    /// range, and `packed` on as many bytes; the two must not overlap.
    unsafe fn copy_range_of_one<D: Way>(memory: *mut u8, packed: *mut u8, range: Range<usize>) {
        let mut before = 0;
        for run in Self::RUNS.all() {
            let (from, to) = (range.start.max(before), range.end.min(before + run.len));
            if from < to {
                let memory = memory.wrapping_offset(run.disp).wrapping_add(from - before);
                // SAFETY: the bytes of the range that are in this run, which starts with packed byte `before` of the record.
                unsafe { D::copy(memory, packed.wrapping_add(from - range.start), to - from) };
            }
            before += run.len;
        }
    }

    /// Copies the runs of one record from run `FROM` on, or those up to the first run of the next record if `LINKED`.
    ///
    /// # Safety
    ///
    /// `memory` must be valid for what `D` does there on these runs, and `packed` on as many bytes; the two must not overlap.
    #[inline(always)]
    #[expect(unused_assignments, reason = "after the last run")]
    unsafe fn copy_record<D: Way, const LINKED: bool, const FROM: usize>(
        memory: *mut u8,
        mut packed: *mut u8,
    ) {
        macro_rules! one {
            ($j:expr) => {{
                let Run { disp, len } = match Self::LINKED {
                    Some(list) if LINKED => list.run($j),
                    _ => Self::RUNS.run($j),
                };
                // SAFETY: one of the runs, for which the caller guarantees both pointers; `packed` is past those before it.
                unsafe {
                    kernel::constant::<D>(memory.offset(disp), packed, len);
                    packed = packed.add(len);
                }
            }};
        }
        // Unrolled by hand, because whether the compiler unrolls a loop depends on the code around it, and only in an unrolled
        // loop are the lengths constants, which makes it ten times as fast. After the last run, no code is generated: like `if
        // const`, a `match` on an associated constant is decided before code generation, but it needs only one constant for all
        // runs.
        macro_rules! written_out {
            ($($j:literal)+) => {
                $( match Self::NUMBER_OF_RUNS - const { LINKED as usize } {
                    $j => return,
                    _ if $j < FROM => {}
                    _ => one!($j),
                } )+
            };
        }
        const { assert!(RunList::MAX_RUNS == 64, "as many as are written out") }
        written_out! {
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
            33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61
            62 63
        }
    }
}

impl<T: Datatype> ShuffledBy for Layout<T> {
    const SHUFFLE: &'static Shuffle = match Self::SHUFFLE {
        Some(all) => all,
        None => &Shuffle::NOTHING,
    };
}

/// # Safety
///
/// `memory` must be valid for what `D` does there on the data bytes of `count` values of `T`, and `packed` on `count ·
/// TYPE_MAP.size()` bytes; the two must not overlap.
#[cold]
unsafe fn commit_and_execute<T: Datatype, D: Way>(memory: *mut u8, packed: *mut u8, count: usize) {
    let committed = Type::of_record::<T>().commit();
    // SAFETY: instance `n` of the plan is value `n` of a slice, and the caller guarantees both pointers for
    // `count` of them.
    unsafe { kernel::execute::<D>(committed.plan(), count as u64, memory, packed) };
}

impl Strategy {
    const fn new(map: &TypeMap, ops: Option<&[Op]>) -> Self {
        if map.size() == 0 {
            return Self::Nothing;
        }
        let Some(ops) = ops else { return Self::Commit };
        let Some(list) = RunList::expand(ops) else { return Self::Program };
        match list.all() {
            [only] if only.len == map.stride() => Self::Whole,
            _ => Self::Runs(list),
        }
    }
}

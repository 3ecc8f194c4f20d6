//! The runs of a type as constants, and the loops over them.

use core::marker::PhantomData;

use crate::commit::{ByteMap, Op, Permutation, Program, Run, RunList, pack_program};
use crate::datatype::Datatype;
use crate::kernel::{self, Direction, pieces};
use crate::typemap::TypeMap;
use crate::types::Type;

/// How the records of a type are copied.
enum Strategy {
    /// There is nothing to copy.
    Nothing,
    /// Records are all data, in order: one copy for all.
    Whole,
    /// Copies run by run, from constants.
    Runs(RunList),
    /// As `Runs`, where the last run of a record touches the first of the next, and the two together
    /// take fewer moves than one by one.
    Linked(RunList),
    /// By the operations of the constant program.
    Program,
    /// Too large for a constant: committed at each call.
    Commit,
}

/// Refuses a hand-written map that does not belong to its type.
pub(super) const fn assert_stride<T: Datatype>() {
    assert!(T::TYPE_MAP.stride() == size_of::<T>(), "the type map is not that of the type");
}

/// The constants of a type.
pub(super) struct Layout<T>(PhantomData<T>);

impl<T: Datatype> Layout<T> {
    const PROGRAM: &'static Program<{ RunList::MOST }> = &pack_program(T::TYPE_MAP);

    /// The operations of one value, if they are a constant.
    pub(super) const OPS: Option<&'static [Op]> = Self::PROGRAM.ops();

    /// Small records as a permutation, where that is faster than the copies of `STRATEGY`.
    pub(super) const PERMUTATION: &'static Option<Permutation> = &{
        let map = match (Self::STRATEGY, Self::OPS) {
            (Strategy::Runs(_) | Strategy::Linked(_), Some(ops)) => ByteMap::of(ops),
            _ => None,
        };
        match map {
            Some(map) => Permutation::if_faster(&map, size_of::<T>() as i64),
            None => None,
        }
    };

    const STRATEGY: &'static Strategy = &{
        assert_stride::<T>();
        Strategy::of(T::TYPE_MAP, Self::OPS)
    };

    /// The runs, where they are copied one by one.
    const RUNS: &'static RunList = match Self::STRATEGY {
        Strategy::Runs(list) | Strategy::Linked(list) => list,
        _ => &RunList::EMPTY,
    };

    /// How many of the runs lie in one record: the last of `Linked` reaches into the next.
    const WITHIN: usize = match Self::STRATEGY {
        Strategy::Linked(list) => list.all().len() - 1,
        _ => Self::RUNS.all().len(),
    };

    /// Copies the data of `count` records.
    ///
    /// What a type has no use for is left out by `if const`, before any code is generated: with a `match`
    /// it would be generated for each type, and only be removed where the optimizer runs.
    ///
    /// # Safety
    ///
    /// `memory` must be valid for `D` on the data of `count` values of `T`, and `packed` on as many
    /// bytes as these are; the two must not overlap.
    #[inline]
    pub(super) unsafe fn execute<D: Direction>(memory: *mut u8, packed: *mut u8, count: usize) {
        if const { Self::PERMUTATION.is_some() }
            && let Some(all) = Self::PERMUTATION
            && count >= all.fewest()
            // SAFETY: the permutation was computed from the map of `T`; the caller vouches for the data
            // of all records.
            && unsafe { D::permute(all, count, memory, packed) }
        {
            return;
        }
        let (stride, size) = (size_of::<T>(), T::TYPE_MAP.size());
        // SAFETY: the runs and operations were computed from the map of `T`, so they name its data
        // and together have `size` bytes; the caller vouches for those of all records. The offsets
        // stay within `count · stride` and `count · size` bytes.
        unsafe {
            if const { matches!(Self::STRATEGY, Strategy::Nothing) } {
            } else if const { matches!(Self::STRATEGY, Strategy::Whole) } {
                D::copy(memory, packed, count * size);
            } else if const { matches!(Self::STRATEGY, Strategy::Runs(_)) } {
                let Run { disp, len } = Self::RUNS.run(0);
                for i in 0..count {
                    let (memory, packed) = (memory.add(i * stride), packed.add(i * size));
                    pieces::copy::<D>(memory.offset(disp), packed, len);
                    Self::copy_from_second::<D>(memory, packed.add(len));
                }
            } else if const { matches!(Self::STRATEGY, Strategy::Linked(_)) } {
                if count == 0 {
                    return;
                }
                let (first, last) = (Self::RUNS.run(0).len, Self::RUNS.run(Self::WITHIN));
                // The link goes from the last run of a record to the first of the next.
                let link = last.len + first;
                pieces::copy::<D>(memory, packed, first);
                let (mut memory, mut packed) = (memory, packed.add(first));
                for _ in 1..count {
                    packed = Self::copy_from_second::<D>(memory, packed);
                    pieces::copy::<D>(memory.offset(last.disp), packed, link);
                    memory = memory.add(stride);
                    packed = packed.add(link);
                }
                packed = Self::copy_from_second::<D>(memory, packed);
                pieces::copy::<D>(memory.offset(last.disp), packed, last.len);
            } else if const { matches!(Self::STRATEGY, Strategy::Program) } {
                let ops = Self::OPS.unwrap_or(&[]);
                kernel::program::<D>(ops, count as u64, stride as i64, memory, packed);
            } else {
                commit_and_execute::<T, D>(memory, packed, count);
            }
        }
    }

    /// Copies the runs of one record but the first, and but the last of `Linked`. Returns the end of
    /// what was packed.
    ///
    /// # Safety
    ///
    /// As [`execute`](Self::execute), for the runs named.
    #[inline(always)]
    unsafe fn copy_from_second<D: Direction>(memory: *mut u8, packed: *mut u8) -> *mut u8 {
        let mut packed = packed;
        macro_rules! one {
            ($j:expr) => {{
                let Run { disp, len } = Self::RUNS.run($j);
                // SAFETY: one of the runs that the caller vouches for.
                unsafe {
                    pieces::copy::<D>(memory.offset(disp), packed, len);
                    packed = packed.add(len);
                }
            }};
        }
        // Written out, because it depends on what is around it whether the compiler unrolls a loop, and
        // only then are the lengths constants: ten times as fast.
        macro_rules! written_out {
            ($($j:literal)+) => {
                $( if const { $j < Self::WITHIN } {
                    one!($j);
                } )+
            };
        }
        written_out!(1 2 3 4 5 6 7);
        if const { Self::WITHIN > 8 } {
            let mut j = 8;
            while j < Self::WITHIN {
                one!(j);
                j += 1;
            }
        }
        packed
    }
}

/// # Safety
///
/// As [`Layout::execute`].
#[cold]
unsafe fn commit_and_execute<T: Datatype, D: Direction>(
    memory: *mut u8,
    packed: *mut u8,
    count: usize,
) {
    // A slice has Rust's stride, whatever extent the type was resized to: instances are executed one
    // by one.
    let committed = Type::of::<T>().commit();
    for i in 0..count {
        // SAFETY: the plan names the data of one value; the caller vouches for all of them.
        unsafe {
            let memory = memory.add(i * size_of::<T>());
            kernel::execute::<D>(committed.plan(), 1, memory, packed.add(i * T::TYPE_MAP.size()));
        }
    }
}

impl Strategy {
    const fn of(map: &TypeMap, ops: Option<&[Op]>) -> Self {
        if map.size() == 0 {
            return Self::Nothing;
        }
        let Some(ops) = ops else { return Self::Commit };
        let Some(list) = RunList::expand(ops) else { return Self::Program };
        let runs = list.all();
        let (first, last) = (runs[0], runs[runs.len() - 1]);
        if runs.len() == 1 && first.len == map.stride() {
            Self::Whole
        } else if runs.len() > 1
            && last.disp.wrapping_add_unsigned(last.len)
                == first.disp.wrapping_add_unsigned(map.stride())
            && pieces::count(last.len + first.len)
                < pieces::count(last.len) + pieces::count(first.len)
        {
            Self::Linked(list)
        } else {
            Self::Runs(list)
        }
    }
}

//! The runs of a type as constants, and the loops over them.

use core::marker::PhantomData;

use crate::commit::{ByteMap, Op, Permutation, Program, pack_program};
use crate::datatype::Datatype;
use crate::kernel::{self, Direction, pieces};
use crate::typemap::TypeMap;
use crate::types::Type;

/// A type with at most this many runs gets code of its own; one with more is packed by walking the
/// operations of its plan.
const MAX_RUNS: usize = 64;

/// A range of data in a value.
#[derive(Clone, Copy)]
struct Run {
    offset: usize,
    len: usize,
}

/// The runs of one value, in packed order.
struct RunList {
    runs: [Run; MAX_RUNS],
    len: usize,
}

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
    const PROGRAM: &'static Program<MAX_RUNS> = &pack_program(T::TYPE_MAP);

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
        Strategy::Linked(list) => list.len - 1,
        _ => Self::RUNS.len,
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
                let Run { offset, len } = Self::RUNS.runs[0];
                for i in 0..count {
                    let (memory, packed) = (memory.add(i * stride), packed.add(i * size));
                    pieces::copy::<D>(memory.add(offset), packed, len);
                    Self::copy_from_second::<D>(memory, packed.add(len));
                }
            } else if const { matches!(Self::STRATEGY, Strategy::Linked(_)) } {
                if count == 0 {
                    return;
                }
                let (first, last) = (Self::RUNS.runs[0].len, Self::RUNS.runs[Self::WITHIN]);
                // The link goes from the last run of a record to the first of the next.
                let link = last.len + first;
                pieces::copy::<D>(memory, packed, first);
                let (mut memory, mut packed) = (memory, packed.add(first));
                for _ in 1..count {
                    packed = Self::copy_from_second::<D>(memory, packed);
                    pieces::copy::<D>(memory.add(last.offset), packed, link);
                    memory = memory.add(stride);
                    packed = packed.add(link);
                }
                packed = Self::copy_from_second::<D>(memory, packed);
                pieces::copy::<D>(memory.add(last.offset), packed, last.len);
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
                let Run { offset, len } = Self::RUNS.runs[$j];
                // SAFETY: one of the runs that the caller vouches for.
                unsafe {
                    pieces::copy::<D>(memory.add(offset), packed, len);
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

impl RunList {
    const EMPTY: Self = Self { runs: [Run { offset: 0, len: 0 }; MAX_RUNS], len: 0 };

    /// The operations with their loops expanded, if they are few enough.
    const fn expand(ops: &[Op]) -> Option<Self> {
        let mut list = Self::EMPTY;
        if list.add(ops, 0) { Some(list) } else { None }
    }

    const fn add(&mut self, ops: &[Op], shift: i64) -> bool {
        let mut i = 0;
        while i < ops.len() {
            match ops[i] {
                Op::Blocks(blocks) => {
                    let mut block = 0;
                    while block < blocks.count {
                        if !self.push(blocks.block(block) + shift, blocks.len) {
                            return false;
                        }
                        block += 1;
                    }
                    i += 1;
                }
                // Made at run time only.
                Op::List(_) | Op::Elements(_) => return false,
                Op::Loop { count, stride, items } => {
                    let body = ops.split_at(i + 1).1.split_at(items).0;
                    let mut turn = 0;
                    while turn < count {
                        if !self.add(body, shift + stride * turn.cast_signed()) {
                            return false;
                        }
                        turn += 1;
                    }
                    i += items + 1;
                }
            }
        }
        true
    }

    /// Adds a run, to the one before where they touch.
    #[expect(clippy::cast_possible_truncation, reason = "offsets inside an object")]
    const fn push(&mut self, disp: i64, len: u64) -> bool {
        let (offset, len) = (disp.cast_unsigned() as usize, len as usize);
        if self.len > 0 {
            let last = &mut self.runs[self.len - 1];
            if last.offset + last.len == offset {
                last.len += len;
                return true;
            }
        }
        if self.len == MAX_RUNS {
            return false;
        }
        self.runs[self.len] = Run { offset, len };
        self.len += 1;
        true
    }
}

impl Strategy {
    const fn of(map: &TypeMap, ops: Option<&[Op]>) -> Self {
        if map.size() == 0 {
            return Self::Nothing;
        }
        let Some(ops) = ops else { return Self::Commit };
        let Some(list) = RunList::expand(ops) else { return Self::Program };
        let (first, last) = (list.runs[0], list.runs[list.len - 1]);
        if list.len == 1 && first.len == map.stride() {
            Self::Whole
        } else if list.len > 1
            && last.offset + last.len == first.offset + map.stride()
            && pieces::count(last.len + first.len)
                < pieces::count(last.len) + pieces::count(first.len)
        {
            Self::Linked(list)
        } else {
            Self::Runs(list)
        }
    }
}

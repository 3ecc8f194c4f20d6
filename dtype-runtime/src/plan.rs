//! The plan: the operations that pack and unpack instances of a type.
//!
//! A plan is data. [`commit`](crate::commit) writes it; the kernels and the convertors execute it.

mod byte_map;
mod flat;
mod gather;
mod index;
mod lanes;
mod list;
mod once;
mod op;
mod patterns;
mod permutation;
mod program;
mod quads;
mod runs;
mod segments;
mod shuffle;
mod values;

use alloc::borrow::Cow;
use alloc::boxed::Box;

pub(crate) use byte_map::ByteMap;
pub(crate) use gather::{Constant, Gather, MOST_COLUMNS, Place};
pub(crate) use index::Index;
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(unused_imports, reason = "nothing executes them here")
)]
pub(crate) use lanes::{ByteLanes, LaneVector, Lanes};
pub(crate) use lanes::{Ranged, RangedList, Tests};
pub use list::List;
pub(crate) use list::{Entries, EntryKind, Lists, Moves, Width};
pub use op::{Blocks, Elements, Op, items};
pub(crate) use op::{numbered_items, size, split_first};
pub(crate) use patterns::FEWEST_BLOCKS;
pub(crate) use permutation::{Any, CompiledFor, Permutation};
pub(crate) use program::{Cut, Known, One, Program, SHORT, TwoRuns};
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(unused_imports, reason = "nothing packs so here")
)]
pub(crate) use quads::Order;
#[cfg_attr(
    not(any(target_arch = "x86_64", feature = "show")),
    expect(unused_imports, reason = "nothing packs so here")
)]
pub(crate) use quads::Quads;
pub(crate) use runs::{Records, Run, RunList};
pub(crate) use segments::{Numbering, Segments};
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(unused_imports, reason = "nothing shuffles so here")
)]
pub(crate) use shuffle::Register;
pub(crate) use shuffle::{Shuffle, ShuffledBy};
pub(crate) use values::{Values, bytewise_size, values};

/// With at least this many blocks, a form that leaves the last block apart from the first block of the next repetition, which
/// it touches, is worth more than joining the two, which saves one copy.
pub(crate) const FEWEST_WITHOUT_SEAMS: u64 = 8;

/// The greatest distance in bytes between records that are copied field by field, several records at a time
/// (`kernel/records.rs`).
pub(crate) const FURTHEST_RECORD: u64 = 2048;

/// The operations that pack or unpack instances of a type.
///
/// The loop over the instances is part of the plan: where the last run of one instance touches the first run of the
/// next, the two are copied as one. For `n` instances the plan stands for
///
/// - `prologue`, once, at the first instance;
/// - `steady`, [`repetitions(n)`](Self::repetitions) times, one extent further each time;
/// - `epilogue`, once, at the last instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    program: Program,
    /// Packed bytes of the prologue, of one repetition, and of the epilogue.
    sizes: [u64; 3],
    /// `None` for few repeated operations: computing it takes less time than storing it.
    overview: Option<Box<Overview>>,
}

/// Facts about many operations, computed in advance.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Overview {
    /// The index of the repeated operations.
    index: Index,
    /// The segments of the prologue, of one repetition, and of the epilogue.
    segments: [Segments; 3],
}

/// The output of a compiler: the operations of a plan and the lists that they refer to.
pub(crate) struct Written<'a> {
    pub(crate) ops: Cow<'a, [Op]>,
    /// The number of operations that each repetition executes, which come first. The prologue, which is one operation, and
    /// the epilogue follow them, if each repetition is not an instance.
    pub(crate) repeated: usize,
    /// Bytes from one repetition to the next.
    pub(crate) extent: i64,
    pub(crate) lists: Option<Box<Lists>>,
    /// The bytes of one instance, if these are blocks at equal distances.
    pub(crate) single: Option<Blocks>,
}

impl Plan {
    /// The plan of instances that are equally spaced blocks: the one shape that needs no compiler.
    ///
    /// Fast twin of `of_program`, kept equal by test `blocks_at_equal_distances_need_no_compiler`.
    #[inline(always)]
    pub(crate) fn of_blocks(all: Blocks, extent: i64) -> Self {
        let len = all.len;
        let size = len * all.count;
        if !all.touches_next(extent) {
            let program = Program::new([Op::Blocks(all)], 1, size, extent, None, Some(all));
            return Self { program, sizes: [0, size, 0], overview: None };
        }
        // The last block of an instance and the first block of the next one are copied as one.
        let (head, tail) = (Blocks::run(all.disp, len), Blocks::run(all.block(all.count - 1), len));
        let seam = Blocks { len: 2 * len, ..tail };
        let between = Blocks { disp: all.block(1), count: all.count - 2, ..all };
        let inside = len * between.count;
        let sizes = [len, inside + seam.len, inside + len];
        let program = if between.count == 0 {
            let ops = [seam, head, tail].map(Op::Blocks);
            Program::new(ops, 1, size, extent, None, Some(all))
        } else {
            let between = between.normalized();
            let ops = [between, seam, head, between, tail].map(Op::Blocks);
            Program::new(ops, 2, size, extent, None, Some(all))
        };
        Self { program, sizes, overview: None }
    }

    /// The plan of a compiler's output for instances of `size` packed bytes.
    #[inline]
    pub(crate) fn of_program(written: Written<'_>, size: u64) -> Self {
        let lists = written.lists.as_deref().unwrap_or(Lists::none());
        let parts = program::parts(&written.ops, written.repeated);
        // The prologue and the epilogue are an instance, and each repetition goes from within one instance to the same
        // byte of the next.
        let sizes = if parts[0].is_empty() {
            [0, size, 0]
        } else {
            let prologue = op::size(parts[0], lists);
            [prologue, size, size - prologue]
        };
        debug_assert_eq!(sizes, parts.map(|ops| op::size(ops, lists)), "{parts:?}");
        let overview = (parts[1].len() >= index::FEWEST).then(|| {
            let segments = parts.map(|ops| Segments::of(ops, lists));
            Box::new(Overview { index: Index::of(parts[1], lists), segments })
        });
        let Written { ops, repeated, extent, lists, single } = written;
        let program = Program::new(ops, repeated, size, extent, lists, single);
        Self { program, sizes, overview }
    }

    /// The operations before the first repetition, relative to the first instance.
    pub fn prologue(&self) -> &[Op] {
        self.program.parts()[0]
    }

    /// The operations of each repetition, relative to the instance that the repetition starts at.
    pub fn steady(&self) -> &[Op] {
        self.program.parts()[1]
    }

    /// The operations after the last repetition, relative to the last instance.
    pub fn epilogue(&self) -> &[Op] {
        self.program.parts()[2]
    }

    /// Displacement and length, both in bytes, of each block of a list among these operations. For a list of
    /// another plan this may yield fewer blocks, none, or unrelated ones.
    ///
    /// ```
    /// use dtype_runtime::plan::Op;
    /// use dtype_runtime::{Basic, Type};
    /// // 40 triangular numbers: no two distances between neighbours are equal.
    /// let displacements: Vec<i64> = (0..40).map(|i| i * (i + 3) / 2).collect();
    /// let committed = Type::indexed_block(1, &displacements, &Type::basic(Basic::U16))?.commit();
    /// let plan = committed.plan();
    /// let [Op::List(list)] = plan.steady() else { panic!("{plan:?}") };
    /// assert_eq!((list.count(), list.block_len()), (40, Some(2)));
    /// assert!(plan.blocks_of(list).eq(displacements.iter().map(|disp| (2 * disp, 2))));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn blocks_of(&self, list: &List) -> impl Iterator<Item = (i64, u64)> {
        self.program.blocks(list)
    }

    /// Packed bytes of an instance.
    #[inline]
    pub(crate) fn size(&self) -> u64 {
        // Each repetition goes from a byte of one instance to the same byte of the next.
        self.sizes[1]
    }

    /// Packed bytes of the prologue, of one repetition, and of the epilogue.
    #[inline]
    pub(crate) fn sizes(&self) -> [u64; 3] {
        self.sizes
    }

    /// The segments of the prologue, of one repetition, and of the epilogue, if they are stored.
    pub(crate) fn segments(&self) -> Option<&[Segments; 3]> {
        self.overview.as_ref().map(|overview| &overview.segments)
    }

    /// The index of the repeated operations, if there is one.
    pub(crate) fn index(&self) -> Option<&Index> {
        self.overview.as_ref().map(|overview| &overview.index)
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// The number of times that `steady` is executed for `count` instances.
    pub fn repetitions(&self, count: u64) -> u64 {
        if self.prologue().is_empty() { count } else { count.saturating_sub(1) }
    }

    /// Bytes from one repetition to the next.
    pub fn extent(&self) -> i64 {
        self.program.extent()
    }
}

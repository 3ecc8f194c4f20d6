//! The plan: what commit compiles a type into.

use alloc::boxed::Box;
use core::ops::Range;

use super::chain::Chain;
use super::compile::Compiled;
use super::elements::Elements;
use super::index::{self, Index};
use super::list::{List, Lists};
use super::tables::{Ops, Tables};
use crate::types::Level;

/// One operation of a [`Plan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Copies blocks at equal distances.
    Blocks(Blocks),
    /// Copies blocks at irregular places, which [`Plan::blocks_of`] looks up.
    List(List),
    /// Converts values at equal distances. Only where the packed stream is not in this machine's representation.
    Elements(Elements),
    /// Repeats the operations that follow.
    Loop {
        /// How many times.
        count: u64,
        /// How many bytes the displacements advance with each repetition.
        stride: i64,
        /// How many operations are repeated.
        items: usize,
    },
}

/// `count` blocks of `len` bytes, their starts `stride` bytes apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Displacement in bytes of the first block.
    pub disp: i64,
    /// Bytes of each block.
    pub len: u64,
    /// Number of blocks.
    pub count: u64,
    /// Bytes from the start of one block to that of the next; 0 for a single block.
    pub stride: i64,
}

impl Op {
    /// What fills the unused part of an array of operations.
    pub(super) const NONE: Self = Self::Blocks(Blocks { disp: 0, len: 0, count: 0, stride: 0 });

    pub(super) const fn shifted(self, by: i64) -> Self {
        match self {
            Self::Blocks(blocks) => Self::Blocks(blocks.shifted(by)),
            Self::List(list) => Self::List(list.shifted(by)),
            Self::Elements(elements) => Self::Elements(elements.shifted(by)),
            Self::Loop { .. } => self,
        }
    }
}

// Displacements are those of data, which are known to fit 64 bits, or are passed through on the way
// to one: hence the wrapping arithmetic.
impl Blocks {
    /// A single block.
    pub(super) const fn run(disp: i64, len: u64) -> Self {
        Self { disp, len, count: 1, stride: 0 }
    }

    /// The blocks of a level, of which there is one at least.
    #[inline(always)]
    pub(super) const fn of_level(level: &Level) -> Self {
        let Level { base: disp, length: len, count, stride } = *level;
        Self { disp, len, count, stride }.normalized()
    }

    /// Whether these are several, and the last one ends where the first one starts when all are moved by so many bytes.
    #[inline(always)]
    pub(super) fn touches_next(&self, extent: i64) -> bool {
        self.count > 1 && self.disp.checked_add(extent) == Some(self.last_end())
    }

    /// Displacement of block `index`.
    pub const fn block(&self, index: u64) -> i64 {
        self.disp.wrapping_add(self.stride.wrapping_mul(index.cast_signed()))
    }

    /// One past the last byte of the last block.
    pub(super) const fn last_end(&self) -> i64 {
        self.block(self.count.saturating_sub(1)).wrapping_add(self.len.cast_signed())
    }

    /// The widest unit, in bytes, of which every block consists and to which every block is aligned
    /// relative to the origin: 8, 4, 2 or 1.
    pub const fn unit(&self) -> u64 {
        let all = self.disp.cast_unsigned() | self.len | self.stride.cast_unsigned() | 8;
        1 << all.trailing_zeros()
    }

    pub(crate) const fn shifted(self, by: i64) -> Self {
        Self { disp: self.disp.wrapping_add(by), ..self }
    }

    /// The same bytes in the one way to write them: blocks that touch are one block, and a single
    /// block has stride 0.
    pub(crate) const fn normalized(self) -> Self {
        if self.count == 1 {
            Self { stride: 0, ..self }
        } else if self.stride as i128 == self.len as i128 {
            Self::run(self.disp, self.len * self.count)
        } else {
            self
        }
    }

    /// Both in one, if `next` continues `self` at an equal distance.
    pub(super) const fn followed_by(self, next: Self) -> Option<Self> {
        if self.len != next.len {
            return None;
        }
        let stride = next.disp as i128 - self.block(self.count - 1) as i128;
        let fits = (self.count == 1 || self.stride as i128 == stride)
            && (next.count == 1 || next.stride as i128 == stride)
            && stride >= i64::MIN as i128
            && stride <= i64::MAX as i128;
        if !fits {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "just seen to fit")]
        let stride = stride as i64;
        Some(Self { count: self.count + next.count, stride, ..self })
    }

    /// `count` repetitions, if they are blocks at equal distances.
    pub(crate) const fn repeated(self, count: u64, stride: i64) -> Option<Self> {
        if count == 1 {
            Some(self)
        } else if self.count == 1 {
            Some(Self { count, stride, ..self })
        } else if stride as i128 == self.stride as i128 * self.count as i128 {
            Some(Self { count: self.count * count, ..self })
        } else {
            None
        }
    }
}

/// What is executed to pack or unpack instances of a type.
///
/// The loop over the instances is part of it: where the last run of one instance touches the first
/// of the next, they are copied as one. For `n` instances the plan stands for
///
/// - `prologue`, once, at the first instance;
/// - `steady`, [`repetitions(n)`](Self::repetitions) times, each an extent further;
/// - `epilogue`, once, at the last instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    tables: Tables,
    /// Packed bytes of prologue, one repetition and epilogue.
    sizes: [u64; 3],
    /// Of the operations that are repeated, unless they are few: then it takes longer to keep than to find out.
    overview: Option<Box<Overview>>,
}

/// What is known of many operations.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Overview {
    index: Index,
    /// The segments of prologue, one repetition and epilogue.
    chains: [Chain; 3],
}

impl Plan {
    /// Of operations, of which these are in each of the repetitions, `extent` bytes apart, and the others before and
    /// behind, with the lists that they refer to.
    #[inline]
    pub(super) fn new(
        ops: &[Op],
        repeated: Range<usize>,
        extent: i64,
        lists: Option<Box<Lists>>,
    ) -> Self {
        let tables = Tables::new(ops, repeated, extent, lists);
        let parts = tables.parts();
        let sizes = parts.map(|ops| index::size(ops, &tables));
        let overview = Index::of(parts[1], &tables).map(|index| {
            let chains = parts.map(|ops| Chain::of(ops, &tables));
            Box::new(Overview { index, chains })
        });
        Self { tables, sizes, overview }
    }

    /// Of instances that are these blocks each, `extent` bytes apart, of which the last does not touch the first of the
    /// next instance.
    #[inline(always)]
    pub(super) fn of_apart(all: Blocks, extent: i64) -> Self {
        Self {
            tables: Tables::of_ops(Ops::one(all), 0..1, extent, None).with_single(all),
            sizes: [0, all.len * all.count, 0],
            overview: None,
        }
    }

    /// Of instances that are these blocks each, of which the last [touches](Blocks::touches_next) the first of the next
    /// instance: the two are copied as one.
    #[inline(always)]
    pub(super) fn of_touching(all: Blocks, extent: i64) -> Self {
        let Blocks { disp, len, count, .. } = all;
        let (head, tail) = (Blocks::run(disp, len), Blocks::run(all.block(count - 1), len));
        let seam = Blocks { len: 2 * len, ..tail };
        let between = Blocks { disp: all.block(1), count: count - 2, ..all };
        let inside = len * between.count;
        let (ops, repeated) = if between.count == 0 {
            (Ops::many([head, seam, tail]), 1..2)
        } else {
            let between = between.normalized();
            (Ops::many([head, between, seam, between, tail]), 1..3)
        };
        Self {
            tables: Tables::of_ops(ops, repeated, extent, None).with_single(all),
            sizes: [len, inside + seam.len, inside + len],
            overview: None,
        }
    }

    /// Of so few operations that they are kept in place.
    #[inline(always)]
    pub(super) fn of_few(compiled: Compiled<'_>) -> Self {
        let ops = Ops::few(compiled.ops);
        Self::of_some(compiled, ops)
    }

    /// Of so few operations that it takes longer to keep what is known of them than to find out.
    #[inline(always)]
    pub(super) fn of_some(compiled: Compiled<'_>, ops: Ops) -> Self {
        let Compiled { repeated, extent, lists, single, .. } = compiled;
        let all = compiled.ops;
        let size = |ops: &[Op]| {
            let of_list =
                |list: &List| lists.as_ref().map_or(0, |lists| lists.entries(list).size());
            index::size_by(ops, &of_list)
        };
        let sizes = [
            size(&all[..repeated.start]),
            size(&all[repeated.clone()]),
            size(&all[repeated.end..]),
        ];
        let tables = Tables::of_ops(ops, repeated, extent, lists);
        let tables = if let Some(single) = single { tables.with_single(single) } else { tables };
        Self { tables, sizes, overview: None }
    }

    /// Of any number of operations.
    #[inline(never)]
    pub(super) fn of_many(compiled: Compiled<'_>) -> Self {
        let Compiled { ops, repeated, extent, lists, .. } = compiled;
        Self::new(ops, repeated, extent, lists)
    }

    /// The operations before the first repetition, relative to the first instance.
    pub fn prologue(&self) -> &[Op] {
        self.tables.prologue()
    }

    /// The operations of each repetition.
    pub fn steady(&self) -> &[Op] {
        self.tables.steady()
    }

    /// The operations after the last repetition, relative to the last instance.
    pub fn epilogue(&self) -> &[Op] {
        self.tables.epilogue()
    }

    /// Displacement and length, both in bytes, of each block of a list among these operations. Of a
    /// list of another plan there may be fewer blocks, or none, or others.
    ///
    /// ```
    /// use dtype_runtime::commit::Op;
    /// use dtype_runtime::{Basic, Type};
    /// // 40 triangular numbers: no two blocks are as far apart as two others.
    /// let places: Vec<i64> = (0..40).map(|i| i * (i + 3) / 2).collect();
    /// let committed = Type::indexed_block(1, &places, &Type::basic(Basic::U16))?.commit();
    /// let plan = committed.plan();
    /// let [Op::List(list)] = plan.steady() else { panic!("{plan:?}") };
    /// assert_eq!((list.count(), list.block_len()), (40, Some(2)));
    /// assert!(plan.blocks_of(list).eq(places.iter().map(|place| (2 * place, 2))));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn blocks_of(&self, list: &List) -> impl Iterator<Item = (i64, u64)> {
        self.tables.blocks(list)
    }

    pub(crate) fn sizes(&self) -> [u64; 3] {
        self.sizes
    }

    /// The segments of prologue, one repetition and epilogue, if they are kept.
    pub(crate) fn chains(&self) -> Option<&[Chain; 3]> {
        self.overview.as_ref().map(|overview| &overview.chains)
    }

    pub(crate) fn index(&self) -> Option<&Index> {
        self.overview.as_ref().map(|overview| &overview.index)
    }

    pub(crate) fn tables(&self) -> &Tables {
        &self.tables
    }

    /// How many times `steady` is executed for `count` instances.
    pub fn repetitions(&self, count: u64) -> u64 {
        if self.tables.prologue().is_empty() { count } else { count.saturating_sub(1) }
    }

    /// Bytes from one repetition to the next.
    pub fn extent(&self) -> i64 {
        self.tables.extent()
    }
}

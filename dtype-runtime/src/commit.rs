//! Commit: from what was asked for to what is executed.
//!
//! A type is compiled into a [`Plan`]. For derived types the same compiler runs in `const`
//! evaluation, straight from the constant type map. The optimized description of seed
//! `opal_datatype_t`, which is what Open MPI executes, is a view for tools: the compiler makes every
//! merge that it shows, and more.

mod builder;
mod chain;
mod compile;
mod constant;
mod elements;
mod index;
mod list;
mod once;
mod optimize;
mod patterns;
mod permutation;
mod plan;
mod runs;
mod tables;

use core::fmt;
use core::ops::Deref;
use core::sync::atomic::{AtomicUsize, Ordering};

pub(crate) use chain::{Chain, Turns};
pub(crate) use constant::{Program, data_program, gap_program, pack_program};
pub use elements::Elements;
pub(crate) use elements::{Converting, How};
pub(crate) use index::{Index, size, size_at};
pub use list::List;
pub(crate) use list::{Entries, Moves, Width};
pub(crate) use patterns::FEWEST_BLOCKS;
pub(crate) use permutation::{ByteMap, Permutation};
pub use plan::{Blocks, Op, Plan};
pub(crate) use runs::{Run, RunList};
pub(crate) use tables::Tables;

use crate::shared::Shared;
use crate::types::{Description, Flags, Type};

/// A datatype that is ready for packing: immutable, cheap to clone, shared among threads.
///
/// It dereferences to the [`Type`] that was committed.
#[derive(Clone)]
pub struct Committed(Shared<Inner>);

struct Inner {
    ty: Type,
    plan: Plan,
    /// The most instances that are known to name no byte twice. It only ever grows towards the truth,
    /// so threads need not agree on it.
    disjoint: AtomicUsize,
}

impl Type {
    /// Compiles the type for packing, in time proportional to the length of its description
    /// (MPI-4.1 section 5.1.9).
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let column = Type::vector(3, 1, 4, &Type::basic(Basic::U8))?.commit();
    /// let matrix = *b"abcdefghijkl";
    /// let mut packed = [0; 3];
    /// column.pack(&matrix, 1, 1, &mut packed)?;
    /// assert_eq!(&packed, b"bfj");
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_commit")]
    #[must_use]
    pub fn commit(&self) -> Committed {
        self.commit_at(self.extent())
    }

    /// As [`commit`](Self::commit), for instances that are `extent` bytes apart, whatever the type's extent.
    pub(crate) fn commit_at(&self, extent: i64) -> Committed {
        let ty = self.clone();
        match self.as_level() {
            Some(level) => {
                let all = Blocks::of_level(&level);
                if all.touches_next(extent) {
                    Committed::new(ty, move || Plan::of_touching(all, extent))
                } else {
                    Committed::new(ty, move || Plan::of_apart(all, extent))
                }
            }
            None => compile::compile(self, extent, move |compiled| {
                let number = compiled.ops.len();
                if number <= tables::FEW {
                    Committed::new(ty, move || Plan::of_few(compiled))
                } else if number < index::FEWEST {
                    let ops = tables::Ops::Many(compiled.ops.into());
                    Committed::new(ty, move || Plan::of_some(compiled, ops))
                } else {
                    Committed::new(ty, move || Plan::of_many(compiled))
                }
            }),
        }
    }
}

impl Committed {
    /// What is committed is made where it is kept.
    #[inline(always)]
    fn new(ty: Type, plan: impl FnOnce() -> Plan) -> Self {
        Self(Shared::new(move || Inner { ty, plan: plan(), disjoint: AtomicUsize::new(0) }))
    }

    /// The type that was committed.
    pub fn as_type(&self) -> &Type {
        &self.0.ty
    }

    /// The flags of the type, with `COMMITTED`.
    pub fn flags(&self) -> Flags {
        self.0.ty.flags() | Flags::COMMITTED
    }

    /// The description after the optimization that seed `opal_datatype_t` specifies for `opt_desc`:
    /// what touches is merged, as bytes where the types differ, and short loops over one run are
    /// written out.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let t = Type::vector(4, 5, 6, &Type::basic(Basic::U16))?;
    /// assert_eq!(
    ///     t.commit().optimized_description().to_string(),
    ///     "\
    /// loop 4 times, extent 12
    ///   elem u8 × 10 @ 0, extent 1
    /// endloop 2 items, size 10, first @ 0
    /// endloop 3 items, size 40, first @ 0
    /// "
    /// );
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn optimized_description(&self) -> Description {
        optimize::optimize(&self.description())
    }

    /// Whether `count` instances name no byte twice, by `prove` where it is not known yet.
    pub(crate) fn is_disjoint(&self, count: usize, prove: impl FnOnce() -> bool) -> bool {
        if count <= self.0.disjoint.load(Ordering::Relaxed) {
            return true;
        }
        let disjoint = prove();
        if disjoint {
            self.0.disjoint.fetch_max(count, Ordering::Relaxed);
        }
        disjoint
    }

    /// What is executed when instances are packed or unpacked.
    pub fn plan(&self) -> &Plan {
        &self.0.plan
    }
}

impl Deref for Committed {
    type Target = Type;

    fn deref(&self) -> &Type {
        self.as_type()
    }
}

impl fmt::Debug for Committed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Committed").field("type", &self.0.ty).finish_non_exhaustive()
    }
}

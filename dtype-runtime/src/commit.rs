//! Commit: compiles a type into the operations that are executed.
//!
//! A type is compiled into a [`Plan`]. For derived types the same compiler runs in `const` evaluation, directly
//! from the constant type map. The optimized description of Open MPI's `opal_datatype_t`, which Open MPI executes,
//! is a view for tools: the compiler makes every merge that it shows, and more.

mod builder;
mod compile;
mod constant;
mod convert;
mod irregular;
mod optimize;

use core::fmt;
use core::ops::Deref;
use core::sync::atomic::{AtomicUsize, Ordering};

pub(crate) use constant::ConstantOps;
pub(crate) use convert::{Converting, Each, How};

use self::compile::{Compiler, SCRATCH};
use crate::plan::{Blocks, Op, Plan};
use crate::shared::{Shared, UninitShared};
use crate::types::{Description, Flags, Interval, Type};

/// A datatype that is ready for packing: immutable, cheap to clone, and shared among threads.
///
/// It dereferences to the [`Type`] that was committed.
#[derive(Clone)]
pub struct Committed(Shared<Inner>);

struct Inner {
    ty: Type,
    plan: Plan,
    single: Single,
    /// The largest number of instances that is known to name no byte twice. Threads may race to store it: each stores a
    /// number for which this was proved.
    disjoint: AtomicUsize,
    /// More instances than this are known to name a byte twice. Threads may race to store it, too.
    overlapping: AtomicUsize,
}

/// What a copy of a single instance has to know. Most instances are a few bytes, so every look-up would show in the time of the
/// copy.
pub(crate) struct Single {
    /// Bytes from the origin to the end of the data; `usize::MAX`, more than any memory has, if there are no data, or some lie
    /// in front of the origin or too far behind it.
    pub(crate) reach: usize,
    /// Its packed bytes; `usize::MAX` if they cannot be addressed.
    pub(crate) size: usize,
    /// The displacement in bytes of its data, if they are one run in packed order, and not too far away.
    pub(crate) run: Option<isize>,
    /// Whether this run ends where the run of the next instance starts. Several instances are one run then, too.
    pub(crate) touches_next: bool,
}

impl Single {
    #[inline(always)]
    fn of(ty: &Type) -> Self {
        let size = usize::try_from(ty.size()).unwrap_or(usize::MAX);
        let Some(Interval { start, end }) = ty.data() else {
            return Self { reach: usize::MAX, size, run: None, touches_next: false };
        };
        let reach = if start < 0 { None } else { usize::try_from(end).ok() };
        let run = if ty.is_run() { isize::try_from(start).ok() } else { None };
        let touches_next = u64::try_from(ty.extent()) == Ok(ty.size());
        Self { reach: reach.unwrap_or(usize::MAX), size, run, touches_next }
    }
}

impl Type {
    /// Compiles the type for packing, in time proportional to the length of its description
    /// (MPI-4.1 section 5.1.9).
    ///
    /// ```
    /// use dtype_runtime::{Buffer, Basic, Type};
    /// let column = Type::vector(3, 1, 4, &Type::basic(Basic::U8))?.commit();
    /// let matrix = *b"abcdefghijkl";
    /// let mut packed = [0; 3];
    /// column.pack(Buffer::new(&matrix).origin(1), 1, &mut packed)?;
    /// assert_eq!(&packed, b"bfj");
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_commit")]
    #[must_use]
    pub fn commit(&self) -> Committed {
        let (ty, extent) = (self.clone(), self.extent());
        if let Some(level) = self.as_level() {
            let all = Blocks::of_level(&level);
            let memory = UninitShared::new();
            return Committed::new(memory, ty, Plan::of_blocks(all, extent));
        }
        let mut few = [Op::NONE; SCRATCH];
        let mut compiler = Compiler::new(&mut few);
        let written = compiler.compile(self, extent);
        let size = self.size();
        let memory = UninitShared::new();
        Committed::new(memory, ty, Plan::of_program(written, size))
    }
}

impl Committed {
    #[inline(always)]
    fn new(memory: UninitShared<Inner>, ty: Type, plan: Plan) -> Self {
        let single = Single::of(&ty);
        let (disjoint, overlapping) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
        Self(memory.fill(Inner { ty, plan, single, disjoint, overlapping }))
    }

    /// The type that was committed.
    pub fn as_type(&self) -> &Type {
        &self.0.ty
    }

    /// The flags of the type, with `COMMITTED`.
    pub fn flags(&self) -> Flags {
        self.0.ty.flags() | Flags::COMMITTED
    }

    /// The description after the optimization that Open MPI's `opal_datatype_t` specifies for `opt_desc`: data
    /// that touch are merged, as bytes where the types differ, and short loops over one run are written out.
    ///
    /// ```
    /// use dtype_runtime::types::Entry;
    /// use dtype_runtime::{Basic, Type};
    /// let t = Type::vector(4, 5, 6, &Type::basic(Basic::U16))?;
    /// let description = t.commit().optimized_description();
    /// let [Entry::Loop(rows), Entry::Elem(row), ..] = *description.entries() else {
    ///     panic!("a loop over one run")
    /// };
    /// assert_eq!((rows.loops, rows.extent), (4, 12));
    /// assert_eq!((row.basic, row.count), (Basic::U8, 10));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn optimized_description(&self) -> Description {
        optimize::optimize(&self.description())
    }

    /// Whether `count` instances name no byte twice. Calls `prove` if this is not known yet.
    #[inline(always)]
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

    /// Whether `count` instances name a byte twice; then any greater number does, too. Calls `prove` if this is not known yet.
    pub(crate) fn is_overlapping(&self, count: usize, prove: impl FnOnce() -> bool) -> bool {
        if count > self.0.overlapping.load(Ordering::Relaxed) {
            return true;
        }
        let overlapping = prove();
        if overlapping {
            self.0.overlapping.fetch_min(count.saturating_sub(1), Ordering::Relaxed);
        }
        overlapping
    }

    /// What a copy of a single instance has to know.
    #[inline(always)]
    pub(crate) fn single(&self) -> &Single {
        &self.0.single
    }

    /// Computes what the engine needs to pack and unpack instances fast, such as the permutation of a struct's bytes. Otherwise
    /// the first call that needs it computes it, which takes a microsecond or two, and some tens of microseconds for a nest of
    /// loops over thousands of runs.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let [f64, u32] = [Basic::F64, Basic::U32].map(Type::basic);
    /// let pair = Type::structure(&[1, 1], &[0, 8], &[f64, u32])?.commit();
    /// pair.prepare();
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn prepare(&self) {
        self.0.plan.program().prepare();
    }

    /// The operations that pack or unpack instances.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Basic;

    #[test]
    fn what_is_proved_is_not_proved_again() {
        let ty = Type::basic(Basic::U8).commit();
        let known = || unreachable!("it is known");
        assert!(!ty.is_disjoint(1, || false) && ty.is_disjoint(3, || true));
        assert!((0..=3).all(|count| ty.is_disjoint(count, known)));
        assert!(!ty.is_disjoint(4, || false) && ty.is_disjoint(2, known));
        assert!(!ty.is_overlapping(5, || false) && ty.is_overlapping(4, || true));
        assert!((4..=6).all(|count| ty.is_overlapping(count, known)));
        assert!(!ty.is_overlapping(3, || false) && ty.is_overlapping(4, known));
    }

    #[test]
    fn debug_output_names_the_type() {
        let ty = Type::basic(Basic::U8).commit();
        assert_eq!(format!("{ty:?}"), format!("Committed {{ type: {:?}, .. }}", ty.as_type()));
    }

    #[test]
    fn what_is_known_of_a_single_instance() {
        let single = |ty: &Type| {
            let Single { reach, size, run, touches_next } = Single::of(ty);
            (reach, size, run, touches_next)
        };
        let u32 = Type::basic(Basic::U32);
        let at = |disp| Type::hindexed(&[1], &[disp], &u32).unwrap();
        assert_eq!(single(&u32), (4, 4, Some(0), true));
        assert_eq!(single(&Type::resized(&u32, 0, 8).unwrap()), (4, 4, Some(0), false));
        assert_eq!(single(&at(8)), (12, 4, Some(8), true));
        assert_eq!(single(&at(-1)), (usize::MAX, 4, Some(-1), true));
        assert_eq!(single(&Type::vector(2, 1, 2, &u32).unwrap()), (12, 8, None, false));
        assert_eq!(single(&Type::contiguous(0, &u32).unwrap()), (usize::MAX, 0, None, false));
    }
}

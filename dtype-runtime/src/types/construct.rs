//! The constructors.
//!
//! Each reduces to copies of old types at displacements. What a constructor adds is collected by
//! [`Parts`], which is where the arithmetic is checked; a further constructor needs its variant in
//! [`Constructor`], its calls of [`Parts::add`] here and its walk in the description.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::bounds::{Bounds, Interval, Marks, reach};
use super::{Constructor, Flags, Inner, Lazy, Member, Type};
use crate::basic::Basic;
use crate::error::Error;
use crate::signature::Fingerprint;
use crate::typemap::MAX_DEPTH;

/// How many entries a description may have, loops not expanded.
pub(super) const MAX_ENTRIES: u64 = 1 << 24;

/// The type under construction.
struct Parts {
    call: &'static str,
    size: u64,
    elements: u64,
    bounds: Bounds,
    user: Flags,
    run: Run,
    fingerprint: Fingerprint,
    depth: u32,
    entries: u64,
}

/// Whether the data so far are one run in type map order.
#[derive(Clone, Copy)]
enum Run {
    Empty,
    Upto(i64),
    Broken,
}

/// Copies of an old type: `blocks` blocks, `stride` bytes apart, of `blocklength` instances each, the
/// first at `displacement`.
struct Copies<'a> {
    blocks: u64,
    stride: i64,
    blocklength: u64,
    displacement: i64,
    old: &'a Type,
}

impl Parts {
    fn new(call: &'static str) -> Self {
        Self {
            call,
            size: 0,
            elements: 0,
            bounds: Bounds::new(call),
            user: Flags::NONE,
            run: Run::Empty,
            fingerprint: Fingerprint::EMPTY,
            depth: 0,
            entries: 0,
        }
    }

    fn overflow(&self, quantity: &'static str) -> Error {
        Error::Overflow { call: self.call, quantity }
    }

    fn add(&mut self, copies: &Copies<'_>) -> Result<(), Error> {
        let Copies { blocks, stride, blocklength, displacement, old } = *copies;
        self.depth = self.depth.max(old.0.depth + 1);
        if self.depth > MAX_DEPTH {
            return Err(Error::TooDeep { depth: self.depth, limit: MAX_DEPTH });
        }
        if blocks == 0 || blocklength == 0 {
            return Ok(());
        }
        let count = u128::from(blocks) * u128::from(blocklength);
        let times = |n: u64| u64::try_from(count.checked_mul(u128::from(n))?).ok();
        self.size = times(old.size())
            .and_then(|size| self.size.checked_add(size))
            .filter(|&size| i64::try_from(size).is_ok())
            .ok_or_else(|| self.overflow("size"))?;
        // No overflow: an element has at least one byte.
        self.elements += times(old.elements()).unwrap_or(0);
        self.entries = self.entries.saturating_add(old.0.entries + 4 * u64::from(old.size() > 0));
        if self.entries > MAX_ENTRIES {
            return Err(Error::TooManyEntries { entries: self.entries, limit: MAX_ENTRIES });
        }

        let marks = old.0.markers;
        if old.0.data.is_some() || marks != Marks::default() {
            let inner = reach(blocklength, old.extent(), self.call)?;
            let outer = reach(blocks, stride, self.call)?;
            let sum = |a: i64, b: i64| {
                displacement
                    .checked_add(a)
                    .and_then(|sum| sum.checked_add(b))
                    .ok_or_else(|| self.overflow("displacement"))
            };
            let displacements = (sum(inner.0, outer.0)?, sum(inner.1, outer.1)?);
            self.bounds.add(old.0.data, marks, old.align(), displacements)?;
            // A marker itself does not have the flag; what it is put into does.
            self.user |= match old.constructor() {
                Constructor::LbMarker => Flags::USER_LB,
                Constructor::UbMarker => Flags::USER_UB,
                _ => old.0.flags.only(Flags::USER_LB | Flags::USER_UB),
            };
        }
        self.fingerprint =
            self.fingerprint.then(old.0.fingerprint.repeated(blocklength).repeated(blocks));
        self.extend_run(copies);
        Ok(())
    }

    /// Follows whether the data stay in one piece.
    fn extend_run(&mut self, copies: &Copies<'_>) {
        let Copies { blocks, stride, blocklength, displacement, old } = *copies;
        let (Some(data), Some(all)) = (old.0.data, self.bounds.data) else { return };
        let size = i128::from(old.size());
        let whole = old.0.flags.contains(Flags::CONTIGUOUS)
            && (blocklength == 1 || i128::from(old.extent()) == size)
            && (blocks == 1 || i128::from(stride) == size * i128::from(blocklength));
        let start = i128::from(displacement) + i128::from(data.start);
        self.run = match self.run {
            Run::Empty if whole => Run::Upto(all.end),
            Run::Upto(end) if whole && i128::from(end) == start => Run::Upto(all.end),
            _ => Run::Broken,
        };
    }

    fn finish(self, constructor: Constructor) -> Result<Type, Error> {
        let (lb, ub) = self.bounds.finish()?;
        let contiguous = !matches!(self.run, Run::Broken);
        let no_gaps = contiguous && i128::from(ub) - i128::from(lb) == i128::from(self.size);
        let flags = self.user
            | Flags::CONTIGUOUS.when(contiguous)
            | Flags::NO_GAPS.when(no_gaps)
            | Flags::DATA.when(self.size > 0);
        Ok(Type(Arc::new(Inner {
            constructor,
            size: self.size,
            elements: self.elements,
            data: self.bounds.data,
            markers: self.bounds.marks,
            lb,
            ub,
            align: self.bounds.align,
            flags,
            fingerprint: self.fingerprint,
            depth: self.depth,
            entries: self.entries,
            overlap: Lazy::new(),
        })))
    }
}

impl Type {
    /// The named datatype of one basic datatype.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// assert_eq!(Type::basic(Basic::F64).extent(), 8);
    /// ```
    pub fn basic(basic: Basic) -> Self {
        let size = basic.size() as u64;
        // At most 16 bytes.
        let end = basic.size() as i64;
        Self(Arc::new(Inner {
            constructor: Constructor::Basic(basic),
            size,
            elements: 1,
            data: Some(Interval { start: 0, end }),
            markers: Marks::default(),
            lb: 0,
            ub: end,
            align: basic.align() as u64,
            flags: Flags::BASIC,
            fingerprint: Fingerprint::of(basic.code()),
            depth: 0,
            entries: 1,
            overlap: Lazy::new(),
        }))
    }

    /// The pseudo-datatype that marks the lower bound of a [`structure`](Self::structure), the
    /// `MPI_LB` of MPI-1.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// // {(lb, −3), (i32, 0), (ub, 6)}
    /// let t = Type::structure(
    ///     &[1, 1, 1],
    ///     &[-3, 0, 6],
    ///     &[Type::lb_marker(), Type::basic(Basic::I32), Type::ub_marker()],
    /// )?;
    /// assert_eq!((t.lb(), t.extent()), (-3, 9));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_LB")]
    pub fn lb_marker() -> Self {
        Self::marker(Constructor::LbMarker, Marks { lb: Some(0), ub: None })
    }

    /// The pseudo-datatype that marks the upper bound of a [`structure`](Self::structure), the
    /// `MPI_UB` of MPI-1. See [`lb_marker`](Self::lb_marker).
    #[doc(alias = "MPI_UB")]
    pub fn ub_marker() -> Self {
        Self::marker(Constructor::UbMarker, Marks { lb: None, ub: Some(0) })
    }

    fn marker(constructor: Constructor, markers: Marks) -> Self {
        Self(Arc::new(Inner {
            constructor,
            size: 0,
            elements: 0,
            data: None,
            markers,
            lb: 0,
            ub: 0,
            align: 1,
            flags: Flags::PREDEFINED | Flags::COMMITTED,
            fingerprint: Fingerprint::EMPTY,
            depth: 0,
            entries: 0,
            overlap: Lazy::new(),
        }))
    }

    /// `count` instances of `old`, each at the end of the one before (MPI-4.1 section 5.1.2).
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`], [`Error::TooDeep`], [`Error::TooManyEntries`].
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let t = Type::contiguous(3, &Type::basic(Basic::F32))?;
    /// assert_eq!((t.size(), t.extent()), (12, 12));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_contiguous")]
    pub fn contiguous(count: u64, old: &Self) -> Result<Self, Error> {
        let mut parts = Parts::new("contiguous");
        let copies = Copies { blocks: 1, stride: 0, blocklength: count, displacement: 0, old };
        parts.add(&copies)?;
        parts.finish(Constructor::Contiguous { count, old: old.clone() })
    }

    /// `count` blocks of `blocklength` instances of `old`, the starts of neighbouring blocks `stride`
    /// extents of `old` apart (MPI-4.1 section 5.1.2). A stride of −1 is a stride.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`], [`Error::TooDeep`], [`Error::TooManyEntries`].
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let t = Type::vector(4, 1, -1, &Type::basic(Basic::I8))?;
    /// assert_eq!((t.lb(), t.extent()), (-3, 4));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_vector")]
    pub fn vector(count: u64, blocklength: u64, stride: i64, old: &Self) -> Result<Self, Error> {
        let mut parts = Parts::new("vector");
        let empty = count == 0 || blocklength == 0;
        // A stride of no blocks, or between no blocks, has no effect, however large it is.
        let bytes = if empty || count == 1 {
            0
        } else {
            stride.checked_mul(old.extent()).ok_or_else(|| parts.overflow("stride"))?
        };
        parts.add(&Copies { blocks: count, stride: bytes, blocklength, displacement: 0, old })?;
        parts.finish(Constructor::Vector { count, blocklength, stride, old: old.clone() })
    }

    /// As [`vector`](Self::vector), with the stride in bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`], [`Error::TooDeep`], [`Error::TooManyEntries`].
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let t = Type::hvector(3, 2, 100, &Type::basic(Basic::I32))?;
    /// assert_eq!((t.size(), t.extent()), (24, 208));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_create_hvector")]
    pub fn hvector(count: u64, blocklength: u64, stride: i64, old: &Self) -> Result<Self, Error> {
        let mut parts = Parts::new("hvector");
        parts.add(&Copies { blocks: count, stride, blocklength, displacement: 0, old })?;
        parts.finish(Constructor::Hvector { count, blocklength, stride, old: old.clone() })
    }

    /// Blocks of different types: block `i` has `blocklengths[i]` instances of `types[i]` and starts
    /// `displacements[i]` bytes from the origin (MPI-4.1 section 5.1.2). Blocks of length zero have
    /// no effect.
    ///
    /// # Errors
    ///
    /// [`Error::ArgumentLengths`] when the three arrays differ in length; [`Error::Overflow`],
    /// [`Error::TooDeep`], [`Error::TooManyEntries`].
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let t = Type::structure(
    ///     &[1, 1],
    ///     &[0, 8],
    ///     &[Type::basic(Basic::F64), Type::basic(Basic::I8)],
    /// )?;
    /// assert_eq!((t.size(), t.extent(), t.true_extent()), (9, 16, 9));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_create_struct")]
    pub fn structure(
        blocklengths: &[u64],
        displacements: &[i64],
        types: &[Self],
    ) -> Result<Self, Error> {
        let mut parts = Parts::new("structure");
        let expected = blocklengths.len();
        let same = |argument, actual| {
            let error = Error::ArgumentLengths { call: "structure", argument, expected, actual };
            if actual == expected { Ok(()) } else { Err(error) }
        };
        same("array_of_displacements", displacements.len())?;
        same("array_of_types", types.len())?;
        let mut members = Vec::with_capacity(expected);
        for ((&blocklength, &displacement), ty) in blocklengths.iter().zip(displacements).zip(types)
        {
            parts.add(&Copies { blocks: 1, stride: 0, blocklength, displacement, old: ty })?;
            members.push(Member { blocklength, displacement, ty: ty.clone() });
        }
        parts.finish(Constructor::Structure { members: members.into() })
    }

    /// `old` with other bounds: its markers are erased and new ones put at `lb` and `lb + extent`
    /// bytes (MPI-4.1 section 5.1.7). The data stay where they are. The flags `USER_LB` and `USER_UB`
    /// are not set by this, and stay set where they were, as in Open MPI.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`] when `lb + extent` does not fit; [`Error::TooDeep`].
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let t = Type::resized(&Type::basic(Basic::I32), -4, 16)?;
    /// assert_eq!((t.lb(), t.ub(), t.true_extent()), (-4, 12, 4));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_create_resized")]
    pub fn resized(old: &Self, lb: i64, extent: i64) -> Result<Self, Error> {
        let mut parts = Parts::new("resized");
        let ub = lb.checked_add(extent).ok_or_else(|| parts.overflow("upper bound"))?;
        parts.add(&Copies { blocks: 1, stride: 0, blocklength: 1, displacement: 0, old })?;
        parts.bounds.marks = Marks { lb: Some(lb), ub: Some(ub) };
        parts.finish(Constructor::Resized { old: old.clone() })
    }
}

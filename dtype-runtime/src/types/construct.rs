//! The constructors for blocks at equal distances, such as `vector`, and for structures.

use alloc::boxed::Box;
use core::borrow::Borrow;

use super::bounds::BoundsRule;
use super::equality::all_equal;
use super::mpi::rules;
use super::parts::{Copies, Parts, same_length};
use super::{Constructor, Member, Type, Unit};
use crate::error::Error;

impl Type {
    /// `count` instances of `old`, each starting where the previous one ends (MPI-4.1 section 5.1.2).
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
        parts.finish(|| Constructor::Contiguous { count, old: old.clone() })
    }

    /// `count` blocks of `blocklength` instances of `old`. Neighbouring blocks start `stride` extents of `old`
    /// apart; `stride` may be negative (MPI-4.1 section 5.1.2).
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
        // With at most one block, or with empty blocks, the stride has no effect, however large it is.
        let bytes = if empty || count == 1 {
            0
        } else {
            stride.checked_mul(old.extent()).ok_or_else(|| parts.overflow("stride"))?
        };
        parts.add(&Copies { blocks: count, stride: bytes, blocklength, displacement: 0, old })?;
        let (unit, old) = (Unit::Extent, old.clone());
        parts.finish(|| Constructor::Vector { unit, count, blocklength, stride, old })
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
        let (unit, old) = (Unit::Byte, old.clone());
        parts.finish(|| Constructor::Vector { unit, count, blocklength, stride, old })
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
        Self::structure_by(blocklengths, displacements, types, all_equal)
    }

    /// As [`structure`](Self::structure), for callers that have a faster way to tell whether the types are equal.
    pub(super) fn structure_by<T: Borrow<Self>>(
        blocklengths: &[u64],
        displacements: &[i64],
        types: &[T],
        are_equal: fn(&[&Self]) -> bool,
    ) -> Result<Self, Error> {
        let expected = blocklengths.len();
        same_length("structure", "array_of_displacements", expected, displacements.len())?;
        same_length("structure", "array_of_types", expected, types.len())?;
        let members = blocklengths.iter().zip(displacements).zip(types);
        let members = members.map(|((&blocklength, &displacement), ty)| Member {
            blocklength,
            displacement,
            ty: ty.borrow().clone(),
        });
        Self::structure_of(members.collect(), are_equal)
    }

    /// The structure with these members.
    pub(super) fn structure_of(
        members: Box<[Member]>,
        are_equal: fn(&[&Self]) -> bool,
    ) -> Result<Self, Error> {
        let mut parts = Parts::new("structure");
        // The strongest rule of all parts applies from the start.
        parts.rules = members.iter().map(|it| it.ty.bounds_rule()).max().unwrap_or_default();
        for &Member { blocklength, displacement, ty: ref old } in &members {
            parts.add(&Copies { blocks: 1, stride: 0, blocklength, displacement, old })?;
        }
        if parts.rules == BoundsRule::Mpich {
            rules::structure(&mut parts, &members, are_equal);
        }
        parts.finish(|| Constructor::Structure { members })
    }

    /// A copy of `old` that is a separate type (MPI-4.1 section 5.1.10). It differs from `old` only in its
    /// envelope and its flags.
    ///
    /// # Errors
    ///
    /// [`Error::TooDeep`], [`Error::TooManyEntries`].
    ///
    /// ```
    /// use dtype_runtime::{Basic, Flags, Type};
    /// let copy = Type::dup(&Type::basic(Basic::I32))?;
    /// assert_eq!(copy.extent(), 4);
    /// assert!(!copy.flags().contains(Flags::PREDEFINED));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_dup")]
    pub fn dup(old: &Self) -> Result<Self, Error> {
        let mut parts = Parts::copy_of("dup", old)?;
        parts.bounds.stretch(old.lb().into(), old.ub().into());
        parts.finish(|| Constructor::Dup { old: old.clone() })
    }

    /// `old` with other bounds: its markers are removed and new ones set at `lb` and `lb + extent` bytes (MPI-4.1
    /// section 5.1.7). The displacements of the data are unchanged. As in Open MPI, the flags `USER_LB` and
    /// `USER_UB` are unchanged, too.
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
        let (call, quantity) = ("resized", "upper bound");
        let Some(ub) = lb.checked_add(extent) else {
            return Err(Error::Overflow { call, quantity });
        };
        let mut parts = Parts::copy_of(call, old)?;
        parts.bounds.set(lb, ub);
        parts.finish(|| Constructor::Resized { old: old.clone() })
    }
}

//! The types without parts: values of one basic datatype, and markers.
//!
//! As MPI has one handle for each basic datatype, there is one type for each here. References to it are not counted: nearly
//! every constructor call adds one, and counting would take a quarter of the call's time, and more if several threads make
//! types.

use core::mem;

use super::bounds::{BoundsRule, Interval, Marks};
use super::{Combiner, Constructor, Flags, Inner, Lazy, Type};
use crate::basic::Basic;
use crate::shared::{Shared, Static, UninitShared};

const NO_MARKS: Marks = Marks { lb: None, ub: None };

/// The types, in the order of [`Basic::ALL`].
static BASICS: [Static<Inner>; Basic::ALL.len()] = {
    const fn basic(index: usize) -> Static<Inner> {
        let basic = Basic::ALL[index];
        Static::new(leaf(Constructor::Basic(basic), Some(basic), NO_MARKS))
    }

    let mut all = [const { basic(0) }; Basic::ALL.len()];
    let mut index = 1;
    while index < all.len() {
        // Nothing can be dropped in a constant. The forgotten value owns no memory.
        mem::forget(mem::replace(&mut all[index], basic(index)));
        index += 1;
    }
    all
};

static LB_MARKER: Static<Inner> =
    Static::new(leaf(Constructor::LbMarker, None, Marks { lb: Some(0), ub: None }));

static UB_MARKER: Static<Inner> =
    Static::new(leaf(Constructor::UbMarker, None, Marks { lb: None, ub: Some(0) }));

impl Type {
    /// The named datatype of one basic datatype. Every call returns the same type.
    ///
    /// Basic datatypes of different languages are different types, even if they have the same size: `Basic::I32` is Rust's
    /// `i32` and C's `int32_t` (`MPI_INT32_T`), `Basic::Int` is C's `int` (`MPI_INT`). Use the one that the memory is declared
    /// with, because a type decodes to the name that it was made with. [Signatures](Self::signature) of basic datatypes with
    /// the same format are equal, so you can send one and receive the other.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// assert_eq!(Type::basic(Basic::F64).extent(), 8);
    /// ```
    pub fn basic(basic: Basic) -> Self {
        // The codes start at 1.
        Self(Shared::from(&BASICS[usize::from(basic.code()) - 1]))
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
        Self(Shared::from(&LB_MARKER))
    }

    /// The pseudo-datatype that marks the upper bound of a [`structure`](Self::structure), the
    /// `MPI_UB` of MPI-1.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// // {(i32, 0), (ub, 6)}, which sticks: two of them are 12 bytes.
    /// let t = Type::structure(&[1, 1], &[0, 6], &[Type::basic(Basic::I32), Type::ub_marker()])?;
    /// assert_eq!(Type::contiguous(2, &t)?.extent(), 12);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_UB")]
    pub fn ub_marker() -> Self {
        Self(Shared::from(&UB_MARKER))
    }

    /// The type of a Fortran kind, which a basic datatype represents.
    pub(super) fn fortran(combiner: Combiner, digits: [Option<u32>; 2], basic: Basic) -> Self {
        let constructor = Constructor::Fortran { combiner, digits, basic };
        Self(UninitShared::new().fill(leaf(constructor, Some(basic), NO_MARKS)))
    }
}

/// A type without parts: a value of a basic datatype, or a marker.
const fn leaf(constructor: Constructor, basic: Option<Basic>, markers: Marks) -> Inner {
    let (size, align, elements, flags) = match basic {
        Some(basic) => (basic.size() as u64, basic.align() as u64, 1, Flags::BASIC),
        None => (0, 1, 0, Flags::MARKER),
    };
    let end = size.cast_signed();
    Inner {
        constructor,
        size,
        elements,
        data: if size > 0 { Some(Interval { start: 0, end }) } else { None },
        markers,
        lb: 0,
        ub: end,
        align,
        flags,
        fingerprint: [const { Lazy::new() }; 2],
        depth: 0,
        entries: elements,
        rules: BoundsRule::Literal,
        overlap: Lazy::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_type_for_each_basic_datatype() {
        for basic in Basic::ALL {
            let ty = Type::basic(*basic);
            assert!(matches!(ty.constructor(), Constructor::Basic(it) if it == basic), "{basic}");
            assert_eq!((ty.size(), ty.align()), (basic.size() as u64, basic.align() as u64));
            assert_eq!(ty.as_ptr(), Type::basic(*basic).as_ptr());
        }
        let mut all: Vec<_> = Basic::ALL.iter().map(|basic| Type::basic(*basic).as_ptr()).collect();
        all.extend([Type::lb_marker().as_ptr(), Type::ub_marker().as_ptr()]);
        let number = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), number);
    }
}

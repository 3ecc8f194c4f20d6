//! The vectors, matrices and coordinates of fixed size of the `nalgebra` crate.
//!
//! All of them are the arrays that they are in memory: columns of elements, one column after another.
//! Left out is what keeps an invariant that bytes from elsewhere could break: `Unit` and with it `UnitQuaternion`,
//! `Rotation`, `Isometry`, `Similarity`, `Transform` and the projections. Send what they are made of, and make them
//! again where it arrives: `Unit::new_normalize`, `Rotation::from_matrix`.

use core::mem::offset_of;

use ::nalgebra::{ArrayStorage, Const, Matrix, OPoint, Quaternion, SMatrix, SVector, Scalar};
use ::nalgebra::{Scale, Translation};

use super::Datatype;
use crate::typemap::TypeMap;

// SAFETY: a matrix of this storage is `repr(C)` with the storage and a `PhantomData`, as is asserted; the storage is
// `repr(transparent)` over `[[T; R]; C]`, a public field that takes any value of this type. The matrix adds no rules.
unsafe impl<T: Datatype, const R: usize, const C: usize> Datatype
    for Matrix<T, Const<R>, Const<C>, ArrayStorage<T, R, C>>
{
    /// Column by column, as `[[T; R]; C]`; a column vector as `[T; R]`.
    const TYPE_MAP: &'static TypeMap = {
        assert!(
            offset_of!(Self, data) == 0
                && size_of::<Self>() == size_of::<[[T; R]; C]>()
                && size_of::<ArrayStorage<T, R, C>>() == size_of::<[[T; R]; C]>(),
            "this version of nalgebra keeps more in a matrix than its elements"
        );
        if C == 1 { <[T; R]>::TYPE_MAP } else { <[[T; R]; C]>::TYPE_MAP }
    };
}

/// The map of the only field of a struct.
macro_rules! only_field {
    ($type:ty, $field:ident: $inner:ty) => {{
        assert!(
            offset_of!($type, $field) == 0 && size_of::<$type>() == size_of::<$inner>(),
            "this version of nalgebra keeps more here than the coordinates"
        );
        <$inner as Datatype>::TYPE_MAP
    }};
}

// SAFETY: `repr(C)` with one public field, at the start and as large as the whole, as is asserted; there is no rule
// for the coordinates.
unsafe impl<T: Datatype + Scalar, const D: usize> Datatype for OPoint<T, Const<D>> {
    const TYPE_MAP: &'static TypeMap = only_field!(Self, coords: SVector<T, D>);
}

// SAFETY: as above. A quaternion of any length is a value; one of length 1 is a `UnitQuaternion`.
unsafe impl<T: Datatype> Datatype for Quaternion<T> {
    /// In the order of `coords`: `i`, `j`, `k`, `w`.
    const TYPE_MAP: &'static TypeMap = only_field!(Self, coords: SMatrix<T, 4, 1>);
}

// SAFETY: as for points; any displacement is a translation.
unsafe impl<T: Datatype, const D: usize> Datatype for Translation<T, D> {
    const TYPE_MAP: &'static TypeMap = only_field!(Self, vector: SVector<T, D>);
}

// SAFETY: as for points; any factors are a scale.
unsafe impl<T: Datatype, const D: usize> Datatype for Scale<T, D> {
    const TYPE_MAP: &'static TypeMap = only_field!(Self, vector: SVector<T, D>);
}

//! The vectors, matrices and coordinates of fixed size of the `nalgebra` crate.
//!
//! Their maps are those of arrays, as they are in memory: columns of elements, one after another.
//!
//! Types with an invariant, which foreign bytes could break, are not datatypes: `Unit` and with it `UnitQuaternion`,
//! `Rotation`, `Isometry`, `Similarity`, `Transform` and the projections. Send their parts and construct them again on
//! arrival: `Unit::new_normalize`, `Rotation::from_matrix`.

use core::mem::offset_of;

use ::nalgebra::{ArrayStorage, Const, Matrix, OPoint, Quaternion, SMatrix, SVector, Scalar};
use ::nalgebra::{Scale, Translation};

use super::Datatype;
use crate::typemap::TypeMap;

// SAFETY: the assertion shows that the storage lies at the start of a matrix and that both have the size of
// `[[T; R]; C]`. The storage is `repr(transparent)` over this array, in a public field, so any elements make a matrix.
#[diagnostic::do_not_recommend]
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

// SAFETY: `only_field!` asserts that the public field `coords` lies at the start and is as large as the point, so it is
// all of the point; safe code can set it to anything.
#[diagnostic::do_not_recommend]
unsafe impl<T: Datatype + Scalar, const D: usize> Datatype for OPoint<T, Const<D>> {
    const TYPE_MAP: &'static TypeMap = only_field!(Self, coords: SVector<T, D>);
}

// SAFETY: `only_field!` asserts that the public field `coords` lies at the start and is as large as the quaternion, so it
// is all of the quaternion. Its length is arbitrary; a `UnitQuaternion` has length 1.
#[diagnostic::do_not_recommend]
unsafe impl<T: Datatype> Datatype for Quaternion<T> {
    /// In the order of `coords`: `i`, `j`, `k`, `w`.
    const TYPE_MAP: &'static TypeMap = only_field!(Self, coords: SMatrix<T, 4, 1>);
}

// SAFETY: `only_field!` asserts that the public field `vector` lies at the start and is as large as the translation, so it
// is all of the translation; safe code can set it to anything.
#[diagnostic::do_not_recommend]
unsafe impl<T: Datatype, const D: usize> Datatype for Translation<T, D> {
    const TYPE_MAP: &'static TypeMap = only_field!(Self, vector: SVector<T, D>);
}

// SAFETY: `only_field!` asserts that the public field `vector` lies at the start and is as large as the scale, so it is all
// of the scale; safe code can set it to anything.
#[diagnostic::do_not_recommend]
unsafe impl<T: Datatype, const D: usize> Datatype for Scale<T, D> {
    const TYPE_MAP: &'static TypeMap = only_field!(Self, vector: SVector<T, D>);
}

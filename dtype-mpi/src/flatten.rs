//! Views structs of numbers as numbers, for the operations that MPI defines on numbers only.

use std::any::type_name;

use dtype_runtime::Datatype as Described;
use dtype_runtime::typemap::{Field, Node, TypeMap};

use crate::error::Error;

/// Views structs that consist of elements of one type as these elements, for example for the predefined reduction operations,
/// which are defined on numbers only (MPI-4.1 section 6.9.2).
///
/// # Errors
///
/// [`Error::NotHomogeneous`] if a `T` contains anything else, including padding.
///
/// ```
/// #[derive(dtype_runtime::Datatype)]
/// struct Force {
///     linear: [f64; 3],
///     angular: [f64; 3],
/// }
/// let forces = [Force { linear: [1.0; 3], angular: [2.0; 3] }];
/// let numbers: &[f64] = dtype_mpi::flatten(&forces)?;
/// assert_eq!(numbers, [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
/// assert!(dtype_mpi::flatten::<_, f64>(&[(1.0_f64, 2_u64)]).is_err());
/// # Ok::<(), dtype_mpi::Error>(())
/// ```
pub fn flatten<T: Described, E: Described>(elements: &[T]) -> Result<&[E], Error> {
    let count = homogeneous::<T, E>(elements.len())?;
    // SAFETY: the elements consist of `length` values of `E` and nothing else, as just checked; the lifetime is the same.
    Ok(unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), count) })
}

/// As [`flatten`], for writing.
///
/// # Errors
///
/// As [`flatten`].
pub fn flatten_mut<T: Described, E: Described>(elements: &mut [T]) -> Result<&mut [E], Error> {
    let count = homogeneous::<T, E>(elements.len())?;
    // SAFETY: as in `flatten`; values of `E` that are written are valid in a `T`, because both accept all bytes.
    Ok(unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), count) })
}

/// The number of values of `E` in `count` values of `T`.
fn homogeneous<T: Described, E: Described>(count: usize) -> Result<usize, Error> {
    let (map, element) = (T::TYPE_MAP, E::TYPE_MAP);
    let good = match element.node() {
        Node::Basic { basic, .. } => {
            map.is_dense()
                && !map.is_restricted()
                && !element.is_restricted()
                && map.size() > 0
                && align_of::<T>() >= align_of::<E>()
                && consists_of(map, basic.canonical())
        }
        _ => false,
    };
    if !good {
        return Err(Error::NotHomogeneous { name: type_name::<T>(), element: type_name::<E>() });
    }
    // The values exist in memory, so the product cannot overflow.
    Ok(count * (map.size() / element.size()))
}

fn consists_of(map: &TypeMap, element: dtype_runtime::Basic) -> bool {
    match *map.node() {
        Node::Basic { basic, .. } => basic.canonical() == element,
        Node::Array { element: inner, count } => count == 0 || consists_of(inner, element),
        Node::Structure { fields, .. } => {
            fields.iter().filter_map(Field::map).all(|map| consists_of(map, element))
        }
    }
}

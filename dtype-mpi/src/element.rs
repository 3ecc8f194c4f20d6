//! Wraps Rust types so that the `mpi` crate accepts them as its own.

use std::any::type_name;
use std::ops::{Deref, DerefMut};

use dtype_runtime::Datatype as Described;
use dtype_runtime::typemap::{Field, Node, TypeMap};
use mpi::datatype::DatatypeRef;
use mpi::traits::Equivalence;

use crate::error::Error;
use crate::raw::Datatype;

/// A `T` wherever the [`mpi`] crate takes an [`Equivalence`]: alone or in slices, vectors and arrays, for sending,
/// receiving and all collective operations.
///
/// It has the layout of `T`, and slices and vectors are cast without a copy. Sending omits the padding, and
/// receiving does not write it. Any received bytes become values, so a type for which some bytes are invalid (one
/// that contains a `bool`, a `char`, a `NonZero` or an enum) does not compile here. Neither does a type that skips
/// fields, because nothing would initialise them. For such types use [`SendBuffer`](crate::SendBuffer),
/// [`ReceiveBuffer`](crate::ReceiveBuffer), or the functions of [`traits`](crate::traits), which check the bytes.
///
/// # Panics
///
/// The `mpi` crate asks for the datatype in the middle of a call, where no error can be returned.
/// [`equivalent_datatype`](Equivalence::equivalent_datatype) therefore panics if [`Datatype::of`] fails. To get the
/// error instead, call [`Datatype::of`] before the first message. The `mpi` crate counts to 2³¹ − 1 and panics for
/// more.
///
/// # What the `mpi` crate does not check
///
/// It does not check that a message holds whole elements when it returns new elements. If a peer sends part of an
/// element, `receive`, `matched_receive` and `send_receive`, alone or with tags, return an element whose rest is
/// uninitialised memory. That is undefined behaviour, without `unsafe` in the program. `receive_vec` panics for
/// part of an element. From a peer that is not trusted, receive into existing elements and call
/// [`received_count`](crate::received_count), or use [`recv_packed`](crate::traits::PackedSource::recv_packed),
/// which refuses such a message.
///
/// It does not check the alignment of the library's own memory, which the library passes to the function of a
/// reduction (`UserOperation`) as elements. That memory is commonly aligned to 16 bytes. For a type with a greater
/// alignment, use an [`Operation`](crate::Operation).
///
/// ```
/// use dtype_mpi::Element;
/// use mpi::traits::*;
///
/// #[derive(dtype_runtime::Datatype, Clone, Debug, PartialEq)]
/// struct Particle {
///     position: [f64; 3],
///     charge: i8,
/// }
///
/// let universe = mpi::initialize().expect("MPI runs once");
/// let world = universe.world();
/// let particles = vec![Particle { position: [1.0, 2.0, 3.0], charge: -1 }];
/// let mut all = Element::from_vec(vec![particles[0].clone(); 2]);
/// world.this_process().gather_into_root(Element::from_slice(&particles), &mut all[..1]);
/// assert_eq!(Element::into_vec(all), [particles[0].clone(), particles[0].clone()]);
/// ```
///
/// ```compile_fail,E0080
/// # use mpi::traits::*;
/// // Not every byte is a valid `bool`.
/// dtype_mpi::Element::<(u8, bool)>::equivalent_datatype();
/// ```
///
/// ```compile_fail,E0080
/// # use mpi::traits::*;
/// #[derive(dtype_runtime::Datatype)]
/// struct Skipping {
///     sent: u8,
///     #[dtype(skip)]
///     kept: u8,
/// }
/// dtype_mpi::Element::<Skipping>::equivalent_datatype();
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Element<T>(pub T);

impl<T: Described> Element<T> {
    /// Wraps a slice to be sent.
    pub fn from_slice(elements: &[T]) -> &[Self] {
        const { assert_unrestricted::<T>() }
        // SAFETY: the same layout, and the same lifetime.
        unsafe { &*(std::ptr::from_ref(elements) as *const [Self]) }
    }

    /// Wraps a slice to be received into.
    pub fn from_slice_mut(elements: &mut [T]) -> &mut [Self] {
        const { assert_unrestricted::<T>() }
        // SAFETY: the same layout, and the same lifetime.
        unsafe { &mut *(std::ptr::from_mut(elements) as *mut [Self]) }
    }

    /// Wraps the elements of a vector without moving its memory.
    pub fn from_vec(elements: Vec<T>) -> Vec<Self> {
        const { assert_unrestricted::<T>() }
        let mut elements = std::mem::ManuallyDrop::new(elements);
        let (at, len, capacity) = (elements.as_mut_ptr(), elements.len(), elements.capacity());
        // SAFETY: the memory of a vector, which only the new vector frees; the elements have the same layout.
        unsafe { Vec::from_raw_parts(at.cast(), len, capacity) }
    }

    /// Unwraps the elements of a vector.
    pub fn into_vec(elements: Vec<Self>) -> Vec<T> {
        let mut elements = std::mem::ManuallyDrop::new(elements);
        let (at, len, capacity) = (elements.as_mut_ptr(), elements.len(), elements.capacity());
        // SAFETY: as in `from_vec`.
        unsafe { Vec::from_raw_parts(at.cast(), len, capacity) }
    }

    /// Unwraps the elements of a slice.
    pub fn as_slice(elements: &[Self]) -> &[T] {
        // SAFETY: the same layout, and the same lifetime.
        unsafe { &*(std::ptr::from_ref(elements) as *const [T]) }
    }
}

impl<T> Deref for Element<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Element<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

// SAFETY: the datatype names the data of a `T`, all of which are initialised, and has its stride. Any bytes are
// valid values, and a value needs nothing but its data.
unsafe impl<T: Described> Equivalence for Element<T> {
    type Out = DatatypeRef<'static>;

    fn equivalent_datatype() -> DatatypeRef<'static> {
        const { assert_unrestricted::<T>() }
        match Datatype::of::<T>() {
            Ok(datatype) => datatype,
            Err(error) => panic!("no datatype for {}: {error}", type_name::<T>()),
        }
    }
}

/// Rejects at compile time a type for which some received bytes would not be valid values.
#[track_caller]
pub(crate) const fn assert_unrestricted<T: Described>() {
    assert!(
        !T::TYPE_MAP.is_restricted(),
        "not all bytes are values of this type: receive it with `recv_packed` or `recv_packed_into`, or a \
         collective operation of `dtype_mpi::traits`; send it with these or a `SendBuffer`"
    );
    assert!(
        !T::TYPE_MAP.skips_fields(),
        "this type skips fields, which receiving could not initialise: use a `ReceiveBuffer` or \
         `recv_packed_into`, which receive into values that exist"
    );
}

/// Rejects at compile time a type whose values are not all data.
#[track_caller]
pub(crate) const fn assert_dense<T: Described>() {
    assert!(
        T::TYPE_MAP.is_dense(),
        "this type has padding or skipped fields: a datatype made at run time could name them"
    );
}

/// Views structs that consist of elements of one type as these elements: for example for the predefined reduction
/// operations, which are defined on numbers only (MPI-4.1 section 6.9.2).
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
        _ => false,
    }
}

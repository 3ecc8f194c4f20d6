//! What the derive's output names. Not public API: it may change with any version of the derive.

pub use core;
pub use memoffset;

pub use crate::basic::Basic;
pub use crate::datatype::{Datatype, Describes};
pub use crate::typemap::{Field, Markers, TypeMap};

/// The map of a field, its type taken from the place that `project` points at. Tokens are never
/// asked for the type: a macro in type position may answer differently each time it is expanded.
pub const fn field_map<S, F: Datatype>(_project: fn(*const S) -> *const F) -> &'static TypeMap {
    F::TYPE_MAP
}

/// As [`field_map`], for a field described by another type.
pub const fn field_map_with<S, F, D: Describes<F>>(
    _project: fn(*const S) -> *const F,
    _with: core::marker::PhantomData<D>,
) -> &'static TypeMap {
    const {
        assert!(
            D::FOREIGN_MAP.stride() == size_of::<F>(),
            "the description is not that of a type of this size"
        );
    }
    D::FOREIGN_MAP
}

/// `size_of` the field, in bytes.
pub const fn field_size<S, F>(_project: fn(*const S) -> *const F) -> usize {
    size_of::<F>()
}

/// Compiles only when both places have the same type.
pub const fn same_type<A, B, F>(_a: fn(*const A) -> *const F, _b: fn(*const B) -> *const F) {}

// The hints: traits that every datatype has, with a message of their own for what is not one. The
// derive picks one by the last segment of the field's type. Picking wrongly changes nothing but the
// words of an error that would have come anyway. They are written out, without a macro, because the
// compiler shows the function in its messages.

/// Keeps its data in itself: every datatype.
#[diagnostic::on_unimplemented(
    message = "`{Self}` keeps its data elsewhere and cannot be part of a datatype",
    label = "holds a pointer, which means nothing to another process",
    note = "store the data in the struct itself, as an array `[T; N]` with its length beside it, \
            or leave the field out with `#[dtype(skip)]`"
)]
pub trait OwnsNoHeap: Datatype {}

#[diagnostic::do_not_recommend]
impl<T: Datatype> OwnsNoHeap for T {}

/// As [`field_map`], with the message of [`OwnsNoHeap`].
pub const fn field_map_heap<S, F: OwnsNoHeap>(
    _project: fn(*const S) -> *const F,
) -> &'static TypeMap {
    F::TYPE_MAP
}

/// Does not change while it is shared: every datatype.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can change while it is shared and cannot be part of a datatype",
    label = "could change while it is being packed",
    note = "store a plain value and copy it out of the cell or atomic before packing, or leave \
            the field out with `#[dtype(skip)]`"
)]
pub trait IsNoCell: Datatype {}

#[diagnostic::do_not_recommend]
impl<T: Datatype> IsNoCell for T {}

/// As [`field_map`], with the message of [`IsNoCell`].
pub const fn field_map_cell<S, F: IsNoCell>(
    _project: fn(*const S) -> *const F,
) -> &'static TypeMap {
    F::TYPE_MAP
}

/// Has no uninitialised data: every datatype.
#[diagnostic::on_unimplemented(
    message = "`{Self}` may be uninitialised and cannot be part of a datatype",
    label = "has bytes that may not be read",
    note = "store an initialised value, or leave the field out with `#[dtype(skip)]`"
)]
pub trait IsInitialised: Datatype {}

#[diagnostic::do_not_recommend]
impl<T: Datatype> IsInitialised for T {}

/// As [`field_map`], with the message of [`IsInitialised`].
pub const fn field_map_uninit<S, F: IsInitialised>(
    _project: fn(*const S) -> *const F,
) -> &'static TypeMap {
    F::TYPE_MAP
}

/// Has a layout that is defined: every datatype.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no layout to rely on and cannot be part of a datatype",
    label = "where this keeps its `None` is not defined",
    note = "`Option<NonZero<_>>` is accepted; otherwise store a `bool` and the value as two fields"
)]
pub trait HasLayout: Datatype {}

#[diagnostic::do_not_recommend]
impl<T: Datatype> HasLayout for T {}

/// As [`field_map`], with the message of [`HasLayout`].
pub const fn field_map_option<S, F: HasLayout>(
    _project: fn(*const S) -> *const F,
) -> &'static TypeMap {
    F::TYPE_MAP
}

/// Is described to the public: every datatype.
#[diagnostic::on_unimplemented(
    message = "`{Self}` belongs to another crate and has no type map",
    label = "its layout is not public",
    note = "store what it means in numbers (nanoseconds in a `u64`, say), leave the field out with \
            `#[dtype(skip)]`, or describe it with `#[dtype(with = …)]`"
)]
pub trait IsNotOpaque: Datatype {}

#[diagnostic::do_not_recommend]
impl<T: Datatype> IsNotOpaque for T {}

/// As [`field_map`], with the message of [`IsNotOpaque`].
pub const fn field_map_opaque<S, F: IsNotOpaque>(
    _project: fn(*const S) -> *const F,
) -> &'static TypeMap {
    F::TYPE_MAP
}

/// The basic datatype that `usize` travels as, for an enum with that repr.
pub const USIZE: Basic = integer(<usize as Datatype>::TYPE_MAP);

/// The basic datatype that `isize` travels as, for an enum with that repr.
pub const ISIZE: Basic = integer(<isize as Datatype>::TYPE_MAP);

const fn integer(map: &TypeMap) -> Basic {
    match map.node() {
        crate::typemap::Node::Basic { basic, .. } => *basic,
        _ => panic!("a basic datatype"),
    }
}

/// The bits of an enum's value, zero-extended. Read from the value, so that nothing rests on what a
/// `repr` says.
///
/// # Safety
///
/// Every byte of the value is initialised, or the call is evaluated at compile time, where reading
/// one that is not is an error.
///
/// # Panics
///
/// When the enum does not have the size of `basic`; in a derive that is a compile error.
#[track_caller]
pub const unsafe fn variant_bits<E>(variant: E, basic: Basic) -> u128 {
    assert!(
        size_of::<E>() == basic.size(),
        "the enum does not have the size of the integer that its repr names"
    );
    let variant = core::mem::ManuallyDrop::new(variant);
    let place = &raw const variant;
    // SAFETY: each read is as wide as the value, asks for no alignment, and makes an integer of
    // bytes that the caller promises to be initialised.
    unsafe {
        match size_of::<E>() {
            1 => place.cast::<u8>().read() as u128,
            2 => place.cast::<u16>().read_unaligned() as u128,
            4 => place.cast::<u32>().read_unaligned() as u128,
            8 => place.cast::<u64>().read_unaligned() as u128,
            _ => place.cast::<u128>().read_unaligned(),
        }
    }
}

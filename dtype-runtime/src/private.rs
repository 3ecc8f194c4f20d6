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
    D::TYPE_MAP
}

/// `size_of` the field, in bytes.
pub const fn field_size<S, F>(_project: fn(*const S) -> *const F) -> usize {
    size_of::<F>()
}

/// Compiles only when both places have the same type.
pub const fn same_type<A, B, F>(_a: fn(*const A) -> *const F, _b: fn(*const B) -> *const F) {}

/// The hints: traits that every datatype has, with a message of their own for what is not one. The
/// derive picks one by the last segment of the field's type. Picking wrongly changes nothing but the
/// words of an error that would have come anyway.
macro_rules! hint {
    ($(#[$attribute:meta])* $name:ident, $map:ident) => {
        $(#[$attribute])*
        pub trait $name: Datatype {}

        #[diagnostic::do_not_recommend]
        impl<T: Datatype> $name for T {}

        /// As [`field_map`], with the hint's message.
        pub const fn $map<S, F: $name>(_project: fn(*const S) -> *const F) -> &'static TypeMap {
            F::TYPE_MAP
        }
    };
}

hint! {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` keeps its data elsewhere and cannot be part of a datatype",
        label = "holds a pointer, which means nothing to another process",
        note = "store the data in the struct itself, as an array `[T; N]` with its length beside it, \
                or leave the field out with `#[dtype(skip)]`"
    )]
    OwnsNoHeap, field_map_heap
}

hint! {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can change while it is shared and cannot be part of a datatype",
        label = "could change while it is being packed",
        note = "store a plain value and copy it out of the cell or atomic before packing, or leave \
                the field out with `#[dtype(skip)]`"
    )]
    IsNoCell, field_map_cell
}

hint! {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` may be uninitialised and cannot be part of a datatype",
        label = "has bytes that may not be read",
        note = "store an initialised value, or leave the field out with `#[dtype(skip)]`"
    )]
    IsInitialised, field_map_uninit
}

hint! {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` has no layout to rely on and cannot be part of a datatype",
        label = "where this keeps its `None` is not defined",
        note = "`Option<NonZero<_>>` is accepted; otherwise store a `bool` and the value as two fields"
    )]
    HasLayout, field_map_option
}

hint! {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` belongs to another crate and has no type map",
        label = "its layout is not public",
        note = "store what it means in numbers (nanoseconds in a `u64`, say), leave the field out with \
                `#[dtype(skip)]`, or describe it with `#[dtype(with = …)]`"
    )]
    IsNotOpaque, field_map_opaque
}

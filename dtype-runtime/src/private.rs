//! Names used by the derive's output, and functions beyond the public API that other crates of this workspace need. They may
//! change with any version.

use alloc::vec::Vec;
pub use core;
pub use memoffset;

pub use crate::basic::Basic;
pub use crate::datatype::{Datatype, Describes};
use crate::representation::ByteOrder;
use crate::typed::pack_as;
pub use crate::typed::{
    RecordPacker, Records, call_check, pack_one_onto, unpack_after, unpack_onto,
};
use crate::typemap::assert_bound;
pub use crate::typemap::{Field, Markers, TypeMap};

/// The map of the field that `project` points at. The compiler infers the field's type. The derive does not repeat the tokens
/// of the type, because a macro in them could expand differently each time.
pub const fn field_map<S, F: Datatype>(_project: fn(*const S) -> *const F) -> &'static TypeMap {
    F::TYPE_MAP
}

/// The map of a field that the type `D` describes.
pub const fn field_map_with<S, F, D: Describes<F>>(
    _project: fn(*const S) -> *const F,
    _with: core::marker::PhantomData<D>,
) -> &'static TypeMap {
    const {
        assert!(
            D::FOREIGN_MAP.stride() == size_of::<F>(),
            "the description has another size than the field's type"
        );
    }
    D::FOREIGN_MAP
}

/// What packs the default of the field that `project` points at.
pub const fn field_default<S, F: Datatype + Default>(
    _project: fn(*const S) -> *const F,
) -> fn(ByteOrder) -> Vec<u8> {
    // Without bytes there is no default.
    |order| pack_as(&[F::default()], order.into()).unwrap_or_default()
}

/// `size_of` the field.
pub const fn field_size<S, F>(_project: fn(*const S) -> *const F) -> usize {
    size_of::<F>()
}

/// Compiles only if both fields have the same type.
pub const fn same_type<A, B, F>(_a: fn(*const A) -> *const F, _b: fn(*const B) -> *const F) {}

// The hints: traits that every datatype implements, each with its own message for a type that is not a datatype. The derive
// picks one by the path of the field's type. A wrong pick only changes the words of an error; if the type is generic, it also
// changes the bounds of the impl, and the messages name the remedy. The functions are written without a macro, because the
// compiler shows them in its messages.

/// The type keeps its data in itself, as every datatype does.
#[diagnostic::on_unimplemented(
    message = "`{Self}` keeps its data elsewhere and cannot be part of a datatype",
    label = "holds a pointer, which means nothing to another process",
    note = "store the data in the struct itself, as a `dtype_runtime::FixedStr<N>` or a \
            `dtype_runtime::FixedVec<T, N>`, or leave the field out with `#[dtype(skip)]`",
    note = "if `{Self}` is a datatype of your own, put `#[dtype(bound = \"{Self}: Datatype\")]` on the struct"
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

/// The type does not change while it is shared; no datatype does.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can change while it is shared and cannot be part of a datatype",
    label = "could change while it is being packed",
    note = "store a plain value and copy it out of the cell or atomic before packing, \
            or leave the field out with `#[dtype(skip)]`",
    note = "if `{Self}` is a datatype of your own, put `#[dtype(bound = \"{Self}: Datatype\")]` on the struct"
)]
pub trait IsNotCell: Datatype {}

#[diagnostic::do_not_recommend]
impl<T: Datatype> IsNotCell for T {}

/// As [`field_map`], with the message of [`IsNotCell`].
pub const fn field_map_cell<S, F: IsNotCell>(
    _project: fn(*const S) -> *const F,
) -> &'static TypeMap {
    F::TYPE_MAP
}

/// The type has no uninitialised data; no datatype has.
#[diagnostic::on_unimplemented(
    message = "`{Self}` may be uninitialised and cannot be part of a datatype",
    label = "has bytes that may not be read",
    note = "store an initialised value, or leave the field out with `#[dtype(skip)]`",
    note = "if `{Self}` is a datatype of your own, put `#[dtype(bound = \"{Self}: Datatype\")]` on the struct"
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

/// The type has a defined layout, as every datatype has.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no defined layout and cannot be part of a datatype",
    label = "Rust does not define where this stores `None` or `Err`",
    note = "`Option<NonZero<_>>` is accepted; otherwise store a `dtype_runtime::Maybe<_>`",
    note = "if `{Self}` is a datatype of your own, put `#[dtype(bound = \"{Self}: Datatype\")]` on the struct"
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

/// Is not a time type of the standard library.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no defined layout and cannot be part of a datatype",
    label = "std does not define the layout of its times",
    note = "store a `SystemTime` as a `dtype_runtime::Timestamp<U>`, an interval between two `Instant`s as a \
            `dtype_runtime::TimeSpan<U>`, and a `Duration` as either that or a `dtype_runtime::FixedDuration`, \
            where `U` is a unit such as `dtype_runtime::time::Nanoseconds`",
    note = "if the field need not travel, leave it out with `#[dtype(skip)]`"
)]
pub trait IsNotTime: Datatype {}

#[diagnostic::do_not_recommend]
impl<T: Datatype> IsNotTime for T {}

/// As [`field_map`], with the message of [`IsNotTime`].
pub const fn field_map_time<S, F: IsNotTime>(
    _project: fn(*const S) -> *const F,
) -> &'static TypeMap {
    F::TYPE_MAP
}

/// Is not an address type of the standard library.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no defined layout and cannot be part of a datatype",
    label = "std does not define the layout of this address",
    note = "store an `Ipv4Addr` or `Ipv6Addr`, which are datatypes, and the port as a `u16`, or \
            leave the field out with `#[dtype(skip)]`"
)]
pub trait IsNotAddress: Datatype {}

#[diagnostic::do_not_recommend]
impl<T: Datatype> IsNotAddress for T {}

/// As [`field_map`], with the message of [`IsNotAddress`].
pub const fn field_map_address<S, F: IsNotAddress>(
    _project: fn(*const S) -> *const F,
) -> &'static TypeMap {
    F::TYPE_MAP
}

/// Is not the field that `bitflags!` adds to a struct.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is private to `bitflags!` and cannot be part of a datatype",
    label = "`bitflags!` adds this field",
    note = "write the struct and use the `impl` form of the macro: `#[derive(Datatype)] \
            struct Flags(u32); bitflags! {{ impl Flags: u32 {{ … }} }}`"
)]
pub trait IsNotBitflags: Datatype {}

#[diagnostic::do_not_recommend]
impl<T: Datatype> IsNotBitflags for T {}

/// As [`field_map`], with the message of [`IsNotBitflags`].
pub const fn field_map_bitflags<S, F: IsNotBitflags>(
    _project: fn(*const S) -> *const F,
) -> &'static TypeMap {
    F::TYPE_MAP
}

/// The type has a meaning outside of this process, as every datatype has.
#[diagnostic::on_unimplemented(
    message = "`{Self}` means nothing to another process and cannot be part of a datatype",
    label = "its layout is not public",
    note = "store what the other process needs as numbers, or leave the field out with \
            `#[dtype(skip)]`"
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

/// A bound in bytes that an attribute sets.
///
/// # Panics
///
/// As the functions of [`Markers`]. The caller's location is that of the value in the attribute, which the compiler then
/// underlines.
#[track_caller]
pub const fn bound(bytes: i64) -> i64 {
    assert_bound(bytes);
    bytes
}

/// The basic datatype that stands for `usize` in an enum with that repr.
pub const USIZE: Basic = integer(<usize as Datatype>::TYPE_MAP);

/// The basic datatype that stands for `isize` in an enum with that repr.
pub const ISIZE: Basic = integer(<isize as Datatype>::TYPE_MAP);

const fn integer(map: &TypeMap) -> Basic {
    match map.node() {
        crate::typemap::Node::Basic { basic, .. } => *basic,
        _ => panic!("a basic datatype"),
    }
}

/// The bits of an enum's value, zero-extended. They are read from the value, so nothing relies on the `repr` attribute.
///
/// # Safety
///
/// Every byte of the value must be initialised, or the call must be evaluated at compile time, where
/// reading an uninitialised byte is a compile error.
///
/// # Panics
///
/// If the size of the enum is not the size of `basic`; in a derive that is a compile error.
#[track_caller]
pub const unsafe fn variant_bits<E>(variant: E, basic: Basic) -> u128 {
    assert!(
        size_of::<E>() == basic.size(),
        "the enum does not have the size of the integer that its repr names"
    );
    let variant = core::mem::ManuallyDrop::new(variant);
    let bits = &raw const variant;
    // SAFETY: each read is as wide as the value, whose size is the size of `basic`, and needs no
    // alignment; the caller guarantees that the bytes are initialised, and any bits make an integer.
    unsafe {
        match size_of::<E>() {
            1 => bits.cast::<u8>().read() as u128,
            2 => bits.cast::<u16>().read_unaligned() as u128,
            4 => bits.cast::<u32>().read_unaligned() as u128,
            8 => bits.cast::<u64>().read_unaligned() as u128,
            _ => bits.cast::<u128>().read_unaligned(),
        }
    }
}

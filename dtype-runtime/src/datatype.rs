//! The trait of types that can be packed, and its impls for the types of the standard library.

use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::num::{NonZero, Saturating, Wrapping};

use crate::basic::{Basic, Validity};
use crate::typemap::{Field, Markers, TypeMap};

#[cfg(feature = "glam")]
mod glam;
#[cfg(feature = "half")]
mod half;
#[cfg(feature = "nalgebra")]
mod nalgebra;
mod net;
#[cfg(feature = "num-complex")]
mod num_complex;
#[cfg(feature = "ordered-float")]
mod ordered_float;
mod proof;
mod public_fields;
#[cfg(feature = "uuid")]
mod uuid;
#[cfg(feature = "zerocopy")]
mod zerocopy;

/// A type whose values can be packed, sent and unpacked. Derive it.
///
/// Deriving it on a struct lets anyone overwrite the struct's data fields with any bytes that the fields' own types
/// accept, private fields included. If the struct has an invariant, name a function that checks it with
/// `#[dtype(check = …)]`, or do not derive.
///
/// # Safety
///
/// A manual implementation guarantees, for [`TYPE_MAP`](Self::TYPE_MAP):
///
/// - [`stride`](TypeMap::stride) is `size_of::<Self>()`, and every byte that the map names lies
///   inside a value;
/// - no byte is named twice;
/// - every byte named is initialised in every value, and is not changed through a shared reference
///   (no cell, no atomic);
/// - any bytes that each leaf's [`Validity`] and each [check](TypeMap::checked) of the map accept, written
///   to the named bytes of a value, leave a valid value of `Self`; unless [`skips_fields`](TypeMap::skips_fields), the result is valid even if
///   the other bytes are uninitialised;
/// - a byte that is not named is padding, unless `skips_fields`: it may hold anything, and only the borrower of the value
///   accesses it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a datatype",
    label = "no type map is known for `{Self}`",
    note = "if it is a struct or an enum of yours, put `#[derive(Datatype)]` on it",
    note = "if it is a foreign type with public fields, derive a description, `#[derive(Datatype)] \
            #[dtype(remote = …)]`, and name it with `#[dtype(with = …)]` on the field",
    note = "if the field need not travel, leave it out with `#[dtype(skip)]`"
)]
pub unsafe trait Datatype: Sized {
    /// Which bytes of a value are data, of which types, and in which order.
    const TYPE_MAP: &'static TypeMap;
}

/// A description of the type `T` by another type. `#[dtype(with = Self)]` on a field of type `T` requires
/// it; `#[dtype(remote = T)]` implements it without `unsafe`.
///
/// # Safety
///
/// The guarantees of [`Datatype`], given for `T` instead of `Self`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not describe `{T}`",
    label = "this type does not describe the field",
    note = "derive it on a struct with the same public fields: \
            `#[derive(Datatype)] #[dtype(remote = …)]`, or implement the unsafe trait `Describes` \
            by hand"
)]
pub unsafe trait Describes<T> {
    /// Which bytes of a `T` are data, of which types, and in which order.
    const FOREIGN_MAP: &'static TypeMap;
}

// SAFETY: the elements of an array lie one after another with a stride of `size_of::<T>()`, without
// padding of the array's own, and `D` gives its guarantees for each of them.
unsafe impl<T, D: Describes<T>, const N: usize> Describes<[T; N]> for D {
    const FOREIGN_MAP: &'static TypeMap = &TypeMap::array(D::FOREIGN_MAP, N);
}

macro_rules! basic {
    ($($type:ty: $basic:ident;)*) => {$(
        // SAFETY: the type is one scalar of exactly these bytes, without padding; `TypeMap::basic`
        // restricts `bool` and `char` to the patterns that the language allows, and every pattern
        // is a value of the others.
        #[diagnostic::do_not_recommend]
        unsafe impl Datatype for $type {
            const TYPE_MAP: &'static TypeMap = {
                assert!(size_of::<Self>() == Basic::$basic.size());
                &TypeMap::basic(Basic::$basic)
            };
        }
    )*};
}

basic! {
    i8: I8; i16: I16; i32: I32; i64: I64; i128: I128;
    u8: U8; u16: U16; u32: U32; u64: U64; u128: U128;
    f32: F32; f64: F64; bool: Bool; char: Char;
}

macro_rules! nonzero {
    ($($int:ty: $name:literal;)*) => {$(
        // SAFETY: `NonZero` has the layout of its integer and excludes nothing but zero.
        #[diagnostic::do_not_recommend]
        unsafe impl Datatype for NonZero<$int> {
            const TYPE_MAP: &'static TypeMap = match <$int as Datatype>::TYPE_MAP.node() {
                crate::typemap::Node::Basic { basic, .. } => {
                    &TypeMap::restricted(*basic, Validity::NonZero, $name)
                }
                _ => unreachable!(),
            };
        }

        // SAFETY: std guarantees that `Option<NonZero<_>>` has the layout of the integer, with zero as
        // `None`, so every pattern is a value.
        #[diagnostic::do_not_recommend]
        unsafe impl Datatype for Option<NonZero<$int>> {
            const TYPE_MAP: &'static TypeMap = <$int as Datatype>::TYPE_MAP;
        }
    )*};
}

nonzero! {
    i8: "NonZero<i8>"; i16: "NonZero<i16>"; i32: "NonZero<i32>"; i64: "NonZero<i64>";
    i128: "NonZero<i128>"; isize: "NonZero<isize>";
    u8: "NonZero<u8>"; u16: "NonZero<u16>"; u32: "NonZero<u32>"; u64: "NonZero<u64>";
    u128: "NonZero<u128>"; usize: "NonZero<usize>";
}

macro_rules! pointer_sized {
    ($($width:literal: $unsigned:ident, $signed:ident;)*) => {$(
        #[cfg(target_pointer_width = $width)]
        basic! { usize: $unsigned; isize: $signed; }
    )*};
}

pointer_sized! { "16": U16, I16; "32": U32, I32; "64": U64, I64; }

macro_rules! transparent {
    ($($wrapper:ident)*) => {$(
        // SAFETY: the wrapper is `repr(transparent)` over `T` and accepts every value of it.
        #[diagnostic::do_not_recommend]
        unsafe impl<T: Datatype> Datatype for $wrapper<T> {
            const TYPE_MAP: &'static TypeMap = T::TYPE_MAP;
        }
    )*};
}

transparent! { Wrapping Saturating ManuallyDrop }

// SAFETY: a value has no bytes, so there are none to name, and it can be made from nothing by anyone.
#[diagnostic::do_not_recommend]
unsafe impl<T: ?Sized> Datatype for PhantomData<T> {
    const TYPE_MAP: &'static TypeMap =
        &TypeMap::structure::<Self>("PhantomData", &[], Markers::NONE);
}

// SAFETY: a value has no bytes, so there are none to name, and it can be made from nothing by anyone.
#[diagnostic::do_not_recommend]
unsafe impl Datatype for () {
    const TYPE_MAP: &'static TypeMap = &TypeMap::structure::<Self>("()", &[], Markers::NONE);
}

// SAFETY: the elements lie one after another with a stride of `size_of::<T>()`, without padding of the
// array's own, and the guarantees of `T` cover each of them.
unsafe impl<T: Datatype, const N: usize> Datatype for [T; N] {
    const TYPE_MAP: &'static TypeMap = &TypeMap::array(T::TYPE_MAP, N);
}

macro_rules! tuple {
    ($($name:literal: $($param:ident $index:tt)+;)*) => {$(
        // SAFETY: the offsets come from the compiler. A tuple holds nothing but its elements, so the
        // other bytes are padding, and each element's own guarantees cover its bytes.
        #[diagnostic::do_not_recommend]
        unsafe impl<$($param: Datatype),+> Datatype for ($($param,)+) {
            const TYPE_MAP: &'static TypeMap = &TypeMap::structure::<Self>(
                $name,
                const {
                    &[$(Field::new(
                        stringify!($index),
                        memoffset::offset_of_tuple!(Self, $index),
                        <$param as Datatype>::TYPE_MAP,
                    )),+]
                },
                Markers::NONE,
            );
        }
    )*};
}

tuple! {
    "(_,)": A 0;
    "(_, _)": A 0 B 1;
    "(_, _, _)": A 0 B 1 C 2;
    "(_, _, _, _)": A 0 B 1 C 2 D 3;
    "(_, _, _, _, _)": A 0 B 1 C 2 D 3 E 4;
    "(_, _, _, _, _, _)": A 0 B 1 C 2 D 3 E 4 F 5;
    "(_, _, _, _, _, _, _)": A 0 B 1 C 2 D 3 E 4 F 5 G 6;
    "(_, _, _, _, _, _, _, _)": A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7;
    "(_, _, _, _, _, _, _, _, _)": A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8;
    "(_, _, _, _, _, _, _, _, _, _)": A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9;
    "(_, _, _, _, _, _, _, _, _, _, _)": A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10;
    "(_, _, _, _, _, _, _, _, _, _, _, _)": A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11;
    "(_, _, _, _, _, _, _, _, _, _, _, _, _)":
        A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11 M 12;
    "(_, _, _, _, _, _, _, _, _, _, _, _, _, _)":
        A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11 M 12 N 13;
    "(_, _, _, _, _, _, _, _, _, _, _, _, _, _, _)":
        A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11 M 12 N 13 O 14;
    "(_, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _)":
        A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11 M 12 N 13 O 14 P 15;
}

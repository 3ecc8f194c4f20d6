//! Code that forbids `unsafe` and denies many lints.
#![forbid(unsafe_code, unsafe_op_in_unsafe_fn, unused, nonstandard_style)]
#![deny(warnings, missing_docs, unused_qualifications, unreachable_pub, elided_lifetimes_in_paths)]
#![deny(rust_2018_idioms, single_use_lifetimes, trivial_casts, trivial_numeric_casts)]
#![deny(missing_debug_implementations, missing_copy_implementations, unused_results, dead_code)]
#![deny(let_underscore_drop, variant_size_differences, unit_bindings, private_bounds)]
#![deny(private_interfaces, unnameable_types, ambiguous_negative_literals, non_local_definitions)]

use std::marker::PhantomData;

use dtype_runtime::Datatype;

/// A struct with every attribute, and with a private type in a public one.
#[derive(Debug, Clone, Copy, Datatype)]
#[dtype(resize(lb = 0, extent = 64), name = "strict", bound = "T: Datatype")]
pub struct Strict<T> {
    value: Private<T>,
    #[dtype(skip)]
    #[deprecated]
    old: u8,
    of: PhantomData<T>,
}

/// The derive finds the bounds.
#[derive(Debug, Clone, Copy, Datatype)]
#[repr(packed)]
pub struct Inferred<T: Copy> {
    value: Private<T>,
    #[dtype(lb, ub)]
    array: [u16; 2],
}

#[derive(Debug, Clone, Copy, Datatype)]
struct Private<T>(T);

/// Deprecated.
#[deprecated]
#[derive(Debug, Clone, Copy, Datatype)]
#[repr(i8)]
pub enum Kind {
    /// One.
    One = 1,
}

/// Deprecated, and generic.
pub mod old {
    #![allow(deprecated)]

    /// Deprecated.
    #[deprecated]
    #[derive(Debug, Clone, Copy, super::Datatype)]
    pub struct Old<T>(pub T);
}

/// Allows the deprecated type: the bound of the impl names that type again.
#[allow(deprecated)]
#[derive(Debug, Clone, Copy, Datatype)]
pub struct Allows<T> {
    value: old::Old<T>,
}

/// The same as [`Allows`], with `expect`.
#[expect(deprecated, reason = "not replaced yet")]
#[derive(Debug, Clone, Copy, Datatype)]
pub struct Expects<T> {
    value: old::Old<T>,
}

#[test]
fn main() {
    assert_eq!(Allows::<u8>::TYPE_MAP.size() + Expects::<u8>::TYPE_MAP.size(), 2);
    assert_eq!(Strict::<u8>::TYPE_MAP.size(), 1);
    assert_eq!(Inferred::<u8>::TYPE_MAP.size(), 5);
}

//! A record whose check panics.

#![allow(clippy::trivially_copy_pass_by_ref, reason = "a check takes a reference")]

use std::cell::Cell;

use dtype_runtime::Datatype;

thread_local! {
    /// Whether the next check of the number 77 panics.
    pub(crate) static PANICS: Cell<bool> = const { Cell::new(false) };
}

/// A record whose check panics once for the number 77, if [`PANICS`] is set.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[dtype(check = fuse)]
#[repr(C)]
pub(crate) struct Fused {
    pub(crate) flag: bool,
    pub(crate) number: u16,
}

fn fuse(fused: &Fused) -> bool {
    assert!(fused.number != 77 || !PANICS.take(), "the check panics");
    true
}

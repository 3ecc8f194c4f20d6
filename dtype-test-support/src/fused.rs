//! A record whose check panics.

#![allow(clippy::trivially_copy_pass_by_ref, reason = "a check takes a reference")]

use std::cell::Cell;

use dtype_derive::Datatype;

thread_local! {
    /// Whether the next check of the number 77 panics.
    pub static PANICS: Cell<bool> = const { Cell::new(false) };
}

/// A record whose check panics once for the number 77, if [`PANICS`] is set.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[dtype(check = fuse)]
#[repr(C)]
pub struct Fused {
    pub flag: bool,
    pub number: u16,
}

fn fuse(fused: &Fused) -> bool {
    assert!(fused.number != 77 || !PANICS.take(), "the check panics");
    true
}

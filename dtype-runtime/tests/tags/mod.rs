//! Records of several tests: an enum with gaps between its values, and a struct with padding.

#![allow(dead_code, reason = "no test uses all of it")]

use dtype_runtime::Datatype;

/// An enum for which most bytes are invalid.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(u8)]
pub(crate) enum Kind {
    Free = 3,
    Fixed = 200,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub(crate) struct Tag {
    pub(crate) letter: char,
    pub(crate) kind: Kind,
}

//! Records of several tests: an enum with gaps between its values, and a struct with padding.

use dtype_derive::Datatype;

/// An enum for which most bytes are invalid.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(u8)]
pub enum Kind {
    Free = 3,
    Fixed = 200,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Tag {
    pub letter: char,
    pub kind: Kind,
}

//! The calls of the library.
//!
//! A [`Datatype`] holds a live handle. The functions only take such values, so their types guarantee what the library requires.
//! All of them return the library's error, and none ends the program: see [`Session`].

mod arguments;
pub(crate) mod attributes;
mod code;
pub(crate) mod collective;
mod construction;
mod cut;
mod datatype;
mod decoding;
#[cfg(large_counts)]
mod large;
pub(crate) mod operation;
pub(crate) mod point_to_point;
mod session;
mod small;

use std::os::raw::c_void;

pub use arguments::Arguments;
pub(crate) use construction::make;
pub use datatype::Datatype;
pub use decoding::Contents;
pub(crate) use decoding::{contents, envelope};
pub(crate) use session::{Later, OnCommunicator, Session, check_running};

/// The address of bytes to send. The pointer of an empty slice may be 1, which is `MPI_IN_PLACE` in Open MPI, so for an empty
/// slice this is a fixed address.
pub(crate) fn sending(bytes: &[u8]) -> *const c_void {
    static NOTHING: u8 = 0;
    let at = if bytes.is_empty() { &raw const NOTHING } else { bytes.as_ptr() };
    at.cast()
}

/// The address for received bytes, as for [`sending`]. For zero bytes it differs from the sending address, because some
/// libraries refuse the same address on both sides.
pub(crate) fn receiving(at: *mut u8, bytes: usize) -> *mut c_void {
    static NOTHING: u8 = 0;
    let at = if bytes == 0 { (&raw const NOTHING).cast_mut() } else { at };
    at.cast()
}

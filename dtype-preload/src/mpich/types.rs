//! Compiled types, for UCX and for `MPI_Pack`.

use super::decode::{Decoded, decode, parts};
use super::library::GET_SIZE;
use super::numbers::Handle;
use crate::compiled::Compiled;
use crate::policy::{compiles_at_once, short_segments};

/// The library copies segments of at least this length as fast as this engine. It copies shorter ones value by value.
const LONG: u64 = 8192;

/// A type that was decoded, but not compiled yet.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) decoded: Decoded,
    /// The number of arguments of the call that made the type.
    pub(super) parts: usize,
}

/// Reads a type; `None` if a part of it is not supported.
///
/// # Safety
///
/// The library must be supported, and MPI must be running. The handle must belong to a live datatype.
pub(super) unsafe fn read(handle: Handle) -> Option<Source> {
    // SAFETY: guaranteed by the caller.
    let (decoded, parts, size) = unsafe { (decode(handle)?, parts(handle)?, size(handle)?) };
    (decoded.ty.size() == size).then_some(Source { decoded, parts })
}

/// Compiles a type; `None` if it is left to the library. The second part of the result says whether some of its values are
/// pairs.
pub(super) fn compile(source: &Source) -> Option<(Compiled, bool)> {
    let Decoded { ty, parts } = &source.decoded;
    let committed = ty.commit();
    short_segments(&committed, LONG)?;
    Some((Compiled::new(committed), parts.has_pairs))
}

/// Packed bytes of an element.
///
/// # Safety
///
/// As for [`read`].
pub(super) unsafe fn size(handle: Handle) -> Option<u64> {
    let mut size = 0;
    // SAFETY: the caller guarantees it, and the number lives through the call.
    let code = unsafe { GET_SIZE.get()?(handle, &raw mut size) };
    if code == 0 { u64::try_from(size).ok() } else { None }
}

/// Whether a type is worth compiling for its first message. `None` if the library refuses to return the envelope, and has
/// called the program's error handler.
///
/// # Safety
///
/// As for [`read`].
pub(super) unsafe fn is_worth_it_at_once(handle: Handle, bytes: usize) -> Option<bool> {
    if !compiles_at_once(bytes, 0) {
        return Some(false);
    }
    // SAFETY: guaranteed by the caller.
    Some(compiles_at_once(bytes, unsafe { parts(handle) }?))
}

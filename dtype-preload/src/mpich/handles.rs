//! What was compiled for `MPI_Pack` and its kin, by handle.

use std::sync::Arc;

use super::numbers::Handle;
use super::types::{compile, is_worth_it_at_once, read, size};
use crate::compiled::Compiled;
use crate::registry::{Known, Registry};
use crate::stats::{Left, left};

/// The types; `None` for those that are left to the library.
static TYPES: Registry<Option<Compiled>> = Registry::new();

/// The number by which a handle is registered: the bits of an `int`. No datatype has the number 0.
fn identity(handle: Handle) -> usize {
    handle.cast_unsigned() as usize
}

/// Whether the handle is not one of a predefined type whose layout the handle says.
fn is_derived(handle: Handle) -> bool {
    // The two highest bits are the kind of the handle, the next four the kind of the object, which is 3 for a datatype.
    let (kind, object) = (handle.cast_unsigned() >> 30, handle.cast_unsigned() >> 26 & 0xF);
    kind >= 2 && object == 3
}

/// The compiled type for `count` elements; `None` if they are left to the library.
///
/// # Safety
///
/// The library is supported, and MPI may be called. A handle that is derived belongs to a datatype that lives.
pub(super) unsafe fn find(handle: Handle, count: usize) -> Option<Arc<Option<Compiled>>> {
    if count == 0 || !is_derived(handle) {
        return None;
    }
    let identity = identity(handle);
    let entry = match TYPES.get(identity) {
        Known::Yes(entry) => entry,
        Known::Busy => return None,
        Known::No => {
            if !TYPES.saw_before(identity) {
                // SAFETY: the caller guarantees it.
                let bytes = usize::try_from(unsafe { size(handle) }?).ok()?.checked_mul(count)?;
                // SAFETY: likewise.
                if !unsafe { is_worth_it_at_once(handle, bytes) } {
                    left(Left::First);
                    return None;
                }
            }
            // SAFETY: likewise.
            let compiled = unsafe { read(handle) };
            let compiled =
                compiled.and_then(|source| compile(&source)).map(|(compiled, _)| compiled);
            TYPES.enter(identity, compiled)
        }
    };
    if entry.is_none() {
        left(Left::Long);
        return None;
    }
    Some(entry)
}

/// Forgets the type with a handle.
pub(super) fn forget(handle: Handle) {
    TYPES.forget(identity(handle));
}

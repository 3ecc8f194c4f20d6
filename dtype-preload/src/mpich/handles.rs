//! The types compiled for `MPI_Pack` and related functions, by handle.

use std::sync::{Arc, OnceLock};

use super::external::External;
use super::handle_set::{DATATYPE, HandleSet};
use super::library::is_running;
use super::numbers::{Handle, PAIRS};
use super::types::{Source, compile, is_worth_it_at_once, read, size};
use crate::compiled::Compiled;
use crate::registry::{Known, Registry};
use crate::stats::{Left, left};

/// A type of the program. Its forms are compiled on first use.
#[derive(Debug)]
pub(super) struct Entry {
    /// `None` if a part of the type is not supported.
    source: Option<Source>,
    /// `None` inside if the type is left to the library.
    native: OnceLock<Option<Compiled>>,
    external: OnceLock<Option<External>>,
}

impl Entry {
    fn new(source: Option<Source>) -> Self {
        Self { source, native: OnceLock::new(), external: OnceLock::new() }
    }

    /// The type for `MPI_Pack`; `None` if it is left to the library.
    pub(super) fn native(&self) -> Option<&Compiled> {
        let compile = |source: &Source| compile(source).map(|(compiled, _)| compiled);
        self.part(&self.native, compile, Left::Long)
    }

    /// The type for `MPI_Pack_external`; `None` if it is left to the library.
    pub(super) fn external(&self) -> Option<&External> {
        self.part(&self.external, External::new, Left::Unknown)
    }

    /// Compiles one form of a type on its first use. Threads that come at the same time compile in vain, which is better than
    /// blocking.
    fn part<'a, T>(
        &'a self,
        known: &'a OnceLock<Option<T>>,
        compile: fn(&Source) -> Option<T>,
        reason: Left,
    ) -> Option<&'a T> {
        let part = if let Some(part) = known.get() {
            part
        } else {
            let _ = known.set(self.source.as_ref().and_then(compile));
            known.get()?
        };
        if part.is_none() {
            left(reason);
        }
        part.as_ref()
    }
}

/// The committed types.
static TYPES: Registry<Entry> = Registry::new();

/// The types that the program has committed, or copied from committed ones, and has not freed since.
///
/// The library refuses a type that was never committed, but no function tells which types are. Nor does a type that it accepts
/// stay alive: the function that deletes an attribute of a freed type may use the type, in any call of MPI that gives up the
/// last reference. After that, the library reuses the handle for another type without notice.
static COMMITTED: HandleSet<DATATYPE> = HandleSet::new();

/// Records that a type is committed, until [`forget`].
pub(super) fn committed(handle: Handle) {
    COMMITTED.insert(handle);
}

/// Whether a derived type is known to be committed.
pub(super) fn is_committed(handle: Handle) -> bool {
    COMMITTED.contains(handle) || PAIRS.iter().any(|(_, pair)| *pair == handle)
}

/// The number under which a handle is registered: the bits of an `int`. No datatype has the number 0.
fn identity(handle: Handle) -> usize {
    handle.cast_unsigned() as usize
}

/// Whether the handle belongs to a derived type. The handles of most predefined types encode the layout.
fn is_derived(handle: Handle) -> bool {
    // The two highest bits are the kind of the handle, the next four the kind of the object, which is 3 for a datatype.
    let (kind, object) = (handle.cast_unsigned() >> 30, handle.cast_unsigned() >> 26 & 0xF);
    kind >= 2 && object == 3
}

/// The type, if this engine packs `count` elements of it; `None` if they are left to the library.
///
/// # Safety
///
/// The library must be supported, and MPI must be running. If the handle is derived, it must belong to a live datatype.
pub(super) unsafe fn find(handle: Handle, count: usize) -> Option<Arc<Entry>> {
    if count == 0 || !is_derived(handle) || !is_running() {
        return None;
    }
    let identity = identity(handle);
    match TYPES.get(identity) {
        Known::Yes(entry) => Some(entry),
        Known::Busy => None,
        Known::No => {
            if !is_committed(handle) {
                left(Left::Unknown);
                return None;
            }
            if !TYPES.saw_before(identity) {
                // SAFETY: guaranteed by the caller.
                let bytes = usize::try_from(unsafe { size(handle) }?).ok()?.checked_mul(count)?;
                // SAFETY: as above.
                match unsafe { is_worth_it_at_once(handle, bytes) } {
                    Some(true) => {}
                    Some(false) => {
                        left(Left::First);
                        return None;
                    }
                    // After a refusal, the library is not queried again.
                    None => return Some(TYPES.enter(identity, Entry::new(None))),
                }
            }
            // SAFETY: as above.
            let source = unsafe { read(handle) };
            Some(TYPES.enter(identity, Entry::new(source)))
        }
    }
}

/// Forgets the type with a handle. Called before the program gives up its last reference.
pub(super) fn forget(handle: Handle) {
    COMMITTED.remove(handle);
    TYPES.forget(identity(handle));
}

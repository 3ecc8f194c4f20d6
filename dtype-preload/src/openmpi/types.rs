//! The compiled types of the program, by their addresses.

use std::cell::Cell;
use std::ptr;
use std::sync::Arc;

use dtype_ucp_generic::is_near;

use super::decode::{decode, description};
use super::layout::{CONTIGUOUS, Datatype, Description, NO_GAPS};
use super::supported::Supported;
use crate::boundary::contain;
use crate::compiled::Compiled;
use crate::mode::Mode;
use crate::policy::{compiles_at_once, short_segments};
use crate::registry::{Known, Registry};
use crate::stats::{Left, left};
use crate::values::Values;

/// The library copies segments of at least this length as fast as this engine.
const LONG: u64 = 128;

/// Messages of fewer packed bytes are left to the library: whatever the layout, it has copied them before this engine finds a
/// plan.
const FEWEST_BYTES: usize = 128;

/// Messages of fewer segments are left to the library: it takes some nanoseconds for each, and has copied them by the time that
/// this engine is called.
const FEWEST_SEGMENTS: usize = 24;

/// A type of the program.
///
/// A convertor that was exchanged has the address of the entry's first field in the place of the library's description. No
/// other code dereferences that address while the convertor is exchanged; code that did would find a description. The address
/// remains when the library copies a convertor.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Entry {
    description: Description,
    /// Always [`MARK`].
    mark: u64,
    bounds: Bounds,
    /// The least number of elements for which this engine is faster; `usize::MAX` if it never is.
    fewest: usize,
    /// `None` if the type is left to the library.
    compiled: Option<Compiled>,
    /// The starts of values, if a fragment must end with a whole value.
    values: Option<Values>,
    /// Whether the data are [near one another](is_near), so that fragments are first packed to memory in the cache.
    is_near: bool,
}

// SAFETY: the address of the library's description is compared and copied, but never dereferenced.
unsafe impl Send for Entry {}
// SAFETY: as above.
unsafe impl Sync for Entry {}

/// Distinguishes an [`Entry`] from a description of the library.
const MARK: u64 = 0x6474_7970_655f_7072;

/// Numbers in which two types at one address most likely differ: an additional check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bounds {
    size: usize,
    lb: isize,
    ub: isize,
    description: Description,
}

impl Bounds {
    fn new(datatype: &Datatype) -> Self {
        let &Datatype { size, lb, ub, .. } = datatype;
        Self { size, lb, ub, description: *description(datatype) }
    }
}

impl Entry {
    /// The address that a convertor gets.
    pub(super) fn description(&self) -> *const Description {
        ptr::from_ref(self).cast()
    }

    pub(super) fn compiled(&self) -> Option<&Compiled> {
        self.compiled.as_ref()
    }

    /// The starts of values, if a fragment must end with a whole value.
    pub(super) fn values(&self) -> Option<&Values> {
        self.values.as_ref()
    }

    /// Whether fragments are first packed to memory in the cache.
    pub(super) fn is_near(&self) -> bool {
        self.is_near
    }

    /// An entry that belongs to no type of the library.
    #[cfg(test)]
    pub(super) fn from_committed(committed: dtype_runtime::Committed) -> Self {
        let description = Description { length: 0, used: 0, entries: ptr::null_mut() };
        let bounds = Bounds { size: 0, lb: 0, ub: 0, description };
        let is_near = is_near(&committed);
        let compiled = Some(Compiled::new(committed));
        Self { description, mark: MARK, bounds, fewest: 0, compiled, values: None, is_near }
    }

    /// The entry at an address from a convertor.
    ///
    /// # Safety
    ///
    /// [`description`](Self::description) must have returned the address, and the type must not have been freed since.
    pub(super) unsafe fn from_description<'a>(address: *const Description) -> Option<&'a Self> {
        // SAFETY: guaranteed by the caller.
        let entry = unsafe { &*address.cast::<Self>() };
        (entry.mark == MARK).then_some(entry)
    }
}

static TYPES: Registry<Entry> = Registry::new();

/// The entry that this thread found last.
#[derive(Clone, Copy)]
struct Last {
    identity: usize,
    generation: usize,
    entry: *const Entry,
}

thread_local! {
    static LAST: Cell<Last> =
        const { Cell::new(Last { identity: 0, generation: 0, entry: ptr::null() }) };
}

/// Why this engine is not faster for a message of `count` elements, so that the message is left to the library; `None` if it
/// may be faster. It takes only a few loads, because the library sends a short message in some nanoseconds.
///
/// # Safety
///
/// As for [`find`].
#[inline]
pub(super) unsafe fn nothing_gained(datatype: *const Datatype, count: usize) -> Option<Left> {
    // SAFETY: guaranteed by the caller.
    let ty = unsafe { &*datatype };
    let flags = u32::from(ty.flags);
    if flags & NO_GAPS != 0 || count <= 1 && flags & CONTIGUOUS != 0 {
        return Some(Left::Contiguous);
    }
    if ty.size.saturating_mul(count) < FEWEST_BYTES {
        return Some(Left::Small);
    }
    let fewest = TYPES.fewest(datatype.addr())?;
    (count < fewest).then(|| reason_below(fewest))
}

/// Whether a message of `count` elements is left to the library for such a reason. Counts it if so.
///
/// # Safety
///
/// As for [`find`].
pub(super) unsafe fn stays(datatype: *const Datatype, count: usize) -> bool {
    // SAFETY: guaranteed by the caller.
    match unsafe { nothing_gained(datatype, count) } {
        Some(reason) if reason == Left::Contiguous || !Mode::get().all => {
            left(reason);
            true
        }
        _ => false,
    }
}

/// The compiled type for a message of `count` elements for which this engine [may be faster](nothing_gained); `None` if the
/// message is left to the library.
///
/// The entry stays valid until the type is freed.
///
/// # Safety
///
/// The datatype must be committed and alive, and must belong to the supported library.
pub(super) unsafe fn find<'a>(
    datatype: *const Datatype,
    count: usize,
    supported: &Supported,
) -> Option<&'a Entry> {
    // SAFETY: guaranteed by the caller.
    contain(|| unsafe { look_up(&*datatype, count, supported) }).flatten()
}

/// # Safety
///
/// As for [`find`].
unsafe fn look_up<'a>(ty: &Datatype, count: usize, supported: &Supported) -> Option<&'a Entry> {
    let bytes = ty.size.checked_mul(count)?;
    let identity = ptr::from_ref(ty).addr();
    let generation = TYPES.generation();
    let last = LAST.get();
    if last.identity == identity && last.generation == generation {
        // SAFETY: the entry was found in the table, and no type was removed since. The type is alive, so no thread removes it
        // now.
        return usable(unsafe { &*last.entry }, ty, count);
    }
    let entry = match TYPES.get(identity) {
        Known::Yes(entry) => entry,
        Known::Busy => return None,
        Known::No => {
            let parts = description(ty).used;
            if !compiles_at_once(bytes, parts) && !TYPES.saw_before(identity) {
                left(Left::First);
                return None;
            }
            // SAFETY: guaranteed by the caller.
            TYPES.enter(identity, unsafe { compile(ty, supported) })
        }
    };
    let entry = Arc::as_ptr(&entry);
    LAST.set(Last { identity, generation, entry });
    // SAFETY: the table keeps a reference to the entry until the type is freed.
    usable(unsafe { &*entry }, ty, count)
}

/// The entry, if it was made for this type and if this engine is faster for this number of elements.
#[inline]
fn usable<'a>(entry: &'a Entry, ty: &Datatype, count: usize) -> Option<&'a Entry> {
    if entry.bounds != Bounds::new(ty) {
        left(Left::Unknown);
        return None;
    }
    if count < entry.fewest {
        TYPES.leave_below(ptr::from_ref(ty).addr(), entry.fewest);
        left(reason_below(entry.fewest));
        return None;
    }
    Some(entry)
}

/// Why messages of fewer elements than `fewest` are left to the library.
fn reason_below(fewest: usize) -> Left {
    if fewest == usize::MAX { Left::Long } else { Left::Small }
}

/// # Safety
///
/// As for [`find`].
unsafe fn compile(ty: &Datatype, supported: &Supported) -> Entry {
    // SAFETY: guaranteed by the caller.
    let decoded = unsafe { decode(ty, supported) };
    let committed = decoded.map(|ty| ty.commit());
    let segments = committed.as_ref().and_then(|committed| short_segments(committed, LONG));
    let fewest = match segments {
        Some(_) if Mode::get().all => 0,
        Some(each) => FEWEST_SEGMENTS.div_ceil(usize::try_from(each).unwrap_or(usize::MAX)),
        None => usize::MAX,
    };
    let committed = committed.filter(|_| segments.is_some());
    let values =
        committed.as_ref().filter(|_| supported.whole_values).and_then(|ty| Values::new(ty));
    Entry {
        description: ty.opt_desc,
        mark: MARK,
        bounds: Bounds::new(ty),
        fewest,
        is_near: committed.as_ref().is_some_and(is_near),
        compiled: committed.map(Compiled::new),
        values,
    }
}

/// Forgets the type at an address.
pub(super) fn forget(datatype: *const Datatype) {
    TYPES.forget(datatype.addr());
}

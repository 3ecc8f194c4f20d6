//! The types of the program, compiled on first use.

use std::cell::Cell;
use std::collections::HashSet;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use dtype_runtime::{Committed, types};

use super::abi::{Word, abi};
use super::decode::{Decoded, decode, parts};
use super::external::External;
use super::library::{GET_SIZE, library};
use super::reference::Reference;
use crate::compiled::Compiled;
use crate::mode::Mode;
use crate::original::{is_running, originals};
use crate::policy::{compiles_at_once, short_segments};
use crate::registry::{Known, Registry};
use crate::stats::{Left, left};

/// The library copies segments of at least this length as fast as this engine, and needs no buffer for packed bytes. MPICH 4.0
/// copies shorter ones of any length value by value, and has no faster way for longer messages.
fn long() -> u64 {
    if library().is_some_and(|library| library.has_ucx_hook) { 8192 } else { 1024 }
}

/// An element with this many segments of one basic type is regular, as are vectors: the library has loops for it.
const REGULAR_SEGMENTS: u64 = 8;

/// Messages of fewer segments are left to the library: it has sent them by the time that this engine has packed them.
const FEWEST_SEGMENTS: u64 = 12;

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
pub(super) unsafe fn read(handle: Word) -> Option<Source> {
    // SAFETY: guaranteed by the caller.
    let (decoded, parts, size) = unsafe { (decode(handle)?, parts(handle)?, size(handle)?) };
    (decoded.ty.size() == size).then_some(Source { decoded, parts })
}

/// Compiles a type; `None` if it is left to the library. The second part of the result says whether some of its values are
/// pairs.
pub(super) fn compile(source: &Source) -> Option<(Compiled, bool)> {
    let Decoded { ty, parts } = &source.decoded;
    let committed = ty.commit();
    short_segments(&committed, long())?;
    Some((Compiled::new(committed), parts.has_pairs))
}

/// Packed bytes of an element.
///
/// # Safety
///
/// As for [`read`].
pub(super) unsafe fn size(handle: Word) -> Option<u64> {
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
pub(super) unsafe fn is_worth_it_at_once(handle: Word, bytes: usize) -> Option<bool> {
    if !compiles_at_once(bytes, 0) {
        return Some(false);
    }
    // SAFETY: guaranteed by the caller.
    Some(compiles_at_once(bytes, unsafe { parts(handle) }?))
}

/// A type, compiled for packed bytes as they are in messages.
#[derive(Debug)]
pub(super) struct Native {
    pub(super) compiled: Compiled,
    /// The least number of elements that are packed here.
    fewest: usize,
    /// Whether `MPI_Pack` is left to the library.
    pub(super) is_packed_well: bool,
}

impl Native {
    fn new(source: &Source) -> Option<Self> {
        let (compiled, _) = compile(source)?;
        let committed = &compiled.committed;
        let (fewest, is_packed_well) = if Mode::get().all {
            (1, false)
        } else {
            let least =
                library().filter(|_| is_regular(committed)).map_or(0, |one| one.least_regular);
            let segments = short_segments(committed, long()).unwrap_or(1);
            let elements = (least as u64).div_ceil(committed.size().max(1));
            let fewest = FEWEST_SEGMENTS.div_ceil(segments).max(elements);
            (usize::try_from(fewest).unwrap_or(usize::MAX), least > 0)
        };
        Some(Self { compiled, fewest, is_packed_well })
    }
}

/// A type of the program. Its forms are compiled on first use.
#[derive(Debug)]
pub(super) struct Entry {
    /// `None` if a part of the type is not supported.
    source: Option<Source>,
    /// `None` inside if the type is left to the library.
    native: OnceLock<Option<Native>>,
    external: OnceLock<Option<External>>,
    /// The library's own type, for comparisons.
    pub(super) reference: Option<Reference>,
}

impl Entry {
    fn new(source: Option<Source>, reference: Option<Reference>) -> Self {
        Self { source, native: OnceLock::new(), external: OnceLock::new(), reference }
    }

    /// The type for packed bytes as they are in messages; `None` if it is left to the library.
    pub(super) fn native(&self) -> Option<&Native> {
        self.part(&self.native, Native::new, Left::Long)
    }

    /// The type for `MPI_Pack_external`; `None` if it is left to the library.
    pub(super) fn external(&self) -> Option<&External> {
        let converts = library().is_some_and(|library| library.converts);
        let make = |source: &Source| External::new(&source.decoded).filter(|_| converts);
        self.part(&self.external, make, Left::Unknown)
    }

    /// Compiles one form of a type on its first use. Threads that come at the same time compile in vain, which is better than
    /// blocking.
    fn part<'a, T>(
        &'a self,
        known: &'a OnceLock<Option<T>>,
        compile: impl Fn(&Source) -> Option<T>,
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

/// The types with a message, or a call of `MPI_Pack`.
static TYPES: Registry<Entry> = Registry::new();

/// The types that the program has committed, or copied from committed ones, and has not freed since.
///
/// The library refuses a type that was never committed, but no function tells which types are. Nor does a type that it accepts
/// stay alive: the function that deletes an attribute of a freed type may use the type, in any call of MPI that gives up the
/// last reference. After that, the library reuses the handle for another type without notice.
static COMMITTED: [Mutex<Option<HashSet<Word>>>; SHARDS] = [const { Mutex::new(None) }; SHARDS];

/// Threads that commit types at the same time seldom meet in one of this many.
const SHARDS: usize = 16;

fn with_committed<R>(handle: Word, run: impl FnOnce(&mut HashSet<Word>) -> R) -> R {
    // MPICH's handles differ in their lowest bits, addresses of structures above them.
    let shard = &COMMITTED[(handle ^ handle >> 6) % SHARDS];
    run(shard.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// Records that a type is committed, until [`forget`].
pub(super) fn committed(handle: Word) {
    with_committed(handle, |set| set.insert(handle));
}

/// Whether a derived type is known to be committed. Predefined ones are.
pub(super) fn is_committed(handle: Word) -> bool {
    abi().name(handle).is_some() || with_committed(handle, |set| set.contains(&handle))
}

/// Whether the library's packed bytes are those of the elements, without a header. In a session, without `MPI_COMM_WORLD`, this
/// is not asked.
fn has_plain_stream() -> bool {
    type Pack = unsafe extern "C" fn(
        *const c_void,
        c_int,
        Word,
        *mut c_void,
        c_int,
        *mut c_int,
        Word,
    ) -> c_int;
    originals! {
        static PACK = c"PMPI_Pack": Pack;
    }
    static IS_PLAIN: OnceLock<bool> = OnceLock::new();
    if !is_running() {
        return IS_PLAIN.get() != Some(&false);
    }
    *IS_PLAIN.get_or_init(|| {
        let (from, mut out, mut at) = (*b"dtype", [0_u8; 256], 0);
        let (elements, bytes, world) =
            (from.as_ptr().cast(), out.as_mut_ptr().cast(), abi().comm_world);
        // SAFETY: the arrays have room for that many bytes.
        let code = PACK
            .get()
            .map(|pack| unsafe { pack(elements, 5, abi().packed, bytes, 256, &raw mut at, world) });
        code == Some(0) && at == 5 && out.starts_with(&from)
    })
}

thread_local! {
    /// The type that this thread has found last, and the registry's generation before.
    static LAST: Cell<Option<(Word, usize, Arc<Entry>)>> = const { Cell::new(None) };
}

/// The type with a handle, if this thread has found it last, and no type was forgotten since.
#[inline]
fn last(handle: Word) -> Option<Arc<Entry>> {
    let get = |cell: &Cell<Option<(Word, usize, Arc<Entry>)>>| {
        let last = cell.take();
        let found = last
            .as_ref()
            .filter(|&&(known, generation, _)| known == handle && generation == TYPES.generation());
        let found = found.map(|(_, _, entry)| Arc::clone(entry));
        cell.set(last);
        found
    };
    LAST.try_with(get).ok().flatten()
}

/// The type, if its elements may be packed here; `None` if `count` elements are left to the library.
///
/// # Safety
///
/// The library must be supported, and MPI must be running. If the handle is derived, it must belong to a live datatype.
pub(super) unsafe fn find_any(handle: Word, count: usize) -> Option<Arc<Entry>> {
    if count == 0 || !abi().is_derived(handle) {
        return None;
    }
    if let Some(entry) = last(handle) {
        return Some(entry);
    }
    let generation = TYPES.generation();
    let mut found = TYPES.get(handle);
    // The library may not be able to receive what other ranks pack.
    while Mode::get().everywhere && matches!(found, Known::Busy) {
        thread::yield_now();
        found = TYPES.get(handle);
    }
    match found {
        Known::Yes(entry) => {
            let last = Some((handle, generation, Arc::clone(&entry)));
            let _ = LAST.try_with(|cell| cell.set(last));
            Some(entry)
        }
        Known::Busy => None,
        Known::No => {
            if !is_committed(handle) || !has_plain_stream() {
                left(Left::Unknown);
                return None;
            }
            if !TYPES.saw_before(handle) {
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
                    None => return Some(TYPES.enter(handle, Entry::new(None, None))),
                }
            }
            // SAFETY: as above.
            let source = unsafe { read(handle) };
            // SAFETY: as above.
            let reference = Mode::get().verify.then(|| unsafe { Reference::new(handle) }).flatten();
            Some(TYPES.enter(handle, Entry::new(source, reference)))
        }
    }
}

/// Whether `count` elements are left to the library. It takes only a few loads.
#[inline(always)]
pub(super) fn is_left(datatype: Word, count: impl Into<i64>) -> bool {
    let handle = abi().handle(datatype);
    if !abi().is_derived(handle) {
        return true;
    }
    let Some(fewest) = TYPES.fewest(handle) else { return false };
    let is_left = count.into().cast_unsigned() < fewest as u64;
    if is_left {
        left(if fewest == usize::MAX { Left::Long } else { Left::Small });
    }
    is_left
}

/// The type, if `count` elements are packed or unpacked here. Callers ask [`is_left`] before, which is faster.
///
/// # Safety
///
/// The library must be supported, and MPI must be running. If the handle is derived, it must belong to a live datatype.
pub(super) unsafe fn find(datatype: Word, count: usize) -> Option<Arc<Entry>> {
    let handle = abi().handle(datatype);
    // SAFETY: guaranteed by the caller.
    let entry = unsafe { find_any(handle, count) }?;
    let fewest = entry.native().map_or(usize::MAX, |native| native.fewest);
    if TYPES.fewest(handle) != Some(fewest) {
        TYPES.leave_below(handle, fewest);
    }
    (count >= fewest).then_some(entry)
}

/// Whether the library's own loops are about as fast as this engine for an element.
fn is_regular(committed: &Committed) -> bool {
    let description = committed.as_type().description();
    let mut basics = description.entries().iter().filter_map(|entry| match entry {
        types::Entry::Elem(elem) => Some(elem.basic),
        types::Entry::Loop(_) | types::Entry::EndLoop(_) => None,
    });
    let first = basics.next();
    let segments = committed.iov(1, 0..committed.size()).map_or(0, |iov| iov.segments());
    segments >= REGULAR_SEGMENTS && basics.all(|one| Some(one) == first)
}

/// Forgets the type with a handle. Called before the program gives up its last reference.
pub(super) fn forget(handle: Word) {
    with_committed(handle, |set| set.remove(&handle));
    let _ = LAST.try_with(Cell::take);
    TYPES.forget(handle);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_committed_until_it_is_forgotten() {
        let handles = [0x8C00_0005, 0xCC00_0005, 0xCC03_F3FF, 0x5555_5555_5000, 0x5555_5555_5040];
        for one in handles {
            committed(one);
            assert!(handles.iter().all(|&other| is_committed(other) == (other == one)), "{one:x}");
            forget(one);
            assert!(!is_committed(one), "{one:x}");
        }
        assert!(is_committed(0x8C00_0000), "a pair");
    }
}

//! UCX's generic datatypes, with this engine's callbacks around MPICH's.
//!
//! MPICH makes a generic datatype when a type is committed, and UCX then calls it for the bytes of each message. MPICH's own
//! `start` and `finish` are called for each message, too, because they count the references to the type.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use dtype_ucp_generic::{Generic, Instances, Message, Operations, Status};

use super::abi::Word;
use super::library::{has_threads, library};
use super::types::{Source, compile, is_worth_it_at_once, read};
use crate::boundary::contain;
use crate::compiled::Compiled;
use crate::mode::Mode;
use crate::original::originals;
use crate::policy::compiles_at_once;
use crate::stats::{Left, left};
use crate::values::Values;
use crate::verify::{self, Fragment};

/// A datatype of UCX (`ucp_datatype_t`): an address, whose lowest bits are a class.
type UcpDatatype = u64;

originals! {
    static CREATE = c"ucp_dt_create_generic":
        unsafe extern "C" fn(*const Operations, *mut c_void, *mut UcpDatatype) -> Status;
    static DESTROY = c"ucp_dt_destroy": unsafe extern "C" fn(UcpDatatype);
}

/// The handle of a type that has no handle yet.
pub(super) const UNKNOWN: Word = 0;

thread_local! {
    /// The handle of the type that this thread is committing.
    static MAKING: Cell<Option<Word>> = const { Cell::new(None) };
    /// The datatype that [`ucp_dt_create_generic`] made for it.
    static MADE: Cell<*const Context> = const { Cell::new(ptr::null()) };
}

/// Marks the library's call that commits a type: [`begin`](Self::begin) before it, and [`made`](Self::made) after it.
pub(super) struct Making {
    before: Option<Word>,
}

impl Making {
    pub(super) fn begin(handle: Word) -> Self {
        MADE.set(ptr::null());
        Self { before: MAKING.replace(Some(handle)) }
    }

    /// Ends what [`begin`](Self::begin) began: the library has made the type, with this handle.
    ///
    /// If several threads may call MPI, UCX calls this library while MPICH holds a lock that `MPI_Type_get_envelope` also
    /// takes. Then the type is decoded now; otherwise it is decoded when it is needed.
    ///
    /// # Safety
    ///
    /// This thread must have made the type since [`begin`](Self::begin), and the type must be alive.
    pub(super) unsafe fn made(handle: Word) {
        // SAFETY: made during the library's call, on this thread; the type lives.
        if let Some(context) = unsafe { MADE.get().as_ref() } {
            context.handle.store(handle, Ordering::Release);
            if has_threads() {
                // SAFETY: as above.
                let read = contain(|| unsafe { read(handle) });
                let _ = context.source.set(read.flatten());
            }
        }
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        MAKING.set(self.before);
        MADE.set(ptr::null());
    }
}

/// The context of a UCX datatype: the library's callbacks and this engine's plan.
#[derive(Debug)]
struct Context {
    operations: Operations,
    /// The library's own context, for its callbacks.
    library: *mut c_void,
    handle: AtomicUsize,
    /// The decoded type. Only set here if several threads may call MPI.
    source: OnceLock<Option<Source>>,
    /// Whether there was a message of this type before.
    seen: AtomicBool,
    /// Locked by the thread that compiles. Meanwhile, other threads leave their messages to the library.
    compiling: Mutex<()>,
    /// `None` inside if the type is left to the library.
    compiled: OnceLock<Option<(Compiled, Values)>>,
}

// SAFETY: the library's callbacks may be called from any thread that calls UCX, with their context.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// The compiled type for a message; `None` if the message is left to the library.
    ///
    /// # Safety
    ///
    /// The type must be alive, and MPI must be running.
    unsafe fn find(&self, bytes: usize) -> Option<&(Compiled, Values)> {
        if let Some(compiled) = self.compiled.get() {
            if compiled.is_none() {
                left(Left::Long);
            }
            return compiled.as_ref();
        }
        let handle = self.handle.load(Ordering::Acquire);
        if handle == UNKNOWN {
            left(Left::Unknown);
            return None;
        }
        let seen = self.seen.swap(true, Ordering::Relaxed);
        let at_once = || match (has_threads(), self.source.get()) {
            (true, Some(Some(source))) => Some(compiles_at_once(bytes, source.parts)),
            (true, _) => Some(false),
            // SAFETY: guaranteed by the caller.
            (false, _) => unsafe { is_worth_it_at_once(handle, bytes) },
        };
        if !seen {
            match at_once() {
                Some(true) => {}
                Some(false) => {
                    left(Left::First);
                    return None;
                }
                // After a refusal, the library is not queried again.
                None => {
                    let _ = self.compiled.set(None);
                    left(Left::Unknown);
                    return None;
                }
            }
        }
        let _guard = match self.compiling.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(_) | TryLockError::WouldBlock) => return None,
        };
        let make = || {
            let (compiled, has_pairs) = if has_threads() {
                compile(self.source.get()?.as_ref()?)?
            } else {
                // SAFETY: as above.
                compile(&unsafe { read(handle) }?)?
            };
            // A fragment must not end inside a pair either. Pairs are rare, so their types are left to the library.
            if has_pairs {
                return None;
            }
            let values = Values::new(&compiled.committed)?;
            Some((compiled, values))
        };
        let compiled = self.compiled.get_or_init(make).as_ref();
        if compiled.is_none() {
            left(Left::Long);
        }
        compiled
    }

    /// # Safety
    ///
    /// As [`Generic`]'s start functions. `state` is what the library's function returned.
    unsafe fn message(
        &self,
        state: *mut c_void,
        buffer: *mut u8,
        count: usize,
        direction: Direction,
    ) -> Wrapped {
        let ours = contain(|| {
            // SAFETY: the library's function, with its state.
            let bytes = unsafe { (self.operations.packed_size)(state) };
            // SAFETY: UCX calls this inside a call of MPI, for a live type.
            let (compiled, values) = unsafe { self.find(bytes) }?;
            // SAFETY: the caller guarantees the elements.
            let instances = unsafe {
                match direction {
                    Direction::Pack => Instances::to_pack(&compiled.committed, buffer, count),
                    Direction::Unpack => Instances::to_unpack(&compiled.committed, buffer, count),
                }
            };
            let instances = instances.ok().filter(|instances| instances.packed_size() == bytes)?;
            let (compiled, values) = (ptr::from_ref(compiled), ptr::from_ref(values));
            Some(Ours { instances, compiled, values, count })
        });
        Wrapped { context: ptr::from_ref(self), state, ours: ours.flatten() }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Pack,
    Unpack,
}

impl Generic for Context {
    type Message = Wrapped;

    unsafe fn start_pack(&self, buffer: *const u8, count: usize) -> Option<Wrapped> {
        // SAFETY: the library's function, with its context.
        let state = unsafe { (self.operations.start_pack)(self.library, buffer.cast(), count) };
        // SAFETY: guaranteed by the caller.
        Some(unsafe { self.message(state, buffer.cast_mut(), count, Direction::Pack) })
    }

    unsafe fn start_unpack(&self, buffer: *mut u8, count: usize) -> Option<Wrapped> {
        // SAFETY: the library's function, with its context.
        let state = unsafe { (self.operations.start_unpack)(self.library, buffer.cast(), count) };
        // SAFETY: guaranteed by the caller.
        Some(unsafe { self.message(state, buffer, count, Direction::Unpack) })
    }
}

/// A message: the library's state, and this engine's if it converts the message.
#[derive(Debug)]
struct Wrapped {
    /// Valid until the type is freed. The library frees it after the last message with it.
    context: *const Context,
    state: *mut c_void,
    ours: Option<Ours>,
}

#[derive(Debug)]
struct Ours {
    instances: Instances,
    compiled: *const Compiled,
    values: *const Values,
    count: usize,
}

// SAFETY: UCX calls for a message from whatever thread makes progress, one at a time. The buffer is the program's, and belongs
// to the message until the message ends.
unsafe impl Send for Wrapped {}

impl Wrapped {
    fn operations(&self) -> &Operations {
        // SAFETY: see the field.
        unsafe { &(*self.context).operations }
    }
}

impl Ours {
    fn compiled(&self) -> &Compiled {
        // SAFETY: a part of the context, which is alive.
        unsafe { &*self.compiled }
    }

    fn fragment<'a>(&'a self, what: &'a str, position: usize, len: usize) -> Fragment<'a> {
        let ty = self.instances.committed().as_type();
        Fragment { what, ty, count: self.count, position, len }
    }
}

impl Message for Wrapped {
    fn packed_size(&self) -> usize {
        match &self.ours {
            Some(ours) => ours.instances.packed_size(),
            // SAFETY: the library's function, with its state.
            None => unsafe { (self.operations().packed_size)(self.state) },
        }
    }

    unsafe fn pack(&mut self, offset: usize, out: *mut u8, room: usize) -> usize {
        let (operations, state) = (*self.operations(), self.state);
        // SAFETY: the library's function, with its state and the caller's memory.
        let library = |out: *mut u8| unsafe { (operations.pack)(state, offset, out.cast(), room) };
        let Some(ours) = &mut self.ours else { return library(out) };
        let packed = contain(|| {
            // SAFETY: parts of the context, which is alive.
            let (compiled, values) = unsafe { (&*ours.compiled, &*ours.values) };
            // Only matters for fragments before the last, which always ends with a value.
            let room = values.whole(offset, room);
            // SAFETY: guaranteed by the caller.
            compiled.counted(room, || unsafe { ours.instances.pack(offset, out, room) })
        });
        let Some(packed) = packed else { return library(out) };
        if Mode::get().verify {
            // SAFETY: just written.
            let here = unsafe { std::slice::from_raw_parts(out, packed) };
            let mut bytes = ours.compiled().library_start(here);
            bytes.resize(room, 0);
            let found = library(bytes.as_mut_ptr()).min(packed);
            // The library may stop between any two values.
            verify::compare_bytes(
                ours.fragment("packed", offset, packed),
                &here[..found],
                &bytes[..found],
            );
        }
        packed
    }

    unsafe fn unpack(
        &mut self,
        offset: usize,
        packed: *const u8,
        len: usize,
    ) -> Result<(), Status> {
        let (operations, state) = (*self.operations(), self.state);
        // SAFETY: the library's function, with its state and the caller's memory.
        let library = || match unsafe { (operations.unpack)(state, offset, packed.cast(), len) } {
            Status::OK => Ok(()),
            status => Err(status),
        };
        if Mode::get().verify && self.ours.is_some() {
            // SAFETY: guaranteed by the caller.
            contain(|| unsafe { self.rehearse(offset, packed, len) });
        }
        let Some(ours) = &mut self.ours else { return library() };
        let unpacked = contain(|| {
            // SAFETY: a part of the context, which lives.
            let compiled = unsafe { &*ours.compiled };
            // SAFETY: guaranteed by the caller.
            compiled.counted(len, || unsafe { ours.instances.unpack(offset, packed, len) })
        });
        unpacked.unwrap_or_else(library)
    }

    fn finish(self) {
        // SAFETY: the library's function, with its state, which is not used again.
        unsafe { (self.operations().finish)(self.state) };
    }
}

impl Wrapped {
    /// Unpacks the fragment into two memories, by this engine and by the library, and compares them.
    ///
    /// # Safety
    ///
    /// As for [`Message::unpack`].
    unsafe fn rehearse(&self, offset: usize, packed: *const u8, len: usize) {
        let Some(ours) = &self.ours else { return };
        let (compiled, count) = (ours.compiled(), ours.count);
        let here = |base| {
            // SAFETY: there is room for the elements, and the fragment has that many bytes.
            let message = unsafe { Instances::to_unpack(&compiled.committed, base, count) };
            // SAFETY: as above.
            message.is_ok_and(|mut one| unsafe { one.unpack(offset, packed, len) }.is_ok())
        };
        let Operations { start_unpack, unpack, .. } = *self.operations();
        // The state is not finished: finishing would give back a reference to the type that the library has not taken in its
        // `start`. So each verified fragment leaks a few bytes.
        //
        // The library refuses a fragment that ends inside a value. Senders of bytes make such fragments.
        //
        // SAFETY: as above; the library's functions get its context and its state.
        let library = |base: *mut u8| unsafe {
            let state = start_unpack((*self.context).library, base.cast(), count);
            unpack(state, offset, packed.cast(), len) == Status::OK
        };
        verify::compare_memory(compiled, ours.fragment("memory of", offset, len), here, library);
    }
}

/// The callbacks of every context.
static OPERATIONS: Operations = Operations::of::<Context>();

/// The class of a generic datatype, in the lowest three bits.
const GENERIC: UcpDatatype = 7;

/// Where UCX keeps the context and the functions of a generic datatype (`ucp_dt_generic_t`).
#[derive(Debug)]
#[repr(C)]
struct Created {
    context: *mut c_void,
    operations: Operations,
}

/// The generic datatypes that UCX has not destroyed, by MPICH's contexts.
///
/// The context is MPICH's own datatype. Depending on where the system has put the heap, MPICH 4.0 reads half of the addresses
/// as negative numbers, and does not destroy a datatype with such an address. This library finds that out when UCX passes the
/// same context again.
static ALIVE: Mutex<BTreeMap<usize, UcpDatatype>> = Mutex::new(BTreeMap::new());

fn alive() -> MutexGuard<'static, BTreeMap<usize, UcpDatatype>> {
    ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Set once it is clear that UCX stores datatypes in this form.
static IS_KNOWN: AtomicBool = AtomicBool::new(false);

/// The context of this library in a datatype of UCX; `None` if the datatype has another one.
///
/// # Safety
///
/// UCX must have made the datatype, and must not have destroyed it.
unsafe fn context_of(datatype: UcpDatatype) -> Option<*mut Context> {
    if datatype & GENERIC != GENERIC {
        return None;
    }
    let created =
        ptr::with_exposed_provenance::<Created>(usize::try_from(datatype & !GENERIC).ok()?);
    // SAFETY: UCX allocates a context and six functions for each generic datatype, at this address.
    let created = unsafe { created.as_ref() }?;
    let ours = created.operations.start_pack as *const () == OPERATIONS.start_pack as *const ()
        && created.operations.finish as *const () == OPERATIONS.finish as *const ();
    ours.then_some(created.context.cast())
}

/// Makes a datatype with this library's callbacks around those that are passed. `None` if UCX refuses, or stores them in an
/// unknown form.
///
/// # Safety
///
/// As `ucp_dt_create_generic`.
unsafe fn wrap(
    handle: Word,
    operations: *const Operations,
    context: *mut c_void,
    datatype: *mut UcpDatatype,
) -> Option<Status> {
    let (create, destroy) = (CREATE.get()?, DESTROY.get()?);
    // SAFETY: the caller's functions.
    let operations = *unsafe { operations.as_ref() }?;
    let made = Box::into_raw(Box::new(Context {
        operations,
        library: context,
        handle: AtomicUsize::new(handle),
        source: OnceLock::new(),
        seen: AtomicBool::new(false),
        compiling: Mutex::new(()),
        compiled: OnceLock::new(),
    }));
    // SAFETY: UCX copies the functions; the context lives until the datatype is destroyed.
    let status = unsafe { create(&raw const OPERATIONS, made.cast(), datatype) };
    // SAFETY: the caller's number, which UCX has written.
    let found = (status == Status::OK).then(|| unsafe { context_of(*datatype) }).flatten();
    if found == Some(made) {
        IS_KNOWN.store(true, Ordering::Release);
        MADE.set(made);
        // SAFETY: just written.
        let before = alive().insert(context.addr(), unsafe { *datatype });
        if let Some(before) = before {
            // SAFETY: MPICH has freed the type of this datatype, after the last message with it, and its memory now belongs to
            // another type.
            unsafe { destroy_datatype(before, destroy) };
        }
        return Some(status);
    }
    // SAFETY: nothing else knows the context once the datatype is gone.
    unsafe {
        if status == Status::OK {
            destroy(*datatype);
        }
        drop(Box::from_raw(made));
    }
    None
}

/// Replaces UCX's function of this name.
///
/// # Safety
///
/// As for the original.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn ucp_dt_create_generic(
    operations: *const Operations,
    context: *mut c_void,
    datatype: *mut UcpDatatype,
) -> Status {
    // Only the type that is being committed is wrapped: not a datatype that another library makes for itself, and not one of
    // Open MPI's.
    if let Some(handle) = MAKING.get()
        && library().is_some_and(|library| library.has_ucx_hook)
    {
        // SAFETY: the caller's arguments.
        let run = || unsafe { wrap(handle, operations, context, datatype) };
        if let Some(Some(status)) = contain(run) {
            return status;
        }
    }
    let Some(original) = CREATE.get() else { return Status::NO_MEMORY };
    // SAFETY: the caller's arguments.
    unsafe { original(operations, context, datatype) }
}

/// Destroys a datatype by UCX's function, and its context if the context is this library's.
///
/// # Safety
///
/// As `ucp_dt_destroy`.
unsafe fn destroy_datatype(datatype: UcpDatatype, original: unsafe extern "C" fn(UcpDatatype)) {
    // SAFETY: the caller's datatype.
    let context =
        IS_KNOWN.load(Ordering::Acquire).then(|| unsafe { context_of(datatype) }).flatten();
    // SAFETY: as above.
    unsafe { original(datatype) };
    if let Some(context) = context {
        // SAFETY: made by `wrap`. A datatype is destroyed only after the last message with it.
        let context = unsafe { Box::from_raw(context) };
        let mut alive = alive();
        if alive.get(&context.library.addr()) == Some(&datatype) {
            alive.remove(&context.library.addr());
        }
    }
}

/// Replaces UCX's function of this name.
///
/// # Safety
///
/// As for the original.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn ucp_dt_destroy(datatype: UcpDatatype) {
    let Some(original) = DESTROY.get() else { return };
    // SAFETY: the caller's datatype.
    contain(|| unsafe { destroy_datatype(datatype, original) });
}

#[cfg(test)]
mod tests {
    use super::*;

    static DESTROYED: Mutex<Vec<UcpDatatype>> = Mutex::new(Vec::new());

    unsafe extern "C" fn create(
        operations: *const Operations,
        context: *mut c_void,
        datatype: *mut UcpDatatype,
    ) -> Status {
        // SAFETY: the caller's table.
        let operations = unsafe { *operations };
        let created = Box::into_raw(Box::new(Created { context, operations }));
        // SAFETY: the caller's number.
        unsafe { *datatype = created.expose_provenance() as u64 | GENERIC };
        Status::OK
    }

    unsafe extern "C" fn destroy(datatype: UcpDatatype) {
        DESTROYED.lock().unwrap().push(datatype);
        let created = usize::try_from(datatype & !GENERIC).unwrap();
        // SAFETY: made by `create`.
        drop(unsafe { Box::from_raw(ptr::with_exposed_provenance_mut::<Created>(created)) });
    }

    #[test]
    fn a_datatype_that_the_library_forgot_goes_with_the_next_of_its_context() {
        CREATE.replace(create);
        DESTROY.replace(destroy);
        let library = OPERATIONS;
        let make = |context: usize| {
            let mut datatype = 0;
            let context = ptr::without_provenance_mut(context);
            // SAFETY: no code calls the functions of the table.
            let made = unsafe { wrap(UNKNOWN, &raw const library, context, &raw mut datatype) };
            assert_eq!(made, Some(Status::OK));
            datatype
        };
        let destroyed = || std::mem::take(&mut *DESTROYED.lock().unwrap());
        let (first, other) = (make(0x40), make(0x80));
        assert_eq!(destroyed(), []);
        let second = make(0x40);
        assert_eq!(destroyed(), [first]);
        // SAFETY: made above.
        unsafe { ucp_dt_destroy(second) };
        let third = make(0x40);
        assert_eq!(destroyed(), [second]);
        // SAFETY: as above.
        unsafe {
            ucp_dt_destroy(other);
            ucp_dt_destroy(third);
        }
        assert_eq!((destroyed(), alive().len()), (vec![other, third], 0));
    }
}

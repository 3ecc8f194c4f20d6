//! The right to call the library: MPI is running, this thread may call it, and errors are returned as codes.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::os::raw::c_int;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use mpi::ffi::{self, MPI_Comm, MPI_Errhandler};
use mpi::traits::Communicator;

use super::code::check;
use crate::error::Error;
use crate::handle::Handle;
use crate::library::{self, is_open_mpi};

/// The right to make and query datatypes and operations, for as long as the value lives.
///
/// Errors in these calls do not belong to a communicator: one library calls the error handler of `MPI_COMM_WORLD`, another the
/// error handler of `MPI_COMM_SELF`.
pub(crate) struct Session {
    _world: Returning,
    _own: Returning,
    /// Released last. Some libraries' datatype tables are not thread-safe.
    _alone: MutexGuard<'static, ()>,
}

/// Locked while a session exists, so that there is only one.
static ALONE: Mutex<()> = Mutex::new(());

impl Session {
    pub(crate) fn begin(call: &'static str) -> Result<Self, Error> {
        let level = check_running(call)?;
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: MPI is running, and stays so until the session ends, because no call in it ends MPI; the
        // communicators are predefined.
        let (world, own) = unsafe {
            (
                Returning::errors(ffi::RSMPI_COMM_WORLD, level),
                Returning::errors(ffi::RSMPI_COMM_SELF, level),
            )
        };
        Ok(Self { _world: world, _own: own, _alone: alone })
    }
}

/// The right to communicate on one communicator, for as long as the value lives.
///
/// Several threads may have it at the same time, for different communicators or the same one.
pub(crate) struct OnCommunicator<'c> {
    handle: MPI_Comm,
    /// The level of thread support.
    level: c_int,
    _returning: Returning,
    communicator: PhantomData<&'c ()>,
}

impl<'c> OnCommunicator<'c> {
    #[inline]
    pub(crate) fn begin<C: Communicator + ?Sized>(
        call: &'static str,
        communicator: &'c C,
    ) -> Result<Self, Error> {
        Later { handle: communicator.as_raw(), communicator: PhantomData }.begin(call)
    }

    /// Whether other threads may call MPI between this thread's calls.
    pub(crate) fn has_threads(&self) -> bool {
        has_threads(self.level)
    }

    pub(crate) fn handle(&self) -> MPI_Comm {
        self.handle
    }

    /// Keeps the communicator borrowed, so that the same right can be requested again later.
    #[inline]
    pub(crate) fn later(&self) -> Later<'c> {
        Later { handle: self.handle, communicator: PhantomData }
    }
}

/// A communicator with a request in progress.
#[derive(Clone, Copy)]
pub(crate) struct Later<'c> {
    handle: MPI_Comm,
    communicator: PhantomData<&'c ()>,
}

impl fmt::Debug for Later<'_> {
    /// The handle is a number or an address without meaning to a reader.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Later").finish_non_exhaustive()
    }
}

impl<'c> Later<'c> {
    pub(crate) fn handle(self) -> MPI_Comm {
        self.handle
    }

    #[inline]
    pub(crate) fn begin(self, call: &'static str) -> Result<OnCommunicator<'c>, Error> {
        let (level, handle) = (check_running(call)?, self.handle);
        // SAFETY: MPI is running, and the communicator is borrowed.
        let returning = unsafe { Returning::errors(handle, level) };
        Ok(OnCommunicator { handle, level, _returning: returning, communicator: PhantomData })
    }
}

/// The right to complete a request. The fields are dropped in the reverse order of their beginning.
pub(crate) struct Completing<'c> {
    _own: Option<OnCommunicator<'static>>,
    _world: Option<OnCommunicator<'static>>,
    _on: OnCommunicator<'c>,
}

impl<'c> Later<'c> {
    /// As [`begin`](Self::begin), for a call that completes a request. For the errors of a receive, MPICH 4.0 and Intel MPI call
    /// the error handler of `MPI_COMM_WORLD`; MPICH from 4.2 on calls that of `MPI_COMM_SELF` if a rank has sent the message to
    /// itself.
    pub(crate) fn begin_completion(
        self,
        call: &'static str,
        is_receive: bool,
    ) -> Result<Completing<'c>, Error> {
        let also = |handle| {
            let other = Later { handle, communicator: PhantomData };
            (is_receive && !is_open_mpi()).then(|| other.begin(call)).transpose()
        };
        let on = self.begin(call)?;
        // SAFETY: constants of the library.
        let (world, own) = unsafe { (ffi::RSMPI_COMM_WORLD, ffi::RSMPI_COMM_SELF) };
        let world = if self.handle == world { None } else { also(world)? };
        Ok(Completing { _own: also(own)?, _world: world, _on: on })
    }
}

/// Whether several threads may call MPI at the same time.
fn has_threads(level: c_int) -> bool {
    // SAFETY: a constant of the library.
    level == unsafe { ffi::RSMPI_THREAD_MULTIPLE }
}

/// Why MPI cannot be called; `None` if it can.
pub(super) fn not_running() -> Option<&'static str> {
    if !mpi::environment::is_initialized() {
        Some("not initialised")
    } else if is_finalized() {
        Some("finalized")
    } else {
        None
    }
}

thread_local! {
    /// Whether this thread is in a function of the program that a library call has called.
    static IN_FUNCTION: Cell<bool> = const { Cell::new(false) };

    /// The level of thread support, once it is known that this thread may call MPI. That stays true until MPI is finalized, and
    /// MPI is initialised only once.
    static LEVEL: Cell<Option<c_int>> = const { Cell::new(None) };
}

/// Calls a function that must not call MPI: calls of this crate in it return errors.
pub(super) fn without_calls<R>(function: impl FnOnce() -> R) -> R {
    struct Before(bool);

    impl Drop for Before {
        fn drop(&mut self) {
            IN_FUNCTION.set(self.0);
        }
    }

    let _before = Before(IN_FUNCTION.replace(true));
    function()
}

/// Checks that this thread may call MPI now; returns the level of thread support.
#[inline]
pub(crate) fn check_running(call: &'static str) -> Result<c_int, Error> {
    match LEVEL.get() {
        Some(level) if !is_finalized() && !IN_FUNCTION.get() => Ok(level),
        _ => ask_level(call),
    }
}

/// Whether MPI has ended. Each call queries the library first, which takes a fortieth of a short message's time. A callback at
/// the beginning of MPI's end could not replace the query: if the first call of this crate comes while MPI is ending, it is too
/// late to register a callback, and no error says so.
///
/// Inlined, unlike the `mpi` crate's function. That function reads 8 bytes of its frame, of which the library writes only 4, so
/// the processor cannot forward the two stores: it stalls until all earlier stores have reached the cache, even those to the
/// memory of other processes.
#[inline(always)]
fn is_finalized() -> bool {
    let mut finalized = 0;
    // SAFETY: callable at any time; `finalized` lives through the call.
    unsafe { ffi::MPI_Finalized(&raw mut finalized) };
    finalized != 0
}

/// As [`check_running`], but queries the library each time.
#[cold]
fn ask_level(call: &'static str) -> Result<c_int, Error> {
    if let Some(state) = not_running() {
        return Err(Error::NotRunning { call, state });
    }
    if IN_FUNCTION.get() {
        return Err(Error::NotRunning { call, state: "reducing" });
    }
    library::check()?;
    let (mut level, mut main) = (0, 0);
    // SAFETY: MPI is running; `level` and the answers live through the calls.
    unsafe {
        check("MPI_Query_thread", ffi::MPI_Query_thread(&raw mut level))?;
        check("MPI_Is_thread_main", ffi::MPI_Is_thread_main(&raw mut main))?;
    }
    if main == 0 && !has_threads(level) {
        return Err(Error::Thread { call, level });
    }
    LEVEL.set(Some(level));
    Ok(level)
}

/// While this lives, a communicator returns errors, even if its handler would end the program.
struct Returning {
    communicator: MPI_Comm,
    /// The handler to restore, if only this thread may call MPI: values for one communicator then end in the reverse order of
    /// their beginning. With more threads, the handler is in [`ASIDE`].
    handler: Option<MPI_Errhandler>,
}

/// A communicator whose error handler is temporarily replaced.
struct Aside {
    communicator: MPI_Comm,
    handler: MPI_Errhandler,
    users: usize,
}

// SAFETY: the fields are handles, which are addresses or integers; only threads that may call MPI use them, one at
// a time.
unsafe impl Send for Aside {}

/// The replaced error handlers. If several users overlap, the first replaces the handler and the last restores it, so that no
/// user takes the replacement of another for the program's handler.
static ASIDE: Mutex<Vec<Aside>> = Mutex::new(Vec::new());

impl Returning {
    /// # Safety
    ///
    /// MPI must be running, with this level of thread support, and the communicator alive for as long as the value.
    #[inline]
    unsafe fn errors(communicator: MPI_Comm, level: c_int) -> Self {
        if has_threads(level) {
            // SAFETY: guaranteed by the caller.
            unsafe { Self::errors_for_all(communicator) };
            return Self { communicator, handler: None };
        }
        // SAFETY: guaranteed by the caller.
        Self { communicator, handler: Some(unsafe { replace(communicator) }) }
    }

    /// # Safety
    ///
    /// As [`errors`](Self::errors).
    unsafe fn errors_for_all(communicator: MPI_Comm) {
        let mut aside = ASIDE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = aside.iter_mut().find(|found| found.communicator == communicator) {
            found.users += 1;
            return;
        }
        // SAFETY: guaranteed by the caller.
        let handler = unsafe { replace(communicator) };
        aside.push(Aside { communicator, handler, users: 1 });
    }
}

impl Drop for Returning {
    #[inline]
    fn drop(&mut self) {
        if let Some(handler) = self.handler {
            // SAFETY: the code that made the value guaranteed that MPI is running and the communicator is alive; the
            // handler is from `replace`.
            unsafe { restore(self.communicator, handler) };
            return;
        }
        let mut aside = ASIDE.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |found: &Aside| found.communicator == self.communicator;
        let Some(index) = aside.iter().position(same) else { return };
        aside[index].users -= 1;
        if aside[index].users == 0 {
            let Aside { communicator, handler, .. } = aside.swap_remove(index);
            // SAFETY: as above.
            unsafe { restore(communicator, handler) };
        }
    }
}

unsafe extern "C" {
    fn dtype_mpi_returning() -> MPI_Errhandler;
}

/// The error handler with which calls return their errors.
static RETURNING: LazyLock<Handle<MPI_Errhandler>> = LazyLock::new(|| {
    // SAFETY: only `replace` asks for it, while MPI is running.
    Handle(unsafe { dtype_mpi_returning() })
});

/// Makes a communicator return errors; returns its handler, for [`restore`].
///
/// # Safety
///
/// MPI must be running and the communicator alive.
unsafe fn replace(communicator: MPI_Comm) -> MPI_Errhandler {
    // SAFETY: the caller guarantees that the communicator is alive; `handler` lives through the call. The calls can
    // only fail for invalid arguments.
    unsafe {
        let mut handler = RETURNING.0;
        ffi::MPI_Comm_get_errhandler(communicator, &raw mut handler);
        ffi::MPI_Comm_set_errhandler(communicator, RETURNING.0);
        handler
    }
}

/// Ends what [`replace`] began.
///
/// # Safety
///
/// MPI must be running and the communicator alive; the handler is what `replace` returned for it, once.
unsafe fn restore(communicator: MPI_Comm, mut handler: MPI_Errhandler) {
    // SAFETY: by the caller's promise. A handler from MPI_Comm_get_errhandler is freed with MPI_Errhandler_free.
    unsafe {
        ffi::MPI_Comm_set_errhandler(communicator, handler);
        ffi::MPI_Errhandler_free(&raw mut handler);
    }
}

//! The right to call the library: MPI runs, this thread may call it, and errors come back as codes.

use std::cell::Cell;
use std::marker::PhantomData;
use std::os::raw::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mpi::ffi::{self, MPI_Comm, MPI_Errhandler};
use mpi::traits::Communicator;

use super::check;
use crate::error::Error;

/// The right to make and ask datatypes and operations, from here to its end.
///
/// Errors about them belong to no communicator: one library calls the error handler of `MPI_COMM_WORLD` for
/// them, another that of `MPI_COMM_SELF`.
pub(crate) struct Session {
    _world: Returning,
    _own: Returning,
    /// Released last. Some libraries' tables of datatypes are not made for several threads.
    _alone: MutexGuard<'static, ()>,
}

/// Held by the one session that there is.
static ALONE: Mutex<()> = Mutex::new(());

impl Session {
    pub(crate) fn begin(call: &'static str) -> Result<Self, Error> {
        check_running(call)?;
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: MPI runs, and does so until the session ends, because no call in it ends MPI; the
        // communicators are predefined.
        let (world, own) = unsafe {
            (Returning::errors(ffi::RSMPI_COMM_WORLD), Returning::errors(ffi::RSMPI_COMM_SELF))
        };
        Ok(Self { _world: world, _own: own, _alone: alone })
    }
}

/// The right to communicate on one communicator, from here to its end.
///
/// Several threads may have it at a time, for different communicators or the same.
pub(crate) struct OnCommunicator<'c> {
    handle: MPI_Comm,
    /// The level of thread support.
    level: c_int,
    _returning: Returning,
    communicator: PhantomData<&'c ()>,
}

impl<'c> OnCommunicator<'c> {
    pub(crate) fn begin<C: Communicator + ?Sized>(
        call: &'static str,
        communicator: &'c C,
    ) -> Result<Self, Error> {
        let level = check_running(call)?;
        let handle = communicator.as_raw();
        // SAFETY: MPI runs, and the communicator is borrowed.
        let returning = unsafe { Returning::errors(handle) };
        Ok(Self { handle, level, _returning: returning, communicator: PhantomData })
    }

    /// Whether other threads may call MPI in the middle of what this one does.
    pub(crate) fn has_threads(&self) -> bool {
        // SAFETY: a constant of the library.
        self.level == unsafe { ffi::RSMPI_THREAD_MULTIPLE }
    }

    pub(crate) fn handle(&self) -> MPI_Comm {
        self.handle
    }

    /// The same right, to be asked for again later, while the communicator is still borrowed.
    pub(crate) fn later(&self) -> Later<'c> {
        Later { handle: self.handle, communicator: PhantomData }
    }
}

/// A communicator on which something is under way.
#[derive(Clone, Copy)]
pub(crate) struct Later<'c> {
    handle: MPI_Comm,
    communicator: PhantomData<&'c ()>,
}

impl<'c> Later<'c> {
    pub(crate) fn handle(self) -> MPI_Comm {
        self.handle
    }

    pub(crate) fn begin(self, call: &'static str) -> Result<OnCommunicator<'c>, Error> {
        let (level, handle) = (check_running(call)?, self.handle);
        // SAFETY: MPI runs, and the communicator is borrowed.
        let returning = unsafe { Returning::errors(handle) };
        Ok(OnCommunicator { handle, level, _returning: returning, communicator: PhantomData })
    }
}

/// Why MPI cannot be called, if it cannot.
pub(super) fn not_running() -> Option<&'static str> {
    if !mpi::environment::is_initialized() {
        Some("not initialised")
    } else if mpi::environment::is_finalized() {
        Some("finalized")
    } else {
        None
    }
}

thread_local! {
    /// Whether the library is in the middle of a call that has called a function of the program.
    static IN_FUNCTION: Cell<bool> = const { Cell::new(false) };
}

/// Calls a function that must not call MPI: inside of it, errors come back.
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

/// Whether this thread may call MPI now; the level of thread support.
pub(crate) fn check_running(call: &'static str) -> Result<c_int, Error> {
    if let Some(state) = not_running() {
        return Err(Error::NotRunning { call, state });
    }
    if IN_FUNCTION.get() {
        return Err(Error::NotRunning { call, state: "reducing" });
    }
    let (mut level, mut main) = (0, 0);
    // SAFETY: MPI runs; both live through the calls.
    let multiple = unsafe {
        check("MPI_Query_thread", ffi::MPI_Query_thread(&raw mut level))?;
        check("MPI_Is_thread_main", ffi::MPI_Is_thread_main(&raw mut main))?;
        ffi::RSMPI_THREAD_MULTIPLE
    };
    if main == 0 && level != multiple {
        return Err(Error::Thread { call, level });
    }
    Ok(level)
}

/// A communicator returns errors as long as this lives, where its handler would end the program.
struct Returning(MPI_Comm);

/// A communicator whose handler is put aside.
struct Aside {
    communicator: MPI_Comm,
    handler: MPI_Errhandler,
    users: usize,
}

// SAFETY: handles, which are addresses or integers; they are used by threads that may call MPI, one at a time.
unsafe impl Send for Aside {}

/// The handlers that are put aside. Of several users at a time the first takes it away and the last puts it
/// back, lest one takes the other's for the program's.
static ASIDE: Mutex<Vec<Aside>> = Mutex::new(Vec::new());

impl Returning {
    /// # Safety
    ///
    /// MPI must run and the communicator be alive as long as the value.
    unsafe fn errors(communicator: MPI_Comm) -> Self {
        let mut aside = ASIDE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = aside.iter_mut().find(|found| found.communicator == communicator) {
            found.users += 1;
            return Self(communicator);
        }
        // SAFETY: the communicator is alive, by the caller's promise; `handler` lives through the call. The
        // calls cannot fail but for their arguments.
        let handler = unsafe {
            let mut handler = ffi::RSMPI_ERRORS_RETURN;
            ffi::MPI_Comm_get_errhandler(communicator, &raw mut handler);
            ffi::MPI_Comm_set_errhandler(communicator, ffi::RSMPI_ERRORS_RETURN);
            handler
        };
        aside.push(Aside { communicator, handler, users: 1 });
        Self(communicator)
    }
}

impl Drop for Returning {
    fn drop(&mut self) {
        let mut aside = ASIDE.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(index) = aside.iter().position(|found| found.communicator == self.0) else {
            return;
        };
        aside[index].users -= 1;
        if aside[index].users > 0 {
            return;
        }
        let mut last = aside.swap_remove(index);
        // SAFETY: MPI runs and the communicator is alive, by the promise that the value was made with. The
        // handler is what MPI_Comm_get_errhandler returned, to be given back with MPI_Errhandler_free.
        unsafe {
            ffi::MPI_Comm_set_errhandler(last.communicator, last.handler);
            ffi::MPI_Errhandler_free(&raw mut last.handler);
        }
    }
}

//! Handles that threads share.

use mpi::ffi::{MPI_Datatype, MPI_Errhandler};

/// A handle that may be kept in a static.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Handle<H = MPI_Datatype>(pub(crate) H);

// SAFETY: a handle is an address or an integer with the same meaning in every thread. Only threads that may call MPI make calls
// with it.
unsafe impl Send for Handle<MPI_Datatype> {}
// SAFETY: as above.
unsafe impl Sync for Handle<MPI_Datatype> {}
// SAFETY: as above.
unsafe impl Send for Handle<MPI_Errhandler> {}
// SAFETY: as above.
unsafe impl Sync for Handle<MPI_Errhandler> {}

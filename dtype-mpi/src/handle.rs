//! Handles of datatypes that threads share.

use mpi::ffi::MPI_Datatype;

/// A handle that may be kept in a static.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Handle(pub(crate) MPI_Datatype);

// SAFETY: a handle is an address or an integer with the same meaning in every thread. Only threads that may call MPI make calls
// with it.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

//! What lets a [`Datatype`] be used with the `mpi` crate.

use mpi::datatype::{UncommittedDatatype, UserDatatype};
use mpi::ffi::MPI_Datatype;
use mpi::raw::AsRaw;

use crate::raw::Datatype;

// SAFETY: the handle stays alive as long as the value.
unsafe impl AsRaw for Datatype {
    type Raw = MPI_Datatype;

    fn as_raw(&self) -> MPI_Datatype {
        self.handle()
    }
}

impl UncommittedDatatype for Datatype {
    type DuplicatedDatatype = UserDatatype;
}

impl mpi::datatype::Datatype for Datatype {}

//! Decodes an MPI datatype to a [`Type`], by its envelope and contents.

use dtype_runtime::Type;
use dtype_runtime::types::{Combiner, Decoded, Library};
use mpi::ffi::MPI_Datatype;

use crate::error::Error;
use crate::names;
use crate::raw::{self, Datatype, Session};

impl Datatype {
    /// Rebuilds the type from the calls that made the datatype.
    ///
    /// The type's envelope and contents equal the datatype's, level by level, with one exception: a datatype that
    /// was made by a large-count call without large counts in its arguments decodes to a type made by the
    /// small-count call. A part that the library returns twice is decoded once. Open MPI returns a new copy of a
    /// part each time, so shared parts are decoded repeatedly there. The type's bounds follow the standard, even
    /// where the library's bounds do not.
    ///
    /// # Errors
    ///
    /// [`Error::NotRunning`], [`Error::Thread`]; [`Error::UnknownCombiner`], [`Error::UnknownName`] and [`Error::Constant`] for
    /// anything that MPI-4.1 or `dtype-runtime` lacks; [`Error::TooDeep`]; [`Error::Type`] for arguments that `dtype-runtime`
    /// refuses; [`Error::Call`] if the library fails.
    #[doc(alias = "MPI_Type_get_contents")]
    pub fn to_type(&self) -> Result<Type, Error> {
        let _session = Session::begin("MPI_Type_get_contents")?;
        Type::decode(&mut Opened, self)
    }
}

/// The type of an MPI datatype, whatever made the datatype: as [`Datatype::to_type`].
///
/// # Safety
///
/// The handle must belong to a live datatype, as [`mpi::raw::AsRaw::as_raw`] returns it, or be `MPI_DATATYPE_NULL`.
///
/// # Errors
///
/// As [`Datatype::to_type`], and [`Error::Null`] for the null handle.
pub unsafe fn decode(handle: MPI_Datatype) -> Result<Type, Error> {
    // SAFETY: the caller guarantees the handle, and the value is dropped before this returns.
    let datatype = unsafe { Datatype::borrowed(handle) };
    if datatype.is_null() {
        return Err(Error::Null);
    }
    datatype.to_type()
}

/// The library, during a session.
struct Opened;

impl Library for Opened {
    type Datatype = Datatype;
    type Key = i32;
    type Error = Error;

    fn too_deep(limit: u32) -> Error {
        Error::TooDeep { limit }
    }

    fn key(&self, datatype: &Datatype) -> i32 {
        datatype.number()
    }

    fn read(&mut self, datatype: &Datatype) -> Result<Decoded<Datatype>, Error> {
        let envelope = raw::envelope(datatype)?;
        if envelope.combiner != Combiner::Named {
            return raw::contents(datatype, &envelope).map(Decoded::Made);
        }
        match names::predefined(datatype.handle()) {
            Some(named) => Ok(Decoded::Named(named.datatype())),
            None => Err(Error::UnknownName { name: datatype.library_name()? }),
        }
    }
}

//! From an MPI datatype to a [`Type`], by its envelope and contents.

use std::collections::HashMap;

use dtype_runtime::Type;
use dtype_runtime::typemap::MAX_DEPTH;
use dtype_runtime::types::{self, Combiner, Envelope};
use mpi::ffi::MPI_Datatype;

use crate::error::Error;
use crate::names;
use crate::raw::{self, Contents, Datatype, Session};

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
    /// [`Error::NotRunning`], [`Error::Thread`]; [`Error::UnknownCombiner`], [`Error::UnknownName`],
    /// [`Error::Constant`] for what MPI-4.1 or `dtype-runtime` does not have; [`Error::TooDeep`];
    /// [`Error::Type`] for arguments that `dtype-runtime` refuses; [`Error::Call`] when the library fails.
    #[doc(alias = "MPI_Type_get_contents")]
    pub fn to_type(&self) -> Result<Type, Error> {
        let _session = Session::begin("MPI_Type_get_contents")?;
        Seen::default().decode(self, 0)
    }
}

/// The type that an MPI datatype stands for, whatever made the datatype: as [`Datatype::to_type`].
///
/// # Safety
///
/// The handle belongs to a datatype that is alive, as [`mpi::raw::AsRaw::as_raw`] returns it, or
/// `MPI_DATATYPE_NULL`.
///
/// # Errors
///
/// As [`Datatype::to_type`], and [`Error::Null`] for the null handle.
pub unsafe fn decode(handle: MPI_Datatype) -> Result<Type, Error> {
    // SAFETY: the caller guarantees it, and the value is dropped before this returns.
    let datatype = unsafe { Datatype::borrowed(handle) };
    if datatype.is_null() {
        return Err(Error::Null);
    }
    datatype.to_type()
}

/// The datatypes decoded so far, by their numbers. They are kept until the end, because the library may reuse the
/// number of a freed datatype.
#[derive(Default)]
struct Seen {
    types: HashMap<i32, Type>,
    kept: Vec<Datatype>,
}

impl Seen {
    fn decode(&mut self, datatype: &Datatype, depth: u32) -> Result<Type, Error> {
        if let Some(ty) = self.types.get(&datatype.number()) {
            return Ok(ty.clone());
        }
        if depth > MAX_DEPTH {
            return Err(Error::TooDeep { limit: MAX_DEPTH });
        }
        let envelope = raw::envelope(datatype)?;
        let ty = if envelope.combiner == Combiner::Named {
            match names::predefined(datatype.handle()) {
                Some((_, ty)) => ty,
                None => return Err(Error::UnknownName { name: datatype.library_name()? }),
            }
        } else {
            self.rebuild(datatype, &envelope, depth)?
        };
        self.types.insert(datatype.number(), ty.clone());
        Ok(ty)
    }

    fn rebuild(
        &mut self,
        datatype: &Datatype,
        envelope: &Envelope,
        depth: u32,
    ) -> Result<Type, Error> {
        let Contents { combiner, integers, addresses, large_counts, datatypes: parts } =
            raw::contents(datatype, envelope)?;
        let mut datatypes = Vec::with_capacity(parts.len());
        let mut failed = None;
        for part in parts {
            if failed.is_none() {
                match self.decode(&part, depth + 1) {
                    Ok(ty) => datatypes.push(ty),
                    Err(error) => failed = Some(error),
                }
            }
            self.kept.push(part);
        }
        if let Some(error) = failed {
            return Err(error);
        }
        let contents = types::Contents { combiner, integers, addresses, large_counts, datatypes };
        Ok(contents.rebuild()?)
    }
}

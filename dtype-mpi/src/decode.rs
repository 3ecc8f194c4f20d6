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
    /// The type that the same calls make.
    ///
    /// Its envelope and contents are those of the datatype, level by level, but for one thing: a datatype
    /// that was made by a call with large counts and has none is decoded to a type that says it was made by
    /// the call without. A part that the library returns twice is decoded once; Open MPI returns a copy of a
    /// part each time, so that there a part that was shared is not. Its bounds are the standard's, also where
    /// the library's are others.
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

/// The type that an MPI datatype stands for, whoever made it: as [`Datatype::to_type`].
///
/// # Safety
///
/// The handle is that of a datatype that is alive, as [`mpi::raw::AsRaw::as_raw`] returns it, or
/// `MPI_DATATYPE_NULL`.
///
/// # Errors
///
/// As [`Datatype::to_type`], and [`Error::Null`] for the null handle.
pub unsafe fn decode(handle: MPI_Datatype) -> Result<Type, Error> {
    // SAFETY: the caller says so, and the value is dropped before this returns.
    let datatype = unsafe { Datatype::borrowed(handle) };
    if datatype.is_null() {
        return Err(Error::Null);
    }
    datatype.to_type()
}

/// The datatypes that were decoded so far, by their numbers. They are kept until the end: a number may be
/// given to another datatype once its own is freed.
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

//! The calls that make a datatype.

use std::os::raw::c_int;

use dtype_runtime::types::{self, Combiner};
use mpi::ffi::MPI_Datatype;

use super::arguments::Arguments;
use super::code::check;
use super::datatype::{Datatype, null};
#[cfg(large_counts)]
use super::large;
use super::small;
use crate::error::Error;

impl Arguments {
    /// Makes the call, and returns its code. The call has large counts if the arguments have any.
    ///
    /// # Safety
    ///
    /// MPI must be running, the handles must belong to datatypes that are alive, and `new` must be valid for
    /// writes.
    pub unsafe fn call(&self, new: *mut MPI_Datatype) -> c_int {
        #[cfg(large_counts)]
        if !self.large_counts.is_empty() {
            // SAFETY: the caller guarantees the same.
            return unsafe { large::call(self, new) };
        }
        // SAFETY: the caller guarantees the same.
        unsafe { small::call(self, new) }
    }
}

/// Makes the call for contents, with `parts` for their datatypes. Requires a session.
pub(crate) fn make<T>(
    contents: &types::Contents<T>,
    parts: &[&Datatype],
) -> Result<Datatype, Error> {
    let combiner = contents.combiner;
    #[cfg(not(large_counts))]
    if !contents.large_counts.is_empty() {
        let number = contents.large_counts.len();
        return Err(Error::LargeCounts { combiner: combiner.name(), number });
    }
    let arguments = Arguments::new(contents, parts.iter().map(|part| part.handle()).collect())?;
    let mut new = null();
    // SAFETY: a session is in progress, `parts` keeps the datatypes alive, and `new` lives through the call.
    let code = unsafe { arguments.call(&raw mut new) };
    let name = combiner.signature().map_or(combiner.name(), |signature| signature.mpi_name);
    check(name, code)?;
    Ok(match combiner {
        // The library owns these.
        Combiner::F90Real | Combiner::F90Complex | Combiner::F90Integer => {
            Datatype::predefined(new)
        }
        _ => Datatype::owned(new),
    })
}

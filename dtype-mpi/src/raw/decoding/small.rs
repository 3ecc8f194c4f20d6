//! The calls that return contents, with counts of type `int`.

use dtype_runtime::types::Envelope;
use mpi::ffi::{self, MPI_Aint};

use super::Arrays;
use crate::error::Error;
use crate::raw::code::{check, offset};
use crate::raw::datatype::{Datatype, null};

/// The numbers of integers, addresses, large counts and datatypes, and the combiner.
pub(super) fn envelope(datatype: &Datatype) -> Result<(&'static str, [i64; 4], i32), Error> {
    let call = "MPI_Type_get_envelope";
    let (mut integers, mut addresses, mut datatypes, mut combiner) = (0, 0, 0, 0);
    // SAFETY: the datatype is alive, and so are the four numbers.
    let code = unsafe {
        ffi::MPI_Type_get_envelope(
            datatype.handle(),
            &raw mut integers,
            &raw mut addresses,
            &raw mut datatypes,
            &raw mut combiner,
        )
    };
    check(call, code)?;
    Ok((call, [integers.into(), addresses.into(), 0, datatypes.into()], combiner))
}

/// The arrays as the library fills them, and the handles, which the caller must free.
pub(super) fn contents(datatype: &Datatype, envelope: &Envelope) -> Result<Arrays, Error> {
    let call = "MPI_Type_get_contents";
    let length = |number: usize| {
        i32::try_from(number).map_err(|_| Error::Argument {
            call,
            value: number as i64,
            bits: i32::BITS,
        })
    };
    let mut integers = vec![0; envelope.num_integers];
    let mut addresses: Vec<MPI_Aint> = vec![0; envelope.num_addresses];
    let mut handles = vec![null(); envelope.num_datatypes];
    // SAFETY: the datatype is alive, and the arrays have the given lengths.
    let code = unsafe {
        ffi::MPI_Type_get_contents(
            datatype.handle(),
            length(integers.len())?,
            length(addresses.len())?,
            length(handles.len())?,
            integers.as_mut_ptr(),
            addresses.as_mut_ptr(),
            handles.as_mut_ptr(),
        )
    };
    check(call, code)?;
    let addresses = addresses.into_iter().map(offset).collect();
    Ok(Arrays { integers, addresses, large_counts: Vec::new(), handles })
}

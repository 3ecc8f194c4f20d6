//! The calls that return contents, with counts of type `MPI_Count`.

use dtype_runtime::types::Envelope;
use mpi::ffi::{self, MPI_Aint, MPI_Count};

use super::Arrays;
use crate::error::Error;
use crate::raw::code::{check, offset, wide};
use crate::raw::datatype::{Datatype, null};

/// The numbers of integers, addresses, large counts and datatypes, and the combiner.
pub(super) fn envelope(datatype: &Datatype) -> Result<(&'static str, [i64; 4], i32), Error> {
    let call = "MPI_Type_get_envelope_c";
    let mut numbers: [MPI_Count; 4] = [0; 4];
    let mut combiner = 0;
    let [integers, addresses, large_counts, datatypes] = &mut numbers;
    // SAFETY: the datatype is alive, and so are the five numbers.
    let code = unsafe {
        ffi::MPI_Type_get_envelope_c(
            datatype.handle(),
            integers,
            addresses,
            large_counts,
            datatypes,
            &raw mut combiner,
        )
    };
    check(call, code)?;
    Ok((call, numbers.map(wide), combiner))
}

/// The arrays as the library fills them, and the handles, which the caller must free.
pub(super) fn contents(datatype: &Datatype, envelope: &Envelope) -> Result<Arrays, Error> {
    let call = "MPI_Type_get_contents_c";
    let mut integers = vec![0; envelope.num_integers];
    let mut addresses: Vec<MPI_Aint> = vec![0; envelope.num_addresses];
    let mut large_counts: Vec<MPI_Count> = vec![0; envelope.num_large_counts];
    let mut handles = vec![null(); envelope.num_datatypes];
    // SAFETY: the datatype is alive, and the arrays have the given lengths.
    let code = unsafe {
        ffi::MPI_Type_get_contents_c(
            datatype.handle(),
            integers.len() as MPI_Count,
            addresses.len() as MPI_Count,
            large_counts.len() as MPI_Count,
            handles.len() as MPI_Count,
            integers.as_mut_ptr(),
            addresses.as_mut_ptr(),
            large_counts.as_mut_ptr(),
            handles.as_mut_ptr(),
        )
    };
    check(call, code)?;
    let addresses = addresses.into_iter().map(offset).collect();
    let large_counts = large_counts.into_iter().map(wide).collect();
    Ok(Arrays { integers, addresses, large_counts, handles })
}

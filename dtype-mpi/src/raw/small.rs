//! The calls with counts of type `int`.

use std::os::raw::c_int;

use dtype_runtime::types::{Combiner, Contents};
use mpi::ffi::{self, MPI_Aint, MPI_Datatype};

use super::{Datatype, aint, check};
use crate::arguments::Arguments;
use crate::error::Error;

/// Makes the call that contents in the small form stand for, in a session, with `parts` for their datatypes.
pub(crate) fn make(contents: &Contents, parts: &[&Datatype]) -> Result<Datatype, Error> {
    let mut from = Arguments::new(contents, parts);
    let combiner = contents.combiner;
    let mut new = null();
    let at = &raw mut new;
    // SAFETY of all the calls below: the old datatypes are alive because `parts` holds them, the arrays have
    // the lengths that go with them because `Arguments` counts them out, and `new` lives through the call.
    let (call, code) = match combiner {
        Combiner::Dup => {
            let old = from.datatype()?;
            // SAFETY: see above.
            ("MPI_Type_dup", unsafe { ffi::MPI_Type_dup(old, at) })
        }
        Combiner::Contiguous => {
            let (count, old) = (from.integer()?, from.datatype()?);
            // SAFETY: see above.
            ("MPI_Type_contiguous", unsafe { ffi::MPI_Type_contiguous(count, old, at) })
        }
        Combiner::Vector => {
            let [count, blocklength, stride] = from.some()?;
            let old = from.datatype()?;
            // SAFETY: see above.
            let code = unsafe { ffi::MPI_Type_vector(count, blocklength, stride, old, at) };
            ("MPI_Type_vector", code)
        }
        Combiner::Hvector => {
            let [count, blocklength] = from.some()?;
            let call = "MPI_Type_create_hvector";
            let (stride, old) = (aint(call, from.address()?)?, from.datatype()?);
            // SAFETY: see above.
            (call, unsafe { ffi::MPI_Type_create_hvector(count, blocklength, stride, old, at) })
        }
        Combiner::Indexed => {
            let count = from.integer()?;
            let (lengths, places) = (from.integers(count)?, from.integers(count)?);
            let (lengths, places, old) = (pointer(lengths), pointer(places), from.datatype()?);
            // SAFETY: see above.
            let code = unsafe { ffi::MPI_Type_indexed(count, lengths, places, old, at) };
            ("MPI_Type_indexed", code)
        }
        Combiner::Hindexed => {
            let call = "MPI_Type_create_hindexed";
            let count = from.integer()?;
            let lengths = pointer(from.integers(count)?);
            let (places, old) = (aints(call, from.addresses(count)?)?, from.datatype()?);
            let places = pointer(&places);
            // SAFETY: see above.
            (call, unsafe { ffi::MPI_Type_create_hindexed(count, lengths, places, old, at) })
        }
        Combiner::IndexedBlock => {
            let [count, length] = from.some()?;
            let (places, old) = (pointer(from.integers(count)?), from.datatype()?);
            // SAFETY: see above.
            let code =
                unsafe { ffi::MPI_Type_create_indexed_block(count, length, places, old, at) };
            ("MPI_Type_create_indexed_block", code)
        }
        Combiner::HindexedBlock => {
            let call = "MPI_Type_create_hindexed_block";
            let [count, length] = from.some()?;
            let (places, old) = (aints(call, from.addresses(count)?)?, from.datatype()?);
            let places = pointer(&places);
            // SAFETY: see above.
            (call, unsafe { ffi::MPI_Type_create_hindexed_block(count, length, places, old, at) })
        }
        Combiner::Structure => {
            let call = "MPI_Type_create_struct";
            let count = from.integer()?;
            let lengths = pointer(from.integers(count)?);
            let (places, types) = (aints(call, from.addresses(count)?)?, from.datatypes(count)?);
            let (places, types) = (pointer(&places), pointer(&types));
            // SAFETY: see above.
            (call, unsafe { ffi::MPI_Type_create_struct(count, lengths, places, types, at) })
        }
        Combiner::Subarray => {
            let n = from.integer()?;
            let [sizes, subsizes, starts] =
                [from.integers(n)?, from.integers(n)?, from.integers(n)?].map(pointer);
            let (order, old) = (from.order()?, from.datatype()?);
            // SAFETY: see above.
            ("MPI_Type_create_subarray", unsafe {
                ffi::MPI_Type_create_subarray(n, sizes, subsizes, starts, order, old, at)
            })
        }
        Combiner::Darray => {
            let [size, rank, n] = from.some()?;
            let sizes = pointer(from.integers(n)?);
            let (kinds, dargs) = (from.distributions(n)?, from.dargs(n)?);
            let (kinds, dargs, grid) = (pointer(&kinds), pointer(&dargs), from.integers(n)?);
            let (grid, order, old) = (pointer(grid), from.order()?, from.datatype()?);
            // SAFETY: see above.
            ("MPI_Type_create_darray", unsafe {
                ffi::MPI_Type_create_darray(
                    size, rank, n, sizes, kinds, dargs, grid, order, old, at,
                )
            })
        }
        Combiner::Resized => {
            let call = "MPI_Type_create_resized";
            let (lb, extent) = (aint(call, from.address()?)?, aint(call, from.address()?)?);
            let old = from.datatype()?;
            // SAFETY: see above.
            (call, unsafe { ffi::MPI_Type_create_resized(old, lb, extent, at) })
        }
        Combiner::F90Real | Combiner::F90Complex | Combiner::F90Integer => {
            return fortran(combiner, &mut from);
        }
        other => return Err(Error::NoSuchCall { combiner: other.name() }),
    };
    finish(call, code, || Datatype::owned(new))
}

/// The types of Fortran's kinds, which the library keeps.
fn fortran(combiner: Combiner, from: &mut Arguments<'_>) -> Result<Datatype, Error> {
    let mut new = null();
    let at = &raw mut new;
    let first = from.digits()?;
    let (call, code) = match combiner {
        Combiner::F90Real => {
            let range = from.digits()?;
            // SAFETY: `new` lives through the call.
            let code = unsafe { ffi::MPI_Type_create_f90_real(first, range, at) };
            ("MPI_Type_create_f90_real", code)
        }
        Combiner::F90Complex => {
            let range = from.digits()?;
            // SAFETY: as above.
            let code = unsafe { ffi::MPI_Type_create_f90_complex(first, range, at) };
            ("MPI_Type_create_f90_complex", code)
        }
        _ => {
            // SAFETY: as above.
            let code = unsafe { ffi::MPI_Type_create_f90_integer(first, at) };
            ("MPI_Type_create_f90_integer", code)
        }
    };
    finish(call, code, || Datatype::predefined(new))
}

/// What a constructor made, if it did.
pub(super) fn finish(
    call: &'static str,
    code: c_int,
    new: impl FnOnce() -> Datatype,
) -> Result<Datatype, Error> {
    check(call, code)?;
    Ok(new())
}

/// Where an array is. That of an empty one is an address all the same: some libraries refuse null, or crash.
pub(super) fn pointer<T>(array: &[T]) -> *const T {
    array.as_ptr()
}

pub(super) fn null() -> MPI_Datatype {
    // SAFETY: a constant of the library.
    unsafe { ffi::RSMPI_DATATYPE_NULL }
}

fn aints(call: &'static str, values: &[i64]) -> Result<Vec<MPI_Aint>, Error> {
    values.iter().map(|&value| aint(call, value)).collect()
}

#[cfg(not(large_counts))]
mod asking {
    use dtype_runtime::types::Envelope;

    use super::super::{Arrays, offset};
    use super::{Datatype, Error, MPI_Aint, check, ffi, null};

    /// The numbers of integers, addresses, large counts and datatypes, and the combiner.
    pub(in crate::raw) fn envelope(
        datatype: &Datatype,
    ) -> Result<(&'static str, [i64; 4], i32), Error> {
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

    /// The arrays, as the library fills them, and the handles, which are the caller's to free.
    pub(in crate::raw) fn contents(
        datatype: &Datatype,
        envelope: &Envelope,
    ) -> Result<Arrays, Error> {
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
        // SAFETY: the datatype is alive, and the arrays have the lengths that are given.
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
}
#[cfg(not(large_counts))]
pub(super) use asking::{contents, envelope};

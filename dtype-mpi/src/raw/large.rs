//! The calls of MPI-4 with counts of type `MPI_Count`.

use dtype_runtime::types::{Combiner, Contents, Envelope};
use mpi::ffi::{self, MPI_Aint, MPI_Count};

use super::small::{finish, null, pointer};
use super::{Arrays, Datatype, check, offset, wide};
use crate::arguments::Arguments;
use crate::error::Error;

/// Makes the call that contents in the large form stand for, in a session, with `parts` for their datatypes.
pub(crate) fn make(contents: &Contents, parts: &[&Datatype]) -> Result<Datatype, Error> {
    let mut from = Arguments::new(contents, parts);
    let mut new = null();
    let at = &raw mut new;
    // SAFETY of all the calls below: the old datatypes are alive because `parts` holds them, the arrays have
    // the lengths that go with them because `Arguments` counts them out, and `new` lives through the call.
    let (call, code) = match contents.combiner {
        Combiner::Contiguous => {
            let (count, old) = (from.large()?, from.datatype()?);
            // SAFETY: see above.
            ("MPI_Type_contiguous_c", unsafe { ffi::MPI_Type_contiguous_c(count, old, at) })
        }
        Combiner::Vector => {
            let [count, length, stride] = [from.large()?, from.large()?, from.large()?];
            let old = from.datatype()?;
            // SAFETY: see above.
            let code = unsafe { ffi::MPI_Type_vector_c(count, length, stride, old, at) };
            ("MPI_Type_vector_c", code)
        }
        Combiner::Hvector => {
            let [count, length, stride] = [from.large()?, from.large()?, from.large()?];
            let old = from.datatype()?;
            // SAFETY: see above.
            let code = unsafe { ffi::MPI_Type_create_hvector_c(count, length, stride, old, at) };
            ("MPI_Type_create_hvector_c", code)
        }
        Combiner::Indexed | Combiner::Hindexed => {
            let count = from.large()?;
            let [lengths, places] = [from.larges(count)?, from.larges(count)?].map(pointer);
            let old = from.datatype()?;
            if contents.combiner == Combiner::Indexed {
                // SAFETY: see above.
                let code = unsafe { ffi::MPI_Type_indexed_c(count, lengths, places, old, at) };
                ("MPI_Type_indexed_c", code)
            } else {
                // SAFETY: see above.
                let code =
                    unsafe { ffi::MPI_Type_create_hindexed_c(count, lengths, places, old, at) };
                ("MPI_Type_create_hindexed_c", code)
            }
        }
        Combiner::IndexedBlock | Combiner::HindexedBlock => {
            let [count, length] = [from.large()?, from.large()?];
            let (places, old) = (pointer(from.larges(count)?), from.datatype()?);
            if contents.combiner == Combiner::IndexedBlock {
                // SAFETY: see above.
                ("MPI_Type_create_indexed_block_c", unsafe {
                    ffi::MPI_Type_create_indexed_block_c(count, length, places, old, at)
                })
            } else {
                // SAFETY: see above.
                ("MPI_Type_create_hindexed_block_c", unsafe {
                    ffi::MPI_Type_create_hindexed_block_c(count, length, places, old, at)
                })
            }
        }
        Combiner::Structure => {
            let count = from.large()?;
            let [lengths, places] = [from.larges(count)?, from.larges(count)?].map(pointer);
            let types = from.datatypes(count)?;
            let types = pointer(&types);
            // SAFETY: see above.
            let code = unsafe { ffi::MPI_Type_create_struct_c(count, lengths, places, types, at) };
            ("MPI_Type_create_struct_c", code)
        }
        Combiner::Subarray => {
            let n = from.integer()?;
            let [sizes, subsizes, starts] =
                [from.larges(n)?, from.larges(n)?, from.larges(n)?].map(pointer);
            let (order, old) = (from.order()?, from.datatype()?);
            // SAFETY: see above.
            ("MPI_Type_create_subarray_c", unsafe {
                ffi::MPI_Type_create_subarray_c(n, sizes, subsizes, starts, order, old, at)
            })
        }
        Combiner::Darray => {
            let [size, rank, n] = from.some()?;
            let sizes = pointer(from.larges(n)?);
            let (kinds, dargs) = (from.distributions(n)?, from.dargs(n)?);
            let (kinds, dargs, grid) = (pointer(&kinds), pointer(&dargs), from.integers(n)?);
            let (grid, order, old) = (pointer(grid), from.order()?, from.datatype()?);
            // SAFETY: see above.
            ("MPI_Type_create_darray_c", unsafe {
                ffi::MPI_Type_create_darray_c(
                    size, rank, n, sizes, kinds, dargs, grid, order, old, at,
                )
            })
        }
        Combiner::Resized => {
            let [lb, extent] = [from.large()?, from.large()?];
            let old = from.datatype()?;
            // SAFETY: see above.
            let code = unsafe { ffi::MPI_Type_create_resized_c(old, lb, extent, at) };
            ("MPI_Type_create_resized_c", code)
        }
        other => return Err(Error::NoSuchCall { combiner: other.name() }),
    };
    finish(call, code, || Datatype::owned(new))
}

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

/// The arrays, as the library fills them, and the handles, which are the caller's to free.
pub(super) fn contents(datatype: &Datatype, envelope: &Envelope) -> Result<Arrays, Error> {
    let call = "MPI_Type_get_contents_c";
    let mut integers = vec![0; envelope.num_integers];
    let mut addresses: Vec<MPI_Aint> = vec![0; envelope.num_addresses];
    let mut large_counts: Vec<MPI_Count> = vec![0; envelope.num_large_counts];
    let mut handles = vec![null(); envelope.num_datatypes];
    // SAFETY: the datatype is alive, and the arrays have the lengths that are given.
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

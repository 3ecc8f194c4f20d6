//! The calls of MPI-4 with counts of type `MPI_Count`.

use std::os::raw::c_int;

use dtype_runtime::types::Combiner;
use mpi::ffi::{self, MPI_Datatype};

use super::arguments::Arguments;
use super::datatype::null;

/// Makes the call for arguments in the large form, and returns its code.
///
/// # Safety
///
/// MPI must be running, the handles must belong to datatypes that are alive, and `new` must be valid for writes.
pub(super) unsafe fn call(arguments: &Arguments, new: *mut MPI_Datatype) -> c_int {
    let Arguments { combiner, length, integers: n, large_counts: c, handles, .. } = arguments;
    // The address of the array that starts at this index.
    let at = |index: usize| c[index..].as_ptr();
    let ints = |index: usize| n[index..].as_ptr();
    let (lengths, old) = (*length, handles.first().copied());
    let old = old.unwrap_or_else(null);
    // SAFETY: the arrays have the elements that the combiner takes, in the order of the standard, by the invariant of
    // `Arguments`; the caller guarantees the rest.
    unsafe {
        match combiner {
            Combiner::Contiguous => ffi::MPI_Type_contiguous_c(c[0], old, new),
            Combiner::Vector => ffi::MPI_Type_vector_c(c[0], c[1], c[2], old, new),
            Combiner::Hvector => ffi::MPI_Type_create_hvector_c(c[0], c[1], c[2], old, new),
            Combiner::Indexed => ffi::MPI_Type_indexed_c(c[0], at(1), at(1 + lengths), old, new),
            Combiner::Hindexed => {
                ffi::MPI_Type_create_hindexed_c(c[0], at(1), at(1 + lengths), old, new)
            }
            Combiner::IndexedBlock => {
                ffi::MPI_Type_create_indexed_block_c(c[0], c[1], at(2), old, new)
            }
            Combiner::HindexedBlock => {
                ffi::MPI_Type_create_hindexed_block_c(c[0], c[1], at(2), old, new)
            }
            Combiner::Structure => {
                let (places, types) = (at(1 + lengths), handles.as_ptr());
                ffi::MPI_Type_create_struct_c(c[0], at(1), places, types, new)
            }
            Combiner::Subarray => {
                let [sizes, subsizes, starts] = [0, 1, 2].map(|i| at(i * lengths));
                ffi::MPI_Type_create_subarray_c(n[0], sizes, subsizes, starts, n[1], old, new)
            }
            Combiner::Darray => {
                let [kinds, dargs, grid] = [0, 1, 2].map(|i| ints(3 + i * lengths));
                let (size, rank, ndims, order) = (n[0], n[1], n[2], n[3 + 3 * lengths]);
                ffi::MPI_Type_create_darray_c(
                    size,
                    rank,
                    ndims,
                    at(0),
                    kinds,
                    dargs,
                    grid,
                    order,
                    old,
                    new,
                )
            }
            Combiner::Resized => ffi::MPI_Type_create_resized_c(old, c[0], c[1], new),
            // No other constructor has counts, so `Arguments` for it have no large counts.
            other => unreachable!("a {} takes no large count", other.name()),
        }
    }
}

//! The calls with counts of type `int`.

use std::os::raw::c_int;

use dtype_runtime::types::Combiner;
use mpi::ffi::{self, MPI_Datatype};

use super::arguments::Arguments;
use super::datatype::null;

/// Makes the call for arguments in the small form, and returns its code.
///
/// # Safety
///
/// MPI must be running, the handles must belong to datatypes that are alive, and `new` must be valid for writes.
pub(super) unsafe fn call(arguments: &Arguments, new: *mut MPI_Datatype) -> c_int {
    let Arguments { combiner, length, integers: n, addresses: a, handles, .. } = arguments;
    // The address of the array that starts at this index. An empty array has an address as well: some libraries
    // refuse null, or crash.
    let at = |index: usize| n[index..].as_ptr();
    let (lengths, old) = (*length, handles.first().copied());
    let old = old.unwrap_or_else(null);
    // SAFETY: the arrays have the elements that the combiner takes, in the order of the standard, by the invariant of
    // `Arguments`; the caller guarantees the rest.
    unsafe {
        match combiner {
            Combiner::Dup => ffi::MPI_Type_dup(old, new),
            Combiner::Contiguous => ffi::MPI_Type_contiguous(n[0], old, new),
            Combiner::Vector => ffi::MPI_Type_vector(n[0], n[1], n[2], old, new),
            Combiner::Hvector => ffi::MPI_Type_create_hvector(n[0], n[1], a[0], old, new),
            Combiner::Indexed => ffi::MPI_Type_indexed(n[0], at(1), at(1 + lengths), old, new),
            Combiner::Hindexed => ffi::MPI_Type_create_hindexed(n[0], at(1), a.as_ptr(), old, new),
            Combiner::IndexedBlock => {
                ffi::MPI_Type_create_indexed_block(n[0], n[1], at(2), old, new)
            }
            Combiner::HindexedBlock => {
                ffi::MPI_Type_create_hindexed_block(n[0], n[1], a.as_ptr(), old, new)
            }
            Combiner::Structure => {
                let (places, types) = (a.as_ptr(), handles.as_ptr());
                ffi::MPI_Type_create_struct(n[0], at(1), places, types, new)
            }
            Combiner::Subarray => {
                let [sizes, subsizes, starts] = [0, 1, 2].map(|i| at(1 + i * lengths));
                let order = n[1 + 3 * lengths];
                ffi::MPI_Type_create_subarray(n[0], sizes, subsizes, starts, order, old, new)
            }
            Combiner::Darray => {
                let [sizes, kinds, dargs, grid] = [0, 1, 2, 3].map(|i| at(3 + i * lengths));
                let (size, rank, ndims, order) = (n[0], n[1], n[2], n[3 + 4 * lengths]);
                ffi::MPI_Type_create_darray(
                    size, rank, ndims, sizes, kinds, dargs, grid, order, old, new,
                )
            }
            Combiner::F90Real => ffi::MPI_Type_create_f90_real(n[0], n[1], new),
            Combiner::F90Complex => ffi::MPI_Type_create_f90_complex(n[0], n[1], new),
            Combiner::F90Integer => ffi::MPI_Type_create_f90_integer(n[0], new),
            Combiner::Resized => ffi::MPI_Type_create_resized(old, a[0], a[1], new),
            // `Arguments` never hold one of these combiners.
            other => unreachable!("no call makes a {}", other.name()),
        }
    }
}

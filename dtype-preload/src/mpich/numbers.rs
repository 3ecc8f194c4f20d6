//! Numbers of MPICH 4.0's `mpi.h`. `tests/layout.rs` compares them with the header.

use dtype_runtime::types::Combiner;

/// A datatype (`MPI_Datatype`).
pub type Handle = i32;

/// `MPI_COMM_NULL`.
pub const COMM_NULL: u32 = 0x0400_0000;
/// `MPI_DATATYPE_NULL`.
pub const DATATYPE_NULL: Handle = 0x0C00_0000;
/// The predefined types whose layout the handle does not say. Like all predefined types, they are committed.
pub const PAIRS: [(&str, Handle); 5] = [
    ("MPI_FLOAT_INT", 0x8C00_0000_u32.cast_signed()),
    ("MPI_DOUBLE_INT", 0x8C00_0001_u32.cast_signed()),
    ("MPI_LONG_INT", 0x8C00_0002_u32.cast_signed()),
    ("MPI_SHORT_INT", 0x8C00_0003_u32.cast_signed()),
    ("MPI_LONG_DOUBLE_INT", 0x8C00_0004_u32.cast_signed()),
];
/// `MPI_MAX_OBJECT_NAME`.
pub const MAX_OBJECT_NAME: usize = 128;
/// `MPI_MAX_LIBRARY_VERSION_STRING`.
pub const MAX_LIBRARY_VERSION_STRING: usize = 8192;
/// `MPI_THREAD_MULTIPLE`.
pub const THREAD_MULTIPLE: i32 = 3;
/// `MPI_COMBINER_NAMED`.
pub const COMBINER_NAMED: i32 = 1;
/// `MPI_DISTRIBUTE_DFLT_DARG`.
pub const DISTRIBUTE_DFLT_DARG: i32 = -49767;

/// The combiners, by name, by MPICH's number, and here. Those of Fortran's first binding are the same as C's.
pub const COMBINERS: [(&str, i32, Combiner); 19] = [
    ("MPI_COMBINER_DUP", 2, Combiner::Dup),
    ("MPI_COMBINER_CONTIGUOUS", 3, Combiner::Contiguous),
    ("MPI_COMBINER_VECTOR", 4, Combiner::Vector),
    ("MPI_COMBINER_HVECTOR_INTEGER", 5, Combiner::Hvector),
    ("MPI_COMBINER_HVECTOR", 6, Combiner::Hvector),
    ("MPI_COMBINER_INDEXED", 7, Combiner::Indexed),
    ("MPI_COMBINER_HINDEXED_INTEGER", 8, Combiner::Hindexed),
    ("MPI_COMBINER_HINDEXED", 9, Combiner::Hindexed),
    ("MPI_COMBINER_INDEXED_BLOCK", 10, Combiner::IndexedBlock),
    ("MPI_COMBINER_STRUCT_INTEGER", 11, Combiner::Structure),
    ("MPI_COMBINER_STRUCT", 12, Combiner::Structure),
    ("MPI_COMBINER_SUBARRAY", 13, Combiner::Subarray),
    ("MPI_COMBINER_DARRAY", 14, Combiner::Darray),
    ("MPI_COMBINER_F90_REAL", 15, Combiner::F90Real),
    ("MPI_COMBINER_F90_COMPLEX", 16, Combiner::F90Complex),
    ("MPI_COMBINER_F90_INTEGER", 17, Combiner::F90Integer),
    ("MPI_COMBINER_RESIZED", 18, Combiner::Resized),
    ("MPI_COMBINER_HINDEXED_BLOCK", 19, Combiner::HindexedBlock),
    ("MPI_COMBINER_NAMED", COMBINER_NAMED, Combiner::Named),
];

/// The orders and distributions of arrays: name, MPICH's number, the number of the MPI-5.0 ABI, which
/// [`Contents`](dtype_runtime::types::Contents) has.
pub const ARRAYS: [(&str, i32, i32); 5] = [
    ("MPI_ORDER_C", 56, 12),
    ("MPI_ORDER_FORTRAN", 57, 15),
    ("MPI_DISTRIBUTE_NONE", 123, 16),
    ("MPI_DISTRIBUTE_BLOCK", 121, 17),
    ("MPI_DISTRIBUTE_CYCLIC", 122, 18),
];

/// The default argument of a distribution in the MPI-5.0 ABI.
pub const DEFAULT_ARGUMENT: i32 = 19;

/// The combiner with this number in MPICH.
pub(super) fn combiner(number: i32) -> Option<Combiner> {
    COMBINERS.iter().find(|(_, here, _)| *here == number).map(|(_, _, combiner)| *combiner)
}

/// The ABI's number for one of [`ARRAYS`].
pub(super) fn array(number: i32) -> Option<i32> {
    ARRAYS.iter().find(|(_, here, _)| *here == number).map(|(_, _, abi)| *abi)
}

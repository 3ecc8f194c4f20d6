//! Numbers of MPICH 4.0's `mpi.h`. `tests/it/layout.rs` compares them with the header.

use dtype_runtime::types::Combiner;

/// A datatype or a communicator (`MPI_Datatype`, `MPI_Comm`).
pub type Handle = i32;

/// `MPI_COMM_WORLD`.
pub const COMM_WORLD: Handle = 0x4400_0000;
/// `MPI_COMM_SELF`.
pub const COMM_SELF: Handle = 0x4400_0001;
/// `MPI_DATATYPE_NULL`.
pub const DATATYPE_NULL: Handle = 0x0C00_0000;
/// The predefined types whose handle does not encode the layout. Like all predefined types, they count as committed.
pub const PAIRS: [(&str, Handle); 5] = [
    ("MPI_FLOAT_INT", 0x8C00_0000_u32.cast_signed()),
    ("MPI_DOUBLE_INT", 0x8C00_0001_u32.cast_signed()),
    ("MPI_LONG_INT", 0x8C00_0002_u32.cast_signed()),
    ("MPI_SHORT_INT", 0x8C00_0003_u32.cast_signed()),
    ("MPI_LONG_DOUBLE_INT", 0x8C00_0004_u32.cast_signed()),
];
/// The other predefined types, with the sizes that they have where a `long` has 64 bits.
pub const PREDEFINED: [(&str, Handle); 59] = [
    ("MPI_CHAR", 0x4C00_0101),
    ("MPI_SIGNED_CHAR", 0x4C00_0118),
    ("MPI_UNSIGNED_CHAR", 0x4C00_0102),
    ("MPI_BYTE", 0x4C00_010D),
    ("MPI_WCHAR", 0x4C00_040E),
    ("MPI_SHORT", 0x4C00_0203),
    ("MPI_UNSIGNED_SHORT", 0x4C00_0204),
    ("MPI_INT", 0x4C00_0405),
    ("MPI_UNSIGNED", 0x4C00_0406),
    ("MPI_LONG", 0x4C00_0807),
    ("MPI_UNSIGNED_LONG", 0x4C00_0808),
    ("MPI_FLOAT", 0x4C00_040A),
    ("MPI_DOUBLE", 0x4C00_080B),
    ("MPI_LONG_DOUBLE", 0x4C00_100C),
    ("MPI_LONG_LONG_INT", 0x4C00_0809),
    ("MPI_UNSIGNED_LONG_LONG", 0x4C00_0819),
    ("MPI_PACKED", 0x4C00_010F),
    ("MPI_LB", 0x4C00_0010),
    ("MPI_UB", 0x4C00_0011),
    ("MPI_2INT", 0x4C00_0816),
    ("MPI_COMPLEX", 0x4C00_081E),
    ("MPI_DOUBLE_COMPLEX", 0x4C00_1022),
    ("MPI_LOGICAL", 0x4C00_041D),
    ("MPI_REAL", 0x4C00_041C),
    ("MPI_DOUBLE_PRECISION", 0x4C00_081F),
    ("MPI_INTEGER", 0x4C00_041B),
    ("MPI_2INTEGER", 0x4C00_0820),
    ("MPI_2REAL", 0x4C00_0821),
    ("MPI_2DOUBLE_PRECISION", 0x4C00_1023),
    ("MPI_CHARACTER", 0x4C00_011A),
    ("MPI_REAL4", 0x4C00_0427),
    ("MPI_REAL8", 0x4C00_0829),
    ("MPI_REAL16", 0x4C00_102B),
    ("MPI_COMPLEX8", 0x4C00_0828),
    ("MPI_COMPLEX16", 0x4C00_102A),
    ("MPI_COMPLEX32", 0x4C00_202C),
    ("MPI_INTEGER1", 0x4C00_012D),
    ("MPI_INTEGER2", 0x4C00_022F),
    ("MPI_INTEGER4", 0x4C00_0430),
    ("MPI_INTEGER8", 0x4C00_0831),
    ("MPI_INT8_T", 0x4C00_0137),
    ("MPI_INT16_T", 0x4C00_0238),
    ("MPI_INT32_T", 0x4C00_0439),
    ("MPI_INT64_T", 0x4C00_083A),
    ("MPI_UINT8_T", 0x4C00_013B),
    ("MPI_UINT16_T", 0x4C00_023C),
    ("MPI_UINT32_T", 0x4C00_043D),
    ("MPI_UINT64_T", 0x4C00_083E),
    ("MPI_C_BOOL", 0x4C00_013F),
    ("MPI_C_FLOAT_COMPLEX", 0x4C00_0840),
    ("MPI_C_DOUBLE_COMPLEX", 0x4C00_1041),
    ("MPI_C_LONG_DOUBLE_COMPLEX", 0x4C00_2042),
    ("MPI_AINT", 0x4C00_0843),
    ("MPI_OFFSET", 0x4C00_0844),
    ("MPI_COUNT", 0x4C00_0845),
    ("MPI_CXX_BOOL", 0x4C00_0133),
    ("MPI_CXX_FLOAT_COMPLEX", 0x4C00_0834),
    ("MPI_CXX_DOUBLE_COMPLEX", 0x4C00_1035),
    ("MPI_CXX_LONG_DOUBLE_COMPLEX", 0x4C00_2036),
];
/// `MPI_MAX_LIBRARY_VERSION_STRING`.
pub const MAX_LIBRARY_VERSION_STRING: usize = 8192;
/// `MPI_THREAD_MULTIPLE`.
pub const THREAD_MULTIPLE: i32 = 3;
/// `MPI_COMBINER_NAMED`.
pub const COMBINER_NAMED: i32 = 1;
/// `MPI_DISTRIBUTE_DFLT_DARG`.
pub const DISTRIBUTE_DFLT_DARG: i32 = -49767;

/// The combiners: name, MPICH's number, and the variant here. Combiners of Fortran's first binding are the same as C's.
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

/// The orders and distributions of arrays: name, MPICH's number, and the number of the MPI-5.0 ABI, which is used in
/// [`Contents`](dtype_runtime::types::Contents).
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

/// The name of a predefined type.
pub(super) fn name(handle: Handle) -> Option<&'static str> {
    let mut all = PREDEFINED.iter().chain(&PAIRS);
    all.find(|(_, here)| *here == handle).map(|(name, _)| *name)
}

//! The numbers of the ABIs: MPICH's, and the one of the MPI-5.0 standard. `tests/it/layout.rs` compares them with the headers.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use dtype_runtime::types::Combiner;

/// A handle as an argument. It comes in a register, of which an ABI whose handles are integers uses only half.
pub type Word = usize;

/// The numbers of an ABI.
#[derive(Debug)]
pub struct Abi {
    /// Bytes of a handle in memory.
    pub handle: usize,
    /// `MPI_COMM_WORLD`.
    pub comm_world: Word,
    /// `MPI_COMM_NULL`.
    pub comm_null: Word,
    /// `MPI_PACKED`.
    pub packed: Word,
    /// `MPI_REQUEST_NULL`.
    pub request_null: Word,
    /// `MPI_PROC_NULL`.
    pub proc_null: c_int,
    /// `MPI_IN_PLACE`.
    pub in_place: usize,
    /// `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE`.
    pub status_ignore: usize,
    /// Bytes of an `MPI_Status`.
    pub status: usize,
    /// The displacement of `MPI_ERROR` in it.
    pub status_error: usize,
    /// `MPI_THREAD_MULTIPLE`.
    pub thread_multiple: c_int,
    /// `MPI_ERR_IN_STATUS`.
    pub err_in_status: c_int,
    /// `MPI_ERR_TRUNCATE`.
    pub err_truncate: c_int,
    /// `MPI_COMBINER_NAMED`.
    pub combiner_named: c_int,
    /// `MPI_DISTRIBUTE_DFLT_DARG`.
    pub default_argument: c_int,
}

/// Handles are integers: MPICH, and the libraries derived from it.
pub const MPICH: Abi = Abi {
    handle: 4,
    comm_world: 0x4400_0000,
    comm_null: 0x0400_0000,
    packed: 0x4C00_010F,
    request_null: 0x2C00_0000,
    proc_null: -1,
    in_place: usize::MAX,
    status_ignore: 1,
    status: 20,
    status_error: 16,
    thread_multiple: 3,
    err_in_status: 17,
    err_truncate: 14,
    combiner_named: 1,
    default_argument: -49767,
};

/// Handles are pointers: MPI-5.0 chapter 20.
pub static STANDARD: Abi = Abi {
    handle: 8,
    comm_world: 0x101,
    comm_null: 0x100,
    packed: 0x207,
    request_null: 0x180,
    proc_null: -3,
    in_place: 1,
    status_ignore: 0,
    status: 32,
    status_error: 8,
    thread_multiple: 4096,
    err_in_status: 19,
    err_truncate: 15,
    combiner_named: 101,
    default_argument: 19,
};

/// `MPI_MAX_LIBRARY_VERSION_STRING` in both.
pub const MAX_LIBRARY_VERSION_STRING: usize = 8192;

/// `MPI_ERR_COUNT` in both, and in Open MPI.
pub const ERR_COUNT: c_int = 2;

/// The combiners but `MPI_COMBINER_NAMED`: name, MPICH's number, the standard's, and the variant here. Those of Fortran's first
/// binding are the same as C's. 0 where an ABI has no such combiner.
pub const COMBINERS: [(&str, c_int, c_int, Combiner); 18] = [
    ("MPI_COMBINER_DUP", 2, 102, Combiner::Dup),
    ("MPI_COMBINER_CONTIGUOUS", 3, 103, Combiner::Contiguous),
    ("MPI_COMBINER_VECTOR", 4, 104, Combiner::Vector),
    ("MPI_COMBINER_HVECTOR_INTEGER", 5, 0, Combiner::Hvector),
    ("MPI_COMBINER_HVECTOR", 6, 105, Combiner::Hvector),
    ("MPI_COMBINER_INDEXED", 7, 106, Combiner::Indexed),
    ("MPI_COMBINER_HINDEXED_INTEGER", 8, 0, Combiner::Hindexed),
    ("MPI_COMBINER_HINDEXED", 9, 107, Combiner::Hindexed),
    ("MPI_COMBINER_INDEXED_BLOCK", 10, 108, Combiner::IndexedBlock),
    ("MPI_COMBINER_STRUCT_INTEGER", 11, 0, Combiner::Structure),
    ("MPI_COMBINER_STRUCT", 12, 110, Combiner::Structure),
    ("MPI_COMBINER_SUBARRAY", 13, 111, Combiner::Subarray),
    ("MPI_COMBINER_DARRAY", 14, 112, Combiner::Darray),
    ("MPI_COMBINER_F90_REAL", 15, 113, Combiner::F90Real),
    ("MPI_COMBINER_F90_COMPLEX", 16, 114, Combiner::F90Complex),
    ("MPI_COMBINER_F90_INTEGER", 17, 115, Combiner::F90Integer),
    ("MPI_COMBINER_RESIZED", 18, 116, Combiner::Resized),
    ("MPI_COMBINER_HINDEXED_BLOCK", 19, 109, Combiner::HindexedBlock),
];

/// The orders and distributions of arrays: name, MPICH's number, and the standard's, which is the number in
/// [`Contents`](dtype_runtime::types::Contents).
pub const ARRAYS: [(&str, c_int, c_int); 5] = [
    ("MPI_ORDER_C", 56, 12),
    ("MPI_ORDER_FORTRAN", 57, 15),
    ("MPI_DISTRIBUTE_NONE", 123, 16),
    ("MPI_DISTRIBUTE_BLOCK", 121, 17),
    ("MPI_DISTRIBUTE_CYCLIC", 122, 18),
];

/// The predefined datatypes: name, MPICH's number with the size that it has where a `long` has 64 bits, and the standard's
/// number. 0 where an ABI has no such type.
pub const PREDEFINED: [(&str, Word, Word); 66] = [
    ("MPI_FLOAT_INT", 0x8C00_0000, 0x228),
    ("MPI_DOUBLE_INT", 0x8C00_0001, 0x229),
    ("MPI_LONG_INT", 0x8C00_0002, 0x22A),
    ("MPI_SHORT_INT", 0x8C00_0003, 0x22C),
    ("MPI_LONG_DOUBLE_INT", 0x8C00_0004, 0x22D),
    ("MPI_CHAR", 0x4C00_0101, 0x243),
    ("MPI_SIGNED_CHAR", 0x4C00_0118, 0x244),
    ("MPI_UNSIGNED_CHAR", 0x4C00_0102, 0x245),
    ("MPI_BYTE", 0x4C00_010D, 0x247),
    ("MPI_WCHAR", 0x4C00_040E, 0x23C),
    ("MPI_SHORT", 0x4C00_0203, 0x208),
    ("MPI_UNSIGNED_SHORT", 0x4C00_0204, 0x20C),
    ("MPI_INT", 0x4C00_0405, 0x209),
    ("MPI_UNSIGNED", 0x4C00_0406, 0x20D),
    ("MPI_LONG", 0x4C00_0807, 0x20A),
    ("MPI_UNSIGNED_LONG", 0x4C00_0808, 0x20E),
    ("MPI_FLOAT", 0x4C00_040A, 0x210),
    ("MPI_DOUBLE", 0x4C00_080B, 0x214),
    ("MPI_LONG_DOUBLE", 0x4C00_100C, 0x220),
    ("MPI_LONG_LONG_INT", 0x4C00_0809, 0x20B),
    ("MPI_UNSIGNED_LONG_LONG", 0x4C00_0819, 0x20F),
    ("MPI_PACKED", 0x4C00_010F, 0x207),
    ("MPI_LB", 0x4C00_0010, 0),
    ("MPI_UB", 0x4C00_0011, 0),
    ("MPI_2INT", 0x4C00_0816, 0x22B),
    ("MPI_COMPLEX", 0x4C00_081E, 0x21B),
    ("MPI_DOUBLE_COMPLEX", 0x4C00_1022, 0x21D),
    ("MPI_LOGICAL", 0x4C00_041D, 0x218),
    ("MPI_REAL", 0x4C00_041C, 0x21A),
    ("MPI_DOUBLE_PRECISION", 0x4C00_081F, 0x21C),
    ("MPI_INTEGER", 0x4C00_041B, 0x219),
    ("MPI_2INTEGER", 0x4C00_0820, 0x232),
    ("MPI_2REAL", 0x4C00_0821, 0x230),
    ("MPI_2DOUBLE_PRECISION", 0x4C00_1023, 0x231),
    ("MPI_CHARACTER", 0x4C00_011A, 0x21E),
    ("MPI_REAL4", 0x4C00_0427, 0x2D2),
    ("MPI_REAL8", 0x4C00_0829, 0x2DA),
    ("MPI_REAL16", 0x4C00_102B, 0x2E2),
    ("MPI_COMPLEX8", 0x4C00_0828, 0x2DB),
    ("MPI_COMPLEX16", 0x4C00_102A, 0x2E3),
    ("MPI_COMPLEX32", 0x4C00_202C, 0x2EB),
    ("MPI_INTEGER1", 0x4C00_012D, 0x2C1),
    ("MPI_INTEGER2", 0x4C00_022F, 0x2C9),
    ("MPI_INTEGER4", 0x4C00_0430, 0x2D1),
    ("MPI_INTEGER8", 0x4C00_0831, 0x2D9),
    ("MPI_INTEGER16", 0x4C00_1032, 0x2E1),
    ("MPI_REAL2", 0x4C00_0226, 0x2CA),
    ("MPI_INT8_T", 0x4C00_0137, 0x240),
    ("MPI_INT16_T", 0x4C00_0238, 0x248),
    ("MPI_INT32_T", 0x4C00_0439, 0x250),
    ("MPI_INT64_T", 0x4C00_083A, 0x258),
    ("MPI_UINT8_T", 0x4C00_013B, 0x241),
    ("MPI_UINT16_T", 0x4C00_023C, 0x249),
    ("MPI_UINT32_T", 0x4C00_043D, 0x251),
    ("MPI_UINT64_T", 0x4C00_083E, 0x259),
    ("MPI_C_BOOL", 0x4C00_013F, 0x238),
    ("MPI_C_FLOAT_COMPLEX", 0x4C00_0840, 0x212),
    ("MPI_C_DOUBLE_COMPLEX", 0x4C00_1041, 0x216),
    ("MPI_C_LONG_DOUBLE_COMPLEX", 0x4C00_2042, 0x224),
    ("MPI_AINT", 0x4C00_0843, 0x201),
    ("MPI_OFFSET", 0x4C00_0844, 0x203),
    ("MPI_COUNT", 0x4C00_0845, 0x202),
    ("MPI_CXX_BOOL", 0x4C00_0133, 0x239),
    ("MPI_CXX_FLOAT_COMPLEX", 0x4C00_0834, 0x213),
    ("MPI_CXX_DOUBLE_COMPLEX", 0x4C00_1035, 0x217),
    ("MPI_CXX_LONG_DOUBLE_COMPLEX", 0x4C00_2036, 0x225),
];

static IS_STANDARD: AtomicBool = AtomicBool::new(false);

/// Sets the ABI of this process: the standard's, or MPICH's.
pub(super) fn set_standard(is_standard: bool) {
    IS_STANDARD.store(is_standard, Ordering::Relaxed);
}

/// The ABI of this process. Only meaningful once the library is known.
#[inline]
pub(super) fn abi() -> &'static Abi {
    if IS_STANDARD.load(Ordering::Relaxed) { &STANDARD } else { &MPICH }
}

impl Abi {
    /// The handle in an argument.
    #[inline]
    pub(super) fn handle(&self, word: Word) -> Word {
        if self.handle == 4 { word & 0xFFFF_FFFF } else { word }
    }

    /// Whether a datatype's handle belongs to a derived type, or to a pair of MPICH, whose handles look alike.
    #[inline]
    pub(super) fn is_derived(&self, handle: Word) -> bool {
        // MPICH: the two highest bits are the kind of the handle, the next four the kind of the object, which is 3 for a
        // datatype. Standard: predefined handles are small numbers, others are addresses.
        if self.handle == 4 {
            handle >> 31 & 1 == 1 && handle >> 26 & 0xF == 3
        } else {
            handle >= 0x1000
        }
    }

    /// MPICH's number, or the standard's, of a row of a table.
    pub fn number<T>(&self, mpich: T, standard: T) -> T {
        if self.handle == 4 { mpich } else { standard }
    }

    /// The name of a predefined datatype.
    pub(super) fn name(&self, handle: Word) -> Option<&'static str> {
        let found = PREDEFINED.iter().find(|row| self.number(row.1, row.2) == handle);
        found.map(|&(name, ..)| name)
    }

    /// The combiner with this number.
    pub(super) fn combiner(&self, number: c_int) -> Option<Combiner> {
        let found = COMBINERS.iter().find(|row| self.number(row.1, row.2) == number);
        found.filter(|_| number != 0).map(|&(.., combiner)| combiner)
    }

    /// The number in [`Contents`](dtype_runtime::types::Contents) of an order or a distribution.
    pub(super) fn array(&self, number: c_int) -> Option<c_int> {
        let found = ARRAYS.iter().find(|row| self.number(row.1, row.2) == number);
        found.map(|&(.., standard)| standard)
    }

    /// The `index`-th of some handles in memory.
    ///
    /// # Safety
    ///
    /// There must be more than `index` handles at the address.
    #[inline]
    pub(super) unsafe fn read(&self, handles: *const c_void, index: usize) -> Word {
        // SAFETY: guaranteed by the caller; a handle has four or eight bytes, and the program has aligned it.
        unsafe {
            if self.handle == 4 {
                *handles.cast::<u32>().add(index) as Word
            } else {
                *handles.cast::<Word>().add(index)
            }
        }
    }

    /// Writes a handle.
    ///
    /// # Safety
    ///
    /// There must be memory for a handle at the address.
    #[expect(clippy::cast_possible_truncation, reason = "such handles have 32 bits")]
    pub(super) unsafe fn write(&self, at: *mut c_void, handle: Word) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            if self.handle == 4 {
                *at.cast::<u32>() = handle as u32;
            } else {
                *at.cast::<Word>() = handle;
            }
        }
    }
}

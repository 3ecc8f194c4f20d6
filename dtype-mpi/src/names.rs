//! The library's predefined datatypes by name, and its constants by their numbers in the MPI-5.0 ABI.
//!
//! The tables are read once from names.c, which has no other purpose.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::LazyLock;

use dtype_runtime::types::{Combiner, Named};
use mpi::ffi::{self, MPI_Datatype};
use std::os::raw::{c_char, c_int};

use crate::error::Error;
use crate::handle::Handle;

unsafe extern "C" {
    fn dtype_mpi_name(index: usize, handle: *mut MPI_Datatype) -> *const c_char;
    fn dtype_mpi_constant(
        index: usize,
        kind: *mut c_int,
        abi: *mut c_int,
        here: *mut c_int,
    ) -> c_int;
    fn dtype_mpi_handle_size() -> usize;
}

/// The handles of the names that this library defines.
static NAMES: LazyLock<HashMap<&'static str, Handle>> = LazyLock::new(|| {
    // SAFETY: a function without arguments that returns a constant.
    let size = unsafe { dtype_mpi_handle_size() };
    assert_eq!(
        size,
        size_of::<MPI_Datatype>(),
        "dtype-mpi and the mpi crate were compiled for different MPI libraries: use one target folder for each"
    );
    // SAFETY: a constant of the library.
    let null = unsafe { ffi::RSMPI_DATATYPE_NULL };
    let mut names = HashMap::new();
    for index in 0.. {
        let mut handle = null;
        // SAFETY: `handle` lives through the call; the name is a string literal, or null after the last one.
        let name = unsafe {
            let name = dtype_mpi_name(index, &raw mut handle);
            if name.is_null() { None } else { Some(CStr::from_ptr::<'static>(name)) }
        };
        let Some(name) = name else { break };
        if handle != null {
            let name = name.to_str().expect("names are ASCII");
            names.insert(name, Handle(handle));
        }
    }
    names
});

/// The meaning of a constant; names.c numbers the kinds in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Constant {
    Combiner,
    Order,
    Distribution,
    Darg,
    Undefined,
}

/// A constant in both numberings.
struct Numbered {
    kind: c_int,
    abi: i32,
    here: i32,
}

static CONSTANTS: LazyLock<Vec<Numbered>> = LazyLock::new(|| {
    let mut constants = Vec::new();
    loop {
        let (mut kind, mut abi, mut here) = (0, 0, 0);
        // SAFETY: the three live through the call.
        let found = unsafe {
            dtype_mpi_constant(constants.len(), &raw mut kind, &raw mut abi, &raw mut here)
        };
        if found == 0 {
            return constants;
        }
        constants.push(Numbered { kind, abi, here });
    }
});

/// The library's number for a constant, given the ABI's.
pub(crate) fn from_abi(kind: Constant, abi: i32) -> Option<i32> {
    let found = CONSTANTS.iter().find(|entry| (entry.kind, entry.abi) == (kind as i32, abi));
    found.map(|entry| entry.here)
}

/// The ABI's number for a constant, given the library's.
pub(crate) fn to_abi(kind: Constant, here: i32) -> Option<i32> {
    let found = CONSTANTS.iter().find(|entry| (entry.kind, entry.here) == (kind as i32, here));
    found.map(|entry| entry.abi)
}

/// The combiner with this number in the library.
pub(crate) fn combiner(here: i32) -> Result<Combiner, Error> {
    let abi = to_abi(Constant::Combiner, here);
    abi.and_then(Combiner::from_abi_value).ok_or(Error::UnknownCombiner { value: here })
}

/// The handle of a predefined datatype, by its MPI name.
pub(crate) fn handle(name: &'static str) -> Result<MPI_Datatype, Error> {
    NAMES.get(name).map(|named| named.0).ok_or(Error::NoSuchType { name })
}

/// `MPI_BYTE`, looked up once because messages use it often.
pub(crate) fn byte() -> Result<MPI_Datatype, Error> {
    static BYTE: LazyLock<Result<Handle, Error>> = LazyLock::new(|| handle("MPI_BYTE").map(Handle));
    BYTE.as_ref().map(|named| named.0).map_err(Clone::clone)
}

/// `MPI_PACKED`, looked up once.
pub(crate) fn packed() -> Result<MPI_Datatype, Error> {
    static PACKED: LazyLock<Result<Handle, Error>> =
        LazyLock::new(|| handle("MPI_PACKED").map(Handle));
    PACKED.as_ref().map(|named| named.0).map_err(Clone::clone)
}

/// The predefined datatype with this handle.
pub(crate) fn predefined(handle: MPI_Datatype) -> Option<Named> {
    let (name, _) = NAMES.iter().find(|(_, named)| named.0 == handle)?;
    Named::from_mpi_name(name)
}

//! Packing and unpacking by the library, which the crate itself never calls.

use std::ffi::CStr;
use std::os::raw::{c_char, c_int};

use dtype_mpi::Datatype;
use mpi::ffi;
use mpi::raw::AsRaw;

/// The library that the tests are linked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Library {
    OpenMpi,
    Mpich,
}

impl Library {
    pub(crate) fn here() -> Self {
        let version = version();
        match () {
            () if version.starts_with("Open MPI") => Self::OpenMpi,
            () if version.starts_with("MPICH") => Self::Mpich,
            () => panic!("nothing is known about this library: {version}"),
        }
    }
}

/// The library's version text, in one line.
pub(crate) fn version() -> String {
    let mut bytes = [0 as c_char; ffi::MPI_MAX_LIBRARY_VERSION_STRING as usize + 1];
    let mut length = 0;
    // SAFETY: the buffer has the length that the standard requires, and stays terminated.
    let text = unsafe {
        ffi::MPI_Get_library_version(bytes.as_mut_ptr(), &raw mut length);
        CStr::from_ptr(bytes.as_ptr())
    };
    text.to_string_lossy().lines().next().unwrap_or_default().replace('\t', " ")
}

fn int(number: usize) -> c_int {
    c_int::try_from(number).expect("everything here is small")
}

/// Makes errors of the calls below return as codes.
pub(crate) fn return_errors() {
    // SAFETY: MPI runs, and the communicator and the handler are predefined.
    unsafe { ffi::MPI_Comm_set_errhandler(ffi::RSMPI_COMM_SELF, ffi::RSMPI_ERRORS_RETURN) };
}

/// `MPI_Pack` of `count` instances whose origin is `origin` bytes into `memory`.
pub(crate) fn pack(
    datatype: &Datatype,
    memory: &[u8],
    origin: usize,
    count: usize,
    room: usize,
) -> Result<Vec<u8>, c_int> {
    let mut out = vec![0xee; room];
    let mut position = 0;
    let at = memory[origin..].as_ptr();
    // SAFETY: the caller made `memory` large enough for all instances, by the bounds of both libraries; the
    // datatype is committed.
    let code = unsafe {
        ffi::MPI_Pack(
            at.cast(),
            int(count),
            datatype.as_raw(),
            out.as_mut_ptr().cast(),
            int(room),
            &raw mut position,
            ffi::RSMPI_COMM_SELF,
        )
    };
    if code != 0 {
        return Err(code);
    }
    out.truncate(usize::try_from(position).expect("a position is not negative"));
    Ok(out)
}

/// `MPI_Unpack` of `count` instances, with the same origin.
pub(crate) fn unpack(
    datatype: &Datatype,
    packed: &[u8],
    memory: &mut [u8],
    origin: usize,
    count: usize,
) -> Result<(), c_int> {
    let mut position = 0;
    let at = memory[origin..].as_mut_ptr();
    // SAFETY: as in `pack`.
    let code = unsafe {
        ffi::MPI_Unpack(
            packed.as_ptr().cast(),
            int(packed.len()),
            &raw mut position,
            at.cast(),
            int(count),
            datatype.as_raw(),
            ffi::RSMPI_COMM_SELF,
        )
    };
    if code == 0 { Ok(()) } else { Err(code) }
}

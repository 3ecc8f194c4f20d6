//! The functions that make and free datatypes.

use std::ffi::{c_int, c_void};

use super::abi::{Word, abi};
use super::exported::exported;
use super::types::{self, forget, is_committed};
use super::ucx::{self, Making};
use crate::boundary::contain;

type Commit = unsafe extern "C" fn(*mut c_void) -> c_int;
type Dup = unsafe extern "C" fn(Word, *mut c_void) -> c_int;

/// Forgets what was compiled for the handle at an address.
///
/// # Safety
///
/// The address must be null or that of a handle.
unsafe fn forget_at(datatype: *mut c_void) -> Option<Word> {
    if datatype.is_null() {
        return None;
    }
    // SAFETY: guaranteed by the caller.
    let handle = unsafe { abi().read(datatype, 0) };
    contain(|| forget(handle));
    Some(handle)
}

/// # Safety
///
/// As `MPI_Type_commit`.
unsafe fn commit(original: Commit, datatype: *mut c_void) -> c_int {
    // SAFETY: the caller's argument.
    let handle = unsafe { forget_at(datatype) };
    let making = handle.map(Making::begin);
    // SAFETY: as above.
    let code = unsafe { original(datatype) };
    if let Some(handle) = handle
        && code == 0
    {
        // SAFETY: just committed, by this thread.
        unsafe { Making::made(handle) };
        contain(|| types::committed(handle));
    }
    drop(making);
    code
}

/// # Safety
///
/// As `MPI_Type_dup`.
unsafe fn dup(original: Dup, datatype: Word, new: *mut c_void) -> c_int {
    // The copy of a committed type is committed.
    let committed = contain(|| is_committed(abi().handle(datatype))) == Some(true);
    let making = Making::begin(ucx::UNKNOWN);
    // SAFETY: the caller's arguments.
    let code = unsafe { original(datatype, new) };
    if code == 0 {
        // SAFETY: the library has written the handle.
        if let Some(handle) = unsafe { forget_at(new) } {
            // SAFETY: just made, by this thread.
            unsafe { Making::made(handle) };
            if committed {
                contain(|| types::committed(handle));
            }
        }
    }
    drop(making);
    code
}

/// # Safety
///
/// As `MPI_Type_free`.
unsafe fn free(original: Commit, datatype: *mut c_void) -> c_int {
    // Before the call: the callbacks that delete the type's attributes may use the type, which must not be entered again. After
    // the call, another thread may have a new type with this handle.
    //
    // SAFETY: the caller's argument.
    unsafe { forget_at(datatype) };
    // SAFETY: as above.
    unsafe { original(datatype) }
}

exported! {
    "Type_commit"(datatype: *mut c_void) = commit;
    "Type_dup"(datatype: Word, new: *mut c_void) = dup;
    "Type_free"(datatype: *mut c_void) = free;
}

//! Substitutes for functions of MPI 4.1 that test several requests, where the library lacks them.

use std::ffi::{c_int, c_void};

use super::abi::{MPICH, Word};
use crate::original::variable;

unsafe extern "C" {
    /// The function that [this library exports](super::completion), which knows its own requests.
    fn PMPI_Request_get_status(request: Word, flag: *mut c_int, status: *mut c_void) -> c_int;
}

/// `MPI_UNDEFINED` in all libraries.
const UNDEFINED: c_int = -32766;

/// Requests and statuses of a library that may be Open MPI.
struct Requests {
    start: *mut c_void,
    statuses: *mut c_void,
    /// Bytes of a handle, and of a status.
    handle: usize,
    status: usize,
    null: Word,
    ignore: usize,
}

impl Requests {
    fn new(start: *mut c_void, statuses: *mut c_void) -> Self {
        let null = variable(c"ompi_request_null");
        if null.is_null() {
            let (handle, status) = (MPICH.handle, MPICH.status);
            let (null, ignore) = (MPICH.request_null, MPICH.status_ignore);
            Self { start, statuses, handle, status, null, ignore }
        } else {
            Self { start, statuses, handle: 8, status: 24, null: null.addr(), ignore: 0 }
        }
    }

    /// Whether a request is complete, as the library says, with its status at the place of another; `None` if there is no
    /// request. An error is that of the library.
    ///
    /// # Safety
    ///
    /// There must be more than `index` requests, and statuses at that place or none.
    unsafe fn get(&self, index: c_int, place: usize) -> Result<Option<bool>, c_int> {
        let index = usize::try_from(index).unwrap_or(0);
        let at = self.start.wrapping_byte_add(index * self.handle);
        // SAFETY: guaranteed by the caller.
        let request = unsafe {
            if self.handle == 8 { *at.cast::<Word>() } else { *at.cast::<u32>() as Word }
        };
        let status = if self.statuses.addr() == self.ignore {
            self.statuses
        } else {
            self.statuses.wrapping_byte_add(place * self.status)
        };
        let mut flag = 0;
        // SAFETY: as above.
        match unsafe { PMPI_Request_get_status(request, &raw mut flag, status) } {
            0 => Ok((request != self.null).then_some(flag != 0)),
            code => Err(code),
        }
    }
}

pub(super) unsafe extern "C" fn all(
    len: c_int,
    requests: *mut c_void,
    flag: *mut c_int,
    statuses: *mut c_void,
) -> c_int {
    let requests = Requests::new(requests, statuses);
    let mut are_complete = true;
    for (place, index) in (0..len).enumerate() {
        // SAFETY: the caller's arguments.
        match unsafe { requests.get(index, place) } {
            Ok(is_complete) => are_complete &= is_complete != Some(false),
            Err(code) => return code,
        }
    }
    // SAFETY: as above.
    unsafe { *flag = are_complete.into() };
    0
}

pub(super) unsafe extern "C" fn any(
    len: c_int,
    requests: *mut c_void,
    found: *mut c_int,
    flag: *mut c_int,
    status: *mut c_void,
) -> c_int {
    let requests = Requests::new(requests, status);
    let mut are_null = true;
    for index in 0..len {
        // SAFETY: the caller's arguments.
        match unsafe { requests.get(index, 0) } {
            Ok(Some(true)) => {
                // SAFETY: as above.
                unsafe { (*found, *flag) = (index, 1) };
                return 0;
            }
            Ok(is_complete) => are_null &= is_complete.is_none(),
            Err(code) => return code,
        }
    }
    // SAFETY: as above.
    unsafe { (*found, *flag) = (UNDEFINED, are_null.into()) };
    0
}

pub(super) unsafe extern "C" fn some(
    len: c_int,
    requests: *mut c_void,
    completed: *mut c_int,
    indices: *mut c_int,
    statuses: *mut c_void,
) -> c_int {
    let requests = Requests::new(requests, statuses);
    let (mut number, mut are_null) = (0, true);
    for index in 0..len {
        // SAFETY: the caller's arguments; there are not more places than requests.
        match unsafe { requests.get(index, number) } {
            Ok(Some(true)) => {
                // SAFETY: as above.
                unsafe { *indices.add(number) = index };
                number += 1;
                are_null = false;
            }
            Ok(is_complete) => are_null &= is_complete.is_none(),
            Err(code) => return code,
        }
    }
    let number = if are_null { UNDEFINED } else { c_int::try_from(number).unwrap_or(c_int::MAX) };
    // SAFETY: as above.
    unsafe { *completed = number };
    0
}

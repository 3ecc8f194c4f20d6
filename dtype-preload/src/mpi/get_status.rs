//! Substitutes for functions of MPI 4.1 that test several requests, where the library lacks them.

use std::ffi::{c_int, c_void};

use super::abi::{Abi, MPICH, Word};
use crate::original::variable;

unsafe extern "C-unwind" {
    /// The function that [this library exports](super::completion), which knows its own requests.
    pub(super) fn PMPI_Request_get_status(
        request: Word,
        flag: *mut c_int,
        status: *mut c_void,
    ) -> c_int;
}

/// `MPI_UNDEFINED` in all libraries.
const UNDEFINED: c_int = -32766;

/// Requests and statuses of a library that may be Open MPI.
struct Requests {
    start: *mut c_void,
    statuses: *mut c_void,
    abi: Abi,
}

impl Requests {
    fn new(start: *mut c_void, statuses: *mut c_void) -> Self {
        let null = variable(c"ompi_request_null").addr();
        let abi = match null {
            0 => MPICH,
            null => Abi {
                handle: 8,
                status: 24,
                status_error: 8,
                request_null: null,
                status_ignore: 0,
                ..MPICH
            },
        };
        Self { start, statuses, abi }
    }

    /// Whether a request is complete, as the library says, with its status at the place of another; `None` if there is no
    /// request. An error is that of the library.
    ///
    /// # Safety
    ///
    /// There must be more than `index` requests, and statuses at that place or none.
    unsafe fn get(&self, index: c_int, place: usize) -> Result<Option<bool>, c_int> {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let request = self.abi.read(self.start, usize::try_from(index).unwrap_or(0));
            self.get_status(request, place)
        }
    }

    /// As [`get`](Self::get), for any request.
    ///
    /// # Safety
    ///
    /// The request must be null or one of the program's, and there must be a status at that place or none.
    unsafe fn get_status(&self, request: Word, place: usize) -> Result<Option<bool>, c_int> {
        let ignores = self.statuses.addr() == self.abi.status_ignore;
        let at = if ignores { 0 } else { place * self.abi.status };
        let status = self.statuses.wrapping_byte_add(at);
        let (is_null, mut flag) = (request == self.abi.request_null, 0);
        // SAFETY: guaranteed by the caller; every status has the field for the error.
        unsafe {
            match PMPI_Request_get_status(request, &raw mut flag, status) {
                0 => {}
                code => return Err(code),
            }
            // An empty status has `MPI_SUCCESS`. Open MPI leaves the field as it was.
            if is_null && !ignores {
                *status.wrapping_byte_add(self.abi.status_error).cast::<c_int>() = 0;
            }
        }
        Ok((!is_null).then_some(flag != 0))
    }
}

/// Asks about each request. `found` gets the index of one that is complete, and returns the place of the next one's status, or
/// `None` to end. Returns whether there is no request.
///
/// # Safety
///
/// The arguments must be those of a call of the program.
unsafe fn survey(
    requests: *mut c_void,
    len: c_int,
    statuses: *mut c_void,
    mut found: impl FnMut(c_int) -> Option<usize>,
) -> Result<bool, c_int> {
    let requests = Requests::new(requests, statuses);
    let (mut place, mut are_null) = (0, true);
    for index in 0..len {
        // SAFETY: guaranteed by the caller.
        let is_complete = unsafe { requests.get(index, place) }?;
        are_null &= is_complete.is_none();
        if is_complete == Some(true) {
            match found(index) {
                Some(next) => place = next,
                None => break,
            }
        }
    }
    Ok(are_null)
}

pub(super) unsafe extern "C-unwind" fn all(
    len: c_int,
    requests: *mut c_void,
    flag: *mut c_int,
    statuses: *mut c_void,
) -> c_int {
    let requests = Requests::new(requests, statuses);
    // SAFETY: the caller's arguments.
    let each = |(place, index)| unsafe { requests.get(index, place) };
    let all = (0..len).enumerate().map(each).collect::<Result<Vec<_>, _>>();
    // SAFETY: as above.
    all.map_or_else(
        |code| code,
        |all| unsafe {
            *flag = all.iter().all(|&is_complete| is_complete != Some(false)).into();
            0
        },
    )
}

pub(super) unsafe extern "C-unwind" fn any(
    len: c_int,
    requests: *mut c_void,
    index: *mut c_int,
    flag: *mut c_int,
    status: *mut c_void,
) -> c_int {
    let mut first = UNDEFINED;
    let found = |index| {
        first = index;
        None
    };
    // SAFETY: the caller's arguments.
    unsafe {
        let are_null = if len == 0 {
            let none = Requests::new(requests, status);
            none.get_status(none.abi.request_null, 0).map(|_| true)
        } else {
            survey(requests, len, status, found)
        };
        are_null.map_or_else(
            |code| code,
            |are_null| {
                (*index, *flag) = (first, (are_null || first != UNDEFINED).into());
                0
            },
        )
    }
}

pub(super) unsafe extern "C-unwind" fn some(
    len: c_int,
    requests: *mut c_void,
    completed: *mut c_int,
    indices: *mut c_int,
    statuses: *mut c_void,
) -> c_int {
    let mut number = 0;
    // SAFETY: the caller's arguments; there are not more places than requests.
    unsafe {
        let found = |index| {
            *indices.add(number) = index;
            number += 1;
            Some(number)
        };
        let are_null = survey(requests, len, statuses, found);
        are_null.map_or_else(
            |code| code,
            |are_null| {
                *completed = if are_null {
                    UNDEFINED
                } else {
                    c_int::try_from(number).unwrap_or(c_int::MAX)
                };
                0
            },
        )
    }
}

//! The functions that start, complete, test, cancel and free requests.

use std::ffi::{c_int, c_void};

use super::abi::{Word, abi};
use super::exported::exported;
use super::freed;
use super::get_status::{self, PMPI_Request_get_status};
use super::library::is_supported;
use super::requests::{Request, find, ours, remove};
use super::status::{Statuses, class};
use crate::boundary::contain;
use crate::original::originals;

/// `MPI_ERR_PENDING` in both ABIs: the operation has neither failed nor completed.
const ERR_PENDING: c_int = 18;

/// Calls the library with requests, some of which may be ours, and ends those that it has completed.
///
/// `call` gets the statuses, and returns the library's code. `completed` then gets the code, and returns the indices of the requests that are
/// complete; the statuses have the same order.
///
/// # Safety
///
/// The arguments must be those of a call of the program.
#[inline]
unsafe fn with_requests(
    requests: *const c_void,
    len: c_int,
    statuses: *mut c_void,
    call: impl Fn(*mut c_void) -> c_int,
    completed: impl FnOnce(c_int) -> Vec<c_int>,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    let ours = unsafe { ours(requests, len) };
    if ours.is_empty() {
        let code = call(statuses);
        freed::settle();
        return code;
    }
    let mut statuses = Statuses::new(statuses, usize::try_from(len).unwrap_or(0));
    let code = call(statuses.argument());
    let error = class(code);
    contain(|| {
        for (place, &index) in completed(code).iter().enumerate() {
            let Some(request) = ours.iter().find(|one| Ok(one.index) == index.try_into()) else {
                continue;
            };
            // SAFETY: the library has written the statuses of these requests.
            unsafe {
                let error = match error {
                    0 => 0,
                    one if one == abi().err_in_status => class(statuses.error(place)),
                    one => one,
                };
                end(request, requests, error, &mut statuses, place);
            }
        }
    });
    freed::settle();
    code
}

/// Ends a request after the library's call.
///
/// # Safety
///
/// Unless the operation is pending, the library must have completed it, and written its status at this place.
unsafe fn end(
    request: &Request,
    requests: *const c_void,
    error: c_int,
    statuses: &mut Statuses,
    place: usize,
) {
    let Request { index, handle, operation } = request;
    if error == ERR_PENDING {
        return;
    }
    // SAFETY: guaranteed by the caller.
    unsafe { operation.complete(statuses, place, error) };
    // The library has freed a request that it has set to `MPI_REQUEST_NULL`.
    //
    // SAFETY: the program's array.
    if unsafe { abi().read(requests, *index) } != *handle {
        remove(*handle, operation);
    }
}

/// The indices of all requests, if `are_complete`.
fn all(len: c_int, are_complete: bool) -> Vec<c_int> {
    if are_complete { (0..len).collect() } else { Vec::new() }
}

/// A number that the library has written; `None` if there is no place for it.
///
/// # Safety
///
/// The pointer must be null, or point to a number.
unsafe fn written(number: *const c_int) -> Option<c_int> {
    // SAFETY: guaranteed by the caller.
    unsafe { number.as_ref() }.copied()
}

/// The indices that the library has written.
///
/// # Safety
///
/// The pointers must be those of a call that the library has answered.
unsafe fn some(number: *const c_int, indices: *const c_int) -> Vec<c_int> {
    // SAFETY: guaranteed by the caller; `MPI_UNDEFINED` is negative.
    unsafe {
        let number = written(number).and_then(|number| usize::try_from(number).ok());
        number.map_or(Vec::new(), |number| (0..number).map(|place| *indices.add(place)).collect())
    }
}

/// # Safety
///
/// The arguments must be those of a call of the program, to which the elements of inactive persistent requests belong.
unsafe fn start(requests: *mut c_void, len: c_int, call: impl Fn() -> c_int) -> c_int {
    // SAFETY: guaranteed by the caller.
    let ours = unsafe { ours(requests, len) };
    // An active request is an error that the library reports.
    let started: Vec<_> = ours.iter().filter(|one| one.operation.is_inactive()).collect();
    for request in &started {
        // SAFETY: guaranteed by the caller.
        unsafe { request.operation.start() };
    }
    let code = call();
    if code != 0 {
        for request in started {
            request.operation.fail();
        }
    }
    code
}

/// # Safety
///
/// As `MPI_Request_free`.
unsafe fn request_free(
    original: unsafe extern "C-unwind" fn(*mut c_void) -> c_int,
    request: *mut c_void,
) -> c_int {
    // SAFETY: the caller's argument.
    let ours = unsafe { ours(request, 1) };
    let Some(Request { handle, operation, .. }) = ours.first() else {
        // SAFETY: as above.
        return unsafe { original(request) };
    };
    remove(*handle, operation);
    if operation.is_inactive() {
        // SAFETY: as above.
        return unsafe { original(request) };
    }
    // The data are still to be unpacked, or the bytes still being sent.
    freed::keep(*handle, operation.clone());
    // SAFETY: as above.
    unsafe { abi().write(request, abi().request_null) };
    freed::settle();
    0
}

exported! {
    ["Wait"](request: *mut c_void, status: *mut c_void), |library|
        with_requests(request, 1, status, |status| library(request, status), |_| vec![0]);
    ["Test"](request: *mut c_void, flag: *mut c_int, status: *mut c_void), |library|
        with_requests(request, 1, status, |status| library(request, flag, status), |_| all(1, written(flag) != Some(0)));
    ["Request_get_status"](request: Word, flag: *mut c_int, status: *mut c_void), |library| {
        let mut copy: Word = 0;
        abi().write((&raw mut copy).cast(), request);
        let call = |status| library(request, flag, status);
        with_requests((&raw const copy).cast(), 1, status, call, |_| all(1, written(flag) != Some(0)))
    };
    ["Waitall"](len: c_int, requests: *mut c_void, statuses: *mut c_void), |library|
        with_requests(requests, len, statuses, |statuses| library(len, requests, statuses), |_| all(len, true));
    ["Testall"](len: c_int, requests: *mut c_void, flag: *mut c_int, statuses: *mut c_void), |library|
        with_requests(requests, len, statuses, |statuses| library(len, requests, flag, statuses),
            |code| all(len, code != 0 || written(flag) != Some(0)));
    ["Request_get_status_all"](len: c_int, requests: *mut c_void, flag: *mut c_int, statuses: *mut c_void),
        or get_status::all, |library|
        with_requests(requests, len, statuses, |statuses| library(len, requests, flag, statuses),
            |code| all(len, code != 0 || written(flag) != Some(0)));
    ["Waitany"](len: c_int, requests: *mut c_void, index: *mut c_int, status: *mut c_void), |library|
        with_requests(requests, len, status, |status| library(len, requests, index, status),
            |_| written(index).into_iter().collect());
    ["Testany"](len: c_int, requests: *mut c_void, index: *mut c_int, flag: *mut c_int, status: *mut c_void), |library|
        with_requests(requests, len, status, |status| library(len, requests, index, flag, status),
            |_| written(index).filter(|_| written(flag) != Some(0)).into_iter().collect());
    ["Request_get_status_any"](len: c_int, requests: *mut c_void, index: *mut c_int, flag: *mut c_int,
        status: *mut c_void), or get_status::any, |library|
        with_requests(requests, len, status, |status| library(len, requests, index, flag, status),
            |_| written(index).filter(|_| written(flag) != Some(0)).into_iter().collect());
    ["Waitsome" "Testsome"](len: c_int, requests: *mut c_void, completed: *mut c_int, indices: *mut c_int,
        statuses: *mut c_void), |library|
        with_requests(requests, len, statuses, |statuses| library(len, requests, completed, indices, statuses),
            |_| some(completed, indices));
    ["Request_get_status_some"](len: c_int, requests: *mut c_void, completed: *mut c_int, indices: *mut c_int,
        statuses: *mut c_void), or get_status::some, |library|
        with_requests(requests, len, statuses, |statuses| library(len, requests, completed, indices, statuses),
            |_| some(completed, indices));
    ["Start"](request: *mut c_void), |library| start(request, 1, || library(request));
    ["Startall"](len: c_int, requests: *mut c_void), |library| start(requests, len, || library(len, requests));
    ["Request_free"](request: *mut c_void), |library| request_free(library, request);
    ["Barrier"](communicator: Word), |library| {
        let code = library(communicator);
        freed::settle();
        code
    };
    ["Finalize"](), |library| {
        freed::finish();
        library()
    };
    ["Session_finalize"](session: *mut c_void), |library| {
        freed::finish();
        library(session)
    };
}

originals! {
    static IS_COMPLETE = c"PMPIX_Request_is_complete" or get_flag: unsafe extern "C-unwind" fn(Word) -> c_int;
}

/// Asks a library without MPICH's function, or ends an operation of this library that is complete.
unsafe extern "C-unwind" fn get_flag(request: Word) -> c_int {
    let mut flag = 0;
    let mut statuses = Statuses::ignored();
    // SAFETY: the caller's request; the number and the status live through the call.
    unsafe { PMPI_Request_get_status(request, &raw mut flag, statuses.argument()) };
    flag
}

/// Replaces MPICH's function of this name. A program may use what a request has received as soon as the function returns `true`,
/// before it completes the request. (Not so with a persistent request: MPICH 5.0 would make it inactive when it is asked for the
/// status, so its elements are there when the program completes it.)
///
/// # Safety
///
/// As for the original.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn MPIX_Request_is_complete(request: Word) -> c_int {
    let Some(original) = IS_COMPLETE.get() else { return 0 };
    // SAFETY: the caller's request.
    let flag = unsafe { original(request) };
    let ours = is_supported().then(|| find(abi().handle(request))).flatten();
    if flag != 0 && ours.is_some_and(|ours| !ours.is_persistent && !ours.is_inactive()) {
        // SAFETY: as above.
        unsafe { get_flag(request) };
    }
    flag
}

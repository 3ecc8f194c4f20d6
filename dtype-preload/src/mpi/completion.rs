//! The functions that start, complete, test, cancel and free requests.

use std::ffi::{c_int, c_void};
use std::slice;

use super::abi::{Word, abi};
use super::exported::exported;
use super::freed;
use super::get_status;
use super::requests::{Request, ours, remove};
use super::status::{Statuses, class};
use crate::boundary::contain;

/// `MPI_ERR_PENDING` in both ABIs: the operation has neither failed nor completed.
const ERR_PENDING: c_int = 18;

/// Calls the library with requests, some of which may be ours, and ends those that it has completed.
///
/// `call` gets the statuses, and returns the library's code. `completed` then returns the indices of the requests that are
/// complete; the statuses have the same order.
///
/// # Safety
///
/// The arguments must be those of a call of the program.
#[inline]
unsafe fn with_requests<C: AsRef<[c_int]>>(
    requests: *const c_void,
    len: c_int,
    statuses: *mut c_void,
    call: impl Fn(*mut c_void) -> c_int,
    completed: impl FnOnce() -> C,
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
        for (place, &index) in completed().as_ref().iter().enumerate() {
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

/// A number that the library has written, or one that it would have written.
///
/// # Safety
///
/// The pointer must be null, or point to a number.
unsafe fn written(number: *const c_int, otherwise: c_int) -> c_int {
    if number.is_null() {
        otherwise
    } else {
        // SAFETY: guaranteed by the caller.
        unsafe { *number }
    }
}

type Wait = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;
type Test = unsafe extern "C" fn(*mut c_void, *mut c_int, *mut c_void) -> c_int;
type Waitall = unsafe extern "C" fn(c_int, *mut c_void, *mut c_void) -> c_int;
type Testall = unsafe extern "C" fn(c_int, *mut c_void, *mut c_int, *mut c_void) -> c_int;
type Waitany = unsafe extern "C" fn(c_int, *mut c_void, *mut c_int, *mut c_void) -> c_int;
type Testany =
    unsafe extern "C" fn(c_int, *mut c_void, *mut c_int, *mut c_int, *mut c_void) -> c_int;
type Some = unsafe extern "C" fn(c_int, *mut c_void, *mut c_int, *mut c_int, *mut c_void) -> c_int;
type GetStatus = unsafe extern "C" fn(Word, *mut c_int, *mut c_void) -> c_int;

unsafe fn wait(original: Wait, request: *mut c_void, status: *mut c_void) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { with_requests(request, 1, status, |status| original(request, status), || [0]) }
}

unsafe fn test(
    original: Test,
    request: *mut c_void,
    flag: *mut c_int,
    status: *mut c_void,
) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe {
        let call = |status| original(request, flag, status);
        with_requests(request, 1, status, call, || all(1, written(flag, 0) != 0))
    }
}

unsafe fn get_one_status(
    original: GetStatus,
    request: Word,
    flag: *mut c_int,
    status: *mut c_void,
) -> c_int {
    let mut copy: Word = 0;
    let at = (&raw mut copy).cast();
    // SAFETY: the caller's arguments; there is room for a handle.
    unsafe {
        abi().write(at, request);
        let call = |status| original(request, flag, status);
        with_requests(at, 1, status, call, || all(1, written(flag, 0) != 0))
    }
}

unsafe fn waitall(
    original: Waitall,
    len: c_int,
    requests: *mut c_void,
    statuses: *mut c_void,
) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe {
        let call = |statuses| original(len, requests, statuses);
        with_requests(requests, len, statuses, call, || all(len, true))
    }
}

/// `MPI_Testall`, and `MPI_Request_get_status_all`.
unsafe fn testall(
    original: Testall,
    len: c_int,
    requests: *mut c_void,
    flag: *mut c_int,
    statuses: *mut c_void,
) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe {
        let code = std::cell::Cell::new(0);
        let call = |statuses| {
            code.set(original(len, requests, flag, statuses));
            code.get()
        };
        // After an error, some may be complete.
        let completed = || all(len, written(flag, 0) != 0 || code.get() != 0);
        with_requests(requests, len, statuses, call, completed)
    }
}

unsafe fn waitany(
    original: Waitany,
    len: c_int,
    requests: *mut c_void,
    index: *mut c_int,
    status: *mut c_void,
) -> c_int {
    // SAFETY: the caller's arguments. No request has the index `MPI_UNDEFINED`.
    unsafe {
        let call = |status| original(len, requests, index, status);
        with_requests(requests, len, status, call, || [written(index, -1)])
    }
}

/// `MPI_Testany`, and `MPI_Request_get_status_any`.
unsafe fn testany(
    original: Testany,
    len: c_int,
    requests: *mut c_void,
    index: *mut c_int,
    flag: *mut c_int,
    status: *mut c_void,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let call = |status| original(len, requests, index, flag, status);
        let completed = || [if written(flag, 0) == 0 { -1 } else { written(index, -1) }];
        with_requests(requests, len, status, call, completed)
    }
}

/// `MPI_Waitsome`, `MPI_Testsome`, and `MPI_Request_get_status_some`.
unsafe fn some(
    original: Some,
    len: c_int,
    requests: *mut c_void,
    completed: *mut c_int,
    indices: *mut c_int,
    statuses: *mut c_void,
) -> c_int {
    // SAFETY: the caller's arguments. The library has written so many indices; `MPI_UNDEFINED` is negative.
    unsafe {
        let call = |statuses| original(len, requests, completed, indices, statuses);
        let completed = || match usize::try_from(written(completed, 0)) {
            Ok(number) if number > 0 => slice::from_raw_parts(indices, number),
            _ => &[],
        };
        with_requests(requests, len, statuses, call, completed)
    }
}

type One = unsafe extern "C" fn(*mut c_void) -> c_int;
type Startall = unsafe extern "C" fn(c_int, *mut c_void) -> c_int;

unsafe fn start(original: One, request: *mut c_void) -> c_int {
    // SAFETY: the caller's argument.
    unsafe { start_all(request, 1, || original(request)) }
}

unsafe fn startall(original: Startall, len: c_int, requests: *mut c_void) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { start_all(requests, len, || original(len, requests)) }
}

/// # Safety
///
/// The arguments must be those of a call of the program, to which the elements of inactive persistent requests belong.
unsafe fn start_all(requests: *mut c_void, len: c_int, call: impl Fn() -> c_int) -> c_int {
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
        for request in &started {
            request.operation.fail();
        }
    }
    code
}

unsafe fn request_free(original: One, request: *mut c_void) -> c_int {
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

unsafe fn finalize(original: unsafe extern "C" fn() -> c_int) -> c_int {
    freed::finish();
    // SAFETY: the caller's call.
    unsafe { original() }
}

unsafe fn barrier(original: unsafe extern "C" fn(Word) -> c_int, communicator: Word) -> c_int {
    // SAFETY: the caller's call.
    let code = unsafe { original(communicator) };
    freed::settle();
    code
}

exported! {
    "Wait"(request: *mut c_void, status: *mut c_void) = wait;
    "Test"(request: *mut c_void, flag: *mut c_int, status: *mut c_void) = test;
    "Waitall"(len: c_int, requests: *mut c_void, statuses: *mut c_void) = waitall;
    "Testall"(len: c_int, requests: *mut c_void, flag: *mut c_int, statuses: *mut c_void) = testall;
    "Waitany"(len: c_int, requests: *mut c_void, index: *mut c_int, status: *mut c_void) = waitany;
    "Testany"(len: c_int, requests: *mut c_void, index: *mut c_int, flag: *mut c_int, status: *mut c_void) = testany;
    "Waitsome"(len: c_int, requests: *mut c_void, completed: *mut c_int, indices: *mut c_int, statuses: *mut c_void)
        = some;
    "Testsome"(len: c_int, requests: *mut c_void, completed: *mut c_int, indices: *mut c_int, statuses: *mut c_void)
        = some;
    "Request_get_status"(request: Word, flag: *mut c_int, status: *mut c_void) = get_one_status;
    "Request_get_status_all"(len: c_int, requests: *mut c_void, flag: *mut c_int, statuses: *mut c_void)
        = testall, or get_status::all;
    "Request_get_status_any"(len: c_int, requests: *mut c_void, index: *mut c_int, flag: *mut c_int,
        status: *mut c_void) = testany, or get_status::any;
    "Request_get_status_some"(len: c_int, requests: *mut c_void, completed: *mut c_int, indices: *mut c_int,
        statuses: *mut c_void) = some, or get_status::some;
    "Start"(request: *mut c_void) = start;
    "Startall"(len: c_int, requests: *mut c_void) = startall;
    "Request_free"(request: *mut c_void) = request_free;
    "Barrier"(communicator: Word) = barrier;
    "Finalize"() = finalize;
}

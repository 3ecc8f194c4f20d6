//! The library's statuses.

use std::ffi::{c_int, c_void};

use super::abi::{Word, abi};
use crate::original::originals;

originals! {
    static ERROR_CLASS = c"PMPI_Error_class": unsafe extern "C" fn(c_int, *mut c_int) -> c_int;
    static GET_COUNT = c"PMPI_Get_count": unsafe extern "C" fn(*const c_void, Word, *mut c_int) -> c_int;
    static TEST_CANCELLED = c"PMPI_Test_cancelled": unsafe extern "C" fn(*const c_void, *mut c_int) -> c_int;
}

/// The class of an error.
pub(super) fn class(code: c_int) -> c_int {
    let mut class = code;
    if code != 0 {
        // SAFETY: the number lives through the call.
        ERROR_CLASS.get().map(|ask| unsafe { ask(code, &raw mut class) });
    }
    class
}

/// Room for a status of any ABI.
type Room = [u64; 4];

/// The statuses of a call: the program's, or memory made here if the program ignores them.
#[derive(Debug)]
pub(super) struct Statuses {
    start: *mut c_void,
    one: Room,
    many: Vec<Room>,
}

impl Statuses {
    /// Up to `count` statuses in the place of an argument of the program.
    pub(super) fn new(argument: *mut c_void, count: usize) -> Self {
        let ignores = argument.addr() == abi().status_ignore;
        let many = if ignores && count > 1 { vec![[0; 4]; count] } else { Vec::new() };
        let start = if ignores { std::ptr::null_mut() } else { argument };
        Self { start, one: [0; 4], many }
    }

    /// A status that only this library reads.
    pub(super) fn ignored() -> Self {
        Self::new(std::ptr::without_provenance_mut(abi().status_ignore), 1)
    }

    /// The argument for the library.
    pub(super) fn argument(&mut self) -> *mut c_void {
        if !self.start.is_null() {
            self.start
        } else if self.many.is_empty() {
            (&raw mut self.one).cast()
        } else {
            self.many.as_mut_ptr().cast()
        }
    }

    fn at(&mut self, index: usize) -> *const c_void {
        self.argument().wrapping_byte_add(index * abi().status).cast_const()
    }

    /// Packed bytes that a receive into `room` bytes got: 0 if it was cancelled, or failed with this class of error.
    ///
    /// When a message is too long, the libraries either write all bytes that there is room for, and say so, or none, and say
    /// how long the message is.
    ///
    /// # Safety
    ///
    /// The library must have written the status of the receive at this place.
    pub(super) unsafe fn received(&mut self, index: usize, class: c_int, room: usize) -> usize {
        let status = self.at(index);
        let (mut count, mut cancelled) = (0, 0);
        let (Some(get_count), Some(test)) = (GET_COUNT.get(), TEST_CANCELLED.get()) else {
            return 0;
        };
        // SAFETY: the caller guarantees the status; the numbers live through the calls.
        unsafe {
            test(status, &raw mut cancelled);
            get_count(status, abi().packed, &raw mut count);
        }
        let count = usize::try_from(count).unwrap_or(0);
        let is_right = class == 0 || class == abi().err_truncate && count == room;
        if is_right && cancelled == 0 { count.min(room) } else { 0 }
    }

    /// The error of an operation, where the call has returned `MPI_ERR_IN_STATUS`.
    ///
    /// # Safety
    ///
    /// As for [`received`](Self::received).
    pub(super) unsafe fn error(&mut self, index: usize) -> c_int {
        // SAFETY: every status has this field; the caller guarantees the status.
        unsafe { *self.at(index).wrapping_byte_add(abi().status_error).cast::<c_int>() }
    }
}

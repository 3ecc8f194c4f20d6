//! Attributes: what the library calls when MPI ends, and what it hands to the function of a reduction.

use std::os::raw::{c_int, c_void};
use std::sync::OnceLock;

use mpi::ffi::{self, MPI_Comm, MPI_Datatype};

use super::check;
use crate::error::Error;

/// What the library calls when a communicator or a datatype with an attribute is duplicated: copies do without.
unsafe extern "C" fn no_copy<H>(
    _: H,
    _: c_int,
    _: *mut c_void,
    _: *mut c_void,
    _: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: the library passes a place for the answer.
    unsafe { flag.write(0) };
    0
}

/// Calls `at_end` when MPI is finalized, while it can still be called (MPI-4.1 section 11.2.4). In a session.
pub(crate) fn at_finalize(at_end: fn()) -> Result<(), Error> {
    /// What `extra_state` is: a function.
    struct AtEnd(fn());

    unsafe extern "C" fn delete(
        _: MPI_Comm,
        _: c_int,
        _: *mut c_void,
        extra: *mut c_void,
    ) -> c_int {
        // SAFETY: what was passed when the key was made, and is never freed.
        let AtEnd(at_end) = unsafe { &*extra.cast::<AtEnd>() };
        at_end();
        0
    }

    let extra = Box::leak(Box::new(AtEnd(at_end)));
    let mut key = 0;
    // SAFETY: the functions have the types that the standard asks for, `extra` is never freed, and `key` lives
    // through the calls. Freeing the key leaves the attribute in its place.
    unsafe {
        let extra = std::ptr::from_mut(extra).cast();
        let code = ffi::MPI_Comm_create_keyval(Some(no_copy), Some(delete), &raw mut key, extra);
        check("MPI_Comm_create_keyval", code)?;
        let code = ffi::MPI_Comm_set_attr(ffi::RSMPI_COMM_SELF, key, std::ptr::null_mut());
        check("MPI_Comm_set_attr", code)?;
        ffi::MPI_Comm_free_keyval(&raw mut key);
    }
    Ok(())
}

/// The key under which a datatype has the address of what belongs to it.
static KEY: OnceLock<c_int> = OnceLock::new();

/// Attaches an address to a datatype. In a session.
pub(crate) fn attach(datatype: MPI_Datatype, address: *mut c_void) -> Result<(), Error> {
    unsafe extern "C" fn delete(
        _: MPI_Datatype,
        _: c_int,
        _: *mut c_void,
        _: *mut c_void,
    ) -> c_int {
        0
    }

    let key = if let Some(key) = KEY.get() {
        *key
    } else {
        let mut key = 0;
        // SAFETY: the functions have the types that the standard asks for, and `key` lives through the call. It
        // is made once, because sessions are alone.
        let code = unsafe {
            let state = std::ptr::null_mut();
            ffi::MPI_Type_create_keyval(Some(no_copy), Some(delete), &raw mut key, state)
        };
        check("MPI_Type_create_keyval", code)?;
        *KEY.get_or_init(|| key)
    };
    // SAFETY: the datatype is alive and the key was made by the library.
    check("MPI_Type_set_attr", unsafe { ffi::MPI_Type_set_attr(datatype, key, address) })
}

/// The address that is attached to a datatype.
pub(crate) fn attached(datatype: MPI_Datatype) -> Option<*mut c_void> {
    let key = *KEY.get()?;
    let (mut address, mut found) = (std::ptr::null_mut::<c_void>(), 0);
    // SAFETY: the datatype is one that the library has just passed to a function of the program, and both live
    // through the call, which writes an address to where it is told.
    let code =
        unsafe { ffi::MPI_Type_get_attr(datatype, key, (&raw mut address).cast(), &raw mut found) };
    (code == 0 && found != 0 && !address.is_null()).then_some(address)
}

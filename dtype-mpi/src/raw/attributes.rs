//! Attributes: the function that the library calls when MPI ends, and the context of a reduction's function.

use std::os::raw::{c_int, c_void};
use std::sync::OnceLock;

use mpi::ffi::{self, MPI_Comm, MPI_Datatype};

use super::code::check;
use crate::error::Error;

/// The library calls this when a communicator or a datatype with an attribute is duplicated. Attributes are not copied.
unsafe extern "C" fn no_copy<H>(
    _: H,
    _: c_int,
    _: *mut c_void,
    _: *mut c_void,
    _: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: the library passes a pointer to the answer, valid for writes.
    unsafe { flag.write(0) };
    0
}

/// Registers `at_end` to be called when MPI is finalized, while MPI can still be called (MPI-4.1 section 11.2.4).
/// Requires a session.
pub(crate) fn at_finalize(at_end: fn()) -> Result<(), Error> {
    /// The function that `extra_state` points to.
    struct AtEnd(fn());

    unsafe extern "C" fn delete(
        _: MPI_Comm,
        _: c_int,
        _: *mut c_void,
        extra: *mut c_void,
    ) -> c_int {
        // SAFETY: the pointer is the one passed when the key was made, and its memory is never freed.
        let AtEnd(at_end) = unsafe { &*extra.cast::<AtEnd>() };
        at_end();
        0
    }

    let extra = Box::leak(Box::new(AtEnd(at_end)));
    let mut key = 0;
    // SAFETY: the functions have the types that the standard requires, `extra` is never freed, and `key` lives
    // through the calls. Freeing the key does not remove the attribute.
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

/// The key of the attribute that holds the address of a datatype's context.
static KEY: OnceLock<c_int> = OnceLock::new();

/// Attaches an address to a datatype. Requires a session.
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
        // SAFETY: the functions have the types that the standard requires, and `key` lives through the call. It is
        // made once, because only one session exists at a time.
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

/// The address attached to a datatype.
pub(crate) fn attached(datatype: MPI_Datatype) -> Option<*mut c_void> {
    let key = *KEY.get()?;
    let (mut address, mut found) = (std::ptr::null_mut::<c_void>(), 0);
    // SAFETY: the library has just passed the datatype to a function of the program. The datatype lives through the call, and
    // so does the memory for the answers, to which the call writes an address.
    let code =
        unsafe { ffi::MPI_Type_get_attr(datatype, key, (&raw mut address).cast(), &raw mut found) };
    (code == 0 && found != 0 && !address.is_null()).then_some(address)
}

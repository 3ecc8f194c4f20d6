//! The functions that make and free datatypes.
//!
//! They are MPI's functions, so programs with Open MPI call them as well; there, a datatype is an address.

use std::ffi::{c_int, c_void};

use super::generic::{self, Making};
use super::handles::{self, forget, is_committed};
use super::library::is_supported;
use super::numbers::Handle;
use super::word::{Word, handle};
use crate::boundary::contain;
use crate::original::{NO_ORIGINAL, originals};

type Commit = unsafe extern "C" fn(*mut c_void) -> c_int;
type Dup = unsafe extern "C" fn(Word, *mut c_void) -> c_int;

originals! {
    static COMMIT = c"PMPI_Type_commit": Commit;
    static FREE = c"PMPI_Type_free": Commit;
    static DUP = c"PMPI_Type_dup": Dup;
}

/// Forgets what was compiled for the handle at an address.
///
/// # Safety
///
/// The library must be supported, and the address must be null or that of a handle.
unsafe fn forget_at(datatype: *mut c_void) -> Option<Handle> {
    // SAFETY: passed on to the caller.
    let handle = *unsafe { datatype.cast::<Handle>().as_ref() }?;
    contain(|| forget(handle));
    Some(handle)
}

/// # Safety
///
/// As `MPI_Type_commit`.
#[inline(never)]
unsafe extern "C" fn commit(datatype: *mut c_void) -> c_int {
    let Some(original) = COMMIT.get() else { return NO_ORIGINAL };
    if !is_supported() {
        // SAFETY: the caller's argument.
        return unsafe { original(datatype) };
    }
    // SAFETY: as above.
    let handle = unsafe { forget_at(datatype) };
    let making = handle.map(Making::begin);
    // SAFETY: as above.
    let code = unsafe { original(datatype) };
    if let Some(handle) = handle
        && code == 0
    {
        // SAFETY: just committed, by this thread.
        unsafe { Making::made(handle) };
        handles::committed(handle);
    }
    drop(making);
    code
}

/// # Safety
///
/// As `MPI_Type_dup`.
#[inline(never)]
unsafe extern "C" fn dup(datatype: Word, new: *mut c_void) -> c_int {
    let Some(original) = DUP.get() else { return NO_ORIGINAL };
    if !is_supported() {
        // SAFETY: the caller's arguments.
        return unsafe { original(datatype, new) };
    }
    // The copy of a committed type is committed.
    let committed = is_committed(handle(datatype));
    let making = Making::begin(generic::UNKNOWN);
    // SAFETY: as above.
    let code = unsafe { original(datatype, new) };
    if code == 0 {
        // SAFETY: the library has written the handle.
        if let Some(handle) = unsafe { forget_at(new) } {
            // SAFETY: just made, by this thread.
            unsafe { Making::made(handle) };
            if committed {
                handles::committed(handle);
            }
        }
    }
    drop(making);
    code
}

/// # Safety
///
/// As `MPI_Type_free`.
#[inline(never)]
unsafe extern "C" fn free(datatype: *mut c_void) -> c_int {
    let Some(original) = FREE.get() else { return NO_ORIGINAL };
    if !is_supported() {
        // SAFETY: the caller's argument.
        return unsafe { original(datatype) };
    }
    // Before the call: the callbacks that delete the type's attributes may use the type, which must not be entered again. After
    // the call, another thread may have a new type with this handle.
    //
    // SAFETY: as above.
    unsafe { forget_at(datatype) };
    // SAFETY: as above.
    unsafe { original(datatype) }
}

/// Exports a function under both names that MPI has for it.
///
/// With another library than MPICH, a call goes straight to the next function of the same name, so that a tool loaded after
/// this library sees it. It does so by a jump, with the same arguments in the same registers and stack slots, because
/// `MPI_Pack` of one struct takes Open MPI no more than 20 ns. So the function must be `extern "C"` and not inlined.
macro_rules! exported {
    ($($name:ident, $profiled:ident = $function:ident($($argument:ident: $type:ty),*);)+) => {
        $($crate::mpich::calls::exported!(@ $name, $function($($argument: $type),*));)+
        $($crate::mpich::calls::exported!(@ $profiled, $function($($argument: $type),*));)+
    };
    (@ $name:ident, $function:ident($($argument:ident: $type:ty),*)) => {
        /// Replaces MPI's function of this name.
        ///
        /// # Safety
        ///
        /// As for the original.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name($($argument: $type),*) -> ::std::ffi::c_int {
            type Function = unsafe extern "C" fn($($type),*) -> ::std::ffi::c_int;
            const NAME: &::std::ffi::CStr =
                match ::std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!("a name has no zeros"),
                };
            static NEXT: $crate::original::Original<Function> =
                // SAFETY: this is the function's type in the header of every library that has it.
                unsafe { $crate::original::Original::new(NAME, Some($function as Function)) };

            match NEXT.get() {
                Some(next) if !$crate::mpich::library::is_supported() => {
                    // SAFETY: the caller's arguments.
                    unsafe { next($($argument),*) }
                }
                // SAFETY: as above.
                _ => unsafe { $function($($argument),*) },
            }
        }
    };
}
pub(super) use exported;

// The names are those of the standard.
exported! {
    MPI_Type_commit, PMPI_Type_commit = commit(datatype: *mut c_void);
    MPI_Type_dup, PMPI_Type_dup = dup(datatype: Word, new: *mut c_void);
    MPI_Type_free, PMPI_Type_free = free(datatype: *mut c_void);
}

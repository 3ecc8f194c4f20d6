//! Exports functions of MPI.

use std::ffi::{CStr, c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use super::abi::{ERR_COUNT, MPICH, Word};
use super::library::is_supported;
use crate::original::{next, originals, variable};

/// Where the calls of an exported function go.
///
/// With a library that is not supported, they go straight to the next function of the same name, by a jump, because `MPI_Pack` of
/// one struct takes Open MPI no more than 20 ns. They also go there if that function is not the library's: it belongs to a tool,
/// which sees the call as it would without this library. The tool then calls the function's other name, which leads here.
#[derive(Debug)]
pub(super) struct Target<F> {
    name: &'static CStr,
    /// The name with which tools call the library.
    profiled: &'static CStr,
    /// A substitute for libraries without such a function.
    otherwise: Option<F>,
    found: AtomicPtr<c_void>,
    is_here: AtomicBool,
}

impl<F: Copy> Target<F> {
    /// # Safety
    ///
    /// `F` must be the type of a function pointer: the type of the function with this name in every library that this
    /// process may have loaded.
    pub(super) const unsafe fn new(
        name: &'static CStr,
        profiled: &'static CStr,
        otherwise: Option<F>,
    ) -> Self {
        assert!(size_of::<F>() == size_of::<*mut c_void>());
        let (found, is_here) = (AtomicPtr::new(ptr::null_mut()), AtomicBool::new(false));
        Self { name, profiled, otherwise, found, is_here }
    }

    /// A function, and whether it is the library's, for calls that are taken over here. Otherwise, the call goes to the function.
    /// `None` if no library has it.
    #[inline]
    pub(super) fn get(&self) -> Option<(F, bool)> {
        let mut found = self.found.load(Ordering::Acquire);
        if found.is_null() {
            found = self.look_up();
        }
        // SAFETY: `F` is the type of a function pointer, by the promise of `new`, and both are pointers.
        let function = (!found.is_null()).then(|| unsafe { mem::transmute_copy(&found) });
        Some((function?, self.is_here.load(Ordering::Relaxed)))
    }

    #[cold]
    #[inline(never)]
    fn look_up(&self) -> *mut c_void {
        let (mut found, profiled) = (next(self.name), next(self.profiled));
        if found.is_null() {
            // SAFETY: as in `get`.
            let address = |function: F| unsafe { mem::transmute_copy::<F, *mut c_void>(&function) };
            found = self.otherwise.map_or(ptr::null_mut(), address);
        } else if !profiled.is_null() && is_supported() && object_of(found) == object_of(profiled) {
            found = profiled;
            self.is_here.store(true, Ordering::Relaxed);
        }
        self.found.store(found, Ordering::Release);
        found
    }
}

/// The start of the library or executable that an address lies in.
fn object_of(address: *mut c_void) -> *mut c_void {
    let mut info = libc::Dl_info {
        dli_fname: ptr::null(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    // SAFETY: the structure lives through the call.
    unsafe { libc::dladdr(address, &raw mut info) };
    info.dli_fbase
}

/// An argument of a function with large counts, for the function with small ones.
pub(super) trait Narrow<To> {
    fn narrow(self) -> Option<To>;
}

impl<T> Narrow<T> for T {
    fn narrow(self) -> Option<T> {
        Some(self)
    }
}

impl Narrow<c_int> for i64 {
    /// The library itself would not refuse a negative number if its checks of arguments are off.
    fn narrow(self) -> Option<c_int> {
        c_int::try_from(self).ok().filter(|&count| count >= 0)
    }
}

originals! {
    static CALL_ERRHANDLER = c"PMPI_Comm_call_errhandler":
        unsafe extern "C" fn(Word, c_int) -> c_int;
}

/// Calls the error handler of a communicator, for a count that the library's functions cannot express. Returns the error.
pub(super) fn refuse_count(communicator: Word) -> c_int {
    // SAFETY: a communicator of the program, or the predefined one.
    CALL_ERRHANDLER.get().map(|call| unsafe { call(communicator, ERR_COUNT) });
    ERR_COUNT
}

/// `MPI_COMM_WORLD`, for calls without a communicator to libraries without large counts: Open MPI, and those with MPICH's ABI.
pub(super) fn world() -> Word {
    let world = variable(c"ompi_mpi_comm_world");
    if world.is_null() { MPICH.comm_world } else { world.addr() }
}

/// A name that ends with a zero.
pub(super) const fn name(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("a name ends with a zero"),
    }
}

/// Exports functions of MPI, each under both of its names: `"Wait"(request: *mut c_void, …) = wait;` exports `MPI_Wait` and
/// `PMPI_Wait`. The function behind `=` gets the library's function before the arguments. It is only called if the library is
/// supported. A function behind `or` substitutes one that the library lacks.
///
/// With `both` before the name, it also exports the form with large counts, `MPI_Wait_c`. `Count` is then the type of counts in
/// the list of arguments, and the function behind `=` is generic. Programs use such a form if they find it, by a weak reference
/// or by `dlsym`, and with this library loaded they always do. So if the library lacks it, calls go to the form with small
/// counts, or to what is behind `or`; counts that are too large call the error handler of the communicator behind `on`.
macro_rules! exported {
    () => {};
    (
        both $name:literal($($argument:ident: $type:ty),* $(,)?) = $here:path, on $communicator:expr;
        $($rest:tt)*
    ) => {
        const _: () = {
            type Count = ::std::ffi::c_int;
            $crate::mpi::exported::exported!(@both $name, "", ($($argument: $type),*) = $here, None);
        };
        const _: () = {
            type Small<Count> = unsafe extern "C" fn($($type),*) -> ::std::ffi::c_int;
            type Count = i64;
            unsafe extern "C" fn narrowed($($argument: $type),*) -> ::std::ffi::c_int {
                static SMALL: $crate::original::Original<Small<::std::ffi::c_int>> =
                    // SAFETY: this is the function's type in the header of every library that has it.
                    unsafe { $crate::original::Original::new(name(concat!("PMPI_", $name, "\0")), None) };
                use $crate::mpi::exported::{Narrow, name, refuse_count};

                let Some(small) = SMALL.get() else { return $crate::original::NO_ORIGINAL };
                // SAFETY: the caller's arguments.
                let code = (|| Some(unsafe { small($(Narrow::narrow($argument)?),*) }))();
                code.unwrap_or_else(|| refuse_count($communicator))
            }
            $crate::mpi::exported::exported!(
                @both $name, "_c", ($($argument: $type),*) = $here, Some(narrowed));
        };
        $crate::mpi::exported::exported!($($rest)*);
    };
    (
        $name:literal($($argument:ident: $type:ty),* $(,)?) = $here:path $(, or $otherwise:path)?;
        $($rest:tt)*
    ) => {
        const _: () = {
            type Function = unsafe extern "C" fn($($type),*) -> ::std::ffi::c_int;
            const OTHERWISE: &[Function] = &[$($otherwise as Function)?];
            $crate::mpi::exported::exported!(
                @both $name, "", ($($argument: $type),*) = $here, OTHERWISE.first().copied());
        };
        $crate::mpi::exported::exported!($($rest)*);
    };
    (@both $name:literal, $suffix:literal, $arguments:tt = $here:path, $otherwise:expr) => {
        $crate::mpi::exported::exported!(
            @one "MPI_", $name, $suffix, $arguments = $here, $otherwise);
        const _: () = {
            $crate::mpi::exported::exported!(
                @one "PMPI_", $name, $suffix, $arguments = $here, $otherwise);
        };
    };
    (@one $prefix:literal, $name:literal, $suffix:literal, ($($argument:ident: $type:ty),*) = $here:path,
        $otherwise:expr) => {
        /// Replaces MPI's function of this name.
        ///
        /// # Safety
        ///
        /// As for the original.
        #[unsafe(export_name = concat!($prefix, $name, $suffix))]
        pub(crate) unsafe extern "C" fn exported($($argument: $type),*) -> ::std::ffi::c_int {
            type Function = unsafe extern "C" fn($($type),*) -> ::std::ffi::c_int;
            use $crate::mpi::exported::{Target, name};
            // SAFETY: this is the function's type in the header of every library that has it.
            static TARGET: Target<Function> = unsafe {
                Target::new(
                    name(concat!($prefix, $name, $suffix, "\0")),
                    name(concat!("PMPI_", $name, $suffix, "\0")),
                    $otherwise,
                )
            };
            match TARGET.get() {
                // SAFETY: the caller's arguments.
                Some((library, true)) => unsafe { $here(library, $($argument),*) },
                // SAFETY: the caller's arguments.
                Some((function, false)) => unsafe { function($($argument),*) },
                None => $crate::original::NO_ORIGINAL,
            }
        }
    };
}
pub(super) use exported;

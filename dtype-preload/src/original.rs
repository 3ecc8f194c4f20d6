//! The functions and data of the MPI library that this library replaces.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::boundary::say;

/// The result of a function of MPI if there is no original to call: `MPI_ERR_INTERN` in MPICH, `MPI_ERR_OTHER` in Open MPI.
pub(crate) const NO_ORIGINAL: c_int = 16;

/// A function of the MPI library, of type `F`. The first call looks it up.
#[derive(Debug)]
pub(crate) struct Original<F> {
    name: &'static CStr,
    /// A substitute for libraries without a function of this name.
    otherwise: Option<F>,
    found: AtomicPtr<c_void>,
}

impl<F: Copy> Original<F> {
    /// # Safety
    ///
    /// `F` must be the type of a function pointer: the type of the function with this name in every library that this
    /// process may have loaded.
    pub(crate) const unsafe fn new(name: &'static CStr, otherwise: Option<F>) -> Self {
        assert!(size_of::<F>() == size_of::<*mut c_void>());
        Self { name, otherwise, found: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The function; `None` if no loaded library has it and there is no substitute.
    #[inline]
    pub(crate) fn get(&self) -> Option<F> {
        self.known().or_else(|| self.look_up())
    }

    /// The function, if an earlier call has looked it up and found it.
    #[inline]
    pub(crate) fn known(&self) -> Option<F> {
        let found = self.found.load(Ordering::Acquire);
        // SAFETY: `F` is the type of a function pointer, by the promise of `new`, and both are pointers.
        (!found.is_null()).then(|| unsafe { mem::transmute_copy::<*mut c_void, F>(&found) })
    }

    /// Sets a function to be called in the place of the library's.
    pub(crate) fn replace(&self, function: F) {
        // SAFETY: `F` is the type of a function pointer, by the promise of `new`.
        let function = unsafe { mem::transmute_copy::<F, *mut c_void>(&function) };
        self.found.store(function, Ordering::Release);
    }

    #[cold]
    fn look_up(&self) -> Option<F> {
        let found = next(self.name);
        match self.otherwise {
            Some(otherwise) if found.is_null() => self.replace(otherwise),
            _ => self.found.store(found, Ordering::Release),
        }
        if self.known().is_none() {
            say(format_args!("dtype-preload: no library has {}\n", self.name.to_string_lossy()));
        }
        self.known()
    }
}

/// Parts of the file names of the libraries that contain the originals.
const LIBRARIES: [&str; 5] = ["/libopen-pal.", "/libmpi.", "/libmpich.", "/libucp.", "/libmpi_"];

/// The symbol that this name would have without this library; null if there is none.
pub(crate) fn next(name: &CStr) -> *mut c_void {
    // SAFETY: the name ends with a zero. The call searches after this library: in the libraries that were loaded with the
    // program, or that joined them.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if !found.is_null() {
        return found;
    }
    // A library that a module has loaded for itself, as Python's modules do, is only found by its name.
    loaded()
        .into_iter()
        .map(|path| symbol_of(&path, name))
        .find(|found| !found.is_null())
        .unwrap_or(ptr::null_mut())
}

/// The variable of this name that the program uses; null if there is none. A program may have a copy of a library's variable,
/// which the library then uses as well.
pub(crate) fn variable(name: &CStr) -> *mut c_void {
    // SAFETY: the name ends with a zero.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    if found.is_null() { next(name) } else { found }
}

/// A symbol of a library that is loaded, or of the libraries that it needs.
fn symbol_of(path: &CStr, name: &CStr) -> *mut c_void {
    // SAFETY: both names end with a zero. The call never loads a library. The handle is not closed, which would only decrease a
    // count; the library stays for as long as its own user needs it.
    unsafe {
        let handle = libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if handle.is_null() { ptr::null_mut() } else { libc::dlsym(handle, name.as_ptr()) }
    }
}

/// The paths of the loaded libraries that may contain the originals.
fn loaded() -> Vec<CString> {
    unsafe extern "C" fn each(
        info: *mut libc::dl_phdr_info,
        _: usize,
        paths: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader passes the description of a library, and the vector that was passed to the loader.
        let (name, paths) =
            unsafe { ((*info).dlpi_name.cast::<c_char>(), &mut *paths.cast::<Vec<CString>>()) };
        if name.is_null() {
            return 0;
        }
        // SAFETY: the loader's names end with a zero.
        let name = unsafe { CStr::from_ptr(name) };
        let text = name.to_string_lossy();
        if LIBRARIES.iter().any(|part| text.contains(part)) {
            paths.push(name.to_owned());
        }
        0
    }

    let mut paths: Vec<CString> = Vec::new();
    // SAFETY: the callback does not unwind (it allocates, and otherwise only compares), and the vector lives through the call.
    unsafe { libc::dl_iterate_phdr(Some(each), (&raw mut paths).cast()) };
    paths
}

/// Declares originals. Each has a static, its name, a substitute for libraries without it, and its type.
macro_rules! originals {
    ($($vis:vis static $static:ident = $name:literal $(or $otherwise:ident)?: $type:ty;)+) => {$(
        $vis static $static: $crate::original::Original<$type> = {
            let otherwise: &[$type] = &[$($otherwise)?];
            // SAFETY: this is the function's type in the header of every library that has it.
            unsafe { $crate::original::Original::new($name, otherwise.first().copied()) }
        };
    )+};
}
pub(crate) use originals;

originals! {
    static IS_INITIALIZED = c"PMPI_Initialized": unsafe extern "C" fn(*mut c_int) -> c_int;
    static IS_FINALIZED = c"PMPI_Finalized": unsafe extern "C" fn(*mut c_int) -> c_int;
}

/// Whether the program has called `MPI_Init`.
pub(crate) fn is_initialized() -> bool {
    let mut answer = 0;
    // SAFETY: callable at any time; the number lives through the call.
    IS_INITIALIZED.get().map(|ask| unsafe { ask(&raw mut answer) });
    answer != 0
}

/// Whether the program has called `MPI_Finalize`. A thread that ends after that must not call MPI any more.
pub(crate) fn is_finalized() -> bool {
    let mut answer = 0;
    // SAFETY: callable at any time; the number lives through the call.
    IS_FINALIZED.get().map(|ask| unsafe { ask(&raw mut answer) });
    answer != 0
}

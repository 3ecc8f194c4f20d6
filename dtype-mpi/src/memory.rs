//! Implements the traits with which the `mpi` crate uses a [`Datatype`].

use std::os::raw::c_void;

use mpi::datatype::{Pointer, PointerMut, UncommittedDatatype, UserDatatype};
use mpi::ffi::MPI_Datatype;
use mpi::raw::AsRaw;

use crate::raw::Datatype;

// SAFETY: the handle stays alive as long as the value.
unsafe impl AsRaw for Datatype {
    type Raw = MPI_Datatype;

    fn as_raw(&self) -> MPI_Datatype {
        self.handle()
    }
}

impl UncommittedDatatype for Datatype {
    type DuplicatedDatatype = UserDatatype;
}

impl mpi::datatype::Datatype for Datatype {}

/// Elements of any type, for the views of the `mpi` crate ([`View`](mpi::datatype::View),
/// [`MutView`](mpi::datatype::MutView)), which otherwise take slices of its own types only.
///
/// ```
/// use dtype_mpi::Memory;
/// let pairs = [(1_u8, 2.0_f64), (3, 4.0)];
/// let memory = Memory::from_slice(&pairs);
/// # let _ = memory;
/// ```
#[derive(Debug)]
#[repr(transparent)]
pub struct Memory<T>([T]);

impl<T> Memory<T> {
    /// Wraps elements to be read.
    pub fn from_slice(elements: &[T]) -> &Self {
        // SAFETY: the same layout, and the same lifetime.
        unsafe { &*(std::ptr::from_ref(elements) as *const Self) }
    }

    /// Wraps elements to be written. The code that creates the view is responsible for the values written.
    pub fn from_slice_mut(elements: &mut [T]) -> &mut Self {
        // SAFETY: the same layout, and the same lifetime.
        unsafe { &mut *(std::ptr::from_mut(elements) as *mut Self) }
    }
}

// SAFETY: the pointer is the elements'. The code that creates the view guarantees that the datatype and the count
// stay within them; creating it is unsafe.
unsafe impl<T> Pointer for Memory<T> {
    fn pointer(&self) -> *const c_void {
        self.0.as_ptr().cast()
    }
}

// SAFETY: as above.
unsafe impl<T> PointerMut for Memory<T> {
    fn pointer_mut(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }
}

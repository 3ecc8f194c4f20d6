//! An owned MPI datatype.

use std::fmt;
use std::marker::PhantomData;
use std::os::raw::c_char;

use mpi::ffi::{self, MPI_Count, MPI_Datatype};

use super::code::{check, text, wide};
use super::session::{Session, not_running};
use crate::error::Error;
use crate::names;

/// An MPI datatype that lives as long as this value.
///
/// It is freed on drop, unless it is predefined or MPI has been finalized.
///
/// The value cannot move to another thread: most programs initialise MPI at a level where only one thread may call
/// it, and drop makes a call.
pub struct Datatype {
    handle: MPI_Datatype,
    owned: bool,
    thread: PhantomData<*const ()>,
}

impl Datatype {
    /// Takes ownership of a handle that a call has just returned.
    pub(super) fn owned(handle: MPI_Datatype) -> Self {
        Self { handle, owned: true, thread: PhantomData }
    }

    /// A handle that must not be freed.
    pub(super) fn predefined(handle: MPI_Datatype) -> Self {
        Self { handle, owned: false, thread: PhantomData }
    }

    /// Leaves the handle to the library, which keeps the datatype for as long as the program runs.
    pub(super) fn disown(&mut self) {
        self.owned = false;
    }

    /// A handle with another owner.
    ///
    /// # Safety
    ///
    /// It must be the null handle, or stay alive for as long as the value.
    pub(crate) unsafe fn borrowed(handle: MPI_Datatype) -> Self {
        Self::predefined(handle)
    }

    pub(crate) fn named(name: &'static str) -> Result<Self, Error> {
        names::handle(name).map(Self::predefined)
    }

    pub(crate) fn handle(&self) -> MPI_Datatype {
        self.handle
    }

    pub(crate) fn is_null(&self) -> bool {
        self.handle == null()
    }

    /// A number that is unique among the datatypes that are alive.
    pub(crate) fn number(&self) -> i32 {
        // SAFETY: the handle is alive; a session is in progress.
        unsafe { ffi::RSMPI_Type_c2f(self.handle) }
    }

    /// Whether its handle is a predefined one.
    pub(crate) fn is_predefined(&self) -> bool {
        !self.owned
    }

    /// The handle, and whether its new owner must free it.
    pub(crate) fn into_handle(self) -> (MPI_Datatype, bool) {
        let this = std::mem::ManuallyDrop::new(self);
        (this.handle, this.owned)
    }

    /// Commits the datatype, so that it can be used in communication.
    pub(crate) fn commit(&mut self) -> Result<(), Error> {
        if !self.owned {
            return Ok(());
        }
        // SAFETY: the handle is alive, and the call does not change it, although some libraries take a pointer.
        check("MPI_Type_commit", unsafe { ffi::MPI_Type_commit(&raw mut self.handle) })
    }

    /// The library's name for the datatype.
    pub(crate) fn library_name(&self) -> Result<String, Error> {
        let mut bytes = [0_u8; ffi::MPI_MAX_OBJECT_NAME as usize];
        let mut length = 0;
        let at = bytes.as_mut_ptr().cast::<c_char>();
        // SAFETY: the handle is alive, and the buffer has the length that the standard requires.
        check("MPI_Type_get_name", unsafe {
            ffi::MPI_Type_get_name(self.handle, at, &raw mut length)
        })?;
        Ok(text(&bytes, length))
    }

    /// Packed bytes of one instance (`MPI_Type_size`).
    ///
    /// # Errors
    ///
    /// [`Error::NotRunning`], [`Error::Thread`]; [`Error::Call`] when the library fails.
    pub fn size(&self) -> Result<i64, Error> {
        let _session = Session::begin("MPI_Type_size_x")?;
        self.packed_size()
    }

    /// As [`size`](Self::size). Requires a session.
    pub(crate) fn packed_size(&self) -> Result<i64, Error> {
        let mut size: MPI_Count = 0;
        // SAFETY: the handle is alive, and so is `size`.
        let code = unsafe { ffi::MPI_Type_size_x(self.handle, &raw mut size) };
        check("MPI_Type_size_x", code)?;
        Ok(wide(size))
    }

    /// The lower bound and the extent in bytes, according to the library (`MPI_Type_get_extent`).
    ///
    /// # Errors
    ///
    /// As [`size`](Self::size).
    pub fn extent(&self) -> Result<(i64, i64), Error> {
        let _session = Session::begin("MPI_Type_get_extent_x")?;
        self.bounds()
    }

    /// As [`extent`](Self::extent). Requires a session.
    pub(crate) fn bounds(&self) -> Result<(i64, i64), Error> {
        let (mut lb, mut extent): (MPI_Count, MPI_Count) = (0, 0);
        // SAFETY: the handle is alive, and so are `lb` and `extent`.
        let code = unsafe { ffi::MPI_Type_get_extent_x(self.handle, &raw mut lb, &raw mut extent) };
        check("MPI_Type_get_extent_x", code)?;
        Ok((wide(lb), wide(extent)))
    }

    /// The lower bound and the extent in bytes of the data alone (`MPI_Type_get_true_extent`).
    ///
    /// # Errors
    ///
    /// As [`size`](Self::size).
    pub fn true_extent(&self) -> Result<(i64, i64), Error> {
        let _session = Session::begin("MPI_Type_get_true_extent_x")?;
        self.true_bounds()
    }

    /// As [`true_extent`](Self::true_extent). Requires a session.
    pub(crate) fn true_bounds(&self) -> Result<(i64, i64), Error> {
        let (mut lb, mut extent): (MPI_Count, MPI_Count) = (0, 0);
        // SAFETY: the handle is alive, and so are the two.
        let code =
            unsafe { ffi::MPI_Type_get_true_extent_x(self.handle, &raw mut lb, &raw mut extent) };
        check("MPI_Type_get_true_extent_x", code)?;
        Ok((wide(lb), wide(extent)))
    }
}

impl fmt::Debug for Datatype {
    /// Prints whether drop frees the datatype. The handle is a number or an address without meaning to a reader.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Datatype").field("owned", &self.owned).finish_non_exhaustive()
    }
}

impl Drop for Datatype {
    fn drop(&mut self) {
        if self.owned && not_running().is_none() {
            // SAFETY: the handle is alive, was returned by a constructor or by MPI_Type_get_contents, and is not
            // used again. Datatypes built from it keep what they need.
            unsafe { ffi::MPI_Type_free(&raw mut self.handle) };
        }
    }
}

pub(super) fn null() -> MPI_Datatype {
    // SAFETY: a constant of the library.
    unsafe { ffi::RSMPI_DATATYPE_NULL }
}

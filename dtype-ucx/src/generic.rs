//! UCX's generic datatype for a committed type, for programs that call UCX themselves.

use std::fmt;
use std::ptr;

use dtype_runtime::Committed;
use dtype_ucp_generic::{Generic, Instances};

use crate::error::{Error, check};
use crate::raw;

/// A generic datatype of UCX (`ucp_dt_create_generic`) whose elements are instances of a committed type. It is for C programs,
/// and for other bindings; the functions of this crate do not need it.
///
/// Code that passes the [`handle`](Self::handle) to UCX must guarantee:
///
/// - it is passed to `ucp_tag_…`, `ucp_am_…` or `ucp_stream_…` functions. In a put or a get, UCX 1.13 either ignores the
///   datatype and copies raw bytes, or ends the program;
/// - buffer and count name instances in memory that lives until the operation has completed: initialised for a send,
///   writable, of bytes of any value, for a receive;
/// - the datatype is dropped after the last operation with it has completed.
///
/// A receive fails with `UCS_ERR_NO_MEMORY` if the instances name a byte more than once. UCX does not tell a generic
/// datatype that a receive was cancelled: one to two hundred bytes are leaked for each.
///
/// ```
/// use dtype_runtime::{Basic, Type};
/// use dtype_ucx::GenericType;
/// let column = Type::vector(1000, 1, 4, &Type::basic(Basic::F64))?.commit();
/// let datatype = GenericType::new(&column)?;
/// // For the `datatype` of a `ucp_request_param_t`.
/// let _handle: u64 = datatype.handle();
/// # Ok::<(), dtype_ucx::Error>(())
/// ```
#[doc(alias = "ucp_dt_create_generic")]
pub struct GenericType {
    handle: raw::Datatype,
    /// UCX passes the address of this to the functions.
    _element: Box<Element>,
}

/// The target of the datatype's context.
struct Element(Committed);

impl GenericType {
    /// The datatype for a committed type.
    ///
    /// # Errors
    ///
    /// [`Error::Call`] if there is no memory.
    pub fn new(committed: &Committed) -> Result<Self, Error> {
        let element = Box::new(Element(committed.clone()));
        let operations = raw::Operations::of::<Element>();
        let context = ptr::from_ref(&*element).cast_mut().cast();
        let mut handle = 0;
        // SAFETY: UCX copies the table. The context lives on the heap until the datatype is destroyed.
        let status =
            unsafe { raw::ucp_dt_create_generic(&raw const operations, context, &raw mut handle) };
        check("ucp_dt_create_generic", status)?;
        Ok(Self { handle, _element: element })
    }

    /// The `ucp_datatype_t`.
    pub fn handle(&self) -> u64 {
        self.handle
    }
}

impl Drop for GenericType {
    fn drop(&mut self) {
        // SAFETY: the datatype was made by `new`; the users of the handle guarantee that they no longer use it.
        unsafe { raw::ucp_dt_destroy(self.handle) };
    }
}

impl fmt::Debug for GenericType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GenericType").field("handle", &self.handle).finish_non_exhaustive()
    }
}

impl Generic for Element {
    type Message = Instances;

    unsafe fn start_pack(&self, buffer: *const u8, count: usize) -> Option<Instances> {
        // SAFETY: the caller guarantees the elements.
        unsafe { Instances::to_pack(&self.0, buffer, count) }.ok()
    }

    unsafe fn start_unpack(&self, buffer: *mut u8, count: usize) -> Option<Instances> {
        // SAFETY: the caller guarantees the elements.
        unsafe { Instances::to_unpack(&self.0, buffer, count) }.ok()
    }
}

#[cfg(test)]
mod tests;

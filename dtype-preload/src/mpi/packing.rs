//! Packs and unpacks the elements of a call.

use std::ffi::c_void;
use std::slice;

use dtype_runtime::{Committed, Error};

use super::external::External;
use super::types::{Entry, Native};
use crate::compiled::Compiled;
use crate::mode::Mode;

/// What packed bytes are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As in messages.
    Native,
    /// As `MPI_Pack_external` makes them.
    External,
}

/// A type, compiled for one kind of packed bytes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Packing<'e> {
    Native(&'e Native),
    External(&'e External),
}

impl<'e> Packing<'e> {
    /// `None` if the type is left to the library.
    #[inline]
    pub(super) fn new(entry: &'e Entry, form: Form) -> Option<Self> {
        match form {
            Form::Native => entry.native().map(Self::Native),
            Form::External => entry.external().map(Self::External),
        }
    }

    pub(super) fn form(&self) -> Form {
        match self {
            Self::Native(_) => Form::Native,
            Self::External(_) => Form::External,
        }
    }

    pub(super) fn compiled(&self) -> &'e Compiled {
        match self {
            Self::Native(native) => &native.compiled,
            Self::External(external) => &external.compiled,
        }
    }

    pub(super) fn committed(&self) -> &'e Committed {
        &self.compiled().committed
    }

    /// Packed bytes of `count` elements at an address; `None` if the elements cannot be in memory, an error that the library
    /// reports. The pointer is then null, and the displacements are not addresses, as they would be with `MPI_BOTTOM`.
    #[inline]
    pub(super) fn size(&self, elements: *const c_void, count: usize) -> Option<usize> {
        /// No program has memory in the first page.
        const PAGE: u64 = 4096;
        if elements.is_null() && self.committed().true_lb().unsigned_abs() < PAGE {
            return None;
        }
        match self {
            Self::Native(native) => native.compiled.committed.packed_size(count).ok(),
            Self::External(external) => external.conversion.packed_size(count).ok(),
        }
    }

    /// Packs `count` elements to `len` bytes, which is their [`size`](Self::size).
    ///
    /// # Safety
    ///
    /// The elements must be readable, and the bytes writable, as for `MPI_Pack`.
    #[inline]
    pub(super) unsafe fn pack(
        &self,
        entry: &Entry,
        elements: *const c_void,
        count: usize,
        out: *mut u8,
        len: usize,
    ) -> Result<(), Error> {
        // SAFETY: guaranteed by the caller; the buffer has the length of all packed bytes.
        let run = || unsafe {
            match self {
                Self::Native(Native { compiled: Compiled { committed, .. }, .. }) => {
                    committed.pack_range_raw(elements.cast(), count, 0..len as u64, out)
                }
                Self::External(external) => {
                    let out = slice::from_raw_parts_mut(out, len);
                    external.conversion.pack_raw(elements.cast(), count, out).map(drop)
                }
            }
        };
        self.compiled().counted(len, run)?;
        if Mode::get().verify {
            // SAFETY: the caller's elements, and the bytes just packed.
            unsafe {
                let here = slice::from_raw_parts(out, len);
                self.compare_packed(entry, elements, count, here);
            }
        }
        Ok(())
    }

    /// Unpacks elements from the bytes of at most `count` of them.
    ///
    /// # Safety
    ///
    /// The elements must be writable, as for `MPI_Unpack`.
    #[inline]
    pub(super) unsafe fn unpack(
        &self,
        entry: &Entry,
        packed: &[u8],
        elements: *mut c_void,
        count: usize,
    ) -> Result<(), Error> {
        if Mode::get().verify && self.size(elements, count) == Some(packed.len()) {
            self.rehearse(entry, packed, count);
        }
        // SAFETY: guaranteed by the caller.
        let run = || unsafe { self.unpack_to(packed, elements.cast(), count) };
        self.compiled().counted(packed.len(), run)
    }

    /// # Safety
    ///
    /// As for [`Committed::unpack_raw`].
    pub(super) unsafe fn unpack_to(
        &self,
        packed: &[u8],
        elements: *mut u8,
        count: usize,
    ) -> Result<(), Error> {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match self {
                Self::Native(Native { compiled: Compiled { committed, .. }, .. }) => {
                    let range = 0..packed.len() as u64;
                    committed.unpack_range_raw(packed.as_ptr(), range, elements, count)
                }
                Self::External(external) => {
                    external.conversion.unpack_raw(packed, elements, count).map(drop)
                }
            }
        }
    }
}

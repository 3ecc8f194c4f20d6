//! The mode `verify`: the MPI library packs and unpacks the same elements.

use std::ffi::{CStr, c_char, c_int, c_void};

use super::abi::{Word, abi};
use super::packing::{Form, Packing};
use super::reference::Reference;
use super::types::Entry;
use crate::original::{is_running, originals};
use crate::verify::{self, Fragment};

originals! {
    static PACK = c"PMPI_Pack":
        unsafe extern "C" fn(*const c_void, c_int, Word, *mut c_void, c_int, *mut c_int, Word) -> c_int;
    static UNPACK = c"PMPI_Unpack":
        unsafe extern "C" fn(*const c_void, c_int, *mut c_int, *mut c_void, c_int, Word, Word) -> c_int;
    static PACK_EXTERNAL = c"PMPI_Pack_external": unsafe extern "C" fn(
        *const c_char, *const c_void, c_int, Word, *mut c_void, isize, *mut isize,
    ) -> c_int;
    static UNPACK_EXTERNAL = c"PMPI_Unpack_external": unsafe extern "C" fn(
        *const c_char, *const c_void, isize, *mut isize, *mut c_void, c_int, Word,
    ) -> c_int;
}

/// The representation of `MPI_Pack_external`.
const NAME: &CStr = c"external32";

impl Packing<'_> {
    /// Compares packed bytes with the library's packed bytes of the same elements.
    ///
    /// # Safety
    ///
    /// As `MPI_Pack`.
    pub(super) unsafe fn compare_packed(
        &self,
        entry: &Entry,
        elements: *const c_void,
        count: usize,
        here: &[u8],
    ) {
        let mut bytes = self.compiled().library_start(here);
        let out = bytes.as_mut_ptr().cast();
        let run = |datatype, elements_count, room: c_int| {
            // SAFETY: the caller's elements; the vector has room for their packed bytes.
            Some(unsafe {
                if self.form() == Form::Native {
                    let (mut at, world) = (0, abi().comm_world);
                    PACK.get()?(elements, elements_count, datatype, out, room, &raw mut at, world)
                } else {
                    let (mut at, pack, room) = (0, PACK_EXTERNAL.get()?, room as isize);
                    pack(NAME.as_ptr(), elements, elements_count, datatype, out, room, &raw mut at)
                }
            })
        };
        if Self::library(entry, count, here.len(), run) {
            let what = if self.form() == Form::Native { "packed" } else { "packed as external32" };
            verify::compare_bytes(self.fragment(what, count, here.len()), here, &bytes);
        }
    }

    /// Unpacks into two memories, by this engine and by the library, and compares them.
    pub(super) fn rehearse(&self, entry: &Entry, packed: &[u8], count: usize) {
        let is_native = self.form() == Form::Native;
        let what = if is_native { "memory of" } else { "memory of external32" };
        // SAFETY: there is room for the elements.
        let here = |to| unsafe { self.unpack_to(packed, to, count) }.is_ok();
        let library = |to: *mut u8| {
            let (from, to) = (packed.as_ptr().cast(), to.cast());
            Self::library(entry, count, packed.len(), |datatype, elements, available| {
                // SAFETY: as above; the library's own type, which is alive.
                Some(unsafe {
                    if is_native {
                        let (mut at, world) = (0, abi().comm_world);
                        UNPACK.get()?(from, available, &raw mut at, to, elements, datatype, world)
                    } else {
                        let (mut at, unpack) = (0, UNPACK_EXTERNAL.get()?);
                        let available = available as isize;
                        unpack(NAME.as_ptr(), from, available, &raw mut at, to, elements, datatype)
                    }
                })
            })
        };
        let fragment = self.fragment(what, count, packed.len());
        verify::compare_memory(self.compiled(), fragment, here, library);
    }

    /// Whether the library has done something with a type, a number of elements, and their packed bytes.
    fn library(
        entry: &Entry,
        count: usize,
        len: usize,
        run: impl FnOnce(Word, c_int, c_int) -> Option<c_int>,
    ) -> bool {
        let (count, len) = (c_int::try_from(count), c_int::try_from(len));
        let (Some(Reference(datatype)), Ok(count), Ok(len)) = (&entry.reference, count, len) else {
            return false;
        };
        is_running() && run(*datatype, count, len) == Some(0)
    }

    fn fragment(&self, what: &'static str, count: usize, len: usize) -> Fragment<'_> {
        Fragment { what, ty: self.committed().as_type(), count, position: 0, len }
    }
}

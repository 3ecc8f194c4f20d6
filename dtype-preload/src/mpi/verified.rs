//! The mode `verify`: the MPI library packs and unpacks the same elements.

use std::ffi::{c_char, c_int, c_void};

use super::abi::{Word, abi};
use super::packing::{Form, Packing};
use super::types::Entry;
use crate::original::{is_initialized, originals};
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

impl Packing<'_> {
    fn fragment(&self, what: &'static str, count: usize, len: usize) -> Fragment<'_> {
        Fragment { what, ty: self.committed().as_type(), count, position: 0, len }
    }

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
        let compare = || {
            let (elements_count, datatype) =
                (c_int::try_from(count).ok()?, entry.reference.as_ref()?.0);
            let room = c_int::try_from(here.len()).ok().filter(|_| is_initialized())?;
            let mut bytes = self.compiled().library_start(here);
            let out = bytes.as_mut_ptr().cast();
            // SAFETY: the caller's elements; the vector has room for their packed bytes.
            let (what, code) = unsafe {
                match self.form() {
                    Form::Native => {
                        let (mut at, world) = (0, abi().comm_world);
                        let pack = PACK.get()?;
                        (
                            "packed",
                            pack(elements, elements_count, datatype, out, room, &raw mut at, world),
                        )
                    }
                    Form::External => {
                        let mut at = 0;
                        let (pack, name, room) =
                            (PACK_EXTERNAL.get()?, c"external32".as_ptr(), room as isize);
                        let code =
                            pack(name, elements, elements_count, datatype, out, room, &raw mut at);
                        ("packed as external32", code)
                    }
                }
            };
            if code == 0 {
                verify::compare_bytes(self.fragment(what, count, here.len()), here, &bytes);
            }
            Some(())
        };
        compare();
    }

    /// Unpacks twice, by this engine and by the library, into memory made for this, and compares all bytes, gaps included.
    pub(super) fn rehearse(&self, entry: &Entry, packed: &[u8], count: usize) {
        let compare = || {
            let (elements, datatype) = (c_int::try_from(count).ok()?, entry.reference.as_ref()?.0);
            let available = c_int::try_from(packed.len()).ok().filter(|_| is_initialized())?;
            let (low, span) = verify::memory_of(self.committed(), count)?;
            let mut here = vec![0xA5_u8; span];
            let origin = |memory: &mut Vec<u8>| memory.as_mut_ptr().wrapping_offset(-low);
            // SAFETY: the elements lie in the vector, at their displacements from an origin that may lie outside.
            unsafe { self.unpack_to(packed, origin(&mut here), count) }.ok()?;
            // The library may leave out the padding inside of values.
            let mut there =
                if self.compiled().has_padding { here.clone() } else { vec![0xA5; span] };
            let (from, to) = (packed.as_ptr().cast(), origin(&mut there).cast());
            // SAFETY: as above.
            let (what, code) = unsafe {
                match self.form() {
                    Form::Native => {
                        let (mut at, world) = (0, abi().comm_world);
                        let unpack = UNPACK.get()?;
                        (
                            "memory of",
                            unpack(from, available, &raw mut at, to, elements, datatype, world),
                        )
                    }
                    Form::External => {
                        let mut at = 0;
                        let (unpack, name) = (UNPACK_EXTERNAL.get()?, c"external32".as_ptr());
                        let available = available as isize;
                        let code =
                            unpack(name, from, available, &raw mut at, to, elements, datatype);
                        ("memory of external32", code)
                    }
                }
            };
            if code == 0 {
                verify::compare_bytes(self.fragment(what, count, packed.len()), &here, &there);
            }
            Some(())
        };
        compare();
    }
}

//! `MPI_Pack_external` and `MPI_Unpack_external`, with their large-count forms.
//!
//! Which types are converted here, [`External`] knows. Below Open MPI the calls go straight to the original.

use std::ffi::{CStr, c_char, c_int, c_void};

use super::calls::exported;
use super::external::External;
use super::handles::find;
use super::library::is_supported;
use super::originals::{
    PACK_EXTERNAL, PACK_EXTERNAL_LARGE, UNPACK_EXTERNAL, UNPACK_EXTERNAL_LARGE,
};
use super::pack::{end_of, is_null_buffer};
use super::word::{Word, handle};
use crate::boundary::contain;
use crate::mode::Mode;
use crate::original::NO_ORIGINAL;
use crate::verify;

/// Whether a representation is the one that the standard defines. The library takes any other name for it, too.
///
/// # Safety
///
/// Null, or a string that ends with a zero.
unsafe fn is_external32(representation: *const c_char) -> bool {
    // SAFETY: the caller guarantees it.
    !representation.is_null() && unsafe { CStr::from_ptr(representation) } == c"external32"
}

/// Packs, and returns the new position; `None` if the call is left to the library.
///
/// # Safety
///
/// As `MPI_Pack_external`.
unsafe fn packed(
    from: *const c_void,
    count: i64,
    datatype: Word,
    out: *mut c_void,
    room: i64,
    position: i64,
    library: &dyn Fn(*mut u8) -> c_int,
) -> Option<i64> {
    if out.is_null() {
        return None;
    }
    let count = usize::try_from(count).ok()?;
    // SAFETY: the library is supported, and the caller passes a datatype that lives.
    let entry = unsafe { find(handle(datatype), count) }?;
    let external = entry.external()?;
    if is_null_buffer(from, &external.compiled.committed) {
        return None;
    }
    let size = external.conversion.packed_size(count).ok()?;
    let end = end_of(position, size, room)?;
    let out = out.cast::<u8>().wrapping_add(end - size);
    // SAFETY: the program's buffer, whose end was checked, and which nothing else uses during the call.
    let here = unsafe { std::slice::from_raw_parts_mut(out, size) };
    // SAFETY: the program guarantees its elements.
    let run = || unsafe { external.conversion.pack_raw(from.cast(), count, here) };
    external.compiled.counted(size, run).ok()?;
    if Mode::get().verify {
        let mut bytes = external.compiled.library_start(here);
        if library(bytes.as_mut_ptr()) == 0 {
            verify::compare_bytes(
                external.fragment("packed as external32", count, size),
                here,
                &bytes,
            );
        }
    }
    i64::try_from(end).ok()
}

/// Unpacks, and returns the new position; `None` if the call is left to the library.
///
/// # Safety
///
/// As `MPI_Unpack_external`.
unsafe fn unpacked(
    from: *const c_void,
    available: i64,
    position: i64,
    to: *mut c_void,
    count: i64,
    datatype: Word,
    library: &dyn Fn(*mut c_void, &[u8]) -> c_int,
) -> Option<i64> {
    if from.is_null() {
        return None;
    }
    let count = usize::try_from(count).ok()?;
    // SAFETY: the library is supported, and the caller passes a datatype that lives.
    let entry = unsafe { find(handle(datatype), count) }?;
    let external = entry.external()?;
    if is_null_buffer(to, &external.compiled.committed) {
        return None;
    }
    let size = external.conversion.packed_size(count).ok()?;
    let end = end_of(position, size, available)?;
    let from = from.cast::<u8>().wrapping_add(end - size);
    // SAFETY: the program's buffer, whose end was checked.
    let packed = unsafe { std::slice::from_raw_parts(from, size) };
    if Mode::get().verify {
        // SAFETY: the library writes the elements of the type.
        unsafe { rehearse(external, packed, count, library) };
    }
    // SAFETY: the program guarantees its elements.
    let run = || unsafe { external.conversion.unpack_raw(packed, to.cast(), count) };
    external.compiled.counted(size, run).ok()?;
    i64::try_from(end).ok()
}

/// Unpacks twice into memory of its own, by this engine and by the library, and compares all bytes, gaps included.
///
/// # Safety
///
/// `library` unpacks `count` elements of the type to an address.
unsafe fn rehearse(
    external: &External,
    packed: &[u8],
    count: usize,
    library: &dyn Fn(*mut c_void, &[u8]) -> c_int,
) {
    let Some((low, span)) = verify::memory_of(&external.compiled.committed, count) else { return };
    let mut here = vec![0xA5_u8; span];
    let mut there = here.clone();
    let origin = |memory: &mut Vec<u8>| memory.as_mut_ptr().wrapping_offset(-low);
    // SAFETY: the elements lie in the vector, at their displacements from an origin that may lie outside.
    if unsafe { external.conversion.unpack_raw(packed, origin(&mut here), count) }.is_err() {
        return;
    }
    if library(origin(&mut there).cast(), packed) == 0 {
        let fragment = external.fragment("memory of external32", count, packed.len());
        verify::compare_bytes(fragment, &here, &there);
    }
}

/// The two functions for one type of counts.
macro_rules! functions {
    ($pack:ident = $PACK:ident, $unpack:ident = $UNPACK:ident, $number:ty) => {
        #[inline(never)]
        unsafe extern "C" fn $pack(
            representation: *const c_char,
            from: *const c_void,
            count: $number,
            datatype: Word,
            out: *mut c_void,
            room: i64,
            position: *mut i64,
        ) -> c_int {
            let Some(original) = $PACK.get() else { return NO_ORIGINAL };
            // SAFETY: the caller's string.
            if is_supported() && !position.is_null() && unsafe { is_external32(representation) } {
                let library = |out: *mut u8| {
                    let mut at = 0;
                    let at = &raw mut at;
                    // SAFETY: the caller's elements, and a buffer with room for them.
                    unsafe { original(representation, from, count, datatype, out.cast(), room, at) }
                };
                // SAFETY: the caller's arguments.
                let end = contain(|| unsafe {
                    packed(from, count.into(), datatype, out, room, *position, &library)
                });
                if let Some(end) = end.flatten() {
                    // SAFETY: the caller's number.
                    unsafe { *position = end };
                    return 0;
                }
            }
            // SAFETY: the caller's arguments.
            unsafe { original(representation, from, count, datatype, out, room, position) }
        }

        #[inline(never)]
        unsafe extern "C" fn $unpack(
            representation: *const c_char,
            from: *const c_void,
            available: i64,
            position: *mut i64,
            to: *mut c_void,
            count: $number,
            datatype: Word,
        ) -> c_int {
            let Some(original) = $UNPACK.get() else { return NO_ORIGINAL };
            // SAFETY: the caller's string.
            if is_supported() && !position.is_null() && unsafe { is_external32(representation) } {
                let library = |to: *mut c_void, packed: &[u8]| {
                    let Ok(len) = i64::try_from(packed.len()) else { return NO_ORIGINAL };
                    let mut at = 0;
                    let (at, packed) = (&raw mut at, packed.as_ptr().cast());
                    // SAFETY: memory for the elements, and all of their packed bytes.
                    unsafe { original(representation, packed, len, at, to, count, datatype) }
                };
                // SAFETY: the caller's arguments.
                let end = contain(|| unsafe {
                    unpacked(from, available, *position, to, count.into(), datatype, &library)
                });
                if let Some(end) = end.flatten() {
                    // SAFETY: the caller's number.
                    unsafe { *position = end };
                    return 0;
                }
            }
            // SAFETY: the caller's arguments.
            unsafe { original(representation, from, available, position, to, count, datatype) }
        }
    };
}

functions!(pack = PACK_EXTERNAL, unpack = UNPACK_EXTERNAL, c_int);
functions!(pack_large = PACK_EXTERNAL_LARGE, unpack_large = UNPACK_EXTERNAL_LARGE, i64);

exported! {
    MPI_Pack_external, PMPI_Pack_external = pack(representation: *const c_char, from: *const c_void,
        count: c_int, datatype: Word, out: *mut c_void, room: i64, position: *mut i64);
    MPI_Unpack_external, PMPI_Unpack_external = unpack(representation: *const c_char, from: *const c_void,
        available: i64, position: *mut i64, to: *mut c_void, count: c_int, datatype: Word);
    MPI_Pack_external_c, PMPI_Pack_external_c = pack_large(representation: *const c_char,
        from: *const c_void, count: i64, datatype: Word, out: *mut c_void, room: i64, position: *mut i64);
    MPI_Unpack_external_c, PMPI_Unpack_external_c = unpack_large(representation: *const c_char,
        from: *const c_void, available: i64, position: *mut i64, to: *mut c_void, count: i64, datatype: Word);
}

//! `MPI_Pack` and `MPI_Unpack`, with their large-count forms.
//!
//! Below Open MPI the calls go straight to the original, which packs through its convertor. So a datatype and a
//! communicator are words here: integers in one library, addresses in the other.

use std::ffi::{c_int, c_void};

use dtype_runtime::Committed;

use super::calls::exported;
use super::communicators::{accepted, is_communicator};
use super::handles::find;
use super::library::is_supported;
use super::originals::{PACK, PACK_LARGE, UNPACK, UNPACK_LARGE};
use super::word::{Word, handle};
use crate::boundary::contain;
use crate::mode::Mode;
use crate::original::NO_ORIGINAL;
use crate::verify::{self, Fragment};

/// Packed bytes of a call, and where they end; `None` if the buffer is too short, which the library reports.
pub(super) fn end_of(position: i64, size: usize, buffer: i64) -> Option<usize> {
    let start = usize::try_from(position).ok()?;
    let end = start.checked_add(size)?;
    (end as u128 <= buffer.max(0).cast_unsigned().into()).then_some(end)
}

/// Whether the buffer is null, an error that the library reports: the pointer is null, and the
/// displacements are not addresses, as they are with `MPI_BOTTOM`.
pub(super) fn is_null_buffer(elements: *const c_void, committed: &Committed) -> bool {
    /// No program has memory in the first page.
    const PAGE: u64 = 4096;
    elements.is_null() && committed.true_lb().unsigned_abs() < PAGE
}

/// Packs, and returns the new position; `None` if the call is left to the library.
///
/// # Safety
///
/// As `MPI_Pack`.
#[expect(clippy::too_many_arguments, reason = "those of the call, and the original")]
unsafe fn packed(
    from: *const c_void,
    count: i64,
    datatype: Word,
    out: *mut c_void,
    room: i64,
    position: i64,
    communicator: Word,
    library: &dyn Fn(*mut u8) -> c_int,
) -> Option<i64> {
    if !is_communicator(communicator) || out.is_null() {
        return None;
    }
    let count = usize::try_from(count).ok()?;
    // SAFETY: the library is supported, and the caller passes a datatype that lives.
    let entry = unsafe { find(handle(datatype), count) }?;
    let compiled = entry.native()?;
    if is_null_buffer(from, &compiled.committed) {
        return None;
    }
    let size = compiled.committed.packed_size(count).ok()?;
    let end = end_of(position, size, room)?;
    let out = out.cast::<u8>().wrapping_add(end - size);
    let range = 0..size as u64;
    // SAFETY: the program guarantees its elements, and for the buffer, whose end was checked.
    let run = || unsafe { compiled.committed.pack_range_raw(from.cast(), count, range, out) };
    compiled.counted(size, run).ok()?;
    if Mode::get().verify {
        // SAFETY: just written.
        let here = unsafe { std::slice::from_raw_parts(out, size) };
        let mut bytes = compiled.library_start(here);
        if library(bytes.as_mut_ptr()) == 0 {
            let ty = compiled.committed.as_type();
            let fragment = Fragment { what: "packed", ty, count, position: 0, len: size };
            verify::compare_bytes(fragment, here, &bytes);
        }
    }
    i64::try_from(end).ok()
}

/// Unpacks, and returns the new position; `None` if the call is left to the library.
///
/// # Safety
///
/// As `MPI_Unpack`.
#[expect(clippy::too_many_arguments, reason = "those of the call, and the original's opposite")]
unsafe fn unpacked(
    from: *const c_void,
    available: i64,
    position: i64,
    to: *mut c_void,
    count: i64,
    datatype: Word,
    communicator: Word,
    pack_again: &dyn Fn(*mut u8, usize) -> c_int,
) -> Option<i64> {
    if !is_communicator(communicator) || from.is_null() {
        return None;
    }
    let count = usize::try_from(count).ok()?;
    // SAFETY: the library is supported, and the caller passes a datatype that lives.
    let entry = unsafe { find(handle(datatype), count) }?;
    let compiled = entry.native()?;
    if is_null_buffer(to, &compiled.committed) {
        return None;
    }
    let size = compiled.committed.packed_size(count).ok()?;
    let end = end_of(position, size, available)?;
    let from = from.cast::<u8>().wrapping_add(end - size);
    let range = 0..size as u64;
    // SAFETY: the program guarantees its elements, and for the buffer, whose end was checked.
    let run = || unsafe { compiled.committed.unpack_range_raw(from, range, to.cast(), count) };
    compiled.counted(size, run).ok()?;
    if Mode::get().verify {
        // SAFETY: the program's buffer, whose end was checked.
        let here = unsafe { std::slice::from_raw_parts(from, size) };
        let mut bytes = compiled.library_start(here);
        if pack_again(bytes.as_mut_ptr(), size) == 0 {
            let ty = compiled.committed.as_type();
            let fragment = Fragment { what: "unpacked", ty, count, position: 0, len: size };
            verify::compare_bytes(fragment, here, &bytes);
        }
    }
    i64::try_from(end).ok()
}

/// The two functions for one type of numbers.
macro_rules! functions {
    ($pack:ident = $PACK:ident, $unpack:ident = $UNPACK:ident, $number:ty) => {
        #[inline(never)]
        unsafe extern "C" fn $pack(
            from: *const c_void,
            count: $number,
            datatype: Word,
            out: *mut c_void,
            room: $number,
            position: *mut $number,
            communicator: Word,
        ) -> c_int {
            let Some(original) = $PACK.get() else { return NO_ORIGINAL };
            if !is_supported() {
                // SAFETY: the caller's arguments.
                return unsafe {
                    original(from, count, datatype, out, room, position, communicator)
                };
            }
            if !position.is_null() {
                let library = |out: *mut u8| {
                    let mut at = 0;
                    // SAFETY: the caller's elements, and a buffer with room for them.
                    unsafe {
                        original(from, count, datatype, out.cast(), room, &raw mut at, communicator)
                    }
                };
                // SAFETY: the caller's arguments.
                let end = contain(|| unsafe {
                    let at = i64::from(*position);
                    packed(
                        from,
                        count.into(),
                        datatype,
                        out,
                        room.into(),
                        at,
                        communicator,
                        &library,
                    )
                });
                if let Some(end) = end.flatten().and_then(|end| <$number>::try_from(end).ok()) {
                    // SAFETY: the caller's number.
                    unsafe { *position = end };
                    return 0;
                }
            }
            let code =
                // SAFETY: the caller's arguments.
                unsafe { original(from, count, datatype, out, room, position, communicator) };
            if code == 0 {
                accepted(communicator);
            }
            code
        }

        #[inline(never)]
        unsafe extern "C" fn $unpack(
            from: *const c_void,
            available: $number,
            position: *mut $number,
            to: *mut c_void,
            count: $number,
            datatype: Word,
            communicator: Word,
        ) -> c_int {
            let Some(original) = $UNPACK.get() else { return NO_ORIGINAL };
            if !is_supported() {
                // SAFETY: the caller's arguments.
                return unsafe {
                    original(from, available, position, to, count, datatype, communicator)
                };
            }
            if !position.is_null() {
                let pack_again = |out: *mut u8, size: usize| {
                    let (Some(pack), Ok(size)) = ($PACK.get(), <$number>::try_from(size)) else {
                        return NO_ORIGINAL;
                    };
                    let mut at = 0;
                    // SAFETY: the caller's elements, and a buffer with room for them.
                    unsafe {
                        pack(to, count, datatype, out.cast(), size, &raw mut at, communicator)
                    }
                };
                // SAFETY: the caller's arguments.
                let end = contain(|| unsafe {
                    let (at, available) = (i64::from(*position), available.into());
                    unpacked(
                        from,
                        available,
                        at,
                        to,
                        count.into(),
                        datatype,
                        communicator,
                        &pack_again,
                    )
                });
                if let Some(end) = end.flatten().and_then(|end| <$number>::try_from(end).ok()) {
                    // SAFETY: the caller's number.
                    unsafe { *position = end };
                    return 0;
                }
            }
            let code =
                // SAFETY: the caller's arguments.
                unsafe { original(from, available, position, to, count, datatype, communicator) };
            if code == 0 {
                accepted(communicator);
            }
            code
        }
    };
}

functions!(pack = PACK, unpack = UNPACK, c_int);
functions!(pack_large = PACK_LARGE, unpack_large = UNPACK_LARGE, i64);

exported! {
    MPI_Pack, PMPI_Pack = pack(from: *const c_void, count: c_int, datatype: Word, out: *mut c_void,
        room: c_int, position: *mut c_int, communicator: Word);
    MPI_Unpack, PMPI_Unpack = unpack(from: *const c_void, available: c_int, position: *mut c_int,
        to: *mut c_void, count: c_int, datatype: Word, communicator: Word);
    MPI_Pack_c, PMPI_Pack_c = pack_large(from: *const c_void, count: i64, datatype: Word,
        out: *mut c_void, room: i64, position: *mut i64, communicator: Word);
    MPI_Unpack_c, PMPI_Unpack_c = unpack_large(from: *const c_void, available: i64,
        position: *mut i64, to: *mut c_void, count: i64, datatype: Word, communicator: Word);
}

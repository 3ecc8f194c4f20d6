//! The library's functions that pack, and substitutes for large-count forms that it lacks.
//!
//! Open MPI 4.1 and 5.0 lack those forms. But programs use `MPI_Pack_c` if they find it, by a weak reference or by `dlsym`, and
//! with this library loaded they always do.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use super::numbers::COMM_WORLD;
use super::word::Word;
use crate::original::{NO_ORIGINAL, originals, variable};

/// `MPI_Pack`, with counts of the type `N`.
pub(super) type Pack<N> =
    unsafe extern "C" fn(*const c_void, N, Word, *mut c_void, N, *mut N, Word) -> c_int;

/// `MPI_Unpack`.
pub(super) type Unpack<N> =
    unsafe extern "C" fn(*const c_void, N, *mut N, *mut c_void, N, Word, Word) -> c_int;

/// `MPI_Pack_external`.
pub(super) type PackExternal<N> = unsafe extern "C" fn(
    *const c_char,
    *const c_void,
    N,
    Word,
    *mut c_void,
    i64,
    *mut i64,
) -> c_int;

/// `MPI_Unpack_external`.
pub(super) type UnpackExternal<N> = unsafe extern "C" fn(
    *const c_char,
    *const c_void,
    i64,
    *mut i64,
    *mut c_void,
    N,
    Word,
) -> c_int;

originals! {
    static CALL_ERRHANDLER = c"PMPI_Comm_call_errhandler":
        unsafe extern "C" fn(Word, c_int) -> c_int;
    pub(super) static PACK = c"PMPI_Pack": Pack<c_int>;
    pub(super) static UNPACK = c"PMPI_Unpack": Unpack<c_int>;
    pub(super) static PACK_EXTERNAL = c"PMPI_Pack_external": PackExternal<c_int>;
    pub(super) static UNPACK_EXTERNAL = c"PMPI_Unpack_external": UnpackExternal<c_int>;
    pub(super) static PACK_LARGE = c"PMPI_Pack_c" or pack: Pack<i64>;
    pub(super) static UNPACK_LARGE = c"PMPI_Unpack_c" or unpack: Unpack<i64>;
    pub(super) static PACK_EXTERNAL_LARGE = c"PMPI_Pack_external_c" or pack_external: PackExternal<i64>;
    pub(super) static UNPACK_EXTERNAL_LARGE = c"PMPI_Unpack_external_c" or unpack_external:
        UnpackExternal<i64>;
}

/// `MPI_ERR_COUNT` in MPICH and in Open MPI.
const ERR_COUNT: c_int = 2;

/// A number of elements as an `int`. If it does not fit or is negative, calls the error handler of the communicator, and
/// returns the error. The library itself would not refuse it if its checks of arguments are off.
fn elements(count: i64, communicator: Word) -> Result<c_int, c_int> {
    c_int::try_from(count).ok().filter(|&count| count >= 0).ok_or_else(|| {
        // SAFETY: a communicator of the program, or the predefined one.
        CALL_ERRHANDLER.get().map(|call| unsafe { call(communicator, ERR_COUNT) });
        ERR_COUNT
    })
}

/// `MPI_COMM_WORLD`, for calls without a communicator.
fn world() -> Word {
    let world = variable(c"ompi_mpi_comm_world");
    if world.is_null() { COMM_WORLD.cast_unsigned() as Word } else { world.addr() }
}

/// The part of a packed buffer after a position, up to the number of bytes that an `int` can count.
#[expect(clippy::cast_possible_truncation, reason = "a position in memory")]
fn rest(packed: *mut c_void, len: i64, position: i64) -> (*mut c_void, c_int) {
    let left = c_int::try_from(len.saturating_sub(position).max(0)).unwrap_or(c_int::MAX);
    // A null pointer is an error, and the library reports it.
    let start =
        if packed.is_null() { packed } else { packed.wrapping_byte_offset(position as isize) };
    (start, left)
}

unsafe extern "C" fn pack(
    from: *const c_void,
    count: i64,
    datatype: Word,
    out: *mut c_void,
    room: i64,
    position: *mut i64,
    communicator: Word,
) -> c_int {
    let Some(original) = PACK.get() else { return NO_ORIGINAL };
    let count = match elements(count, communicator) {
        Ok(count) => count,
        Err(code) => return code,
    };
    // SAFETY: the caller's number.
    let Some(position) = (unsafe { position.as_mut() }) else {
        // SAFETY: the caller's arguments; the library refuses the null pointer.
        return unsafe { original(from, count, datatype, out, 0, ptr::null_mut(), communicator) };
    };
    let (out, room) = rest(out, room, *position);
    let mut packed = 0;
    // SAFETY: the caller's arguments.
    let code = unsafe { original(from, count, datatype, out, room, &raw mut packed, communicator) };
    *position += i64::from(packed);
    code
}

unsafe extern "C" fn unpack(
    from: *const c_void,
    available: i64,
    position: *mut i64,
    to: *mut c_void,
    count: i64,
    datatype: Word,
    communicator: Word,
) -> c_int {
    let Some(original) = UNPACK.get() else { return NO_ORIGINAL };
    let count = match elements(count, communicator) {
        Ok(count) => count,
        Err(code) => return code,
    };
    // SAFETY: the caller's number.
    let Some(position) = (unsafe { position.as_mut() }) else {
        // SAFETY: the caller's arguments; the library refuses the null pointer.
        return unsafe { original(from, 0, ptr::null_mut(), to, count, datatype, communicator) };
    };
    let (from, available) = rest(from.cast_mut(), available, *position);
    let mut unpacked = 0;
    let code =
        // SAFETY: the caller's arguments.
        unsafe { original(from, available, &raw mut unpacked, to, count, datatype, communicator) };
    *position += i64::from(unpacked);
    code
}

unsafe extern "C" fn pack_external(
    representation: *const c_char,
    from: *const c_void,
    count: i64,
    datatype: Word,
    out: *mut c_void,
    room: i64,
    position: *mut i64,
) -> c_int {
    let Some(original) = PACK_EXTERNAL.get() else { return NO_ORIGINAL };
    let count = match elements(count, world()) {
        Ok(count) => count,
        Err(code) => return code,
    };
    // SAFETY: the caller's arguments.
    unsafe { original(representation, from, count, datatype, out, room, position) }
}

unsafe extern "C" fn unpack_external(
    representation: *const c_char,
    from: *const c_void,
    available: i64,
    position: *mut i64,
    to: *mut c_void,
    count: i64,
    datatype: Word,
) -> c_int {
    let Some(original) = UNPACK_EXTERNAL.get() else { return NO_ORIGINAL };
    let count = match elements(count, world()) {
        Ok(count) => count,
        Err(code) => return code,
    };
    // SAFETY: the caller's arguments.
    unsafe { original(representation, from, available, position, to, count, datatype) }
}

//! `MPI_Pack`, `MPI_Pack_external` and their inverses, with their large-count forms.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::slice;

use super::abi::Word;
use super::exported::Narrow;
use super::exported::{exported, refuse_count, world};
use super::packing::{Form, Packing};
use super::types::{Entry, find, is_left};
use crate::boundary::contain;
use crate::original::originals;

/// The elements of a call, and the buffer for their packed bytes.
#[derive(Clone, Copy)]
struct Call {
    form: Form,
    elements: *const c_void,
    datatype: Word,
    buffer: *const c_void,
    len: i64,
}

impl Call {
    /// Passes the type, the number of elements, and the place of their packed bytes to `convert`. `original` is the library's
    /// function. Returns its code, or that of the library's function.
    ///
    /// # Safety
    ///
    /// The library must be supported, and the datatype must be alive. The position must be null, or that of the caller.
    unsafe fn run<N: Count, P: Count>(
        self,
        count: N,
        position: *mut P,
        original: impl Fn(N, *mut P) -> c_int,
        convert: impl FnOnce(&Entry, Packing<'_>, usize, *const u8, usize) -> Option<()>,
    ) -> c_int {
        if is_left(self.datatype, count.into()) {
            return original(count, position);
        }
        let run = || {
            // Null pointers and a buffer that is too short are errors that the library reports.
            //
            // SAFETY: guaranteed by the caller.
            let position = unsafe { position.as_mut() }?;
            let elements = usize::try_from(count.into()).ok().filter(|_| !self.buffer.is_null())?;
            // SAFETY: guaranteed by the caller.
            let entry = unsafe { find(self.datatype, elements) }?;
            let packing = Packing::new(&entry, self.form)?;
            if let Packing::Native(native) = packing
                && native.is_packed_well
            {
                return None;
            }
            let size = packing.size(self.elements, elements)?;
            let start = usize::try_from((*position).into()).ok()?;
            let end =
                i64::try_from(start.checked_add(size)?).ok().filter(|&end| end <= self.len)?;
            // The library checks the arguments that are not used here, and that MPI is running, and packs nothing.
            let mut same = *position;
            let refused = original(N::from(0), &raw mut same);
            if refused == 0 {
                let at = self.buffer.cast::<u8>().wrapping_add(start);
                convert(&entry, packing, elements, at, size)?;
                *position = end.try_into().ok()?;
            }
            Some(refused)
        };
        contain(run).flatten().unwrap_or_else(|| original(count, position))
    }

    /// # Safety
    ///
    /// As `MPI_Pack`, and as for [`run`](Self::run).
    unsafe fn pack<N: Count, P: Count>(
        self,
        count: N,
        position: *mut P,
        original: impl Fn(N, *mut P) -> c_int,
    ) -> c_int {
        // SAFETY: guaranteed by the caller: the elements, and a buffer whose end was checked.
        unsafe {
            self.run(count, position, original, |entry, packing, count, out, size| {
                packing.pack(entry, self.elements, count, out.cast_mut(), size).ok()
            })
        }
    }

    /// # Safety
    ///
    /// As `MPI_Unpack`, and as for [`run`](Self::run).
    unsafe fn unpack<N: Count, P: Count>(
        self,
        count: N,
        position: *mut P,
        original: impl Fn(N, *mut P) -> c_int,
    ) -> c_int {
        // SAFETY: as above.
        unsafe {
            self.run(count, position, original, |entry, packing, count, packed, size| {
                let packed = slice::from_raw_parts(packed, size);
                packing.unpack(entry, packed, self.elements.cast_mut(), count).ok()
            })
        }
    }
}

/// A count of elements or bytes: `int`, or `MPI_Count`.
trait Count: Copy + Into<i64> + From<c_int> + TryFrom<i64> {}
impl Count for c_int {}
impl Count for i64 {}

/// Whether a representation is the one that the standard defines. The library treats any other name like it.
///
/// # Safety
///
/// The pointer must be null, or point to a string that ends with a zero.
unsafe fn is_external32(representation: *const c_char) -> bool {
    // SAFETY: guaranteed by the caller.
    !representation.is_null() && unsafe { CStr::from_ptr(representation) } == c"external32"
}

type Pack<N> = unsafe extern "C" fn(*const c_void, N, Word, *mut c_void, N, *mut N, Word) -> c_int;
type Unpack<N> =
    unsafe extern "C" fn(*const c_void, N, *mut N, *mut c_void, N, Word, Word) -> c_int;
type PackExternal<N> = unsafe extern "C" fn(
    *const c_char,
    *const c_void,
    N,
    Word,
    *mut c_void,
    i64,
    *mut i64,
) -> c_int;
type UnpackExternal<N> = unsafe extern "C" fn(
    *const c_char,
    *const c_void,
    i64,
    *mut i64,
    *mut c_void,
    N,
    Word,
) -> c_int;

unsafe fn pack<N: Count>(
    original: Pack<N>,
    elements: *const c_void,
    count: N,
    datatype: Word,
    buffer: *mut c_void,
    len: N,
    position: *mut N,
    communicator: Word,
) -> c_int {
    // SAFETY: the caller's arguments.
    let original = |count, position| unsafe {
        original(elements, count, datatype, buffer, len, position, communicator)
    };
    let call = Call { form: Form::Native, elements, datatype, buffer, len: len.into() };
    // SAFETY: as above.
    unsafe { call.pack(count, position, original) }
}

unsafe fn unpack<N: Count>(
    original: Unpack<N>,
    buffer: *const c_void,
    len: N,
    position: *mut N,
    elements: *mut c_void,
    count: N,
    datatype: Word,
    communicator: Word,
) -> c_int {
    // SAFETY: the caller's arguments.
    let original = |count, position| unsafe {
        original(buffer, len, position, elements, count, datatype, communicator)
    };
    let call = Call { form: Form::Native, elements, datatype, buffer, len: len.into() };
    // SAFETY: as above.
    unsafe { call.unpack(count, position, original) }
}

unsafe fn pack_external<N: Count>(
    original: PackExternal<N>,
    representation: *const c_char,
    elements: *const c_void,
    count: N,
    datatype: Word,
    buffer: *mut c_void,
    len: i64,
    position: *mut i64,
) -> c_int {
    // SAFETY: the caller's arguments.
    let original = |count, position| unsafe {
        original(representation, elements, count, datatype, buffer, len, position)
    };
    // SAFETY: as above.
    unsafe {
        if !is_external32(representation) {
            return original(count, position);
        }
        let call = Call { form: Form::External, elements, datatype, buffer, len };
        call.pack(count, position, original)
    }
}

unsafe fn unpack_external<N: Count>(
    original: UnpackExternal<N>,
    representation: *const c_char,
    buffer: *const c_void,
    len: i64,
    position: *mut i64,
    elements: *mut c_void,
    count: N,
    datatype: Word,
) -> c_int {
    // SAFETY: the caller's arguments.
    let original = |count, position| unsafe {
        original(representation, buffer, len, position, elements, count, datatype)
    };
    // SAFETY: as above.
    unsafe {
        if !is_external32(representation) {
            return original(count, position);
        }
        let call = Call { form: Form::External, elements, datatype, buffer, len };
        call.unpack(count, position, original)
    }
}

exported! {
    "Pack"(from: *const c_void, count: c_int, datatype: Word, out: *mut c_void, room: c_int,
        position: *mut c_int, communicator: Word) = pack;
    "Unpack"(from: *const c_void, available: c_int, position: *mut c_int, to: *mut c_void,
        count: c_int, datatype: Word, communicator: Word) = unpack;
    "Pack_c"(from: *const c_void, count: i64, datatype: Word, out: *mut c_void, room: i64,
        position: *mut i64, communicator: Word) = pack, or narrowed::pack;
    "Unpack_c"(from: *const c_void, available: i64, position: *mut i64, to: *mut c_void,
        count: i64, datatype: Word, communicator: Word) = unpack, or narrowed::unpack;
    both "Pack_external"(representation: *const c_char, from: *const c_void, count: Count, datatype: Word,
        out: *mut c_void, room: Aint, position: *mut i64) = pack_external, on world();
    both "Unpack_external"(representation: *const c_char, from: *const c_void, available: Aint, position: *mut i64,
        to: *mut c_void, count: Count, datatype: Word) = unpack_external, on world();
}

/// `MPI_Aint` and `MPI_Count`, which have the same size; not `Count`, as its values are not narrowed.
type Aint = i64;

/// Substitutes for the forms with large counts, where the library lacks them.
mod narrowed {
    use std::ptr;

    use super::{Narrow, Pack, Unpack, Word, c_int, c_void, originals, refuse_count};
    use crate::original::NO_ORIGINAL;

    originals! {
        static PACK = c"PMPI_Pack": Pack<c_int>;
        static UNPACK = c"PMPI_Unpack": Unpack<c_int>;
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

    pub(super) unsafe extern "C" fn pack(
        from: *const c_void,
        count: i64,
        datatype: Word,
        out: *mut c_void,
        room: i64,
        position: *mut i64,
        communicator: Word,
    ) -> c_int {
        let Some(original) = PACK.get() else { return NO_ORIGINAL };
        let Some(count) = count.narrow() else { return refuse_count(communicator) };
        // SAFETY: the caller's number.
        let Some(position) = (unsafe { position.as_mut() }) else {
            let none = ptr::null_mut();
            // SAFETY: the caller's arguments; the library refuses the null pointer.
            return unsafe { original(from, count, datatype, out, 0, none, communicator) };
        };
        let (out, room) = rest(out, room, *position);
        let mut at = 0;
        // SAFETY: the caller's arguments.
        let code = unsafe { original(from, count, datatype, out, room, &raw mut at, communicator) };
        *position += i64::from(at);
        code
    }

    pub(super) unsafe extern "C" fn unpack(
        from: *const c_void,
        available: i64,
        position: *mut i64,
        to: *mut c_void,
        count: i64,
        datatype: Word,
        communicator: Word,
    ) -> c_int {
        let Some(original) = UNPACK.get() else { return NO_ORIGINAL };
        let Some(count) = count.narrow() else { return refuse_count(communicator) };
        // SAFETY: the caller's number.
        let Some(position) = (unsafe { position.as_mut() }) else {
            let none = ptr::null_mut();
            // SAFETY: the caller's arguments; the library refuses the null pointer.
            return unsafe { original(from, 0, none, to, count, datatype, communicator) };
        };
        let (from, available) = rest(from.cast_mut(), available, *position);
        let mut at = 0;
        // SAFETY: the caller's arguments.
        let code =
            unsafe { original(from, available, &raw mut at, to, count, datatype, communicator) };
        *position += i64::from(at);
        code
    }
}

//! `MPI_Pack`, `MPI_Pack_external` and their inverses, with their large-count forms.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::slice;

use super::abi::Word;
use super::exported::{Narrow, exported, refuse_count, world};
use super::messages::Count;
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
    fn new(
        form: Form,
        elements: *const c_void,
        datatype: Word,
        buffer: *const c_void,
        len: i64,
    ) -> Self {
        Self { form, elements, datatype, buffer, len }
    }

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

/// The form of a representation: the one that the standard defines. The library treats any other name like it.
///
/// # Safety
///
/// The pointer must be null, or point to a string that ends with a zero.
unsafe fn form(representation: *const c_char) -> Form {
    // SAFETY: guaranteed by the caller.
    let is_known =
        !representation.is_null() && unsafe { CStr::from_ptr(representation) } == c"external32";
    if is_known { Form::External } else { Form::Unknown }
}

exported! {
    ["Pack"](from: *const c_void, count: c_int, datatype: Word, out: *mut c_void, room: c_int, position: *mut c_int,
        communicator: Word), [is_left(datatype, count)] |library|
        Call::new(Form::Native, from, datatype, out, room.into()).pack(count, position, |count, position| {
            library(from, count, datatype, out, room, position, communicator)
        });
    ["Pack_c"](from: *const c_void, count: i64, datatype: Word, out: *mut c_void, room: i64, position: *mut i64,
        communicator: Word), or narrowed::pack, [is_left(datatype, count)] |library|
        Call::new(Form::Native, from, datatype, out, room).pack(count, position, |count, position| {
            library(from, count, datatype, out, room, position, communicator)
        });
    ["Unpack"](from: *const c_void, available: c_int, position: *mut c_int, to: *mut c_void, count: c_int,
        datatype: Word, communicator: Word), [is_left(datatype, count)] |library|
        Call::new(Form::Native, to, datatype, from, available.into()).unpack(count, position, |count, position| {
            library(from, available, position, to, count, datatype, communicator)
        });
    ["Unpack_c"](from: *const c_void, available: i64, position: *mut i64, to: *mut c_void, count: i64, datatype: Word,
        communicator: Word), or narrowed::unpack, [is_left(datatype, count)] |library|
        Call::new(Form::Native, to, datatype, from, available).unpack(count, position, |count, position| {
            library(from, available, position, to, count, datatype, communicator)
        });
    both ["Pack_external"](representation: *const c_char, from: *const c_void, count: Count, datatype: Word,
        out: *mut c_void, room: i64, position: *mut i64), on world(), |library|
        Call::new(form(representation), from, datatype, out, room).pack(count, position, |count, position| {
            library(representation, from, count, datatype, out, room, position)
        });
    both ["Unpack_external"](representation: *const c_char, from: *const c_void, available: i64, position: *mut i64,
        to: *mut c_void, count: Count, datatype: Word), on world(), |library|
        Call::new(form(representation), to, datatype, from, available).unpack(count, position, |count, position| {
            library(representation, from, available, position, to, count, datatype)
        });
}

/// Substitutes for the forms with large counts, where the library lacks them.
mod narrowed {
    use std::ptr;

    use super::{Narrow, Word, c_int, c_void, originals, refuse_count};
    use crate::original::NO_ORIGINAL;

    originals! {
        static PACK = c"PMPI_Pack":
            unsafe extern "C-unwind" fn(*const c_void, c_int, Word, *mut c_void, c_int, *mut c_int, Word) -> c_int;
        static UNPACK = c"PMPI_Unpack":
            unsafe extern "C-unwind" fn(*const c_void, c_int, *mut c_int, *mut c_void, c_int, Word, Word) -> c_int;
    }

    /// Calls with the part of a packed buffer after a position, up to the number of bytes that an `int` can count, and with the
    /// position in that part. A null pointer is an error that the library reports.
    ///
    /// # Safety
    ///
    /// The position must be null, or the caller's.
    #[expect(clippy::cast_possible_truncation, reason = "a position in memory")]
    unsafe fn rest(
        packed: *mut c_void,
        len: i64,
        position: *mut i64,
        call: impl FnOnce(*mut c_void, c_int, *mut c_int) -> c_int,
    ) -> c_int {
        // SAFETY: guaranteed by the caller.
        let Some(position) = (unsafe { position.as_mut() }) else {
            return call(packed, 0, ptr::null_mut());
        };
        let left = c_int::try_from(len.saturating_sub(*position).max(0)).unwrap_or(c_int::MAX);
        let offset = if packed.is_null() { 0 } else { *position as isize };
        let mut at = 0;
        let code = call(packed.wrapping_byte_offset(offset), left, &raw mut at);
        *position += i64::from(at);
        code
    }

    pub(super) unsafe extern "C-unwind" fn pack(
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
        // SAFETY: the caller's arguments.
        unsafe {
            rest(out, room, position, |out, room, position| {
                original(from, count, datatype, out, room, position, communicator)
            })
        }
    }

    pub(super) unsafe extern "C-unwind" fn unpack(
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
        // SAFETY: the caller's arguments.
        unsafe {
            rest(from.cast_mut(), available, position, |from, available, position| {
                original(from, available, position, to, count, datatype, communicator)
            })
        }
    }
}

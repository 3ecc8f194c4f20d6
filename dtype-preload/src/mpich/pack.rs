//! `MPI_Pack`, `MPI_Pack_external` and their inverses, with their large-count forms.
//!
//! [`External`] decides which types this engine converts to `external32`. With Open MPI, calls go straight to the original,
//! which packs through its convertor. So datatypes and communicators are machine words here: integers in one library, addresses
//! in the other.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::slice;

use dtype_runtime::{Committed, Error};

use super::calls::exported;
use super::communicators::{accepted, is_communicator};
use super::external::External;
use super::handles::{Entry, find};
use super::library::is_supported;
use super::originals::{
    PACK, PACK_EXTERNAL, PACK_EXTERNAL_LARGE, PACK_LARGE, UNPACK, UNPACK_EXTERNAL,
    UNPACK_EXTERNAL_LARGE, UNPACK_LARGE,
};
use super::word::{Word, handle};
use crate::boundary::contain;
use crate::compiled::Compiled;
use crate::mode::Mode;
use crate::original::NO_ORIGINAL;
use crate::verify::{self, Fragment};

/// Chooses the form of a type to use; `None` if the type is left to the library.
type Choose = fn(&Entry) -> Option<Packing<'_>>;

fn native(entry: &Entry) -> Option<Packing<'_>> {
    entry.native().map(Packing::Native)
}

fn external(entry: &Entry) -> Option<Packing<'_>> {
    entry.external().map(Packing::External)
}

/// A type, compiled for one kind of packed bytes.
#[derive(Clone, Copy)]
enum Packing<'e> {
    Native(&'e Compiled),
    External(&'e External),
}

impl<'e> Packing<'e> {
    fn compiled(self) -> &'e Compiled {
        match self {
            Self::Native(compiled) => compiled,
            Self::External(external) => &external.compiled,
        }
    }

    fn packed_size(self, count: usize) -> Result<usize, Error> {
        match self {
            Self::Native(compiled) => compiled.committed.packed_size(count),
            Self::External(external) => external.conversion.packed_size(count),
        }
    }

    /// # Safety
    ///
    /// As for [`Committed::pack_raw`].
    unsafe fn pack(self, from: *const u8, count: usize, out: &mut [u8]) -> Result<(), Error> {
        let size = out.len();
        // SAFETY: passed on to the caller.
        let run = || unsafe {
            match self {
                Self::Native(Compiled { committed, .. }) => {
                    committed.pack_range_raw(from, count, 0..size as u64, out.as_mut_ptr())
                }
                Self::External(external) => {
                    external.conversion.pack_raw(from, count, out).map(drop)
                }
            }
        };
        self.compiled().counted(size, run)
    }

    /// # Safety
    ///
    /// As for [`Committed::unpack_raw`].
    unsafe fn unpack(self, packed: &[u8], to: *mut u8, count: usize) -> Result<(), Error> {
        // SAFETY: passed on to the caller.
        let run = || unsafe {
            match self {
                Self::Native(Compiled { committed, .. }) => {
                    let range = 0..packed.len() as u64;
                    committed.unpack_range_raw(packed.as_ptr(), range, to, count)
                }
                Self::External(external) => {
                    external.conversion.unpack_raw(packed, to, count).map(drop)
                }
            }
        };
        self.compiled().counted(packed.len(), run)
    }

    fn fragment(self, what: &'static str, count: usize, len: usize) -> Fragment<'e> {
        let ty = self.compiled().committed.as_type();
        Fragment { what, ty, count, position: 0, len }
    }

    /// Compares packed bytes with the library's packed bytes of the same elements.
    fn compare_packed(
        self,
        what: &'static str,
        count: usize,
        here: &[u8],
        library: impl FnOnce(*mut u8, usize) -> c_int,
    ) {
        let mut bytes = self.compiled().library_start(here);
        if library(bytes.as_mut_ptr(), here.len()) == 0 {
            verify::compare_bytes(self.fragment(what, count, here.len()), here, &bytes);
        }
    }

    /// Unpacks twice, by this engine and by the library, into memory made for this, and compares all bytes, gaps included.
    ///
    /// # Safety
    ///
    /// `library` must unpack `count` elements of the type to an address.
    unsafe fn rehearse(
        self,
        packed: &[u8],
        count: usize,
        library: impl FnOnce(*mut c_void, &[u8]) -> c_int,
    ) {
        let Some((low, span)) = verify::memory_of(&self.compiled().committed, count) else {
            return;
        };
        let mut here = vec![0xA5_u8; span];
        let mut there = here.clone();
        let origin = |memory: &mut Vec<u8>| memory.as_mut_ptr().wrapping_offset(-low);
        // SAFETY: the elements lie in the vector, at their displacements from an origin that may lie outside.
        if unsafe { self.unpack(packed, origin(&mut here), count) }.is_err() {
            return;
        }
        if library(origin(&mut there).cast(), packed) == 0 {
            let fragment = self.fragment("memory of external32", count, packed.len());
            verify::compare_bytes(fragment, &here, &there);
        }
    }
}

/// The end of the packed bytes of a call; `None` if the buffer is too short, an error that the library reports.
fn end_of(position: i64, size: usize, buffer: i64) -> Option<usize> {
    let start = usize::try_from(position).ok()?;
    let end = start.checked_add(size)?;
    (end as u128 <= buffer.max(0).cast_unsigned().into()).then_some(end)
}

/// Whether elements at this address cannot be in memory, an error that the library reports. The pointer is then null, and the
/// displacements are not addresses, as they would be with `MPI_BOTTOM`.
fn is_null_buffer(elements: *const c_void, committed: &Committed) -> bool {
    /// No program has memory in the first page.
    const PAGE: u64 = 4096;
    elements.is_null() && committed.true_lb().unsigned_abs() < PAGE
}

/// The elements of a call, and the buffer for their packed bytes.
#[derive(Clone, Copy)]
struct Call {
    elements: *const c_void,
    count: i64,
    datatype: Word,
    buffer: *const c_void,
    len: i64,
    position: i64,
}

impl Call {
    /// Passes the type, the number of elements, and the place of their packed bytes to `convert`. Returns the new position;
    /// `None` if the call is left to the library.
    ///
    /// # Safety
    ///
    /// The library must be supported, and the datatype must be alive.
    unsafe fn run(
        self,
        choose: Choose,
        run: impl FnOnce(Packing<'_>, usize, *const u8, usize) -> Result<(), Error>,
    ) -> Option<i64> {
        if self.buffer.is_null() {
            return None;
        }
        let count = usize::try_from(self.count).ok()?;
        // SAFETY: guaranteed by the caller.
        let entry = unsafe { find(handle(self.datatype), count) }?;
        let packing = choose(&entry)?;
        if is_null_buffer(self.elements, &packing.compiled().committed) {
            return None;
        }
        let size = packing.packed_size(count).ok()?;
        let end = end_of(self.position, size, self.len)?;
        run(packing, count, self.buffer.cast::<u8>().wrapping_add(end - size), size).ok()?;
        i64::try_from(end).ok()
    }

    /// Packs. `library` packs the same elements into other memory.
    ///
    /// # Safety
    ///
    /// As `MPI_Pack`, and as for [`run`](Self::run).
    unsafe fn pack(
        self,
        choose: Choose,
        library: impl FnOnce(*mut u8, usize) -> c_int,
    ) -> Option<i64> {
        let pack = |packing: Packing<'_>, count, out: *const u8, size| {
            // SAFETY: the program's buffer, whose end was checked, and which nothing else uses during the call.
            let out = unsafe { slice::from_raw_parts_mut(out.cast_mut(), size) };
            // SAFETY: the program guarantees its elements.
            unsafe { packing.pack(self.elements.cast(), count, out)? };
            if Mode::get().verify {
                let what = match packing {
                    Packing::Native(_) => "packed",
                    Packing::External(_) => "packed as external32",
                };
                packing.compare_packed(what, count, out, library);
            }
            Ok(())
        };
        // SAFETY: guaranteed by the caller.
        unsafe { self.run(choose, pack) }
    }

    /// Unpacks. `pack_again` makes the library pack the elements that were unpacked; `library` makes it unpack to other memory.
    ///
    /// # Safety
    ///
    /// As `MPI_Unpack`, and as for [`run`](Self::run).
    unsafe fn unpack(
        self,
        choose: Choose,
        pack_again: impl FnOnce(*mut u8, usize) -> c_int,
        library: impl FnOnce(*mut c_void, &[u8]) -> c_int,
    ) -> Option<i64> {
        let unpack = |packing: Packing<'_>, count, packed, size| {
            // SAFETY: the program's buffer, whose end was checked.
            let packed = unsafe { slice::from_raw_parts(packed, size) };
            let verify = Mode::get().verify;
            if verify && matches!(packing, Packing::External(_)) {
                // SAFETY: the library writes the elements of the type.
                unsafe { packing.rehearse(packed, count, library) };
            }
            // SAFETY: the program guarantees its elements.
            unsafe { packing.unpack(packed, self.elements.cast_mut().cast(), count)? };
            if verify && matches!(packing, Packing::Native(_)) {
                packing.compare_packed("unpacked", count, packed, pack_again);
            }
            Ok(())
        };
        // SAFETY: guaranteed by the caller.
        unsafe { self.run(choose, unpack) }
    }
}

/// Whether a representation is the one that the standard defines. The library treats any other name like it.
///
/// # Safety
///
/// The pointer must be null, or point to a string that ends with a zero.
unsafe fn is_external32(representation: *const c_char) -> bool {
    // SAFETY: guaranteed by the caller.
    !representation.is_null() && unsafe { CStr::from_ptr(representation) } == c"external32"
}

/// Declares the pack and unpack functions for one type of counts and one kind of packed bytes. Each kind has one more
/// argument, before or after those that both kinds have. The macro takes this argument, whether its value is known, and what
/// to record when the library accepts it.
macro_rules! functions {
    (
        $pack:ident = $PACK:ident, $unpack:ident = $UNPACK:ident, $choose:ident, $count:ty, $bytes:ty,
        ($($before:ident: $Before:ty)?), ($($after:ident: $After:ty)?), $known:expr, $accepted:expr
    ) => {
        #[inline(never)]
        unsafe extern "C" fn $pack(
            $($before: $Before,)?
            elements: *const c_void,
            count: $count,
            datatype: Word,
            buffer: *mut c_void,
            len: $bytes,
            position: *mut $bytes,
            $($after: $After,)?
        ) -> c_int {
            let Some(original) = $PACK.get() else { return NO_ORIGINAL };
            if is_supported() && !position.is_null() && $known {
                let library = |out: *mut u8, size: usize| {
                    let Ok(size) = <$bytes>::try_from(size) else { return NO_ORIGINAL };
                    let mut at = 0;
                    let (out, at) = (out.cast(), &raw mut at);
                    // SAFETY: the caller's elements, and a buffer with room for them.
                    unsafe {
                        original($($before,)? elements, count, datatype, out, size, at $(, $after)?)
                    }
                };
                // SAFETY: the caller's arguments.
                let end = contain(|| unsafe {
                    let (count, len, position) = (count.into(), len.into(), (*position).into());
                    Call { elements, count, datatype, buffer, len, position }.pack($choose, library)
                });
                if let Some(end) = end.flatten().and_then(|end| <$bytes>::try_from(end).ok()) {
                    // SAFETY: the caller's number.
                    unsafe { *position = end };
                    return 0;
                }
            }
            // SAFETY: the caller's arguments.
            let code = unsafe {
                original($($before,)? elements, count, datatype, buffer, len, position $(, $after)?)
            };
            if code == 0 && is_supported() {
                $accepted;
            }
            code
        }

        #[inline(never)]
        unsafe extern "C" fn $unpack(
            $($before: $Before,)?
            buffer: *const c_void,
            len: $bytes,
            position: *mut $bytes,
            elements: *mut c_void,
            count: $count,
            datatype: Word,
            $($after: $After,)?
        ) -> c_int {
            let Some(original) = $UNPACK.get() else { return NO_ORIGINAL };
            if is_supported() && !position.is_null() && $known {
                let pack_again = |out: *mut u8, size: usize| {
                    let (Some(pack), Ok(size)) = ($PACK.get(), <$bytes>::try_from(size)) else {
                        return NO_ORIGINAL;
                    };
                    let mut at = 0;
                    let (out, at) = (out.cast(), &raw mut at);
                    // SAFETY: the caller's elements, and a buffer with room for them.
                    unsafe {
                        pack($($before,)? elements, count, datatype, out, size, at $(, $after)?)
                    }
                };
                let library = |to: *mut c_void, packed: &[u8]| {
                    let Ok(len) = <$bytes>::try_from(packed.len()) else { return NO_ORIGINAL };
                    let mut at = 0;
                    let (packed, at) = (packed.as_ptr().cast(), &raw mut at);
                    // SAFETY: memory for the elements, and all of their packed bytes.
                    unsafe {
                        original($($before,)? packed, len, at, to, count, datatype $(, $after)?)
                    }
                };
                // SAFETY: the caller's arguments.
                let end = contain(|| unsafe {
                    let (count, len, position) = (count.into(), len.into(), (*position).into());
                    Call { elements, count, datatype, buffer, len, position }
                        .unpack($choose, pack_again, library)
                });
                if let Some(end) = end.flatten().and_then(|end| <$bytes>::try_from(end).ok()) {
                    // SAFETY: the caller's number.
                    unsafe { *position = end };
                    return 0;
                }
            }
            // SAFETY: the caller's arguments.
            let code = unsafe {
                original($($before,)? buffer, len, position, elements, count, datatype $(, $after)?)
            };
            if code == 0 && is_supported() {
                $accepted;
            }
            code
        }
    };
}

/// The four functions for one type of counts.
macro_rules! native_and_external {
    ($pack:ident = $PACK:ident, $unpack:ident = $UNPACK:ident,
     $pack_external:ident = $PACK_EXTERNAL:ident, $unpack_external:ident = $UNPACK_EXTERNAL:ident, $count:ty) => {
        functions!(
            $pack = $PACK, $unpack = $UNPACK, native, $count, $count,
            (), (communicator: Word), is_communicator(communicator), accepted(communicator)
        );
        functions!(
            $pack_external = $PACK_EXTERNAL, $unpack_external = $UNPACK_EXTERNAL, external, $count, i64,
            (representation: *const c_char), (),
            // SAFETY: the caller's string.
            unsafe { is_external32(representation) }, ()
        );
    };
}

native_and_external!(
    pack = PACK,
    unpack = UNPACK,
    pack_external = PACK_EXTERNAL,
    unpack_external = UNPACK_EXTERNAL,
    c_int
);
native_and_external!(
    pack_large = PACK_LARGE,
    unpack_large = UNPACK_LARGE,
    pack_external_large = PACK_EXTERNAL_LARGE,
    unpack_external_large = UNPACK_EXTERNAL_LARGE,
    i64
);

exported! {
    MPI_Pack, PMPI_Pack = pack(from: *const c_void, count: c_int, datatype: Word, out: *mut c_void,
        room: c_int, position: *mut c_int, communicator: Word);
    MPI_Unpack, PMPI_Unpack = unpack(from: *const c_void, available: c_int, position: *mut c_int,
        to: *mut c_void, count: c_int, datatype: Word, communicator: Word);
    MPI_Pack_c, PMPI_Pack_c = pack_large(from: *const c_void, count: i64, datatype: Word,
        out: *mut c_void, room: i64, position: *mut i64, communicator: Word);
    MPI_Unpack_c, PMPI_Unpack_c = unpack_large(from: *const c_void, available: i64,
        position: *mut i64, to: *mut c_void, count: i64, datatype: Word, communicator: Word);
    MPI_Pack_external, PMPI_Pack_external = pack_external(representation: *const c_char, from: *const c_void,
        count: c_int, datatype: Word, out: *mut c_void, room: i64, position: *mut i64);
    MPI_Unpack_external, PMPI_Unpack_external = unpack_external(representation: *const c_char, from: *const c_void,
        available: i64, position: *mut i64, to: *mut c_void, count: c_int, datatype: Word);
    MPI_Pack_external_c, PMPI_Pack_external_c = pack_external_large(representation: *const c_char,
        from: *const c_void, count: i64, datatype: Word, out: *mut c_void, room: i64, position: *mut i64);
    MPI_Unpack_external_c, PMPI_Unpack_external_c = unpack_external_large(representation: *const c_char,
        from: *const c_void, available: i64, position: *mut i64, to: *mut c_void, count: i64, datatype: Word);
}

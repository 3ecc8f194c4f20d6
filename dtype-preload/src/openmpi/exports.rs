//! The functions of Open MPI that this library exports. The dynamic linker binds all calls between Open MPI's own libraries to
//! them.

use super::advance::{PACK, UNPACK, entry_of};
use super::layout::{
    Advance, COMMITTED, COMPLETED, Convertor, Datatype, HOMOGENEOUS, OTHER_PATHS, SEND,
};
use super::originals::{
    CLONE, COMMIT, COPY, DESTROY, PREPARE_RECEIVE, PREPARE_SEND, Prepare, RAW, RESIZE, SET_POSITION,
};
use super::types::{Entry, find, forget, nothing_gained, stays};
use super::{copy, raw, supported};
use crate::boundary::contain;
use crate::original::Original;

/// `OPAL_ERROR`: the result if there is no original to call. That can only happen in a program that does not use Open MPI.
const ERROR: i32 = -1;

/// Prepares a convertor by the library's function, and exchanges the function that advances it, if this engine gives the same
/// result and is faster. Otherwise this is a jump to the original, and saves no register.
///
/// # Safety
///
/// As for `original`.
#[inline(always)]
unsafe fn prepare(
    original: &'static Original<Prepare>,
    convertor: *mut Convertor,
    datatype: *const Datatype,
    count: usize,
    buffer: *const u8,
    advance: Advance,
) -> i32 {
    if let Some(original) = original.known()
        && supported::is_silent()
        // SAFETY: the caller's datatype, which the original reads as well. The library's structures are known.
        && unsafe { nothing_gained(datatype, count) }.is_some()
    {
        // SAFETY: the caller's arguments.
        return unsafe { original(convertor, datatype, count, buffer) };
    }
    // SAFETY: as above.
    unsafe { prepare_here(convertor, datatype, count, buffer, original, advance) }
}

/// # Safety
///
/// As for `original`.
#[inline(never)]
unsafe fn prepare_here(
    convertor: *mut Convertor,
    datatype: *const Datatype,
    count: usize,
    buffer: *const u8,
    original: &Original<Prepare>,
    advance: Advance,
) -> i32 {
    let Some(original) = original.get() else { return ERROR };
    // SAFETY: the caller's arguments.
    let result = unsafe { original(convertor, datatype, count, buffer) };
    if result == 0 {
        // SAFETY: just prepared.
        unsafe { exchange(convertor, datatype, count, advance) };
    }
    result
}

/// After the library has prepared a convertor, exchanges the function that advances it, if this engine gives the same result.
///
/// # Safety
///
/// The library must have just prepared the convertor for `datatype` and `count`.
unsafe fn exchange(
    convertor: *mut Convertor,
    datatype: *const Datatype,
    count: usize,
    advance: Advance,
) {
    let Some(supported) = supported::get() else { return };
    // SAFETY: the caller guarantees the convertor, and its layout was compared with the library's.
    let convertor = unsafe { &mut *convertor };
    if convertor.flags & (HOMOGENEOUS | OTHER_PATHS) != HOMOGENEOUS {
        return;
    }
    // SAFETY: guaranteed by the caller.
    if unsafe { stays(datatype, count) } {
        return;
    }
    // SAFETY: guaranteed by the caller.
    let Some(entry) = (unsafe { find(datatype, count, supported) }) else { return };
    if convertor.flags & SEND == 0 {
        let disjoint =
            || entry.compiled().is_some_and(|one| one.committed.check_overlap(count).is_ok());
        if contain(disjoint) != Some(true) {
            return;
        }
    }
    convertor.description = entry.description();
    convertor.advance = Some(advance);
}

/// Replaces Open MPI's function of this name.
///
/// # Safety
///
/// As for the original.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn opal_convertor_prepare_for_send(
    convertor: *mut Convertor,
    datatype: *const Datatype,
    count: usize,
    buffer: *const u8,
) -> i32 {
    // SAFETY: the caller's arguments.
    unsafe { prepare(&PREPARE_SEND, convertor, datatype, count, buffer, PACK) }
}

/// Replaces Open MPI's function of this name.
///
/// # Safety
///
/// As for the original.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn opal_convertor_prepare_for_recv(
    convertor: *mut Convertor,
    datatype: *const Datatype,
    count: usize,
    buffer: *const u8,
) -> i32 {
    // SAFETY: the caller's arguments.
    unsafe { prepare(&PREPARE_RECEIVE, convertor, datatype, count, buffer, UNPACK) }
}

/// The convertor and its entry, if this engine advances it.
///
/// # Safety
///
/// The library must have prepared the convertor, whose type must be alive; or the convertor was never prepared, and is null or
/// zeroed.
unsafe fn exchanged<'a>(convertor: *mut Convertor) -> Option<(&'a mut Convertor, &'a Entry)> {
    supported::get()?;
    // SAFETY: guaranteed by the caller.
    let convertor = unsafe { &mut *convertor };
    // SAFETY: as above.
    let entry = unsafe { entry_of(convertor) }?;
    Some((convertor, entry))
}

/// Replaces Open MPI's function of this name. In an exchanged convertor, the position is a single number.
///
/// # Safety
///
/// As for the original.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn opal_convertor_set_position_nocheck(
    convertor: *mut Convertor,
    position: *mut usize,
) -> i32 {
    // SAFETY: the caller's arguments.
    if let Some((convertor, _)) = unsafe { exchanged(convertor) } {
        // SAFETY: the caller's number.
        let position = unsafe { &mut *position };
        *position = (*position).min(convertor.local_size);
        convertor.converted = *position;
        convertor.partial_length = 0;
        if *position == convertor.local_size {
            convertor.flags |= COMPLETED;
        } else {
            convertor.flags &= !COMPLETED;
        }
        return 0;
    }
    let Some(original) = SET_POSITION.get() else { return ERROR };
    // SAFETY: the caller's arguments.
    unsafe { original(convertor, position) }
}

/// Replaces Open MPI's function of this name. It returns the segments of memory from the position on.
///
/// # Safety
///
/// As for the original.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn opal_convertor_raw(
    convertor: *mut Convertor,
    iov: *mut libc::iovec,
    vectors: *mut u32,
    length: *mut usize,
) -> i32 {
    // SAFETY: the caller's arguments.
    let ours = unsafe { exchanged(convertor) };
    if let Some((convertor, entry)) = ours
        && convertor.flags & COMPLETED == 0
    {
        // SAFETY: as above.
        let run = || unsafe { raw::raw(convertor, entry, iov, vectors, length) };
        if let Some(Some(result)) = contain(run) {
            return result;
        }
    }
    let Some(original) = RAW.get() else { return ERROR };
    // SAFETY: the caller's arguments.
    unsafe { original(convertor, iov, vectors, length) }
}

/// Replaces Open MPI's function of this name.
///
/// # Safety
///
/// As for the original.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn opal_datatype_copy_content_same_ddt(
    datatype: *const Datatype,
    count: i32,
    to: *mut u8,
    from: *mut u8,
) -> i32 {
    let copied = supported::get().is_some_and(|supported| {
        // SAFETY: the caller's arguments.
        contain(|| unsafe { copy::copy(datatype, count, to, from, supported) }) == Some(true)
    });
    if copied {
        return 0;
    }
    let Some(original) = COPY.get() else { return ERROR };
    // SAFETY: the caller's arguments.
    unsafe { original(datatype, count, to, from) }
}

/// Replaces Open MPI's function of this name. When a type is committed for the first time, an older type with its address is
/// forgotten. When it is committed again, it is not: messages with it may be in flight, whose convertors have the address of
/// its entry.
///
/// # Safety
///
/// As for the original.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn opal_datatype_commit(datatype: *mut Datatype) -> i32 {
    // If the library is not known, no type was entered, and nothing is read.
    //
    // SAFETY: the caller's argument, which the original reads as well. The library's structures are known.
    let again = supported::is_known()
        && unsafe { datatype.as_ref() }.is_some_and(|ty| u32::from(ty.flags) & COMMITTED != 0);
    if !again {
        contain(|| forget(datatype));
    }
    let Some(original) = COMMIT.get() else { return ERROR };
    // SAFETY: the caller's argument.
    unsafe { original(datatype) }
}

/// Replaces Open MPI's function of this name. `MPI_Type_dup` makes a committed type without committing it.
///
/// # Safety
///
/// As for the original.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn opal_datatype_clone(
    from: *const Datatype,
    to: *mut Datatype,
) -> i32 {
    contain(|| forget(to));
    let Some(original) = CLONE.get() else { return ERROR };
    // SAFETY: the caller's arguments.
    unsafe { original(from, to) }
}

/// Replaces Open MPI's function of this name, which changes a type in place.
///
/// # Safety
///
/// As for the original.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn opal_datatype_resize(
    datatype: *mut Datatype,
    lb: isize,
    extent: isize,
) -> i32 {
    contain(|| forget(datatype));
    let Some(original) = RESIZE.get() else { return ERROR };
    // SAFETY: the caller's arguments.
    unsafe { original(datatype, lb, extent) }
}

/// Replaces Open MPI's function of this name. If requests still refer to the type, the library keeps it, and this library
/// forgets it when another type gets its address.
///
/// # Safety
///
/// As for the original.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn ompi_datatype_destroy(datatype: *mut *mut Datatype) -> i32 {
    if supported::is_known() {
        // SAFETY: the caller's argument: the address of a live type.
        let last = unsafe { datatype.as_ref().and_then(|one| one.as_ref()) }
            .filter(|datatype| datatype.object.references <= 1);
        if let Some(datatype) = last {
            contain(|| forget(datatype));
        }
    }
    let Some(original) = DESTROY.get() else { return ERROR };
    // SAFETY: the caller's argument.
    unsafe { original(datatype) }
}

//! Copies between two buffers of one type, as in messages to the same process and in collectives.

use super::layout::Datatype;
use super::originals::COPY;
use super::supported::Supported;
use super::types::{find, stays};
use crate::compiled::Compiled;
use crate::mode::Mode;
use crate::verify::{self, Fragment};

/// Copies `count` elements. Returns whether this engine copied them.
///
/// # Safety
///
/// As for Open MPI's `opal_datatype_copy_content_same_ddt`; the library must be supported.
pub(super) unsafe fn copy(
    datatype: *const Datatype,
    count: i32,
    to: *mut u8,
    from: *mut u8,
    supported: &Supported,
) -> bool {
    let Ok(count) = usize::try_from(count) else { return false };
    // SAFETY: guaranteed by the caller.
    if count == 0 || unsafe { stays(datatype, count) } {
        return false;
    }
    // SAFETY: guaranteed by the caller.
    let Some(compiled) =
        unsafe { find(datatype, count, supported) }.and_then(|entry| entry.compiled())
    else {
        return false;
    };
    let committed = &compiled.committed;
    let Ok(size) = committed.packed_size(count) else { return false };
    // Memories that overlap, and types that name a byte twice, are left to the library.
    let span = u128::from(committed.true_extent().unsigned_abs())
        + (count as u128 - 1) * u128::from(committed.extent().unsigned_abs());
    if (to.addr().abs_diff(from.addr()) as u128) < span || committed.check_overlap(count).is_err() {
        return false;
    }
    if Mode::get().verify {
        // SAFETY: the caller guarantees the elements at `from`.
        unsafe { rehearse(datatype, compiled, count, from) };
    }
    // SAFETY: the program guarantees both memories, which do not overlap.
    compiled.counted(size, || unsafe { committed.copy_raw(from, to, count) }.is_ok())
}

/// Copies into two memories, by this engine and by the library, and compares them.
///
/// # Safety
///
/// As for [`copy`].
unsafe fn rehearse(datatype: *const Datatype, compiled: &Compiled, count: usize, from: *mut u8) {
    let committed = &compiled.committed;
    let (Some(original), Ok(number)) = (COPY.get(), i32::try_from(count)) else { return };
    let (ty, len) = (committed.as_type(), committed.packed_size(count).unwrap_or(0));
    let fragment = Fragment { what: "copied", ty, count, position: 0, len };
    // SAFETY: the caller guarantees the elements at `from`; there is room for as many at `to`.
    let here = |to| unsafe { committed.copy_raw(from, to, count) }.is_ok();
    // SAFETY: as above.
    let library = |to| unsafe { original(datatype, number, to, from) } == 0;
    verify::compare_memory(compiled, fragment, here, library);
}

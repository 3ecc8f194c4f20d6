//! The segments of a message's memory, for one-sided communication and for files.

use std::slice;

use dtype_runtime::Committed;

use super::layout::{COMPLETED, Convertor, RECEIVE, SEND};
use super::shadow::Shadow;
use super::types::Entry;
use crate::compiled::Compiled;
use crate::mode::Mode;
use crate::verify::{self, Fragment};

/// Fills `iov` with the segments from the position on. Returns 1 at the end of the message, 0 before it; `None`, with nothing
/// changed, if this engine cannot.
///
/// Segments that touch are joined, even where one element ends and the next begins. The library joins fewer of them.
///
/// # Safety
///
/// The convertor must have been exchanged with this entry, `iov` must have room for `vectors` segments, and `length` must be
/// writable.
pub(super) unsafe fn raw(
    convertor: &mut Convertor,
    entry: &Entry,
    iov: *mut libc::iovec,
    vectors: *mut u32,
    length: *mut usize,
) -> Option<i32> {
    let compiled = entry.compiled()?;
    let Compiled { committed, .. } = compiled;
    let range = convertor.converted as u64..convertor.local_size as u64;
    // SAFETY: guaranteed by the caller.
    let (vectors, length) = unsafe { (&mut *vectors, &mut *length) };
    // SAFETY: as above.
    let iov = unsafe { slice::from_raw_parts_mut(iov, *vectors as usize) };
    let first = iov.as_ptr();
    let (mut used, mut total) = (0, 0);
    let segments = committed.iov(convertor.count, range).ok()?;
    for (segment, slot) in segments.zip(iov) {
        let (disp, len) = (isize::try_from(segment.disp).ok()?, usize::try_from(segment.len).ok()?);
        slot.iov_base = convertor.base.wrapping_offset(disp).cast();
        slot.iov_len = len;
        total += len;
        used += 1;
    }
    compiled.counted(total, || ());
    if Mode::get().verify {
        // SAFETY: the caller guarantees the convertor; the segments were just written.
        let segments = unsafe { slice::from_raw_parts(first, used as usize) };
        // SAFETY: as above.
        unsafe { compare(committed, convertor, segments, total) };
    }
    (*vectors, *length) = (used, total);
    convertor.converted += total;
    if convertor.converted == convertor.local_size {
        convertor.flags |= COMPLETED;
        return Some(1);
    }
    Some(0)
}

/// Compares segments of `total` bytes with those of the library.
///
/// Open MPI returns the segments of a message from its start. After `set_position`, its function returns wrong ones for
/// contiguous data with gaps between elements. So the library starts with the element that holds the position, as it would with
/// a message of its own, and the bytes before the position are left out.
///
/// # Safety
///
/// The convertor must have been exchanged, and its type must be alive.
unsafe fn compare(
    committed: &Committed,
    convertor: &Convertor,
    segments: &[libc::iovec],
    total: usize,
) {
    let &Convertor { base, count, converted: position, flags, .. } = convertor;
    let direction = if flags & SEND == 0 { RECEIVE } else { SEND };
    let (Ok(size), Ok(extent)) =
        (usize::try_from(committed.size()), isize::try_from(committed.extent()))
    else {
        return;
    };
    let Some(first) = position.checked_div(size) else { return };
    let mut ahead = position % size;
    let base = base.wrapping_offset(extent.wrapping_mul(first.cast_signed()));
    let mut shadow = Shadow::new();
    let mut library = Vec::new();
    // SAFETY: passed on to the caller; no memory of the program is accessed.
    unsafe {
        if shadow.prepare(convertor, base, count - first, direction, 0).is_none() {
            return;
        }
        shadow.segments(ahead + total, &mut library);
    }
    let here = joined(segments.iter().map(|segment| (segment.iov_base.addr(), segment.iov_len)));
    let mut rest = total;
    let library = joined(library.into_iter().filter_map(|(start, len): (usize, usize)| {
        let before = len.min(ahead);
        ahead -= before;
        let len = (len - before).min(rest);
        rest -= len;
        (len > 0).then_some((start + before, len))
    }));
    let (what, ty) = ("segments of", committed.as_type());
    verify::compare(
        Fragment { what, ty, count, position, len: total },
        &here,
        &library,
        |here, library| format!("{here:x?} here, {library:x?} in the library"),
    );
}

/// Segments as addresses and lengths, with those that touch joined.
fn joined(segments: impl Iterator<Item = (usize, usize)>) -> Vec<(usize, usize)> {
    let mut joined: Vec<(usize, usize)> = Vec::new();
    for (start, len) in segments {
        match joined.last_mut() {
            Some(last) if last.0.wrapping_add(last.1) == start => last.1 += len,
            _ => joined.push((start, len)),
        }
    }
    joined
}

//! The functions that take the place of the library's in a convertor.

use std::ptr;
use std::slice;

use dtype_runtime::Committed;

use super::layout::{COMPLETED, Convertor, RECEIVE, SEND};
use super::shadow::Shadow;
use super::types::Entry;
use crate::boundary::contain;
use crate::compiled::Compiled;
use crate::mode::Mode;
use crate::verify::{self, Fragment};

/// `fAdvance` of a convertor that sends: packs into the buffers of `iov`.
pub(super) unsafe extern "C" fn pack(
    convertor: *mut Convertor,
    iov: *mut libc::iovec,
    vectors: *mut u32,
    bytes: *mut usize,
) -> i32 {
    // SAFETY: the library passes a convertor that was exchanged, buffers, and room for two numbers.
    unsafe { advance(convertor, iov, vectors, bytes, Direction::Pack) }
}

/// `fAdvance` of a convertor that receives: unpacks from the buffers of `iov`.
pub(super) unsafe extern "C" fn unpack(
    convertor: *mut Convertor,
    iov: *mut libc::iovec,
    vectors: *mut u32,
    bytes: *mut usize,
) -> i32 {
    // SAFETY: likewise.
    unsafe { advance(convertor, iov, vectors, bytes, Direction::Unpack) }
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Pack,
    Unpack,
}

/// The entry of a convertor that was exchanged; `None` for one that was not.
///
/// A convertor is reused for other messages. One that was exchanged before may still have the function, but no longer
/// the entry, because the library writes the address of its own description whenever it prepares one.
///
/// # Safety
///
/// The convertor was prepared by the library, and its type lives.
pub(super) unsafe fn entry_of<'a>(convertor: &Convertor) -> Option<&'a Entry> {
    let advance = convertor.advance? as usize;
    if advance != pack as *const () as usize && advance != unpack as *const () as usize {
        return None;
    }
    let datatype = convertor.datatype;
    if datatype.is_null() || convertor.description.is_null() {
        return None;
    }
    // SAFETY: the type lives; only addresses are computed.
    let own = unsafe { [&raw const (*datatype).desc, &raw const (*datatype).opt_desc] };
    if own.contains(&convertor.description) {
        return None;
    }
    // SAFETY: with one of the two functions, the description is the library's or an entry's.
    unsafe { Entry::of_description(convertor.description) }
}

/// # Safety
///
/// As `fAdvance` is called.
unsafe fn advance(
    convertor: *mut Convertor,
    iov: *mut libc::iovec,
    vectors: *mut u32,
    bytes: *mut usize,
    direction: Direction,
) -> i32 {
    // SAFETY: the caller passes what the library passed: nobody else uses them during the call.
    let (convertor, vectors, bytes) = unsafe { (&mut *convertor, &mut *vectors, &mut *bytes) };
    let available = *vectors as usize;
    let iov: &mut [libc::iovec] = if iov.is_null() || available == 0 {
        &mut []
    } else {
        // SAFETY: the library passes this number of buffers.
        unsafe { slice::from_raw_parts_mut(iov, available) }
    };
    let (mut used, mut total) = (0, 0);
    for buffer in iov {
        let rest = convertor.local_size.saturating_sub(convertor.converted);
        if rest == 0 {
            break;
        }
        let len = buffer.iov_len.min(rest);
        // SAFETY: the caller guarantees that the convertor was exchanged, and the buffer.
        unsafe { fragment(convertor, buffer.iov_base.cast(), len, direction) };
        buffer.iov_len = len;
        convertor.converted += len;
        total += len;
        used += 1;
    }
    *vectors = used;
    *bytes = total;
    if convertor.converted == convertor.local_size {
        convertor.flags |= COMPLETED;
        return 1;
    }
    0
}

/// Converts the next `len` bytes, all of which exist.
///
/// # Safety
///
/// As for [`advance`]; `packed` has `len` bytes.
unsafe fn fragment(convertor: &Convertor, packed: *mut u8, len: usize, direction: Direction) {
    // SAFETY: the library prepared it, for a type that lives.
    let compiled = unsafe { entry_of(convertor) }.and_then(Entry::compiled);
    let done = compiled.is_some_and(|compiled| {
        // SAFETY: the program guarantees its elements, the library for the buffer.
        let run = || unsafe { convert(compiled, convertor, packed, len, direction) };
        contain(run) == Some(true)
    });
    if !done {
        // SAFETY: likewise.
        unsafe { by_library(convertor, packed, len, direction) };
    }
}

/// The same by this engine. Returns whether it could.
///
/// # Safety
///
/// As for [`fragment`].
unsafe fn convert(
    compiled: &Compiled,
    convertor: &Convertor,
    packed: *mut u8,
    len: usize,
    direction: Direction,
) -> bool {
    let &Convertor { base, count, converted: position, .. } = convertor;
    let committed = &compiled.committed;
    let range = position as u64..(position + len) as u64;
    let verify = Mode::get().verify;
    if verify && direction == Direction::Unpack {
        // SAFETY: as for this function.
        unsafe { rehearse(committed, convertor, packed, len) };
    }
    let result = compiled.counted(len, || {
        // SAFETY: the program guarantees all elements of the message, the library for the buffer, which is its own.
        unsafe {
            match direction {
                Direction::Pack => committed.pack_range_raw(base, count, range, packed),
                Direction::Unpack => committed.unpack_range_raw(packed, range, base, count),
            }
        }
    });
    if verify && result.is_ok() {
        // SAFETY: as for this function.
        unsafe { read_back(committed, convertor, packed, len, direction) };
    }
    result.is_ok()
}

/// The same by the library, from the position of a convertor that this engine has moved. Used if the engine cannot,
/// which nothing in it is known to cause.
///
/// # Safety
///
/// As for [`fragment`].
unsafe fn by_library(convertor: &Convertor, packed: *mut u8, len: usize, direction: Direction) {
    let mut shadow = Shadow::new();
    let (base, position) = (convertor.base, convertor.converted);
    let way = if direction == Direction::Pack { SEND } else { RECEIVE };
    // SAFETY: the library prepared the convertor, and its type lives. A convertor that sends may start before the
    // position, and then packs bytes in front of those that are asked for; one that receives continues inside a value.
    unsafe {
        let Some(start) = shadow.prepare(convertor, base, way, position) else { return };
        match direction {
            Direction::Pack => {
                let ahead = position - start.min(position);
                let mut bytes = vec![0; ahead + len + SPARE];
                shadow.advance(bytes.as_mut_ptr(), ahead + len + SPARE);
                ptr::copy_nonoverlapping(bytes.as_ptr().add(ahead), packed, len);
            }
            Direction::Unpack => {
                shadow.advance(packed, len);
            }
        }
    }
}

/// The library does not pack a part of a value at the end of a buffer: it gets room for a whole one.
const SPARE: usize = 64;

/// Packs the fragment's bytes with the library, from the memory of the program, and compares: after packing, the two
/// ways to pack; after unpacking, what arrived with what is in memory.
///
/// # Safety
///
/// As for [`fragment`].
unsafe fn read_back(
    committed: &Committed,
    convertor: &Convertor,
    packed: *mut u8,
    len: usize,
    direction: Direction,
) {
    let &Convertor { base, count, converted: position, .. } = convertor;
    let mut shadow = Shadow::new();
    // SAFETY: the program's elements are readable, also those that are received: they were written.
    let library = unsafe {
        let Some(start) = shadow.prepare(convertor, base, SEND, position) else { return };
        let ahead = position - start.min(position);
        let mut bytes = vec![0; ahead + len + SPARE];
        let found = shadow.advance(bytes.as_mut_ptr(), bytes.len());
        bytes.truncate(found.min(ahead + len));
        bytes.drain(..ahead.min(bytes.len()));
        bytes
    };
    let what = if direction == Direction::Pack { "packed" } else { "unpacked" };
    let fragment = Fragment { what, ty: committed.as_type(), count, position, len };
    // SAFETY: the buffer of the library has this number of bytes.
    verify::compare(fragment, unsafe { slice::from_raw_parts(packed, len) }, &library);
}

/// Unpacks the fragment twice into memory of its own, by this engine and by the library, and compares all bytes, gaps
/// included.
///
/// # Safety
///
/// As for [`fragment`].
unsafe fn rehearse(committed: &Committed, convertor: &Convertor, packed: *mut u8, len: usize) {
    let &Convertor { count, converted: position, .. } = convertor;
    let Some((low, span)) = verify::memory_of(committed, count) else { return };
    // Values of the packed stream that the library continues inside of must be the same on both sides.
    let pattern: Vec<u8> = (0..span).map(|at| (at * 37 + 11).to_le_bytes()[0]).collect();
    let (mut here, mut library) = (pattern.clone(), pattern);
    let range = position as u64..(position + len) as u64;
    let mut shadow = Shadow::new();
    // SAFETY: the elements lie in the vectors, at their displacements from origins that may lie outside.
    unsafe {
        let base = here.as_mut_ptr().wrapping_offset(-low);
        if committed.unpack_range_raw(packed, range, base, count).is_err() {
            return;
        }
        let base = library.as_mut_ptr().wrapping_offset(-low);
        // The start of the value that the fragment starts in.
        let Some(start) = shadow.prepare(convertor, base, SEND, position) else { return };
        let ahead = position - start.min(position);
        let mut bytes = vec![0; ahead + len];
        let before = start as u64..position as u64;
        if committed.pack_range_raw(base, count, before, bytes.as_mut_ptr()).is_err() {
            return;
        }
        ptr::copy_nonoverlapping(packed, bytes.as_mut_ptr().add(ahead), len);
        let mut shadow = Shadow::new();
        if shadow.prepare(convertor, base, RECEIVE, start) != Some(start) {
            return;
        }
        shadow.advance(bytes.as_mut_ptr(), bytes.len());
    }
    let fragment = Fragment { what: "memory of", ty: committed.as_type(), count, position, len };
    verify::compare(fragment, &here, &library);
}

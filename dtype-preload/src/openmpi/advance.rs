//! The functions that replace the library's in a convertor.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;
use std::slice;

use dtype_runtime::{Committed, Error};

use super::layout::{Advance, COMPLETED, Convertor, RECEIVE, SEND};
use super::shadow::Shadow;
use super::types::Entry;
use crate::boundary::contain;
use crate::compiled::Compiled;
use crate::mode::Mode;
use crate::verify::{self, Fragment};

/// `fAdvance` of a convertor that sends: packs into the buffers of `iov`.
///
/// A static, because addresses of functions are compared, and only the address of a static is the same everywhere.
pub(super) static PACK: Advance = pack;

/// `fAdvance` of a convertor that receives: unpacks from the buffers of `iov`.
pub(super) static UNPACK: Advance = unpack;

unsafe extern "C" fn pack(
    convertor: *mut Convertor,
    iov: *mut libc::iovec,
    vectors: *mut u32,
    bytes: *mut usize,
) -> i32 {
    // SAFETY: the library passes a convertor whose function was exchanged, buffers, and room for two numbers.
    unsafe { advance(convertor, iov, vectors, bytes, Direction::Pack) }
}

unsafe extern "C" fn unpack(
    convertor: *mut Convertor,
    iov: *mut libc::iovec,
    vectors: *mut u32,
    bytes: *mut usize,
) -> i32 {
    // SAFETY: as above.
    unsafe { advance(convertor, iov, vectors, bytes, Direction::Unpack) }
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Pack,
    Unpack,
}

/// The entry of a convertor whose function was exchanged; `None` for others.
///
/// The library reuses convertors for other messages. A reused convertor may still have the exchanged function, but no longer
/// the entry, because the library writes the address of its own description whenever it prepares a convertor.
///
/// # Safety
///
/// The library must have prepared the convertor, and its type must be alive.
pub(super) unsafe fn entry_of<'a>(convertor: &Convertor) -> Option<&'a Entry> {
    let advance = convertor.advance?;
    if ![PACK, UNPACK].iter().any(|&ours| ptr::fn_addr_eq(advance, ours)) {
        return None;
    }
    let datatype = convertor.datatype;
    if datatype.is_null() || convertor.description.is_null() {
        return None;
    }
    // SAFETY: the type is alive, and only addresses are computed.
    let own = unsafe { [&raw const (*datatype).desc, &raw const (*datatype).opt_desc] };
    if own.contains(&convertor.description) {
        return None;
    }
    // SAFETY: with one of the two functions, the description belongs to the library or to an entry.
    unsafe { Entry::from_description(convertor.description) }
}

/// # Safety
///
/// The arguments of a call of `fAdvance`.
unsafe fn advance(
    convertor: *mut Convertor,
    iov: *mut libc::iovec,
    vectors: *mut u32,
    bytes: *mut usize,
    direction: Direction,
) -> i32 {
    // SAFETY: the caller passes what the library passed, and nothing else uses it during the call.
    let (convertor, vectors, bytes) = unsafe { (&mut *convertor, &mut *vectors, &mut *bytes) };
    let available = *vectors as usize;
    let iov: &mut [libc::iovec] = if iov.is_null() || available == 0 {
        &mut []
    } else {
        // SAFETY: the library passes this number of buffers.
        unsafe { slice::from_raw_parts_mut(iov, available) }
    };
    // SAFETY: the library prepared the convertor, for a live type.
    let entry = unsafe { entry_of(convertor) };
    let (mut used, mut total) = (0, 0);
    for buffer in iov {
        let rest = convertor.local_size.saturating_sub(convertor.converted);
        if rest == 0 {
            break;
        }
        let mut len = buffer.iov_len.min(rest);
        if direction == Direction::Pack
            && len < rest
            && let Some(values) = entry.and_then(Entry::values)
        {
            len = values.whole(convertor.converted, len);
        }
        // SAFETY: the caller guarantees the buffer, and that the convertor was exchanged.
        unsafe { fragment(entry, convertor, buffer.iov_base.cast(), len, direction) };
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
/// As for [`advance`]; the entry is the convertor's, and `packed` has `len` bytes.
unsafe fn fragment(
    entry: Option<&Entry>,
    convertor: &Convertor,
    packed: *mut u8,
    len: usize,
    direction: Direction,
) {
    let done = entry.is_some_and(|entry| {
        // SAFETY: the program guarantees its elements, and the library the buffer.
        let run = || unsafe { convert(entry, convertor, packed, len, direction) };
        contain(run) == Some(true)
    });
    if !done {
        // SAFETY: as above.
        unsafe { by_library(convertor, packed, len, direction) };
    }
}

/// Advances the convertor with this engine. Returns false if the engine cannot.
///
/// # Safety
///
/// As for [`fragment`].
unsafe fn convert(
    entry: &Entry,
    convertor: &Convertor,
    packed: *mut u8,
    len: usize,
    direction: Direction,
) -> bool {
    let &Convertor { base, count, converted: position, .. } = convertor;
    let Some(compiled) = entry.compiled() else { return false };
    let committed = &compiled.committed;
    let range = position as u64..(position + len) as u64;
    // Fragments that the library would convert wrongly are not compared.
    let ends_with_values = || {
        let ends = [position, position + len];
        entry.values().is_none_or(|values| {
            ends.iter().all(|&end| end == convertor.local_size || values.start(end) == end)
        })
    };
    let verify = Mode::get().verify && ends_with_values();
    if verify && direction == Direction::Unpack {
        // SAFETY: passed on to the caller.
        unsafe { rehearse(compiled, convertor, packed, len) };
    }
    let result = compiled.counted(len, || {
        // SAFETY: the program guarantees all elements of the message, and the library guarantees the buffer, which belongs to
        // it.
        unsafe {
            match direction {
                Direction::Pack if entry.is_near() && len < convertor.local_size => {
                    pack_through_cache(committed, base, count, range, packed)
                }
                Direction::Pack => committed.pack_range_raw(base, count, range, packed),
                Direction::Unpack => committed.unpack_range_raw(packed, range, base, count),
            }
        }
    });
    if verify && result.is_ok() {
        // SAFETY: passed on to the caller.
        unsafe { read_back(compiled, convertor, packed, len, direction) };
    }
    result.is_ok()
}

/// The number of bytes that [`pack_through_cache`] packs at a time.
const AT_A_TIME: usize = 4096;

/// Packs a fragment through memory that stays in the cache, some kilobytes at a time. [`is_near`](dtype_ucp_generic::is_near)
/// explains why. A message of a single fragment is packed directly, because its memory is in this core's cache anyway.
///
/// # Safety
///
/// As for [`Committed::pack_range_raw`].
#[expect(clippy::cast_possible_truncation, reason = "at most the length of an array")]
unsafe fn pack_through_cache(
    committed: &Committed,
    base: *const u8,
    count: usize,
    range: Range<u64>,
    packed: *mut u8,
) -> Result<(), Error> {
    let mut cached = [MaybeUninit::<u8>::uninit(); AT_A_TIME];
    let (mut from, mut to) = (range.start, packed);
    while from < range.end {
        let len = (range.end - from).min(AT_A_TIME as u64);
        // SAFETY: the caller guarantees the elements, and memory for the range, which contains this part. The part is no longer
        // than the array, and nothing else accesses the array.
        unsafe {
            committed.pack_range_raw(base, count, from..from + len, cached.as_mut_ptr().cast())?;
            ptr::copy_nonoverlapping(cached.as_ptr().cast(), to, len as usize);
        }
        (from, to) = (from + len, to.wrapping_add(len as usize));
    }
    Ok(())
}

/// Advances with the library, from the position to which this engine has moved the convertor. For the case that the engine
/// cannot, of which no cause is known.
///
/// # Safety
///
/// As for [`fragment`].
unsafe fn by_library(convertor: &Convertor, packed: *mut u8, len: usize, direction: Direction) {
    let mut shadow = Shadow::new();
    let &Convertor { base, count, converted: position, .. } = convertor;
    let way = if direction == Direction::Pack { SEND } else { RECEIVE };
    // SAFETY: the library prepared the convertor, and its type is alive. If it sends, it may start before the position, and
    // then packs bytes before the requested ones; if it receives, it continues inside a value.
    unsafe {
        let Some(start) = shadow.prepare(convertor, base, count, way, position) else { return };
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

/// Spare room at the end of a buffer, because the library does not pack a part of a value there.
const SPARE: usize = 64;

/// Packs the fragment's bytes with the library, from the program's memory, and compares: after packing, the results of the two
/// engines; after unpacking, the bytes that arrived with those now in memory.
///
/// # Safety
///
/// As for [`fragment`].
unsafe fn read_back(
    compiled: &Compiled,
    convertor: &Convertor,
    packed: *mut u8,
    len: usize,
    direction: Direction,
) {
    let &Convertor { base, count, converted: position, .. } = convertor;
    let mut shadow = Shadow::new();
    // SAFETY: the fragment has this many bytes, which were written or received.
    let here = unsafe { slice::from_raw_parts(packed, len) };
    // SAFETY: the program's elements are readable, and received ones were written.
    let library = unsafe {
        let Some(start) = shadow.prepare(convertor, base, count, SEND, position) else { return };
        let ahead = position - start.min(position);
        let mut bytes = vec![0; ahead];
        bytes.extend(compiled.library_start(here));
        bytes.resize(ahead + len + SPARE, 0);
        let found = shadow.advance(bytes.as_mut_ptr(), bytes.len());
        bytes.truncate(found.min(ahead + len));
        bytes.drain(..ahead.min(bytes.len()));
        bytes
    };
    let what = if direction == Direction::Pack { "packed" } else { "unpacked" };
    let fragment = Fragment { what, ty: compiled.committed.as_type(), count, position, len };
    verify::compare_bytes(fragment, here, &library);
}

/// Unpacks the fragment into two memories, by this engine and by the library, and compares them.
///
/// # Safety
///
/// As for [`fragment`].
unsafe fn rehearse(compiled: &Compiled, convertor: &Convertor, packed: *mut u8, len: usize) {
    let &Convertor { count, converted: position, .. } = convertor;
    let committed = &compiled.committed;
    let range = position as u64..(position + len) as u64;
    let here = |base| {
        // SAFETY: the fragment has these bytes, and there is room for the elements.
        unsafe { committed.unpack_range_raw(packed, range, base, count) }.is_ok()
    };
    let library = |base| {
        let (mut search, mut shadow) = (Shadow::new(), Shadow::new());
        // The start of the value that the fragment starts in.
        //
        // SAFETY: the library prepared the convertor, whose type is alive; there are that many elements.
        let Some(start) = (unsafe { search.prepare(convertor, base, count, SEND, position) })
        else {
            return false;
        };
        let ahead = position - start.min(position);
        let mut bytes = vec![0; ahead + len];
        let before = start as u64..position as u64;
        // SAFETY: as above; the vector has room for the bytes before the fragment, and for those of the fragment.
        unsafe {
            if committed.pack_range_raw(base, count, before, bytes.as_mut_ptr()).is_err() {
                return false;
            }
            ptr::copy_nonoverlapping(packed, bytes.as_mut_ptr().add(ahead), len);
            if shadow.prepare(convertor, base, count, RECEIVE, start) != Some(start) {
                return false;
            }
            shadow.advance(bytes.as_mut_ptr(), bytes.len());
        }
        true
    };
    let fragment = Fragment { what: "memory of", ty: committed.as_type(), count, position, len };
    verify::compare_memory(compiled, fragment, here, library);
}

#[cfg(test)]
mod tests {
    use std::mem;

    use dtype_runtime::{Basic, Type};

    use super::super::layout::{Datatype, HOMOGENEOUS};
    use super::*;

    /// A convertor as the library prepares it, after the exchange.
    fn convertor(datatype: &Datatype, entry: &Entry, base: *mut u8, count: usize) -> Convertor {
        // SAFETY: numbers, pointers that may be null, and a function that may be missing.
        let mut convertor: Convertor = unsafe { mem::zeroed() };
        let size = entry.compiled().unwrap().committed.packed_size(count).unwrap();
        convertor.flags = HOMOGENEOUS;
        (convertor.local_size, convertor.remote_size) = (size, size);
        (convertor.datatype, convertor.description) = (datatype, entry.description());
        (convertor.base, convertor.count) = (base, count);
        convertor
    }

    /// Calls a convertor's function with buffers of these lengths in turn, up to three at a time.
    fn drive(convertor: &mut Convertor, packed: &mut [u8], lengths: &[usize]) {
        let mut lengths = lengths.iter().copied().cycle();
        let (start, mut at) = (packed.as_mut_ptr(), 0);
        loop {
            let empty = libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 };
            let (mut iov, mut offered) = ([empty; 3], at);
            for buffer in &mut iov {
                let len = lengths.next().unwrap().min(packed.len() - offered);
                *buffer =
                    libc::iovec { iov_base: start.wrapping_add(offered).cast(), iov_len: len };
                offered += len;
            }
            let (mut vectors, mut bytes) = (3, usize::MAX);
            let advance = convertor.advance.unwrap();
            // SAFETY: the convertor was exchanged, and the buffers have these lengths.
            let done =
                unsafe { advance(convertor, iov.as_mut_ptr(), &raw mut vectors, &raw mut bytes) };
            assert_eq!(bytes, offered - at, "all that was offered");
            let used: usize = iov[..vectors as usize].iter().map(|buffer| buffer.iov_len).sum();
            assert_eq!(used, bytes);
            at = offered;
            assert_eq!((done == 1, convertor.converted), (at == packed.len(), at));
            assert_eq!(convertor.flags & COMPLETED != 0, done == 1);
            if done == 1 {
                return;
            }
        }
    }

    fn types() -> Vec<Type> {
        let [byte, short, double] = [Basic::U8, Basic::I16, Basic::F64].map(Type::basic);
        let record = Type::structure(
            &[1, 1, 3],
            &[0, 8, 16],
            &[byte.clone(), double.clone(), short.clone()],
        );
        let record = record.and_then(|record| Type::resized(&record, 0, 24)).unwrap();
        let column = Type::vector(5, 1, 3, &record).unwrap();
        let list = Type::hindexed(&[2, 1, 3], &[40, 8, -32], &short).unwrap();
        vec![record, column, list]
    }

    #[test]
    fn fragments_make_the_whole() {
        // SAFETY: as for a convertor.
        let datatype: Datatype = unsafe { mem::zeroed() };
        for ty in types() {
            let long = (1000, &[9001, 4096, 4097][..]);
            let short = [(1, &[1][..]), (3, &[7, 0, 64]), (5, &[13, 2, 5, 1000])];
            for (count, lengths) in short.into_iter().chain([long]) {
                let entry = Entry::from_committed(ty.commit());
                let committed = &entry.compiled().unwrap().committed;
                let (low, span) = verify::memory_of(committed, count).unwrap();
                let mut memory: Vec<u8> =
                    (0..span).map(|at| (at * 7 + 1).to_le_bytes()[0]).collect();
                let base = memory.as_mut_ptr().wrapping_offset(-low);
                let mut packed = vec![0; committed.packed_size(count).unwrap()];
                let mut expected = packed.clone();
                // SAFETY: the elements lie in the memory, at their displacements from an origin that may lie outside.
                unsafe {
                    let all = 0..expected.len() as u64;
                    committed.pack_range_raw(base, count, all, expected.as_mut_ptr()).unwrap();
                }
                let mut sends = convertor(&datatype, &entry, base, count);
                sends.advance = Some(PACK);
                drive(&mut sends, &mut packed, lengths);
                assert_eq!(packed, expected);

                let mut other = vec![0x55_u8; span];
                let base = other.as_mut_ptr().wrapping_offset(-low);
                let mut receives = convertor(&datatype, &entry, base, count);
                receives.advance = Some(UNPACK);
                drive(&mut receives, &mut packed, lengths);
                let mut again = vec![0; packed.len()];
                // SAFETY: as above.
                unsafe {
                    let all = 0..again.len() as u64;
                    committed.pack_range_raw(base, count, all, again.as_mut_ptr()).unwrap();
                }
                assert_eq!(again, expected);
                let changed: Vec<_> = other.iter().filter(|&&byte| byte != 0x55).collect();
                assert!(changed.len() <= expected.len(), "the gaps are as they were");
            }
        }
    }

    #[test]
    fn a_convertor_that_was_prepared_again_is_the_librarys() {
        // SAFETY: as for a convertor.
        let datatype: Datatype = unsafe { mem::zeroed() };
        let entry = Entry::from_committed(types()[0].commit());
        let mut one = convertor(&datatype, &entry, ptr::null_mut(), 1);
        // SAFETY: function and address are missing, or are the library's, or both are this library's; the datatype is alive.
        unsafe {
            assert!(entry_of(&one).is_none());
            one.advance = Some(PACK);
            assert!(entry_of(&one).is_some());
            for own in [&raw const datatype.desc, &raw const datatype.opt_desc] {
                one.description = own;
                assert!(entry_of(&one).is_none());
            }
        }
    }
}

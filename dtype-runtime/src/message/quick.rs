//! Compact frames of one record, without the general steps.
//!
//! The usual small message is one record of less than 128 bytes with a tag below 128, in this machine's byte order and
//! without a schema's hash. The header of such a frame is the same for all records of a type but for two bytes:
//!
//! | bytes | what |
//! |--:|---|
//! | 1 | the flags, of which only checksum and signature vary |
//! | 1 | tag |
//! | 1 | packed bytes of a record: a constant |
//! | 0 or 4 | 32 bits of the signature's hash: a constant |
//!
//! So it is compared, not decoded. Whatever differs is left to the general path: frames of another form, and all that is
//! wrong, which that path reports.

use alloc::vec::Vec;
use core::slice;

use super::framing::Framing;
use super::header::{COMPACT, HAS_SIGNATURE, Header, IS_BIG_ENDIAN, IS_CHECKED, folded};
use super::limits::Limits;
use crate::datatype::Datatype;
use crate::representation::ByteOrder;
use crate::typed::{pack_onto, unpack_one};

/// The first byte, without the flags that vary.
const PLAIN: u8 = match ByteOrder::NATIVE {
    ByteOrder::Little => COMPACT,
    ByteOrder::Big => COMPACT | IS_BIG_ENDIAN,
};

/// Bytes of the header without the hash.
const UNSIGNED: usize = 3;

/// The least number that takes more than one byte.
const LONG: usize = 0x80;

/// The bytes of the size and the hash.
const fn constants<T: Datatype>() -> [u8; 5] {
    let [size, ..] = T::TYPE_MAP.size().to_le_bytes();
    let [a, b, c, d, ..] = folded(T::TYPE_MAP.signature_hash()).to_le_bytes();
    [size, a, b, c, d]
}

/// Appends the frame of a record, if it is of the usual form; otherwise returns `false`.
#[inline]
pub(super) fn put<T: Datatype>(record: &T, out: &mut Vec<u8>, framing: Framing) -> bool {
    let usual = framing.is_compact() && !framing.has_schema();
    let Some(tag) = u8::try_from(framing.tag()).ok().filter(|tag| usize::from(*tag) < LONG) else {
        return false;
    };
    if const { T::TYPE_MAP.size() >= LONG } || !usual {
        return false;
    }
    let [size, a, b, c, d] = const { constants::<T>() };
    let start = out.len();
    out.reserve(const { UNSIGNED + 4 + T::TYPE_MAP.size() + 4 });
    let first = PLAIN | if framing.is_checked() { IS_CHECKED } else { 0 };
    if framing.is_signed() {
        out.extend_from_slice(&[first | HAS_SIGNATURE, tag, size, a, b, c, d]);
    } else {
        out.extend_from_slice(&[first, tag, size]);
    }
    pack_onto(out, slice::from_ref(record));
    if framing.is_checked() {
        let checksum = crc32c::crc32c(&out[start..]);
        out.extend_from_slice(&checksum.to_le_bytes());
    }
    true
}

/// Takes a frame of the usual form from the front of `input`, if it is whole, within the limits and valid. Otherwise
/// returns `None`, and `input` is unchanged.
#[inline]
pub(super) fn take<T: Datatype>(input: &mut &[u8], limits: &Limits) -> Option<(T, Header)> {
    let size = const { T::TYPE_MAP.size() };
    if const { T::TYPE_MAP.size() >= LONG } {
        return None;
    }
    let [first, tag, fixed @ ..] = *input else { return None };
    let (is_checked, is_signed) = (first & IS_CHECKED != 0, first & HAS_SIGNATURE != 0);
    let expected = const { constants::<T>() };
    let is_usual = first & !(IS_CHECKED | HAS_SIGNATURE) == PLAIN
        && usize::from(*tag) < LONG
        && if is_signed {
            fixed.first_chunk() == Some(&expected)
        } else {
            fixed.first() == Some(&expected[0])
        };
    let is_accepted = (is_checked || limits.takes_unchecked_frames())
        && (is_signed || limits.takes_unsigned_frames())
        && size as u64 <= limits.max_payload_bytes()
        && limits.max_records() > 0;
    if !(is_usual && is_accepted) {
        return None;
    }
    let header_len = if is_signed { UNSIGNED + 4 } else { UNSIGNED };
    let (covered, mut rest) = input.split_at_checked(header_len + size)?;
    if is_checked {
        let (checksum, after) = rest.split_first_chunk()?;
        if crc32c::crc32c(covered) != u32::from_le_bytes(*checksum) {
            return None;
        }
        rest = after;
    }
    let record = unpack_one(&covered[header_len..]).ok()?;
    *input = rest;
    let header = Header::compact::<T>(u32::from(*tag), is_checked, is_signed);
    Some((record, header))
}

/// The tag of a compact frame, if it takes one byte.
#[doc(hidden)]
#[inline]
pub fn quick_tag(input: &[u8]) -> Option<u32> {
    match input {
        [first, tag, ..] if first & 0xC0 == COMPACT && usize::from(*tag) < LONG => {
            Some(u32::from(*tag))
        }
        _ => None,
    }
}

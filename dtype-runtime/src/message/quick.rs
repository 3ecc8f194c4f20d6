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

use super::framing::Framing;
use super::header::{
    CHECKSUM_LEN, COMPACT, HAS_SIGNATURE, Header, IS_BIG_ENDIAN, IS_CHECKED, folded,
};
use super::limits::Limits;
use crate::datatype::Datatype;
use crate::representation::ByteOrder;
use crate::typed::{AppendBytes, pack_one_onto, unpack_one};

/// The first byte, without the flags that vary.
const PLAIN: u8 = match ByteOrder::NATIVE {
    ByteOrder::Little => COMPACT,
    ByteOrder::Big => COMPACT | IS_BIG_ENDIAN,
};

/// Bytes of the header without the hash.
const UNSIGNED: usize = 3;

/// The least number that takes more than one byte.
const LONG: usize = 0x80;

/// Bytes of the header with the hash.
const SIGNED: usize = UNSIGNED + 4;

/// The bytes of the size and the hash.
const fn constants<T: Datatype>() -> [u8; SIGNED - 2] {
    let [size, ..] = T::TYPE_MAP.size().to_le_bytes();
    let [a, b, c, d, ..] = folded(T::TYPE_MAP.signature_hash()).to_le_bytes();
    [size, a, b, c, d]
}

/// Appends the frame of a record, if it is of the usual form; otherwise returns `false`.
#[inline]
pub(super) fn put<T: Datatype>(record: &T, out: &mut impl AppendBytes, framing: Framing) -> bool {
    let usual = framing.is_compact() && !framing.has_schema();
    let Some(tag) = u8::try_from(framing.tag()).ok().filter(|tag| usize::from(*tag) < LONG) else {
        return false;
    };
    if const { T::TYPE_MAP.size() >= LONG } || !usual {
        return false;
    }
    let [size, a, b, c, d] = const { constants::<T>() };
    let start = out.bytes().len();
    out.room(const { SIGNED + T::TYPE_MAP.size() + CHECKSUM_LEN });
    let first = PLAIN | if framing.is_checked() { IS_CHECKED } else { 0 };
    if framing.is_signed() {
        out.append(&[first | HAS_SIGNATURE, tag, size, a, b, c, d]);
    } else {
        out.append(&[first, tag, size]);
    }
    pack_one_onto(out, record);
    if framing.is_checked() {
        let checksum = crc32c::crc32c(&out.bytes()[start..]);
        out.append(&checksum.to_le_bytes());
    }
    true
}

/// Takes a frame of the usual form from the front of `input`, if it is whole, within the limits and valid. Otherwise
/// returns `None`, and `input` is unchanged.
#[inline]
pub(super) fn take<T: Datatype>(input: &mut &[u8], limits: &Limits) -> Option<(T, Header)> {
    const SIGNED_PLAIN: u8 = PLAIN | HAS_SIGNATURE;
    const CHECKED_PLAIN: u8 = PLAIN | IS_CHECKED;
    const FULL_PLAIN: u8 = SIGNED_PLAIN | IS_CHECKED;
    if const { T::TYPE_MAP.size() >= LONG } {
        return None;
    }
    match *input.first()? {
        PLAIN => take_as::<T, UNSIGNED, 0>(input, limits),
        SIGNED_PLAIN => take_as::<T, SIGNED, 0>(input, limits),
        CHECKED_PLAIN => take_as::<T, UNSIGNED, CHECKSUM_LEN>(input, limits),
        FULL_PLAIN => take_as::<T, SIGNED, CHECKSUM_LEN>(input, limits),
        _ => None,
    }
}

/// As [`take`], for a header of `HEADER` bytes and a checksum of `CHECKSUM` bytes.
#[inline]
fn take_as<T: Datatype, const HEADER: usize, const CHECKSUM: usize>(
    input: &mut &[u8],
    limits: &Limits,
) -> Option<(T, Header)> {
    let (is_checked, is_signed) = (CHECKSUM > 0, HEADER == SIGNED);
    let (size, end) = const { (T::TYPE_MAP.size(), HEADER + T::TYPE_MAP.size()) };
    let (frame, rest) = input.split_at_checked(end + CHECKSUM)?;
    let (covered, checksum) = frame.split_at(end);
    let (header, packed) = covered.split_at(HEADER);
    let tag = header[1];
    let is_usual =
        usize::from(tag) < LONG && header[2..] == const { constants::<T>() }[..HEADER - 2];
    let is_accepted = (is_checked || limits.takes_unchecked_frames())
        && (is_signed || limits.takes_unsigned_frames())
        && size as u64 <= limits.max_payload_bytes()
        && limits.max_records() > 0;
    if !(is_usual && is_accepted) {
        return None;
    }
    if is_checked && crc32c::crc32c(covered).to_le_bytes()[..] != *checksum {
        return None;
    }
    let record = unpack_one(packed).ok()?;
    *input = rest;
    let header = Header::compact::<T>(u32::from(tag), is_checked, is_signed);
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

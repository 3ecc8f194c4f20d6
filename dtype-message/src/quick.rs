//! Reads and writes frames of one short record in fewer steps.
//!
//! Most small messages are one record of less than 128 bytes with a tag below 128, in this machine's byte order and without a
//! schema's hash. Except for two bytes, the header of such a frame is the same for all records of a type:
//!
//! | bytes | what |
//! |--:|---|
//! | 1 | the flags, of which only checksum and signature vary |
//! | 1 | tag |
//! | 1 | packed bytes of a record: a constant |
//! | 0 or 4 | 32 bits of the signature's hash: a constant |
//!
//! So the header is compared instead of decoded. Frames of other forms, and frames with errors, are left to the parser, which
//! reports the errors.

use crate::framing::Framing;
use crate::header::{
    CHECKSUM_LEN, COMPACT, HAS_CHECKSUM, HAS_SIGNATURE, Header, IS_BIG_ENDIAN, folded,
};
use crate::limits::Limits;
use dtype_runtime::__private::{Records, pack_one_onto};
use dtype_runtime::AppendBytes;
use dtype_runtime::Datatype;
use dtype_runtime::representation::ByteOrder;

/// The first byte, without the flags that vary.
const PLAIN: u8 = match ByteOrder::NATIVE {
    ByteOrder::Little => COMPACT,
    ByteOrder::Big => COMPACT | IS_BIG_ENDIAN,
};

/// Bytes of the header without the hash.
const WITHOUT_SIGNATURE: usize = 3;

/// The least number that takes more than one byte.
const LONG: usize = 0x80;

/// Bytes of the header with the hash.
const WITH_SIGNATURE: usize = WITHOUT_SIGNATURE + 4;

/// The header of a frame with checksum and hash whose tag is 0. A header without the hash begins in the same way, but has other
/// flags.
const fn header<T: Datatype>() -> [u8; WITH_SIGNATURE] {
    let [size, ..] = T::TYPE_MAP.size().to_le_bytes();
    let [a, b, c, d, ..] = folded(T::TYPE_MAP.signature_hash()).to_le_bytes();
    [PLAIN | HAS_SIGNATURE | HAS_CHECKSUM, 0, size, a, b, c, d]
}

/// Appends the frame of a record, if it is of the usual form; otherwise returns `false`.
#[inline]
pub(crate) fn put<T: Datatype>(record: &T, out: &mut impl AppendBytes, framing: Framing) -> bool {
    let usual = framing.is_compact() && !framing.has_schema();
    let Some(tag) = u8::try_from(framing.tag()).ok().filter(|tag| usize::from(*tag) < LONG) else {
        return false;
    };
    if const { T::TYPE_MAP.size() >= LONG } || !usual {
        return false;
    }
    let [full, _, size, a, b, c, d] = const { header::<T>() };
    let start = out.bytes().len();
    out.room(const { WITH_SIGNATURE + T::TYPE_MAP.size() + CHECKSUM_LEN });
    let flags = if framing.has_checksum() { full } else { full & !HAS_CHECKSUM };
    if framing.has_signature() {
        pack_one_onto(out, [flags, tag, size, a, b, c, d], record);
    } else {
        pack_one_onto(out, [flags & !HAS_SIGNATURE, tag, size], record);
    }
    if framing.has_checksum() {
        let checksum = crc32c::crc32c(&out.bytes()[start..]);
        out.append(&checksum.to_le_bytes());
    }
    true
}

/// Takes a frame of the usual form from the front of `input`, if it is whole, within the limits and valid. Otherwise
/// returns `None`, and `input` is unchanged.
#[inline]
pub(crate) fn take<M: Records>(input: &mut &[u8], limits: &Limits) -> Option<(M, Header)> {
    let size = const { M::Record::TYPE_MAP.size() };
    let [first, tag, ..] = **input else { return None };
    let (has_checksum, has_signature) = (first & HAS_CHECKSUM != 0, first & HAS_SIGNATURE != 0);
    let is_usual = const { M::Record::TYPE_MAP.size() < LONG }
        && first & !(HAS_CHECKSUM | HAS_SIGNATURE) == PLAIN
        && usize::from(tag) < LONG;
    let is_accepted = (has_checksum || limits.allows_missing_checksum())
        && (has_signature || limits.allows_missing_signature())
        && size as u64 <= limits.max_payload_bytes()
        && limits.max_records() > 0;
    if !(is_usual && is_accepted) {
        return None;
    }
    let expected = const { header::<M::Record>() };
    let len = if has_signature { WITH_SIGNATURE } else { WITHOUT_SIGNATURE };
    let (covered, mut rest) = input.split_at_checked(len + size)?;
    let (header, packed) = covered.split_at(len);
    if header[2] != expected[2] || has_signature && header[3..] != expected[3..] {
        return None;
    }
    if has_checksum {
        let checksum = rest.split_off(..CHECKSUM_LEN)?;
        if crc32c::crc32c(covered).to_le_bytes()[..] != *checksum {
            return None;
        }
    }
    let framing = Framing {
        tag: u32::from(tag),
        is_compact: true,
        has_checksum,
        has_signature,
        has_schema: false,
    };
    let header = Header::of::<M::Record>(1, framing).ok()?;
    let record = M::try_unpack(packed)?;
    *input = rest;
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

//! Reads and writes frames of one short record in fewer steps.
//!
//! Most small messages are one record of less than 128 bytes with a tag below 128, in this machine's byte order and without a
//! schema's hash. Except for the tag and what protects the frame, the header of such a frame is the same for all records of a
//! type. A compact one:
//!
//! | bytes | what |
//! |--:|---|
//! | 1 | the flags, of which only checksum and signature vary |
//! | 1 | tag |
//! | 1 | packed bytes of a record: a constant |
//! | 0 or 4 | 32 bits of the signature's hash: a constant |
//!
//! Of a full one, the first 40 bytes are a constant; the tag and the header's checksum follow.
//!
//! So the header is compared instead of decoded. Frames of other forms, and frames with errors, are left to the parser, which
//! reports the errors.

use crate::framing::Framing;
use crate::header::{
    CHECKSUM_LEN, COMPACT, HAS_CHECKSUM, HAS_SIGNATURE, Header, IS_BIG_ENDIAN, folded,
};
use crate::limits::Limits;
use crate::{MAGIC, VERSION};
use dtype_runtime::__private::{Records, pack_one_onto};
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::{AppendBytes, Datatype};

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

/// Bytes of a full header before the tag.
const BEFORE_TAG: usize = 40;

/// The header of a frame with checksum and hash whose tag is 0. A header without the hash begins in the same way, but has other
/// flags.
const fn header<T: Datatype>() -> [u8; WITH_SIGNATURE] {
    let [size, ..] = T::TYPE_MAP.size().to_le_bytes();
    let [a, b, c, d, ..] = folded(T::TYPE_MAP.signature_hash()).to_le_bytes();
    [PLAIN | HAS_SIGNATURE | HAS_CHECKSUM, 0, size, a, b, c, d]
}

/// The start of the header of a full frame without the schema's hash, and its CRC-32C.
const fn full_header<T: Datatype>() -> ([u8; BEFORE_TAG], u32) {
    let order = match ByteOrder::NATIVE {
        ByteOrder::Little => 1,
        ByteOrder::Big => 2,
    };
    let words = [
        u64::from_le_bytes([MAGIC[0], MAGIC[1], MAGIC[2], MAGIC[3], VERSION, order, 0, 0]),
        T::TYPE_MAP.signature_hash(),
        1,
        T::TYPE_MAP.size() as u64,
        0,
    ];
    let (mut bytes, mut checksum, mut i) = ([0; BEFORE_TAG], u32::MAX, 0);
    while i < BEFORE_TAG {
        bytes[i] = words[i / 8].to_le_bytes()[i % 8];
        checksum ^= bytes[i] as u32;
        let mut bit = 0;
        while bit < 8 {
            // The polynomial of CRC-32C, with its bits reversed.
            checksum = checksum >> 1 ^ if checksum & 1 == 1 { 0x82F6_3B78 } else { 0 };
            bit += 1;
        }
        i += 1;
    }
    (bytes, !checksum)
}

/// Appends the frame of a record, if it is of the usual form; otherwise returns `false`.
#[inline]
pub(crate) fn put<T: Datatype>(record: &T, out: &mut impl AppendBytes, framing: Framing) -> bool {
    let Some(tag) = u8::try_from(framing.tag()).ok().filter(|tag| usize::from(*tag) < LONG) else {
        return false;
    };
    if const { T::TYPE_MAP.size() >= LONG } || framing.has_schema() {
        return false;
    }
    let start = out.bytes().len();
    if !framing.is_compact() {
        out.reserve(const { Header::FULL_LEN + T::TYPE_MAP.size() + CHECKSUM_LEN });
        let (first, checksum) = const { full_header::<T>() };
        let tag = [tag, 0, 0, 0];
        let own = crc32c::crc32c_append(checksum, &tag);
        let mut header = [0; Header::FULL_LEN];
        header[..BEFORE_TAG].copy_from_slice(&first);
        header[BEFORE_TAG..BEFORE_TAG + 4].copy_from_slice(&tag);
        header[BEFORE_TAG + 4..].copy_from_slice(&own.to_le_bytes());
        pack_one_onto(out, header, record);
        let packed = &out.bytes()[start + Header::FULL_LEN..];
        let checksum = crc32c::crc32c_append(own, packed);
        out.append(&checksum.to_le_bytes());
        return true;
    }
    let [full, _, size, a, b, c, d] = const { header::<T>() };
    out.reserve(const { WITH_SIGNATURE + T::TYPE_MAP.size() + CHECKSUM_LEN });
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

/// Takes a frame of the usual form from the front of `input`, if it is whole, within the limits and valid, and writes its header
/// to `to`. Otherwise returns `None`, and nothing has changed.
#[inline]
pub(crate) fn take<M: Records>(
    input: &mut &[u8],
    limits: &Limits,
    to: &mut Option<Header>,
) -> Option<M> {
    let size = const { M::Record::TYPE_MAP.size() };
    let is_short = const { M::Record::TYPE_MAP.size() < LONG };
    if !is_short || size as u64 > limits.max_payload_bytes() || limits.max_records() == 0 {
        return None;
    }
    let [first, tag, ..] = **input else { return None };
    if first == MAGIC[0] {
        return take_full(input, to);
    }
    let (has_checksum, has_signature) = (first & HAS_CHECKSUM != 0, first & HAS_SIGNATURE != 0);
    let is_usual = first & !(HAS_CHECKSUM | HAS_SIGNATURE) == PLAIN && usize::from(tag) < LONG;
    let is_accepted = (has_checksum || limits.allows_missing_checksum())
        && (has_signature || limits.allows_missing_signature());
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
    let record = M::try_unpack(packed)?;
    let tag = u32::from(tag);
    let framing = Framing { tag, is_compact: true, has_checksum, has_signature, has_schema: false };
    *to = Some(Header::of_one::<M::Record>(framing));
    *input = rest;
    Some(record)
}

/// As [`take`], for a full frame of a short record within the limits. Out of line, because the code for compact frames takes a
/// quarter longer with this in it.
#[inline(never)]
fn take_full<M: Records>(input: &mut &[u8], to: &mut Option<Header>) -> Option<M> {
    let (header, rest) = input.split_first_chunk::<{ Header::FULL_LEN }>()?;
    let (packed, rest) = rest.split_at_checked(const { M::Record::TYPE_MAP.size() })?;
    let (checksum, rest) = rest.split_first_chunk::<CHECKSUM_LEN>()?;
    let (first, after) = header.split_first_chunk::<BEFORE_TAG>()?;
    let (tag, own) = after.split_first_chunk::<4>()?;
    let (expected, start) = const { full_header::<M::Record>() };
    let own_expected = crc32c::crc32c_append(start, tag);
    if *first != expected || own_expected.to_le_bytes()[..] != *own {
        return None;
    }
    if crc32c::crc32c_append(own_expected, packed).to_le_bytes() != *checksum {
        return None;
    }
    let record = M::try_unpack(packed)?;
    let framing = Framing::new().with_tag(u32::from_le_bytes(*tag));
    *to = Some(Header::of_one::<M::Record>(framing));
    *input = rest;
    Some(record)
}

/// The tag of a full frame, and of a compact one if it takes one byte.
#[doc(hidden)]
#[inline]
pub fn quick_tag(input: &[u8]) -> Option<u32> {
    match input {
        [first, tag, ..] if first & 0xC0 == COMPACT && usize::from(*tag) < LONG => {
            Some(u32::from(*tag))
        }
        [first, ..] if *first == MAGIC[0] => {
            let tag = input.get(BEFORE_TAG..)?.first_chunk()?;
            Some(u32::from_le_bytes(*tag))
        }
        _ => None,
    }
}

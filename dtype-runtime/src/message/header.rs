//! The bytes before a payload, and the format of a frame.
//!
//! There are two kinds of frames, which differ in the first byte. Numbers are little-endian on every machine,
//! except in the payload, whose values have the sender's byte order.
//!
//! # The full frame
//!
//! | bytes | what |
//! |--:|---|
//! | 0–3 | `D7 44 54 4D`, which every full frame starts with |
//! | 4 | version, 1 |
//! | 5 | byte order of the payload: 1 little-endian, 2 big-endian |
//! | 6–7 | flags, 0 |
//! | 8–15 | hash of the type signature of a record |
//! | 16–23 | number of records |
//! | 24–31 | packed bytes of a record |
//! | 32–39 | hash of the schema, or 0 |
//! | 40–43 | tag |
//! | 44–47 | CRC-32C of bytes 0–43 |
//! | 48 … | the packed records |
//! | the last 4 | CRC-32C of bytes 0–43 and the payload |
//!
//! # The compact frame
//!
//! | bytes | what |
//! |--:|---|
//! | 1 | `0b10vnshco`, see below |
//! | 1–5 | tag |
//! | 0–10 | number of records, if `n` is set; otherwise there is one |
//! | 1–10 | packed bytes of a record |
//! | 0 or 4 | 32 bits of the hash of the type signature or the schema, if `h` or `s` is set |
//! | … | the packed records |
//! | 0 or 4 | CRC-32C of everything before, if `c` is set |
//!
//! The bits of the first byte: `o`, the payload is big-endian; `c`, there is a checksum; `h`, there is the
//! signature's hash; `s`, there is the schema's hash instead; `n`, the number of records is present, and is not 1;
//! `v`, 0 in this version. The other combinations have no meaning. A number takes seven bits of each byte, the
//! lowest first, and the highest bit of each byte but the last is set; it takes as few bytes as it can. A hash of
//! 64 bits becomes one of 32 bits by the exclusive or of its halves.
//!
//! For example, two `u16`, 1 and 2, as one record `[u16; 2]` with the tag 7, without signature and checksum:
//! `80 07 04 01 00 02 00`.
//!
//! Neither frame starts like text: in UTF-8, `80` to `BF` continue a character and never start one, and `D7` starts a
//! character of two bytes, which `44` does not end.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;
use std::io::{self, Read};

use super::error::{Error, Mismatch, Part, Protection, RecordKind};
use super::framing::Framing;
use super::limits::Limits;
use super::schema::schema_hash;
use super::{MAGIC, VERSION};
use crate::datatype::Datatype;
use crate::representation::{ByteOrder, Representation};
use crate::types::Type;

/// The offset of a full header's own checksum.
const CHECKSUM: usize = Header::FULL_LEN - 4;

/// Bytes of a checksum at the end of a frame.
pub(super) const CHECKSUM_LEN: usize = 4;

/// The first byte of a compact frame without any of its bits.
pub(super) const COMPACT: u8 = 0x80;
pub(super) const IS_BIG_ENDIAN: u8 = 1;
pub(super) const IS_CHECKED: u8 = 1 << 1;
pub(super) const HAS_SIGNATURE: u8 = 1 << 2;
const HAS_SCHEMA: u8 = 1 << 3;
const HAS_COUNT: u8 = 1 << 4;
const VERSION_BIT: u8 = 1 << 5;

/// The description of a message's records, which precedes them.
///
/// A header that was read is consistent: the length of the payload fits 64 bits, and a full header's checksum was
/// right.
///
/// | bytes | of the frame's | |
/// |---|---|---|
/// | [`header_len`](Self::header_len) | header | 48 in a full frame, at most 30 in a compact one |
/// | [`payload_len`](Self::payload_len) | payload | |
/// | [`checksum_len`](Self::checksum_len) | checksum at the end | 4, or 0 |
/// | [`frame_len`](Self::frame_len) | all of these | |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    is_compact: bool,
    is_checked: bool,
    byte_order: ByteOrder,
    tag: u32,
    /// 32 bits of the hash in a compact frame, which never has both hashes.
    signature_hash: Option<u64>,
    schema_hash: Option<u64>,
    count: u64,
    record_size: u64,
    payload_len: u64,
}

/// The bytes of a header: a slice.
#[derive(Clone, Copy)]
pub struct HeaderBytes {
    bytes: [u8; Header::FULL_LEN],
    len: usize,
}

/// The result of [`Header::decode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// A whole header, and its length in bytes.
    Header(Header, usize),
    /// The start of a header. The header has at least this many bytes, which is more than were passed.
    Needs(usize),
}

const fn mark(order: ByteOrder) -> u8 {
    match order {
        ByteOrder::Little => 1,
        ByteOrder::Big => 2,
    }
}

/// 32 bits of a hash.
pub(super) const fn folded(hash: u64) -> u64 {
    (hash ^ (hash >> 32)) & 0xFFFF_FFFF
}

impl Header {
    /// Bytes of the header of a full frame.
    pub const FULL_LEN: usize = 48;

    /// The header of `count` records of the type `T`, packed on this machine.
    ///
    /// # Errors
    ///
    /// [`CountTooLarge`](crate::Error::CountTooLarge) inside [`Error::Records`].
    pub fn of<T: Datatype>(count: usize, framing: Framing) -> Result<Self, Error> {
        let schema = framing.has_schema().then_some(const { schema_hash::<T>() });
        Self::new(T::TYPE_MAP.signature_hash(), schema, T::TYPE_MAP.size() as u64, count, framing)
    }

    /// The header of `count` instances of a type, packed on this machine. A type has no names, so it has no schema.
    ///
    /// # Errors
    ///
    /// As [`of`](Self::of).
    pub fn of_type(ty: &Type, count: usize, framing: Framing) -> Result<Self, Error> {
        Self::new(ty.signature_hash(), None, ty.size(), count, framing)
    }

    #[inline]
    fn new(
        signature: u64,
        schema: Option<u64>,
        record_size: u64,
        count: usize,
        framing: Framing,
    ) -> Result<Self, Error> {
        let count = count as u64;
        let payload_len = record_size
            .checked_mul(count)
            .ok_or(crate::Error::CountTooLarge { count, size: record_size })?;
        let is_compact = framing.is_compact();
        let (signature_hash, schema_hash) = match (is_compact, schema) {
            (false, _) => (Some(signature), schema),
            (true, _) if !framing.is_signed() => (None, None),
            (true, None) => (Some(folded(signature)), None),
            (true, Some(schema)) => (None, Some(folded(schema))),
        };
        Ok(Self {
            is_compact,
            is_checked: framing.is_checked(),
            byte_order: ByteOrder::NATIVE,
            tag: framing.tag(),
            signature_hash,
            schema_hash,
            count,
            record_size,
            payload_len,
        })
    }

    /// The header of one `T` in a compact frame, packed on this machine, without a schema's hash.
    #[inline]
    pub(super) fn compact<T: Datatype>(tag: u32, is_checked: bool, is_signed: bool) -> Self {
        let size = T::TYPE_MAP.size() as u64;
        Self {
            is_compact: true,
            is_checked,
            byte_order: ByteOrder::NATIVE,
            tag,
            signature_hash: is_signed.then_some(folded(T::TYPE_MAP.signature_hash())),
            schema_hash: None,
            count: 1,
            record_size: size,
            payload_len: size,
        }
    }

    /// The framing of the message, for a reply in the same framing.
    pub fn framing(&self) -> Framing {
        let framing = if self.is_compact { Framing::compact() } else { Framing::new() };
        let framing = framing.with_tag(self.tag);
        let framing = if self.is_checked { framing } else { framing.without_checksum() };
        match (self.signature_hash, self.schema_hash) {
            (_, Some(_)) => framing.with_schema(),
            (Some(_), None) => framing,
            (None, None) => framing.without_signature(),
        }
    }

    /// Whether the frame is compact.
    pub fn is_compact(&self) -> bool {
        self.is_compact
    }

    /// The number that the application gives this kind of message; 0 unless the sender has set it.
    pub fn tag(&self) -> u32 {
        self.tag
    }

    /// The byte order of the numbers in the records. The numbers of the frame itself are always little-endian.
    pub fn byte_order(&self) -> ByteOrder {
        self.byte_order
    }

    /// The hash of the type signature of a record, [`Type::signature_hash`], if the frame has it. In a compact frame,
    /// 32 bits of it.
    pub fn signature_hash(&self) -> Option<u64> {
        self.signature_hash
    }

    /// The hash of the schema of a record, [`Schema::hash`](super::Schema::hash), if the frame has it. In a compact
    /// frame, 32 bits of it.
    pub fn schema_hash(&self) -> Option<u64> {
        self.schema_hash
    }

    /// Number of records.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Packed bytes of a record.
    pub fn record_size(&self) -> u64 {
        self.record_size
    }

    /// Bytes of the header.
    pub fn header_len(&self) -> usize {
        self.to_bytes().len
    }

    /// Bytes of the payload: all records together.
    pub fn payload_len(&self) -> u64 {
        self.payload_len
    }

    /// Bytes of the checksum after the payload.
    pub fn checksum_len(&self) -> usize {
        if self.is_checked { CHECKSUM_LEN } else { 0 }
    }

    /// Bytes of the whole frame; `u64::MAX` if there are more.
    pub fn frame_len(&self) -> u64 {
        let around = self.header_len() + self.checksum_len();
        self.payload_len.saturating_add(around as u64)
    }

    /// The header's bytes.
    #[inline]
    pub fn to_bytes(&self) -> HeaderBytes {
        if self.is_compact { self.compact_bytes() } else { self.full_bytes() }
    }

    fn full_bytes(&self) -> HeaderBytes {
        let mut bytes = [0; Self::FULL_LEN];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = VERSION;
        bytes[5] = mark(self.byte_order);
        bytes[8..16].copy_from_slice(&self.signature_hash.unwrap_or(0).to_le_bytes());
        bytes[16..24].copy_from_slice(&self.count.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.record_size.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.schema_hash.unwrap_or(0).to_le_bytes());
        bytes[40..44].copy_from_slice(&self.tag.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[..CHECKSUM]);
        bytes[CHECKSUM..].copy_from_slice(&checksum.to_le_bytes());
        HeaderBytes { bytes, len: Self::FULL_LEN }
    }

    #[inline]
    fn compact_bytes(&self) -> HeaderBytes {
        let mut header = HeaderBytes { bytes: [0; Self::FULL_LEN], len: 1 };
        let mut first = COMPACT;
        if self.byte_order == ByteOrder::Big {
            first |= IS_BIG_ENDIAN;
        }
        if self.is_checked {
            first |= IS_CHECKED;
        }
        header.push_number(self.tag.into());
        if self.count != 1 {
            first |= HAS_COUNT;
            header.push_number(self.count);
        }
        header.push_number(self.record_size);
        for (bit, hash) in [(HAS_SIGNATURE, self.signature_hash), (HAS_SCHEMA, self.schema_hash)] {
            if let Some(hash) = hash {
                first |= bit;
                let [a, b, c, d, ..] = hash.to_le_bytes();
                header.bytes[header.len..header.len + 4].copy_from_slice(&[a, b, c, d]);
                header.len += 4;
            }
        }
        header.bytes[0] = first;
        header
    }

    /// The checksum from which the payload's checksum continues. A checksum must not cover another one: data
    /// followed by their own CRC always have the same checksum.
    #[inline]
    pub(super) fn checksum(bytes: &HeaderBytes) -> u32 {
        if bytes.bytes[0] == MAGIC[0] {
            narrow(&bytes.bytes, CHECKSUM)
        } else {
            crc32c::crc32c(bytes)
        }
    }

    /// The checksum at the end of a frame, of which `covered` is the rest.
    #[inline]
    pub(super) fn frame_checksum(covered: &[u8]) -> u32 {
        match covered.split_first_chunk() {
            Some((header, payload)) if covered[0] == MAGIC[0] => {
                crc32c::crc32c_append(narrow(header, CHECKSUM), payload)
            }
            _ => crc32c::crc32c(covered),
        }
    }

    /// Reads the header of a full frame from its bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Magic`], [`Error::Version`], [`Error::HeaderChecksum`], [`Error::ByteOrderMark`],
    /// [`Error::Reserved`] and [`Error::PayloadLength`], the first of them that applies.
    pub fn from_bytes(bytes: &[u8; Self::FULL_LEN]) -> Result<Self, Error> {
        let magic = [0, 1, 2, 3].map(|i| bytes[i]);
        if magic != MAGIC {
            return Err(Error::Magic { actual: magic });
        }
        if bytes[4] != VERSION {
            return Err(Error::Version { actual: bytes[4] });
        }
        let (expected, actual) = (crc32c::crc32c(&bytes[..CHECKSUM]), narrow(bytes, CHECKSUM));
        if expected != actual {
            return Err(Error::HeaderChecksum { expected, actual });
        }
        let byte_order = match bytes[5] {
            1 => ByteOrder::Little,
            2 => ByteOrder::Big,
            actual => return Err(Error::ByteOrderMark { actual }),
        };
        let flags = u32::from(u16::from_le_bytes([bytes[6], bytes[7]]));
        if flags != 0 {
            return Err(Error::Reserved { offset: 6, actual: flags });
        }
        let [signature, count, record_size, schema] = [8, 16, 24, 32].map(|at| wide(bytes, at));
        Ok(Self {
            is_compact: false,
            is_checked: true,
            byte_order,
            tag: narrow(bytes, 40),
            signature_hash: Some(signature),
            schema_hash: (schema != 0).then_some(schema),
            count,
            record_size,
            payload_len: payload_len(count, record_size)?,
        })
    }

    /// Decodes the header at the start of `bytes`, of either kind, or returns how many bytes are needed to
    /// continue. An error is reported as soon as the bytes for it are present.
    ///
    /// # Errors
    ///
    /// As [`from_bytes`](Self::from_bytes); for a compact frame [`Error::Reserved`], [`Error::Number`] and
    /// [`Error::PayloadLength`].
    ///
    /// ```
    /// use dtype_runtime::message::{Decoded, Framing, Header};
    /// let header = Header::of::<[u16; 2]>(1, Framing::compact().with_tag(7))?;
    /// let bytes = header.to_bytes();
    /// assert_eq!(bytes.len(), 7);
    /// assert_eq!(Header::decode(&bytes)?, Decoded::Header(header, 7));
    /// assert_eq!(Header::decode(&bytes[..3])?, Decoded::Needs(7));
    /// # Ok::<(), dtype_runtime::message::Error>(())
    /// ```
    #[inline]
    pub fn decode(bytes: &[u8]) -> Result<Decoded, Error> {
        match bytes {
            [] => Ok(Decoded::Needs(1)),
            [first, rest @ ..] if first & 0xC0 == COMPACT => Self::decode_compact(*first, rest),
            [a, b, c, d, ..] if [*a, *b, *c, *d] != MAGIC => {
                Err(Error::Magic { actual: [*a, *b, *c, *d] })
            }
            _ => match bytes.first_chunk() {
                Some(header) => Ok(Decoded::Header(Self::from_bytes(header)?, Self::FULL_LEN)),
                None => Ok(Decoded::Needs(Self::FULL_LEN)),
            },
        }
    }

    #[inline]
    fn decode_compact(first: u8, rest: &[u8]) -> Result<Decoded, Error> {
        let has = |bit| first & bit != 0;
        if has(VERSION_BIT) || (has(HAS_SIGNATURE) && has(HAS_SCHEMA)) {
            return Err(Error::Reserved { offset: 0, actual: first.into() });
        }
        // Bytes that follow at least after the number that is being read.
        let hash_len = if has(HAS_SIGNATURE) || has(HAS_SCHEMA) { 4 } else { 0 };
        let count_len = usize::from(has(HAS_COUNT));
        let mut at = 0;
        let Some(tag) = number(rest, &mut at)? else {
            return Ok(Decoded::Needs(1 + at + count_len + 1 + hash_len));
        };
        let tag = u32::try_from(tag).map_err(|_| Error::Number { offset: 1 })?;
        let mut count = 1;
        if has(HAS_COUNT) {
            let offset = 1 + at;
            let Some(number) = number(rest, &mut at)? else {
                return Ok(Decoded::Needs(1 + at + 1 + hash_len));
            };
            if number == 1 {
                return Err(Error::Number { offset });
            }
            count = number;
        }
        let Some(record_size) = number(rest, &mut at)? else {
            return Ok(Decoded::Needs(1 + at + hash_len));
        };
        let Some(hash) = rest.get(at..at + hash_len) else {
            return Ok(Decoded::Needs(1 + at + hash_len));
        };
        let hash = hash.first_chunk().map(|hash| u32::from_le_bytes(*hash).into());
        let header = Self {
            is_compact: true,
            is_checked: has(IS_CHECKED),
            byte_order: if has(IS_BIG_ENDIAN) { ByteOrder::Big } else { ByteOrder::Little },
            tag,
            signature_hash: hash.filter(|_| has(HAS_SIGNATURE)),
            schema_hash: hash.filter(|_| has(HAS_SCHEMA)),
            count,
            record_size,
            payload_len: payload_len(count, record_size)?,
        };
        Ok(Decoded::Header(header, 1 + at + hash_len))
    }

    /// Reads a header, and no byte beyond it; `None` if the stream ends before its first byte. To read what
    /// follows, make an [`Incoming`](super::Incoming) from the header.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], [`Error::Truncated`], and the errors of [`decode`](Self::decode). If the stream fails before
    /// the first byte, it can be read again.
    pub fn read(input: &mut impl Read) -> Result<Option<Self>, Error> {
        let mut bytes = [0; Self::FULL_LEN];
        let (mut came, mut needs) = (0, 1);
        loop {
            // Large enough for a header of any kind.
            came += fill(input, &mut bytes[came..needs])?;
            if came == 0 {
                return Ok(None);
            }
            if came < needs {
                let (expected, actual) = (needs as u64, came as u64);
                return Err(Error::Truncated { part: Part::Header, expected, actual });
            }
            match Self::decode(&bytes[..came])? {
                Decoded::Header(header, _) => return Ok(Some(header)),
                Decoded::Needs(more) => needs = more,
            }
        }
    }

    /// The representation of the values in the records: this machine's, in the byte order of the message.
    pub(super) fn representation(&self) -> Representation {
        match self.byte_order {
            order if order == ByteOrder::NATIVE => Representation::Native,
            ByteOrder::Little => Representation::LittleEndian,
            ByteOrder::Big => Representation::BigEndian,
        }
    }

    /// Checks whether the records can be unpacked as `T` here.
    ///
    /// # Errors
    ///
    /// [`Error::Mismatch`].
    #[inline]
    pub fn check<T: Datatype>(&self) -> Result<(), Error> {
        let expected = RecordKind {
            size: T::TYPE_MAP.size() as u64,
            signature_hash: Some(T::TYPE_MAP.signature_hash()),
            schema_hash: Some(const { schema_hash::<T>() }),
        };
        self.compare(expected, || T::TYPE_MAP.to_string())
    }

    /// Checks whether the records can be unpacked as instances of `ty` here: they have its signature, whatever the
    /// layout.
    ///
    /// # Errors
    ///
    /// [`Error::Mismatch`]; [`Error::Unprotected`] for a compact frame with a schema's hash instead of a signature's.
    pub fn check_type(&self, ty: &Type) -> Result<(), Error> {
        let (size, signature_hash) = (ty.size(), Some(ty.signature_hash()));
        if self.signature_hash.is_none() && self.schema_hash.is_some() {
            return Err(Error::Unprotected { missing: Protection::Signature });
        }
        let expected = RecordKind { size, signature_hash, schema_hash: self.schema_hash };
        self.compare(expected, || name_of(ty))
    }

    #[inline]
    fn compare(&self, own: RecordKind, name: impl FnOnce() -> String) -> Result<(), Error> {
        let reduced = |hash: u64| if self.is_compact { folded(hash) } else { hash };
        let expected = RecordKind {
            size: own.size,
            signature_hash: own.signature_hash.map(reduced),
            schema_hash: own.schema_hash.map(reduced),
        };
        let agrees = |theirs: Option<u64>, ours| theirs.is_none() || theirs == ours;
        if self.record_size == expected.size
            && agrees(self.signature_hash, expected.signature_hash)
            && agrees(self.schema_hash, expected.schema_hash)
        {
            return Ok(());
        }
        // Only the hashes that the frame has are compared, so only these are reported.
        let expected = RecordKind {
            size: expected.size,
            signature_hash: expected.signature_hash.filter(|_| self.signature_hash.is_some()),
            schema_hash: expected.schema_hash.filter(|_| self.schema_hash.is_some()),
        };
        let actual = RecordKind {
            size: self.record_size,
            signature_hash: self.signature_hash,
            schema_hash: self.schema_hash,
        };
        Err(Mismatch::new(name(), self.tag, expected, actual).into())
    }

    /// Checks whether the message is within the limits.
    ///
    /// # Errors
    ///
    /// [`Error::Unprotected`], [`Error::PayloadLimit`], [`Error::RecordLimit`].
    #[inline]
    pub fn check_limits(&self, limits: &Limits) -> Result<(), Error> {
        if !self.is_checked && !limits.takes_unchecked_frames() {
            return Err(Error::Unprotected { missing: Protection::Checksum });
        }
        let is_signed = self.signature_hash.is_some() || self.schema_hash.is_some();
        if !is_signed && !limits.takes_unsigned_frames() {
            return Err(Error::Unprotected { missing: Protection::Signature });
        }
        let (limit, actual) = (limits.max_payload_bytes(), self.payload_len);
        if actual > limit {
            return Err(Error::PayloadLimit { limit, actual });
        }
        self.check_count(limits.max_records())
    }

    #[inline]
    pub(super) fn check_count(&self, limit: u64) -> Result<(), Error> {
        let actual = self.count;
        if actual > limit { Err(Error::RecordLimit { limit, actual }) } else { Ok(()) }
    }

    /// Checks records without data, which can take memory nevertheless. The sender sends no bytes for them, so
    /// this limit prevents it from requesting any amount. `stride` is the memory of a record, in bytes.
    pub(super) fn check_empty(&self, stride: usize, limits: &Limits) -> Result<(), Error> {
        let actual = self.count.saturating_mul(stride as u64);
        let limit = limits.max_payload_bytes();
        if self.record_size == 0 && actual > limit {
            return Err(Error::PayloadLimit { limit, actual });
        }
        Ok(())
    }

    /// Number of records, packed bytes of each, and packed bytes of all, as numbers that this machine can address.
    #[inline]
    pub(super) fn in_memory(&self) -> Result<Sizes, crate::Error> {
        let narrow = |number: u64| {
            let (count, size) = (self.count, self.record_size);
            usize::try_from(number).map_err(|_| crate::Error::CountTooLarge { count, size })
        };
        Ok(Sizes {
            count: narrow(self.count)?,
            record: narrow(self.record_size)?,
            payload: narrow(self.payload_len)?,
        })
    }
}

/// The sizes in a header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) count: usize,
    pub(super) record: usize,
    pub(super) payload: usize,
}

impl Sizes {
    /// The best number of bytes to move at a time: as many whole records as fit into a chunk, or one record.
    pub(super) fn piece(&self) -> usize {
        match super::CHUNK.checked_rem(self.record) {
            Some(rest) if rest < super::CHUNK => super::CHUNK - rest,
            _ => self.record.max(1),
        }
    }
}

impl HeaderBytes {
    /// Appends a number in groups of seven bits.
    #[inline]
    fn push_number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes[self.len] = number.to_le_bytes()[0] | 0x80;
            self.len += 1;
            number >>= 7;
        }
        self.bytes[self.len] = number.to_le_bytes()[0];
        self.len += 1;
    }

    /// Appends the header to a list of bytes.
    #[inline]
    pub(super) fn append_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
}

impl Deref for HeaderBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl fmt::Debug for HeaderBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Reads the number at `at` and moves `at` past it; `None`, with `at` at the end of the bytes, if the number is
/// cut short.
#[inline]
fn number(bytes: &[u8], at: &mut usize) -> Result<Option<u64>, Error> {
    let start = *at;
    let (mut number, mut shift) = (0_u64, 0);
    while let Some(&byte) = bytes.get(*at) {
        let digits = u64::from(byte & 0x7F);
        // A last group of zeros is redundant, and 64 bits leave only one bit for the tenth group.
        if (byte == 0 && shift > 0) || (shift == 63 && byte > 1) {
            return Err(Error::Number { offset: 1 + start });
        }
        *at += 1;
        number |= digits << shift;
        if byte < 0x80 {
            return Ok(Some(number));
        }
        shift += 7;
    }
    // At least one byte more than was passed.
    *at += 1;
    Ok(None)
}

fn payload_len(count: u64, record_size: u64) -> Result<u64, Error> {
    count.checked_mul(record_size).ok_or(Error::PayloadLength { count, record_size })
}

fn narrow(bytes: &[u8; Header::FULL_LEN], at: usize) -> u32 {
    u32::from_le_bytes([0, 1, 2, 3].map(|i| bytes[at + i]))
}

fn wide(bytes: &[u8; Header::FULL_LEN], at: usize) -> u64 {
    u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|i| bytes[at + i]))
}

/// Reads until the buffer is full or the stream ends; returns the number of bytes read.
pub(super) fn fill(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match fill_some(input, &mut buffer[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

/// Reads the available bytes, at least one unless the stream ends; returns their number.
pub(super) fn fill_some(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(buffer) {
            Ok(count) if count <= buffer.len() => return Ok(count),
            Ok(_) => {
                let problem = "a reader claims more bytes than it had room for";
                return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A name for a type made at run time: its first runs of basic datatypes.
fn name_of(ty: &Type) -> String {
    let mut name = String::new();
    for (index, (basic, count)) in ty.signature().runs().enumerate() {
        if index > 0 {
            name.push_str(", ");
        }
        if index == 4 {
            name.push('…');
            break;
        }
        name.push_str(basic.name());
        if count > 1 {
            name.push_str(" × ");
            name.push_str(&count.to_string());
        }
    }
    name
}

//! Encodes and decodes headers. The crate's documentation has the format.

use core::fmt;
use core::ops::Deref;

use super::{Header, payload_len};
use crate::error::Error;
use crate::{MAGIC, VERSION};
use dtype_runtime::representation::ByteOrder;

/// The offset of a full header's own checksum.
const CHECKSUM: usize = Header::FULL_LEN - 4;

/// Bytes of a checksum at the end of a frame.
pub(crate) const CHECKSUM_LEN: usize = 4;

/// The first byte of a compact frame without any of its bits.
pub(crate) const COMPACT: u8 = 0x80;
pub(crate) const IS_BIG_ENDIAN: u8 = 1;
pub(crate) const HAS_CHECKSUM: u8 = 1 << 1;
pub(crate) const HAS_SIGNATURE: u8 = 1 << 2;
const HAS_SCHEMA: u8 = 1 << 3;
const HAS_COUNT: u8 = 1 << 4;
const VERSION_BIT: u8 = 1 << 5;

/// The bytes of a header; dereferences to a slice.
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
    /// Only the start of a header was passed. The header has at least this many bytes.
    Needs(usize),
}

impl Header {
    /// The header's bytes.
    #[inline]
    pub fn to_bytes(&self) -> HeaderBytes {
        if self.is_compact { self.compact_bytes() } else { self.full_bytes() }
    }

    fn full_bytes(&self) -> HeaderBytes {
        let mut bytes = [0; Self::FULL_LEN];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = VERSION;
        bytes[5] = if self.byte_order == ByteOrder::Little { 1 } else { 2 };
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
        if self.has_checksum {
            first |= HAS_CHECKSUM;
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

    /// The checksum of a header and of the bytes of payload after it. For the header, its own checksum is used, because a
    /// checksum must not cover another one: data followed by their own CRC always have the same checksum.
    #[inline]
    pub(crate) fn checksum(covered: &[u8]) -> u32 {
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
        let (words, _) = bytes.as_chunks();
        let word = |index: usize| u64::from_le_bytes(words[index]);
        let (count, record_size, schema) = (word(2), word(3), word(4));
        Ok(Self {
            is_compact: false,
            has_checksum: true,
            byte_order,
            tag: narrow(bytes, 40),
            signature_hash: Some(word(1)),
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
    /// use dtype_message::{Decoded, Framing, Header};
    /// let header = Header::of::<[u16; 2]>(1, Framing::compact().with_tag(7))?;
    /// let bytes = header.to_bytes();
    /// assert_eq!(bytes.len(), 7);
    /// assert_eq!(Header::decode(&bytes)?, Decoded::Header(header, 7));
    /// assert_eq!(Header::decode(&bytes[..3])?, Decoded::Needs(7));
    /// # Ok::<(), dtype_message::Error>(())
    /// ```
    pub fn decode(bytes: &[u8]) -> Result<Decoded, Error> {
        let mut header = None;
        let len = Self::decode_to(&mut header, bytes)?;
        Ok(match header {
            Some(header) => Decoded::Header(header, len),
            None => Decoded::Needs(len),
        })
    }

    /// As [`decode`](Self::decode), but writes the header to where it stays: copying it right after it was written takes longer
    /// than decoding it. Returns the length of the header. If that is more than the bytes passed, it is a lower bound, and `to`
    /// is unchanged.
    #[inline(always)]
    pub(crate) fn decode_to(to: &mut Option<Self>, bytes: &[u8]) -> Result<usize, Error> {
        match bytes {
            [] => Ok(1),
            [first, rest @ ..] if first & 0xC0 == COMPACT => Self::decode_compact(to, *first, rest),
            [a, b, c, d, ..] if [*a, *b, *c, *d] != MAGIC => {
                Err(Error::Magic { actual: [*a, *b, *c, *d] })
            }
            [_, _, _, _, version, ..] if *version != VERSION => {
                Err(Error::Version { actual: *version })
            }
            // The error needs all four bytes.
            [_] | [_, _] | [_, _, _] if !MAGIC.starts_with(bytes) => Ok(MAGIC.len()),
            _ => {
                if let Some(header) = bytes.first_chunk() {
                    *to = Some(Self::from_bytes(header)?);
                }
                Ok(Self::FULL_LEN)
            }
        }
    }

    #[inline(always)]
    fn decode_compact(to: &mut Option<Self>, first: u8, rest: &[u8]) -> Result<usize, Error> {
        let has = |bit| first & bit != 0;
        if has(VERSION_BIT) || (has(HAS_SIGNATURE) && has(HAS_SCHEMA)) {
            return Err(Error::Reserved { offset: 0, actual: first.into() });
        }
        // The least number of bytes after the number that is being read.
        let hash_len = if has(HAS_SIGNATURE) || has(HAS_SCHEMA) { 4 } else { 0 };
        let count_len = usize::from(has(HAS_COUNT));
        let mut at = 0;
        let Some(tag) = number(rest, &mut at)? else {
            return Ok(1 + at + count_len + 1 + hash_len);
        };
        let tag = u32::try_from(tag).map_err(|_| Error::Number { offset: 1 })?;
        let mut count = 1;
        if has(HAS_COUNT) {
            let offset = 1 + at;
            let Some(number) = number(rest, &mut at)? else {
                return Ok(1 + at + 1 + hash_len);
            };
            if number == 1 {
                return Err(Error::Number { offset });
            }
            count = number;
        }
        let Some(record_size) = number(rest, &mut at)? else {
            return Ok(1 + at + hash_len);
        };
        let Some(hash) = rest.get(at..at + hash_len) else {
            return Ok(1 + at + hash_len);
        };
        let hash = hash.first_chunk().map(|hash| u32::from_le_bytes(*hash).into());
        *to = Some(Self {
            is_compact: true,
            has_checksum: has(HAS_CHECKSUM),
            byte_order: if has(IS_BIG_ENDIAN) { ByteOrder::Big } else { ByteOrder::Little },
            tag,
            signature_hash: hash.filter(|_| has(HAS_SIGNATURE)),
            schema_hash: hash.filter(|_| has(HAS_SCHEMA)),
            count,
            record_size,
            payload_len: payload_len(count, record_size)?,
        });
        Ok(1 + at + hash_len)
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

/// Reads the number at `at` and moves `at` past it. If the number is cut short, returns `None`, and `at` is past the end of the
/// bytes.
#[inline(always)]
fn number(bytes: &[u8], at: &mut usize) -> Result<Option<u64>, Error> {
    match bytes.get(*at) {
        Some(&byte) if byte < 0x80 => {
            *at += 1;
            Ok(Some(byte.into()))
        }
        _ => long_number(bytes, at),
    }
}

/// As [`number`], for a number of more than one byte.
fn long_number(bytes: &[u8], at: &mut usize) -> Result<Option<u64>, Error> {
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

#[inline]
fn narrow(bytes: &[u8; Header::FULL_LEN], at: usize) -> u32 {
    u32::from_le_bytes([0, 1, 2, 3].map(|i| bytes[at + i]))
}

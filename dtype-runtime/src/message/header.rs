//! The fixed bytes in front of a payload.

use std::io::{self, Read};

use super::error::{Error, Part};
use super::limits::Limits;
use crate::datatype::Datatype;
use crate::representation::{ByteOrder, Representation};
use crate::types::Type;

/// The first bytes of a frame. No text begins like this: `D7` starts a character of two bytes in UTF-8, and
/// `44` does not end one.
pub(super) const MAGIC: [u8; 4] = [0xD7, b'D', b'T', b'M'];

/// A change of what the bytes mean takes a new version; magic and version stay where they are.
pub(super) const VERSION: u8 = 1;

/// Where the header's own checksum is.
const CHECKSUM: usize = Header::SIZE - 4;

/// What a message says about its records, before them.
///
/// The [module](super) has the bytes. A header that was read is consistent: its checksum was right, and the
/// payload is as long as so many records of this size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    byte_order: ByteOrder,
    signature_hash: u64,
    count: u64,
    record_size: u64,
    payload_len: u64,
}

const fn mark(order: ByteOrder) -> u8 {
    match order {
        ByteOrder::Little => 1,
        ByteOrder::Big => 2,
    }
}

impl Header {
    /// Bytes of a header.
    pub const SIZE: usize = 48;

    /// That of `count` records, packed on this machine.
    pub(super) fn new(
        signature_hash: u64,
        record_size: u64,
        count: usize,
    ) -> Result<Self, crate::Error> {
        let count = count as u64;
        let payload_len = record_size
            .checked_mul(count)
            .ok_or(crate::Error::CountTooLarge { count, size: record_size })?;
        let byte_order = ByteOrder::NATIVE;
        Ok(Self { byte_order, signature_hash, count, record_size, payload_len })
    }

    /// The byte order of the numbers in the records. Those of the frame itself are always little-endian.
    pub fn byte_order(&self) -> ByteOrder {
        self.byte_order
    }

    /// The hash of the type signature of a record: [`Type::signature_hash`].
    pub fn signature_hash(&self) -> u64 {
        self.signature_hash
    }

    /// Number of records.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Packed bytes of a record.
    pub fn record_size(&self) -> u64 {
        self.record_size
    }

    /// Bytes of the payload: those of all records.
    pub fn payload_len(&self) -> u64 {
        self.payload_len
    }

    /// The header's bytes.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = VERSION;
        bytes[5] = mark(self.byte_order);
        bytes[8..16].copy_from_slice(&self.signature_hash.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.count.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.record_size.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.payload_len.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[..CHECKSUM]);
        bytes[CHECKSUM..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// The header's own checksum, which that of the whole frame goes on from. What a checksum covers must not
    /// include another one: data followed by their own CRC have always the same.
    pub(super) fn checksum(&self) -> u32 {
        narrow(&self.to_bytes(), CHECKSUM)
    }

    /// The header that these bytes are.
    ///
    /// # Errors
    ///
    /// [`Error::Magic`], [`Error::Version`], [`Error::HeaderChecksum`], [`Error::ByteOrderMark`],
    /// [`Error::Reserved`] and [`Error::PayloadLength`], the first of them that applies.
    pub fn from_bytes(bytes: &[u8; Self::SIZE]) -> Result<Self, Error> {
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
        for (offset, actual) in [(6, flags), (40, narrow(bytes, 40))] {
            if actual != 0 {
                return Err(Error::Reserved { offset, actual });
            }
        }
        let [signature_hash, count, record_size, payload_len] =
            [8, 16, 24, 32].map(|at| wide(bytes, at));
        if count.checked_mul(record_size) != Some(payload_len) {
            return Err(Error::PayloadLength { count, record_size, actual: payload_len });
        }
        Ok(Self { byte_order, signature_hash, count, record_size, payload_len })
    }

    /// Reads a header, and not a byte more; `None` where the stream ends before its first byte. To take what
    /// follows, make an [`Incoming`](super::Incoming) of it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], [`Error::Truncated`], and those of [`from_bytes`](Self::from_bytes). If the stream
    /// fails before the first byte, it can be read again.
    pub fn read(input: &mut impl Read) -> Result<Option<Self>, Error> {
        let mut bytes = [0; Self::SIZE];
        match fill(input, &mut bytes)? {
            0 => Ok(None),
            Self::SIZE => Self::from_bytes(&bytes).map(Some),
            came => {
                let (expected, actual) = (Self::SIZE as u64, came as u64);
                Err(Error::Truncated { part: Part::Header, expected, actual })
            }
        }
    }

    /// How the values in the records are represented: as on this machine, in the byte order of the message.
    pub(super) fn representation(&self) -> Representation {
        match self.byte_order {
            order if order == ByteOrder::NATIVE => Representation::Native,
            ByteOrder::Little => Representation::LittleEndian,
            ByteOrder::Big => Representation::BigEndian,
        }
    }

    /// Whether the records can be unpacked as `T` here.
    ///
    /// # Errors
    ///
    /// [`crate::Error::SignatureMismatch`] inside [`Error::Datatype`];
    /// [`Error::RecordSize`].
    pub fn check<T: Datatype>(&self) -> Result<(), Error> {
        self.compare(
            T::TYPE_MAP.check_signature_hash(self.signature_hash),
            T::TYPE_MAP.size() as u64,
        )
    }

    /// Whether the records can be unpacked as instances of `ty` here: they have its signature, whatever the
    /// layout.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check).
    pub fn check_type(&self, ty: &Type) -> Result<(), Error> {
        self.compare(ty.check_signature_hash(self.signature_hash), ty.size())
    }

    fn compare(&self, signature: Result<(), crate::Error>, expected: u64) -> Result<(), Error> {
        let actual = self.record_size;
        signature?;
        if expected != actual {
            return Err(Error::RecordSize { expected, actual });
        }
        Ok(())
    }

    /// Whether the message stays within the limits.
    ///
    /// # Errors
    ///
    /// [`Error::PayloadLimit`], [`Error::RecordLimit`].
    pub fn check_limits(&self, limits: &Limits) -> Result<(), Error> {
        let (limit, actual) = (limits.max_payload_bytes(), self.payload_len);
        if actual > limit {
            return Err(Error::PayloadLimit { limit, actual });
        }
        self.check_count(limits.max_records())
    }

    pub(super) fn check_count(&self, limit: u64) -> Result<(), Error> {
        let actual = self.count;
        if actual > limit { Err(Error::RecordLimit { limit, actual }) } else { Ok(()) }
    }

    /// Number of records, packed bytes of each, and packed bytes of all, as numbers that can be addressed.
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

fn narrow(bytes: &[u8; Header::SIZE], at: usize) -> u32 {
    u32::from_le_bytes([0, 1, 2, 3].map(|i| bytes[at + i]))
}

fn wide(bytes: &[u8; Header::SIZE], at: usize) -> u64 {
    u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|i| bytes[at + i]))
}

/// Reads until the buffer is full or the stream ends; how many bytes came.
pub(super) fn fill(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        let room = &mut buffer[filled..];
        match input.read(room) {
            Ok(0) => break,
            Ok(n) if n <= room.len() => filled += n,
            Ok(_) => {
                let problem = "a reader claims more bytes than it had room for";
                return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

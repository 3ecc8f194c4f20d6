//! The description of a message's records.
//!
//! ```text
//! bytes   the format of a frame; headers to and from bytes
//! check   whether the records are what the receiver expects, and not too many
//! ```

mod bytes;
mod check;

use crate::CHUNK;
use crate::error::Error;
use crate::framing::Framing;
use crate::schema::schema_hash;
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::{Datatype, Type};

pub(crate) use bytes::{CHECKSUM_LEN, COMPACT, HAS_CHECKSUM, HAS_SIGNATURE, IS_BIG_ENDIAN};
pub use bytes::{Decoded, HeaderBytes};

/// The description of a message's records, which precedes them.
///
/// A header that was read is consistent: the length of the payload fits 64 bits, and the checksum of a full header is right.
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
    has_checksum: bool,
    byte_order: ByteOrder,
    tag: u32,
    /// In a compact frame, 32 bits of the hash. A compact frame never has both hashes.
    signature_hash: Option<u64>,
    schema_hash: Option<u64>,
    count: u64,
    record_size: u64,
    payload_len: u64,
}

/// 32 bits of a hash.
pub(crate) const fn folded(hash: u64) -> u64 {
    (hash ^ (hash >> 32)) & 0xFFFF_FFFF
}

/// The hash of the signature, or of the schema, of a head and the records after it, from the hashes of both. It is never 0.
pub(crate) const fn combined(head: u64, records: u64) -> u64 {
    let mixed = (head.rotate_left(32) ^ records).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    let mixed = mixed ^ (mixed >> 32);
    if mixed == 0 { 1 } else { mixed }
}

const fn combined_signature<H: Datatype, T: Datatype>() -> u64 {
    combined(H::TYPE_MAP.signature_hash(), T::TYPE_MAP.signature_hash())
}

const fn combined_schema<H: Datatype, T: Datatype>() -> u64 {
    combined(schema_hash::<H>(), schema_hash::<T>())
}

impl Header {
    /// Bytes of the header of a full frame.
    pub const FULL_LEN: usize = 48;

    /// The header of `count` records of the type `T`, packed on this machine.
    ///
    /// # Errors
    ///
    /// [`CountTooLarge`](dtype_runtime::Error::CountTooLarge) inside [`Error::Records`].
    pub fn of<T: Datatype>(count: usize, framing: Framing) -> Result<Self, Error> {
        let schema = framing.has_schema().then_some(const { schema_hash::<T>() });
        Self::new(T::TYPE_MAP.signature_hash(), schema, T::TYPE_MAP.size() as u64, count, framing)
    }

    /// The signature hash of a message of a head and records after it, from the signature hashes of both. The hash of the schema
    /// follows in the same way.
    pub const fn combined_hash(head: u64, records: u64) -> u64 {
        combined(head, records)
    }

    /// The header of a head and `count` records after it, packed on this machine: a single record of their length.
    ///
    /// # Errors
    ///
    /// As [`of`](Self::of).
    pub(crate) fn with_head<H: Datatype, T: Datatype>(
        count: usize,
        framing: Framing,
    ) -> Result<Self, Error> {
        let schema = framing.has_schema().then_some(const { combined_schema::<H, T>() });
        let (head, size) = (H::TYPE_MAP.size() as u64, T::TYPE_MAP.size() as u64);
        let len = size.checked_mul(count as u64).and_then(|len| len.checked_add(head));
        let len = len.ok_or(dtype_runtime::Error::CountTooLarge { count: count as u64, size })?;
        Self::new(const { combined_signature::<H, T>() }, schema, len, 1, framing)
    }

    /// Whether the records have this signature, as far as the frame tells.
    pub(crate) fn has_signature(&self, signature: u64) -> bool {
        let signature = if self.is_compact { folded(signature) } else { signature };
        self.signature_hash.is_none_or(|hash| hash == signature)
    }

    /// The header of the message whose `count` records have another size, after a head of this size if there is one. It has no
    /// hash.
    pub(crate) fn converted(
        &self,
        head: Option<usize>,
        record: usize,
        count: u64,
    ) -> Result<Self, Error> {
        let record_size = record as u64;
        let payload_len = payload_len(count, record_size)?
            .checked_add(head.unwrap_or(0) as u64)
            .ok_or(Error::PayloadLength { count, record_size })?;
        let (count, record_size) =
            if head.is_some() { (1, payload_len) } else { (count, record_size) };
        Ok(Self {
            is_compact: false,
            signature_hash: None,
            schema_hash: None,
            count,
            record_size,
            payload_len,
            ..*self
        })
    }

    /// The header of `count` instances of a type, packed on this machine. A type has no names, so it has no schema.
    ///
    /// # Errors
    ///
    /// As [`of`](Self::of).
    pub fn of_type(ty: &Type, count: usize, framing: Framing) -> Result<Self, Error> {
        Self::new(ty.signature_hash(), None, ty.size(), count, framing)
    }

    /// The header of one record without a schema. Unlike [`of`](Self::of), it is made where it stays, and cannot fail.
    #[inline(always)]
    pub(crate) fn of_one<T: Datatype>(framing: Framing) -> Self {
        let (signature, size) = (T::TYPE_MAP.signature_hash(), T::TYPE_MAP.size() as u64);
        Self::with_payload(signature, None, size, 1, size, framing)
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
            .ok_or(dtype_runtime::Error::CountTooLarge { count, size: record_size })?;
        Ok(Self::with_payload(signature, schema, record_size, count, payload_len, framing))
    }

    #[inline(always)]
    fn with_payload(
        signature: u64,
        schema: Option<u64>,
        record_size: u64,
        count: u64,
        payload_len: u64,
        framing: Framing,
    ) -> Self {
        let is_compact = framing.is_compact();
        let (signature_hash, schema_hash) = match (is_compact, schema) {
            (false, _) => (Some(signature), schema),
            (true, _) if !framing.has_signature() => (None, None),
            (true, None) => (Some(folded(signature)), None),
            (true, Some(schema)) => (None, Some(folded(schema))),
        };
        Self {
            is_compact,
            has_checksum: framing.has_checksum(),
            byte_order: ByteOrder::NATIVE,
            tag: framing.tag(),
            signature_hash,
            schema_hash,
            count,
            record_size,
            payload_len,
        }
    }

    /// The framing of the message, for a reply in the same framing.
    pub fn framing(&self) -> Framing {
        Framing {
            tag: self.tag,
            is_compact: self.is_compact,
            has_checksum: self.has_checksum,
            has_signature: self.signature_hash.or(self.schema_hash).is_some(),
            has_schema: self.schema_hash.is_some(),
        }
    }

    /// The same header with this tag.
    pub(crate) fn with_tag(self, tag: u32) -> Self {
        Self { tag, ..self }
    }

    /// Whether the frame is compact.
    pub fn is_compact(&self) -> bool {
        self.is_compact
    }

    /// The tag: the number that the application gives this kind of message. 0 unless the sender has set it.
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

    /// The hash of the schema of a record, [`Schema::hash`](crate::Schema::hash), if the frame has it. In a compact
    /// frame, 32 bits of it.
    pub fn schema_hash(&self) -> Option<u64> {
        self.schema_hash
    }

    /// Number of records. A message with a head is one record, of the length of the head and of the list after it.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Packed bytes of a record.
    pub fn record_size(&self) -> u64 {
        self.record_size
    }

    /// Bytes of the header.
    pub fn header_len(&self) -> usize {
        self.to_bytes().len()
    }

    /// Bytes of the payload: all records together.
    pub fn payload_len(&self) -> u64 {
        self.payload_len
    }

    /// Bytes of the checksum after the payload.
    pub fn checksum_len(&self) -> usize {
        if self.has_checksum { CHECKSUM_LEN } else { 0 }
    }

    /// Bytes of the whole frame; `u64::MAX` if there are more.
    pub fn frame_len(&self) -> u64 {
        let around = self.header_len() + self.checksum_len();
        self.payload_len.saturating_add(around as u64)
    }

    /// Whether the values in the records are in the other byte order than this machine's.
    pub(crate) fn is_reversed(&self) -> bool {
        self.byte_order != ByteOrder::NATIVE
    }

    /// Number of records, packed bytes of each, and packed bytes of all, as numbers that this machine can address.
    #[inline]
    pub(crate) fn in_memory(&self) -> Result<Sizes, dtype_runtime::Error> {
        let narrow = |number: u64| {
            let (count, size) = (self.count, self.record_size);
            usize::try_from(number).map_err(|_| dtype_runtime::Error::CountTooLarge { count, size })
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
pub(crate) struct Sizes {
    pub(crate) count: usize,
    pub(crate) record: usize,
    pub(crate) payload: usize,
}

impl Header {
    /// The best number of payload bytes to move at a time: as many whole records as fit a chunk, or one record.
    pub(crate) fn piece(&self) -> usize {
        // Most messages fit a single piece.
        if self.payload_len <= CHUNK as u64 {
            return CHUNK;
        }
        let record = usize::try_from(self.record_size).unwrap_or(usize::MAX);
        if record > CHUNK { record } else { CHUNK - CHUNK % record.max(1) }
    }
}

fn payload_len(count: u64, record_size: u64) -> Result<u64, Error> {
    match count.checked_mul(record_size) {
        Some(len) => Ok(len),
        None => Err(Error::PayloadLength { count, record_size }),
    }
}

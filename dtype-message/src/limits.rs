//! Limits that a receiver sets: the largest message, and the checks that it requires.

/// The largest message that a receiver accepts, and the protection that it requires. The receiver compares the header with both
/// before it allocates anything.
///
/// | limit | of |
/// |---|---|
/// | [`with_max_payload_bytes`](Self::with_max_payload_bytes) | the packed bytes of any message, and the memory of its records |
/// | [`with_max_records`](Self::with_max_records) | the records of a message: 1, or the length of the list. Not of text |
/// | [`with_max_text_bytes`](Self::with_max_text_bytes) | the bytes of text, in UTF-8; those of a `Vec<u8>` are records |
///
/// A variant of an enum of [`Messages`](crate::Messages) can have limits of its own, of which the stricter one counts:
/// `#[dtype(max_records = 256)]`, `max_text_bytes`, `max_payload_bytes`.
///
/// ```
/// use dtype_message::Limits;
/// const LIMITS: Limits = Limits::new().with_max_payload_bytes(1 << 20).with_max_records(10_000);
/// assert_eq!(LIMITS.max_records(), 10_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    max_payload_bytes: u64,
    max_records: u64,
    max_text_bytes: u64,
    allows_missing_checksum: bool,
    allows_missing_signature: bool,
}

impl Limits {
    /// The memory of records may be this many times their payload, whatever the limit on the payload.
    pub const MEMORY_OF_PAYLOAD: u64 = 16;

    /// A list of records that take no memory and have a destructor has at most this many, whatever the limits: no byte on the
    /// stream bounds their number, and each of them takes time.
    pub const MAX_RECORDS_WITHOUT_DATA: u64 = 1 << 20;

    /// Messages of any size, with checksum and signature: for trusted senders, and for callers that inspect the
    /// header first.
    pub const UNLIMITED: Self = Self {
        max_payload_bytes: u64::MAX,
        max_records: u64::MAX,
        max_text_bytes: u64::MAX,
        allows_missing_checksum: false,
        allows_missing_signature: false,
    };

    /// One GiB of payload, of which all may be text, and 2³⁰ records, with checksum and signature. Memory is allocated as the
    /// payload arrives: at most for twice the records that have arrived.
    pub const fn new() -> Self {
        Self { max_payload_bytes: 1 << 30, max_records: 1 << 30, ..Self::UNLIMITED }
    }

    /// Limits the payload of every message, in bytes: packed records, or text. Records whose type has padding, skipped fields or
    /// a large alignment take more memory than payload. If they take more than
    /// [`MEMORY_OF_PAYLOAD`](Self::MEMORY_OF_PAYLOAD) times as much, this limit applies to the memory, too. Memory that the
    /// caller already has, for [`read_into`](crate::Incoming::read_into) or for one record, is not limited.
    ///
    /// ```
    /// use dtype_message::{Error, Limits};
    /// #[derive(dtype_runtime::Datatype, Clone, Debug)]
    /// #[repr(align(4096))]
    /// struct Page(u8);
    ///
    /// let mut stream = Vec::new();
    /// dtype_message::write(&mut stream, &vec![Page(7); 1000])?;
    /// assert_eq!(stream.len(), 1052);
    /// let limits = Limits::new().with_max_payload_bytes(1 << 20);
    /// let refused = dtype_message::read::<Page>(&mut &stream[..], &limits).unwrap_err();
    /// assert!(matches!(refused, Error::PayloadLimit { actual: 4_096_000, .. }));
    /// # Ok::<(), dtype_message::Error>(())
    /// ```
    #[must_use]
    pub const fn with_max_payload_bytes(self, bytes: u64) -> Self {
        Self { max_payload_bytes: bytes, ..self }
    }

    /// Limits the number of records in a message: the elements of a `Vec`, a byte of a `Vec<u8>` included. The bytes of text are
    /// not records. Where the type is unknown, [`Incoming::packed`](crate::Incoming::packed) and
    /// [`skip`](crate::Incoming::skip) do not apply this limit.
    #[must_use]
    pub const fn with_max_records(self, records: u64) -> Self {
        Self { max_records: records, ..self }
    }

    /// Limits the text of a message, in bytes of UTF-8. The text is payload, too.
    ///
    /// ```
    /// use dtype_message::{Framing, Limits};
    /// let mut stream = Vec::new();
    /// dtype_message::send(&mut stream, &"x".repeat(300), Framing::new())?;
    /// let records = Limits::new().with_max_records(256);
    /// assert!(dtype_message::receive::<String>(&mut &stream[..], &records)?.is_some());
    /// let text = records.with_max_text_bytes(256);
    /// let refused = dtype_message::receive::<String>(&mut &stream[..], &text).unwrap_err();
    /// assert_eq!(refused.to_string(), "a message of 300 bytes of text exceeds the limit of 256");
    /// # Ok::<(), dtype_message::Error>(())
    /// ```
    #[must_use]
    pub const fn with_max_text_bytes(self, bytes: u64) -> Self {
        Self { max_text_bytes: bytes, ..self }
    }

    /// Also accepts compact frames without a checksum, for transports that detect damage. By default they are refused: one
    /// damaged bit could tell the receiver not to check for damage.
    #[must_use]
    pub const fn allow_missing_checksum(self) -> Self {
        Self { allows_missing_checksum: true, ..self }
    }

    /// Also accepts compact frames without a hash of the signature or the schema. Records of the right size then count as the
    /// right type. By default such frames are refused.
    #[must_use]
    pub const fn allow_missing_signature(self) -> Self {
        Self { allows_missing_signature: true, ..self }
    }

    /// The largest payload, in bytes.
    pub const fn max_payload_bytes(&self) -> u64 {
        self.max_payload_bytes
    }

    /// The largest number of records.
    pub const fn max_records(&self) -> u64 {
        self.max_records
    }

    /// The longest text, in bytes.
    pub const fn max_text_bytes(&self) -> u64 {
        self.max_text_bytes
    }

    /// These limits and those of a kind of message: the stricter one of each.
    pub(crate) fn and(self, payload_bytes: u64, records: u64, text_bytes: u64) -> Self {
        Self {
            max_payload_bytes: self.max_payload_bytes.min(payload_bytes),
            max_records: self.max_records.min(records),
            max_text_bytes: self.max_text_bytes.min(text_bytes),
            ..self
        }
    }

    /// Whether compact frames without a checksum are accepted.
    pub const fn allows_missing_checksum(&self) -> bool {
        self.allows_missing_checksum
    }

    /// Whether compact frames without a signature are accepted.
    pub const fn allows_missing_signature(&self) -> bool {
        self.allows_missing_signature
    }
}

impl Default for Limits {
    /// [`Limits::new`].
    fn default() -> Self {
        Self::new()
    }
}

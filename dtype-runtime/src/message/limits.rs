//! Limits that a receiver sets: the largest message, and the checks that it requires.

/// The largest message that a receiver accepts, and the protection that it requires. Both are compared with the
/// header before anything is allocated.
///
/// ```
/// use dtype_runtime::message::Limits;
/// const LIMITS: Limits = Limits::new().with_max_payload_bytes(1 << 20).with_max_records(10_000);
/// assert_eq!(LIMITS.max_records(), 10_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    max_payload_bytes: u64,
    max_records: u64,
    allows_missing_checksum: bool,
    allows_missing_signature: bool,
}

impl Limits {
    /// Messages of any size, with checksum and signature: for trusted senders, and for callers that inspect the
    /// header first.
    pub const UNLIMITED: Self = Self {
        max_payload_bytes: u64::MAX,
        max_records: u64::MAX,
        allows_missing_checksum: false,
        allows_missing_signature: false,
    };

    /// One GiB of payload and 2³⁰ records, with checksum and signature. Memory is allocated as the payload arrives,
    /// so a receiver uses this much only after a sender has sent this much.
    pub const fn new() -> Self {
        Self { max_payload_bytes: 1 << 30, max_records: 1 << 30, ..Self::UNLIMITED }
    }

    /// Limits the payload, in bytes. The records may take proportionally more in memory, because the receiver's
    /// type has padding and skipped fields as well.
    #[must_use]
    pub const fn with_max_payload_bytes(self, bytes: u64) -> Self {
        Self { max_payload_bytes: bytes, ..self }
    }

    /// Limits the number of records. Records without data always have an empty payload; where they would be
    /// allocated, their size in memory is compared with the limit of the payload.
    #[must_use]
    pub const fn with_max_records(self, records: u64) -> Self {
        Self { max_records: records, ..self }
    }

    /// Also accepts compact frames without a checksum, for a transport that finds damage. By default they are
    /// refused: one damaged bit could tell the receiver not to look for damage.
    #[must_use]
    pub const fn allow_missing_checksum(self) -> Self {
        Self { allows_missing_checksum: true, ..self }
    }

    /// Also accepts compact frames without a hash of the signature or the schema. Their records pass for the right
    /// type if they have the right size. By default such frames are refused.
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

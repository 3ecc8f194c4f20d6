//! What a receiver is ready to take.

/// How large a message may be. Held against the header, before anything is allocated.
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
}

impl Limits {
    /// Whatever the sender likes: for senders that are trusted, and where the caller looks at the header.
    pub const UNLIMITED: Self = Self { max_payload_bytes: u64::MAX, max_records: u64::MAX };

    /// One GiB of payload, and 2³⁰ records. Memory is taken as the payload arrives, so this much is taken
    /// only when a sender has sent this much.
    pub const fn new() -> Self {
        Self { max_payload_bytes: 1 << 30, max_records: 1 << 30 }
    }

    /// With at most so many bytes of payload. The records may take more than that in memory, in proportion:
    /// a receiver's type has padding and skipped fields besides.
    #[must_use]
    pub const fn with_max_payload_bytes(self, bytes: u64) -> Self {
        Self { max_payload_bytes: bytes, ..self }
    }

    /// With at most so many records. It is the number that counts where records have no data, whose payload
    /// is empty however many there are.
    #[must_use]
    pub const fn with_max_records(self, records: u64) -> Self {
        Self { max_records: records, ..self }
    }

    /// Bytes of payload that are taken.
    pub const fn max_payload_bytes(&self) -> u64 {
        self.max_payload_bytes
    }

    /// Records that are taken.
    pub const fn max_records(&self) -> u64 {
        self.max_records
    }
}

impl Default for Limits {
    /// [`Limits::new`].
    fn default() -> Self {
        Self::new()
    }
}

//! The form of a frame, and what it carries besides the records: a tag, hashes, a checksum.

/// The frame that a message is sent in: full or compact, with a tag, and with the data for the receiver's checks.
///
/// | | full | compact |
/// |---|---|---|
/// | bytes besides the payload | 52 | 11 for one record, 12 for several, with tag, size and count below 128 |
/// | damage | found; the next message can still be read | found at the end; the stream is lost |
/// | records of another type | found, by 64 bits | found, by 32 bits |
///
/// A compact frame has no separate checksum for the header. If damage changes the size in the header, the receiver may need
/// bytes that never arrive, or may take bytes of the next frame as part of this one. In the second case the checksum is wrong,
/// and the receiver no longer knows where the next frame starts. For a datagram that holds one frame, this does not matter.
///
/// ```
/// use dtype_message::{Framing, Limits};
/// let mut stream = Vec::new();
/// let framing = Framing::compact().with_tag(7);
/// assert_eq!(dtype_message::send(&mut stream, &(1.5_f32, 2_u32), framing)?, 8 + 11);
/// let bare = framing.without_checksum().without_signature();
/// assert_eq!(dtype_message::send(&mut stream, &(1.5_f32, 2_u32), bare)?, 8 + 3);
///
/// let input = &mut &stream[..];
/// let limits = Limits::new().allow_missing_checksum().allow_missing_signature();
/// assert_eq!(dtype_message::receive(input, &limits)?, Some((1.5_f32, 2_u32)));
/// assert_eq!(dtype_message::receive(input, &limits)?, Some((1.5_f32, 2_u32)));
/// # Ok::<(), dtype_message::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is what a frame has or lacks")]
pub struct Framing {
    pub(crate) tag: u32,
    /// A full frame has a checksum and a signature.
    pub(crate) is_compact: bool,
    pub(crate) has_checksum: bool,
    /// Whether it has a hash, of the signature or of the schema.
    pub(crate) has_signature: bool,
    pub(crate) has_schema: bool,
}

impl Framing {
    /// A full frame with the tag 0.
    pub const fn new() -> Self {
        Self {
            tag: 0,
            is_compact: false,
            has_checksum: true,
            has_signature: true,
            has_schema: false,
        }
    }

    /// A compact frame with the tag 0, a checksum and 32 bits of the signature's hash.
    pub const fn compact() -> Self {
        Self { is_compact: true, ..Self::new() }
    }

    /// Sets the tag, a number of the application that the receiver sees before the payload. `#[derive(Messages)]`
    /// sets it to the variant's tag.
    #[must_use]
    pub const fn with_tag(self, tag: u32) -> Self {
        Self { tag, ..self }
    }

    /// Adds the hash of the [`Schema`](crate::Schema), so that a receiver refuses records whose fields have the same types
    /// under other names. In a compact frame, this hash replaces that of the signature.
    ///
    /// Types made at run time have no names, so no schema hash is sent for them. A receiver whose type was made at run time
    /// compares the signature of a full frame, and refuses a compact frame with a schema's hash.
    #[must_use]
    pub const fn with_schema(self) -> Self {
        Self { has_schema: true, ..self }
    }

    /// Omits the checksum of a compact frame, which saves four bytes. Damage is then no longer detected, unless the transport
    /// detects it. A full frame keeps its checksum.
    #[must_use]
    pub const fn without_checksum(self) -> Self {
        Self { has_checksum: !self.is_compact, ..self }
    }

    /// Omits the hash of the signature or the schema from a compact frame, which saves four bytes. Records of
    /// another type are then refused only if their size differs. A full frame keeps its hash.
    #[must_use]
    pub const fn without_signature(self) -> Self {
        Self { has_signature: !self.is_compact, ..self }
    }

    /// The tag.
    pub const fn tag(&self) -> u32 {
        self.tag
    }

    /// Whether the frame is compact.
    pub const fn is_compact(&self) -> bool {
        self.is_compact
    }

    /// Whether the frame has a checksum.
    pub const fn has_checksum(&self) -> bool {
        self.has_checksum
    }

    /// Whether the frame has a hash of the signature or the schema.
    pub const fn has_signature(&self) -> bool {
        self.has_signature
    }

    /// Whether the frame has the hash of the schema.
    pub const fn has_schema(&self) -> bool {
        self.has_schema && self.has_signature()
    }
}

impl Default for Framing {
    /// [`Framing::new`].
    fn default() -> Self {
        Self::new()
    }
}

//! The source, tag and length of a received message.

use mpi::{Rank, Tag};

use crate::raw::point_to_point::Envelope;

/// A message that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Received {
    /// The rank that sent the message.
    pub source: Rank,
    /// The tag of the message.
    pub tag: Tag,
    /// The length of the message in packed bytes.
    pub bytes: u64,
    /// The number of whole elements in the message. The functions for streams and layouts do not count elements: they set this
    /// to the number of bytes.
    pub count: usize,
}

#[inline]
pub(crate) fn received(envelope: Envelope, count: usize) -> Received {
    let Envelope { source, tag, bytes } = envelope;
    Received { source, tag, bytes, count }
}

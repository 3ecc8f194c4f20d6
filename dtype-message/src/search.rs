//! Finds the next frame in a damaged stream.

use crate::MAGIC;
use crate::header::{Decoded, Header};

/// The result of [`find_frame`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// The header of a full frame starts after this many bytes.
    Found(usize),
    /// None starts in this many bytes. Those after them, fewer than [`Header::FULL_LEN`], can be the first part of a header:
    /// search them again together with the bytes that follow in the stream.
    Skipped(usize),
}

/// Finds the first header of a full frame in `bytes`.
///
/// A full frame starts with four known bytes, and its header has a checksum of its own, so other bytes are taken for one by
/// accident once in 2⁶⁴ places. A payload can hold a frame as data, which is found as well. A compact frame has neither and
/// cannot be found.
///
/// The search is for a stream in which the length of a frame cannot be trusted, because its header or, in a compact frame,
/// anything is damaged, or because bytes are missing: see [`Decoder::is_lost`](crate::Decoder::is_lost).
///
/// ```
/// use dtype_message::{Search, find_frame};
/// let mut stream = b"noise".to_vec();
/// dtype_message::write(&mut stream, &[1_u32, 2, 3])?;
/// assert_eq!(find_frame(&stream), Search::Found(5));
/// assert_eq!(find_frame(&stream[..40]), Search::Skipped(5));
/// assert_eq!(find_frame(&stream[6..]), Search::Skipped(stream.len() - 6));
/// # Ok::<(), dtype_message::Error>(())
/// ```
pub fn find_frame(bytes: &[u8]) -> Search {
    let mut at = 0;
    while let Some(next) = bytes[at..].iter().position(|byte| *byte == MAGIC[0]) {
        at += next;
        match Header::decode(&bytes[at..]) {
            Ok(Decoded::Header(..)) => return Search::Found(at),
            Ok(Decoded::Needs(_)) => return Search::Skipped(at),
            Err(_) => at += 1,
        }
    }
    Search::Skipped(bytes.len())
}

//! Type signatures as ranks tell each other, so that elements of one type are not taken for another's.

use dtype_runtime::Datatype as Described;
use dtype_runtime::types::Signature;
use mpi::{Rank, Tag};

use crate::error::Error;
use crate::raw::point_to_point::Envelope;

/// The text of a signature, or its beginning, padded with zeros.
pub(crate) type Text = [i64; 32];

/// A signature as people read it: `{3×f64, bool}`.
pub(crate) fn text(signature: &Signature) -> Text {
    let written = format!("{signature:?}");
    let mut text = [0; 32];
    for (number, bytes) in text.iter_mut().zip(written.as_bytes().chunks(8)) {
        let mut eight = [0; 8];
        eight[..bytes.len()].copy_from_slice(bytes);
        *number = i64::from_le_bytes(eight);
    }
    text
}

/// The text that a rank sent.
pub(crate) fn read(text: &Text) -> String {
    let bytes: Vec<u8> = text.iter().flat_map(|number| number.to_le_bytes()).collect();
    String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned()
}

/// What follows the elements of a checked message: the hash of the signature of an element, and its packed bytes, both
/// little-endian.
pub(crate) const TRAILER: usize = 16;

pub(crate) fn trailer<T: Described>() -> [u8; TRAILER] {
    let mut trailer = [0; TRAILER];
    let (hash, size) = trailer.split_at_mut(8);
    hash.copy_from_slice(&T::TYPE_MAP.signature_hash().to_le_bytes());
    size.copy_from_slice(&(T::TYPE_MAP.size() as u64).to_le_bytes());
    trailer
}

/// The elements of a checked message without its trailer, which must be that of `T`.
pub(crate) fn checked<T: Described>(message: Envelope, bytes: &[u8]) -> Result<&[u8], Error> {
    let Envelope { source: source_rank, tag, .. } = message;
    let Some((elements, found)) = bytes.split_last_chunk::<TRAILER>() else {
        return Err(too_short(source_rank, tag, bytes.len() as u64));
    };
    if *found == trailer::<T>() {
        return Ok(elements);
    }
    let (hash, size) = found.split_at(8);
    let number = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
    Err(Error::Signature {
        source_rank,
        tag,
        theirs: number(hash),
        their_size: number(size),
        ours: T::TYPE_MAP.signature_hash(),
        our_size: T::TYPE_MAP.size() as u64,
    })
}

/// The length of the elements in a checked message.
pub(crate) fn without_trailer(message: Envelope) -> Result<Envelope, Error> {
    let Envelope { source, tag, bytes } = message;
    let elements =
        bytes.checked_sub(TRAILER as u64).ok_or_else(|| too_short(source, tag, bytes))?;
    Ok(Envelope { bytes: elements, ..message })
}

fn too_short(source_rank: Rank, tag: Tag, bytes: u64) -> Error {
    Error::Short { source_rank, tag, bytes, expected: TRAILER as u64 }
}

#[cfg(test)]
mod tests {
    use dtype_runtime::Type;

    use super::*;

    #[test]
    fn long_texts_are_cut() {
        let short = Type::of::<([f64; 3], bool)>().signature();
        assert_eq!(read(&text(&short)), "{3×f64, bool}");
        let alternating = Type::of::<[(u8, (f64, char)); 40]>().signature();
        let whole = format!("{alternating:?}");
        let cut = read(&text(&alternating));
        assert!(cut.len() <= 256 && whole.starts_with(cut.trim_end_matches('\u{fffd}')), "{cut}");
    }
}

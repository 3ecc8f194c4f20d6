//! Short frames whose bytes have all arrived, read in one piece.

use crate::CHUNK;
use crate::error::Error;
use crate::header::{Decoded, Header};

/// A frame whose bytes have all arrived, short enough to be unpacked in one piece.
pub(crate) struct Whole<'a> {
    pub(crate) header: Header,
    /// What the checksum covers: the bytes of the header and the payload.
    covered: &'a [u8],
    header_len: usize,
    /// The checksum, if the frame has one.
    checksum: &'a [u8],
}

impl<'a> Whole<'a> {
    /// Takes such a frame from the front of `input`, if there is one.
    #[inline]
    pub(crate) fn take(input: &mut &'a [u8]) -> Result<Option<Self>, Error> {
        let Decoded::Header(header, header_len) = Header::decode(input)? else { return Ok(None) };
        let payload = usize::try_from(header.payload_len()).ok();
        let Some(payload) = payload.filter(|len| *len <= CHUNK) else { return Ok(None) };
        let covered = header_len + payload;
        let Some((frame, rest)) = input.split_at_checked(covered + header.checksum_len()) else {
            return Ok(None);
        };
        let (covered, checksum) = frame.split_at(covered);
        *input = rest;
        Ok(Some(Self { header, covered, header_len, checksum }))
    }

    /// Bytes of the header.
    pub(crate) fn header_len(&self) -> usize {
        self.header_len
    }

    /// The packed records.
    #[inline]
    pub(crate) fn payload(&self) -> &'a [u8] {
        &self.covered[self.header_len..]
    }

    /// Compares the checksum, if there is one.
    #[inline]
    pub(crate) fn verify(&self) -> Result<(), Error> {
        if let Some(checksum) = self.checksum.first_chunk() {
            let expected = Header::frame_checksum(self.covered);
            let actual = u32::from_le_bytes(*checksum);
            if expected != actual {
                return Err(Error::Checksum { expected, actual });
            }
        }
        Ok(())
    }
}

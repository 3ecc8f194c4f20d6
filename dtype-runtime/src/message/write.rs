//! Writing a frame, chunk by chunk.

use alloc::vec;
use std::io::Write;

use super::CHUNK;
use super::error::Error;
use super::header::Header;
use crate::commit::Committed;
use crate::convertor::Packer;
use crate::datatype::Datatype;

/// Writes the records as one message, and returns how many bytes of the stream it takes.
///
/// They are packed in pieces of 64 KiB at most, and a message that fits one piece is written by one call. The
/// stream is not flushed.
///
/// # Errors
///
/// [`Error::Io`], after which part of the frame may have been written.
///
/// ```
/// use dtype_runtime::message;
/// let mut stream = Vec::new();
/// let length = message::write(&mut stream, &[(1.5, true), (2.5, false)])?;
/// assert_eq!(length, 48 + 2 * 9 + 4);
/// # Ok::<(), message::Error>(())
/// ```
pub fn write<T: Datatype>(output: &mut impl Write, items: &[T]) -> Result<u64, Error> {
    let map = T::TYPE_MAP;
    let header = Header::new(map.signature_hash(), map.size() as u64, items.len())?;
    send(output, header, Packer::new(items))
}

/// Writes `count` instances of a type as one message: those that [`Committed::pack`] would pack from `memory`,
/// the first of them with its displacement 0 at `origin`. Returns how many bytes of the stream it takes.
///
/// # Errors
///
/// [`Error::Datatype`] with [`CountTooLarge`](crate::Error::CountTooLarge), and with
/// [`OutOfBounds`](crate::Error::OutOfBounds) when the data reach outside `memory`; nothing is written then.
/// The others as for [`write`](fn@write).
///
/// ```
/// use dtype_runtime::{Basic, Type, message};
/// // The two right columns of a 3 × 4 matrix.
/// let column = Type::resized(&Type::vector(3, 1, 4, &Type::basic(Basic::U8))?, 0, 1)?.commit();
/// let mut stream = Vec::new();
/// message::write_by(&mut stream, &column, b"abcdefghijkl", 2, 2)?;
/// assert_eq!(&stream[48..54], b"cgkdhl");
/// # Ok::<(), message::Error>(())
/// ```
pub fn write_by(
    output: &mut impl Write,
    ty: &Committed,
    memory: &[u8],
    origin: usize,
    count: usize,
) -> Result<u64, Error> {
    let packer = ty.packer(memory, origin, count)?;
    let header = Header::new(ty.signature_hash(), ty.size(), count)?;
    send(output, header, packer)
}

/// Writes a frame, piece by piece.
fn send(output: &mut impl Write, header: Header, mut packer: Packer<'_>) -> Result<u64, Error> {
    let sizes = header.in_memory()?;
    // Whole records, where they are no longer than a piece: those are packed fastest.
    let chunk = match CHUNK.checked_rem(sizes.record) {
        Some(rest) if rest < CHUNK => CHUNK - rest,
        _ => CHUNK,
    };
    let chunk = chunk.min(sizes.payload);
    // Room for the header before the first piece and for the checksum behind the last.
    let mut buffer = vec![0; Header::SIZE + chunk + 4];
    buffer[..Header::SIZE].copy_from_slice(&header.to_bytes());
    let mut checksum = header.checksum();
    let mut filled = Header::SIZE;
    while !packer.is_complete() {
        let packed = packer.pack(&mut buffer[filled..filled + chunk]);
        checksum = crc32c::crc32c_append(checksum, &buffer[filled..filled + packed]);
        filled += packed;
        if !packer.is_complete() {
            output.write_all(&buffer[..filled])?;
            filled = 0;
        }
    }
    buffer[filled..filled + 4].copy_from_slice(&checksum.to_le_bytes());
    output.write_all(&buffer[..filled + 4])?;
    Ok(header.payload_len().saturating_add(Header::SIZE as u64 + 4))
}

//! Arrays of structs as frames on a stream.
//!
//! An array travels as one or more frames, so that neither side needs a buffer of its whole size at a
//! time and a mistake is found early. A frame is a header of 36 bytes, its numbers big-endian, and the
//! packed records:
//!
//! | bytes | what |
//! |--:|---|
//! | 0–3 | the letters `DTYP` |
//! | 4–5 | version, 1 |
//! | 6 | byte order of the records: 1 little-endian, 2 big-endian |
//! | 7 | 1 in the last frame of an array, else 0 |
//! | 8–15 | hash of the type signature |
//! | 16–23 | index in the array of the first record in this frame |
//! | 24–27 | number of records in this frame |
//! | 28–31 | number of bytes that follow the header |
//! | 32–35 | CRC-32C of bytes 0–31 and of what follows the header |
//!
//! What comes from the other side is not trusted: it is compared with what the receiver knows before
//! anything is allocated or unpacked, and a record that arrived whole and is wrong is refused as well.

use std::io::{self, Read, Write};

use dtype_runtime::{Datatype, pack_into, packed_size, unpack_into};
use thiserror::Error;

/// Bytes of a header.
pub const HEADER: usize = 36;

const MAGIC: [u8; 4] = *b"DTYP";
const VERSION: u16 = 1;
const NATIVE: u8 = if cfg!(target_endian = "little") { 1 } else { 2 };

/// What a receiver is ready to take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Packed bytes of one frame.
    pub frame: usize,
    /// Records of an array.
    pub records: usize,
}

/// What is wrong with a frame.
#[derive(Debug, Error)]
pub enum FrameError {
    /// The first bytes are not those of a frame.
    #[error("a frame starts with {MAGIC:02x?}, this starts with {0:02x?}")]
    Magic([u8; 4]),
    /// A version that is not known here.
    #[error("the frame has version {0}, this program knows version {VERSION}")]
    Version(u16),
    /// The records are in the other byte order.
    #[error(
        "the records have byte order {actual}, this machine has {NATIVE} (1 little-endian, 2 big)"
    )]
    ByteOrder {
        /// What the header says.
        actual: u8,
    },
    /// The mark of the last frame is neither 0 nor 1.
    #[error("the mark of the last frame is {0}, not 0 or 1")]
    LastMark(u8),
    /// The records are not of this type, or the records themselves are wrong.
    #[error(transparent)]
    Records(#[from] dtype_runtime::Error),
    /// The frame does not go on where the one before ended.
    #[error("the frame starts with record {actual} of the array, {expected} were received")]
    Order {
        /// Records received so far.
        expected: u64,
        /// Index of the frame's first record.
        actual: u64,
    },
    /// A frame without records that is not the last one: a sender could go on like this for ever.
    #[error("a frame without records that does not end its array")]
    Empty,
    /// The length is not that of so many records.
    #[error("{count} records take {expected} bytes, the header says {actual}")]
    Length {
        /// Number of records.
        count: u32,
        /// Bytes that so many records take.
        expected: u64,
        /// Bytes that the header announces.
        actual: u32,
    },
    /// More bytes in a frame than the receiver takes.
    #[error("a frame of {actual} bytes, the limit is {limit}")]
    FrameLimit {
        /// Bytes that are taken.
        limit: usize,
        /// Bytes that are announced.
        actual: u32,
    },
    /// More records in an array than the receiver takes.
    #[error("an array of at least {actual} records, the limit is {limit}")]
    RecordLimit {
        /// Records that are taken.
        limit: usize,
        /// Records that are announced so far.
        actual: u64,
    },
    /// The bytes are not those that were sent.
    #[error("the checksum is {actual:#010x}, the header says {expected:#010x}")]
    Checksum {
        /// What the header says.
        expected: u32,
        /// What was computed.
        actual: u32,
    },
    /// The stream ended too early.
    #[error("the stream ended after {actual} of {expected} bytes of {part}")]
    Truncated {
        /// What was being read.
        part: &'static str,
        /// Bytes that it has.
        expected: usize,
        /// Bytes that came.
        actual: usize,
    },
    /// The stream failed.
    #[error("the connection failed")]
    Io(#[from] io::Error),
}

/// Sends the records in frames of at most `frame` packed bytes, but of one record at least.
///
/// # Errors
///
/// Those of the stream; also where a record has 4 GiB or more.
pub fn send<T: Datatype>(items: &[T], frame: usize, out: &mut impl Write) -> io::Result<()> {
    let record = packed_size::<T>(1);
    // No more than a header can say.
    let limit = frame.min(u32::MAX as usize);
    let per_frame = limit.checked_div(record).unwrap_or(items.len()).max(1);
    let mut buffer = vec![0; HEADER + packed_size::<T>(per_frame.min(items.len()))];
    let mut first = 0;
    loop {
        let count = per_frame.min(items.len() - first);
        let here = &items[first..first + count];
        let length = packed_size::<T>(count);
        let header = Header {
            last: first + count == items.len(),
            signature: T::TYPE_MAP.signature_hash(),
            first: first as u64,
            count: u32::try_from(count).map_err(io::Error::other)?,
            length: u32::try_from(length).map_err(io::Error::other)?,
        };
        pack_into(here, &mut buffer[HEADER..]).map_err(io::Error::other)?;
        let bytes = header.to_bytes(&buffer[HEADER..HEADER + length]);
        buffer[..HEADER].copy_from_slice(&bytes);
        out.write_all(&buffer[..HEADER + length])?;
        first += count;
        if header.last {
            return out.flush();
        }
    }
}

/// Receives an array into `records`: their data are overwritten, and there are as many as were sent
/// afterwards, those that are new made by `Default`, as far as their skipped fields go. Returns
/// whether there was an array: `false` where the stream ends between two of them.
///
/// # Errors
///
/// [`FrameError`]; the records are as they were then.
pub fn receive<T: Datatype + Default>(
    input: &mut impl Read,
    limits: Limits,
    records: &mut Vec<T>,
) -> Result<bool, FrameError> {
    let mut packed = Vec::new();
    let mut received = 0;
    loop {
        let mut bytes = [0; HEADER];
        match fill(input, &mut bytes)? {
            HEADER => {}
            0 if received == 0 => return Ok(false),
            actual => {
                return Err(FrameError::Truncated { part: "a header", expected: HEADER, actual });
            }
        }
        let header = Header::parse::<T>(&bytes, received, limits)?;
        let start = packed.len();
        let expected = header.length as usize;
        let actual = input.by_ref().take(u64::from(header.length)).read_to_end(&mut packed)?;
        if actual < expected {
            return Err(FrameError::Truncated { part: "a frame's records", expected, actual });
        }
        check_sum(&bytes, &packed[start..])?;
        received += u64::from(header.count);
        if header.last {
            break;
        }
    }
    overwrite(records, &packed, usize::try_from(received).unwrap_or(usize::MAX))?;
    Ok(true)
}

/// All or nothing: if the bytes are refused, the records are as they were.
fn overwrite<T: Datatype + Default>(
    records: &mut Vec<T>,
    packed: &[u8],
    count: usize,
) -> Result<(), dtype_runtime::Error> {
    let before = records.len();
    if before < count {
        records.resize_with(count, T::default);
    }
    match unpack_into(packed, &mut records[..count]) {
        Ok(_) => {
            records.truncate(count);
            Ok(())
        }
        Err(error) => {
            records.truncate(before);
            Err(error)
        }
    }
}

/// Reads until the buffer is full or the stream ends; how many bytes came.
fn fill(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// The numbers of a header, but for those that are always the same.
#[derive(Clone, Copy, Debug)]
struct Header {
    last: bool,
    signature: u64,
    first: u64,
    count: u32,
    length: u32,
}

impl Header {
    fn to_bytes(self, records: &[u8]) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..6].copy_from_slice(&VERSION.to_be_bytes());
        bytes[6] = NATIVE;
        bytes[7] = u8::from(self.last);
        bytes[8..16].copy_from_slice(&self.signature.to_be_bytes());
        bytes[16..24].copy_from_slice(&self.first.to_be_bytes());
        bytes[24..28].copy_from_slice(&self.count.to_be_bytes());
        bytes[28..32].copy_from_slice(&self.length.to_be_bytes());
        let sum = sum(&bytes, records);
        bytes[32..].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    /// Compares a header with what is expected of a frame of `T` when `received` records of its array
    /// have come already.
    fn parse<T: Datatype>(
        bytes: &[u8; HEADER],
        received: u64,
        limits: Limits,
    ) -> Result<Self, FrameError> {
        let field = |at: usize| u32::from_be_bytes([0, 1, 2, 3].map(|i| bytes[at + i]));
        let wide = |at: usize| u64::from(field(at)) << 32 | u64::from(field(at + 4));
        let magic = field(0).to_be_bytes();
        if magic != MAGIC {
            return Err(FrameError::Magic(magic));
        }
        let version = u16::from_be_bytes([bytes[4], bytes[5]]);
        if version != VERSION {
            return Err(FrameError::Version(version));
        }
        if bytes[6] != NATIVE {
            return Err(FrameError::ByteOrder { actual: bytes[6] });
        }
        let last = match bytes[7] {
            0 => false,
            1 => true,
            other => return Err(FrameError::LastMark(other)),
        };
        let header =
            Self { last, signature: wide(8), first: wide(16), count: field(24), length: field(28) };
        T::TYPE_MAP.check_signature_hash(header.signature)?;
        let Self { first, count, length, .. } = header;
        if first != received {
            return Err(FrameError::Order { expected: received, actual: first });
        }
        if count == 0 && !last {
            return Err(FrameError::Empty);
        }
        let expected = u64::from(count).saturating_mul(packed_size::<T>(1) as u64);
        if expected != u64::from(length) {
            return Err(FrameError::Length { count, expected, actual: length });
        }
        if length as usize > limits.frame {
            return Err(FrameError::FrameLimit { limit: limits.frame, actual: length });
        }
        let total = received + u64::from(count);
        if total > limits.records as u64 {
            return Err(FrameError::RecordLimit { limit: limits.records, actual: total });
        }
        Ok(header)
    }
}

fn sum(header: &[u8; HEADER], records: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&header[..32]), records)
}

fn check_sum(header: &[u8; HEADER], records: &[u8]) -> Result<(), FrameError> {
    let expected = u32::from_be_bytes([32, 33, 34, 35].map(|at| header[at]));
    let actual = sum(header, records);
    if expected == actual { Ok(()) } else { Err(FrameError::Checksum { expected, actual }) }
}

#[cfg(test)]
mod tests;

//! A checksum over the packed stream, updated as the stream is converted.

use super::Mode;
use super::packer::Packer;
use super::unpacker::Unpacker;

/// How many bytes are packed before they are summed: few enough that they are then still in the first-level cache.
const CHUNK: usize = 16 * 1024;

/// A checksum over bytes that are added in order.
///
/// The feature `crc32c` provides `Crc32c`; other checksums take a few lines:
///
/// ```
/// use dtype_runtime::Packer;
/// use dtype_runtime::convertor::Checksum;
///
/// struct Sum(u64);
///
/// impl Checksum for Sum {
///     fn update(&mut self, bytes: &[u8]) {
///         self.0 += bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>();
///     }
/// }
///
/// let mut packer = Packer::new(&[1_u8, 2, 3, 4]).with_checksum(Sum(0));
/// let Ok(_) = packer.pack(&mut [0; 3]);
/// assert_eq!(packer.checksum().0, 6);
/// let Ok(_) = packer.pack(&mut [0; 3]);
/// assert_eq!(packer.checksum().0, 10);
/// ```
pub trait Checksum {
    /// Adds bytes after all bytes added before.
    fn update(&mut self, bytes: &[u8]);
}

/// CRC-32C (Castagnoli), as in SCTP, iSCSI and Btrfs.
#[cfg(feature = "crc32c")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crc32c(u32);

#[cfg(feature = "crc32c")]
impl Crc32c {
    /// The checksum of the empty input.
    pub const fn new() -> Self {
        Self(0)
    }

    /// The checksum so far.
    pub const fn value(self) -> u32 {
        self.0
    }
}

#[cfg(feature = "crc32c")]
impl Checksum for Crc32c {
    fn update(&mut self, bytes: &[u8]) {
        self.0 = crc32c::crc32c_append(self.0, bytes);
    }
}

/// A [`Packer`] or an [`Unpacker`] of any mode, with a checksum over the packed bytes of all fragments. If the stream converts, the
/// checksum covers the converted bytes, because these are sent.
///
/// Made by the `with_checksum` method of the stream. It has no `Seek`, because a checksum needs the bytes in order, and no
/// [`chunk`](Packer::chunk), because bytes that it lends would not be summed.
#[derive(Clone, Debug)]
pub struct Checksummed<S, C> {
    stream: S,
    checksum: C,
}

impl<S, C> Checksummed<S, C> {
    pub(super) fn new(stream: S, checksum: C) -> Self {
        Self { stream, checksum }
    }

    /// The checksum so far.
    pub fn checksum(&self) -> &C {
        &self.checksum
    }

    /// The packer or unpacker, for example to get its position.
    pub fn stream(&self) -> &S {
        &self.stream
    }

    /// The packer or unpacker, and the checksum.
    pub fn into_parts(self) -> (S, C) {
        (self.stream, self.checksum)
    }
}

impl<M: Mode, C: Checksum> Checksummed<Packer<'_, M>, C> {
    /// As the packer's `pack`. If a value is refused, the bytes before it are packed and summed, and the call succeeds with
    /// their number; the next call fails.
    ///
    /// # Errors
    ///
    /// The errors of the packer's `pack`. A native one has none: `let Ok(bytes) = summed.pack(out);`.
    pub fn pack(&mut self, out: &mut [u8]) -> Result<usize, M::PackError> {
        let mut all = 0;
        for out in out.chunks_mut(CHUNK) {
            let bytes = match self.stream.pack_next(out) {
                Ok(bytes) => bytes,
                Err(error) if all == 0 => return Err(error),
                Err(_) => break,
            };
            self.checksum.update(&out[..bytes]);
            all += bytes;
        }
        Ok(all)
    }
}

impl<M: Mode, C: Checksum> Checksummed<Unpacker<'_, M>, C> {
    /// As the unpacker's `unpack`. Refused bytes are not summed.
    ///
    /// # Errors
    ///
    /// The errors of the unpacker.
    pub fn unpack(&mut self, bytes: &[u8]) -> Result<usize, M::Error> {
        let accepted = self.stream.unpack(bytes)?;
        self.checksum.update(&bytes[..accepted]);
        Ok(accepted)
    }

    /// As the unpacker's `flush`.
    ///
    /// # Errors
    ///
    /// The errors of the unpacker.
    pub fn flush(&mut self) -> Result<(), M::Error> {
        self.stream.flush()
    }
}

//! A checksum over the packed stream, kept up as the stream is converted.

use super::foreign::{ForeignPacker, ForeignUnpacker};
use super::packer::Packer;
use super::unpacker::Unpacker;
use crate::error::Error;

/// Packed bytes that are converted and summed at a time: few enough that they are summed where converting
/// them has just brought them, in the first-level cache.
const AT_ONCE: usize = 16 * 1024;

/// A checksum that bytes are added to, in order.
///
/// [`Crc32c`] is one, with the feature `crc32c`; others take three lines:
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
/// let mut packer = Packer::new(&[1_u8, 2, 3, 4]).summed(Sum(0));
/// packer.pack(&mut [0; 3]);
/// assert_eq!(packer.checksum().0, 6);
/// packer.pack(&mut [0; 3]);
/// assert_eq!(packer.checksum().0, 10);
/// ```
pub trait Checksum {
    /// Adds bytes behind those that were added before.
    fn update(&mut self, bytes: &[u8]);
}

/// CRC-32C (Castagnoli), as SCTP, iSCSI and Btrfs have it.
#[cfg(feature = "crc32c")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crc32c(u32);

#[cfg(feature = "crc32c")]
impl Crc32c {
    /// That of no bytes.
    pub const fn new() -> Self {
        Self(0)
    }

    /// That of the bytes so far.
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

/// A [`Packer`] or an [`Unpacker`], or one of another representation, with a checksum that runs across the fragments. It goes forward only, since
/// a checksum is one of bytes in order; without it there is nothing to pay.
#[derive(Clone, Debug)]
pub struct Summed<S, C> {
    stream: S,
    checksum: C,
}

impl<S, C> Summed<S, C> {
    /// The checksum of the bytes so far.
    pub fn checksum(&self) -> &C {
        &self.checksum
    }

    /// The packer or unpacker, for what it says of itself.
    pub fn stream(&self) -> &S {
        &self.stream
    }

    /// The packer or unpacker and the checksum, each for itself.
    pub fn into_parts(self) -> (S, C) {
        (self.stream, self.checksum)
    }
}

impl Packer<'_> {
    /// This packer with a checksum over what it packs from here on.
    #[doc(alias = "CONVERTOR_WITH_CHECKSUM")]
    pub fn summed<C: Checksum>(self, checksum: C) -> Summed<Self, C> {
        Summed { stream: self, checksum }
    }
}

impl Unpacker<'_> {
    /// This unpacker with a checksum over what it accepts from here on.
    #[doc(alias = "CONVERTOR_WITH_CHECKSUM")]
    pub fn summed<C: Checksum>(self, checksum: C) -> Summed<Self, C> {
        Summed { stream: self, checksum }
    }
}

impl<C: Checksum> Summed<Packer<'_>, C> {
    /// As [`Packer::pack`].
    pub fn pack(&mut self, out: &mut [u8]) -> usize {
        let mut all = 0;
        for out in out.chunks_mut(AT_ONCE) {
            let bytes = self.stream.pack(out);
            self.checksum.update(&out[..bytes]);
            all += bytes;
        }
        all
    }
}

impl<C: Checksum> Summed<Unpacker<'_>, C> {
    /// As [`Unpacker::unpack`]. What is refused is not summed.
    ///
    /// # Errors
    ///
    /// As [`Unpacker::unpack`].
    pub fn unpack(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        let accepted = self.stream.unpack(bytes)?;
        self.checksum.update(&bytes[..accepted]);
        Ok(accepted)
    }
}

impl ForeignPacker<'_> {
    /// This packer with a checksum over what it packs from here on: over the converted bytes.
    pub fn summed<C: Checksum>(self, checksum: C) -> Summed<Self, C> {
        Summed { stream: self, checksum }
    }
}

impl ForeignUnpacker<'_> {
    /// This unpacker with a checksum over what it accepts from here on: over the bytes as they come.
    pub fn summed<C: Checksum>(self, checksum: C) -> Summed<Self, C> {
        Summed { stream: self, checksum }
    }
}

impl<C: Checksum> Summed<ForeignPacker<'_>, C> {
    /// As [`ForeignPacker::pack`]. What was packed before a value that has no room is summed, and the call
    /// succeeds with as many bytes; the next one fails.
    ///
    /// # Errors
    ///
    /// As [`ForeignPacker::pack`].
    pub fn pack(&mut self, out: &mut [u8]) -> Result<usize, Error> {
        let mut all = 0;
        for out in out.chunks_mut(AT_ONCE) {
            let bytes = match self.stream.pack(out) {
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

impl<C: Checksum> Summed<ForeignUnpacker<'_>, C> {
    /// As [`ForeignUnpacker::unpack`]. What is refused is not summed.
    ///
    /// # Errors
    ///
    /// As [`ForeignUnpacker::unpack`].
    pub fn unpack(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        let accepted = self.stream.unpack(bytes)?;
        self.checksum.update(&bytes[..accepted]);
        Ok(accepted)
    }
}

#[cfg(feature = "std")]
impl<C: Checksum> std::io::Read for Summed<Packer<'_>, C> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        Ok(self.pack(buf))
    }
}

#[cfg(feature = "std")]
impl<C: Checksum> std::io::Write for Summed<Unpacker<'_>, C> {
    fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
        let accepted = self.stream.write(buf)?;
        self.checksum.update(&buf[..accepted]);
        Ok(accepted)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.stream.flush()
    }
}

//! The traits that all packers and unpackers implement.

use crate::error::Error;

pub(super) mod sealed {
    /// Implemented by the streams of this crate only.
    pub trait Sealed {}
}

/// A packed stream with a position: a packer or an unpacker, native, converting or through a
/// [`Backend`](super::Backend).
///
/// Each stream also has these methods as inherent ones; the trait is for code that accepts any stream. It cannot be implemented
/// outside this crate.
///
/// ```
/// use dtype_runtime::convertor::{PackStream, Stream};
/// use dtype_runtime::{Packer, Representation};
///
/// /// All that is left of a stream.
/// fn rest<S: PackStream>(mut stream: S) -> Result<Vec<u8>, S::Error> {
///     let mut out = vec![0; stream.remaining() as usize];
///     stream.pack(&mut out)?;
///     Ok(out)
/// }
///
/// let numbers = [1_u16, 2];
/// assert_eq!(rest(Packer::new(&numbers)), Ok(dtype_runtime::pack(&numbers)));
/// let converted = Packer::new(&numbers).with_representation(Representation::External32)?;
/// assert_eq!(rest(converted)?, [0, 1, 0, 2]);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
pub trait Stream: sealed::Sealed {
    /// The error of packing or unpacking.
    type Error;

    /// The position: the number of bytes of the packed stream before the next one.
    fn position(&self) -> u64;

    /// Seeks to `position`, in bytes from the start of the stream.
    ///
    /// # Errors
    ///
    /// The errors of the stream's own method; the position is then unchanged.
    fn set_position(&mut self, position: u64) -> Result<(), Error>;

    /// The number of bytes left in the stream.
    fn remaining(&self) -> u64;

    /// Whether the position is at the end.
    fn is_complete(&self) -> bool {
        self.remaining() == 0
    }

    /// The 64-bit hash of the type signature of all instances together. It does not depend on the representation.
    fn signature_hash(&self) -> u64;
}

/// A [`Stream`] that packs.
pub trait PackStream: Stream {
    /// Packs up to `out.len()` bytes from the position and returns the number packed, which is 0 at the end of the
    /// stream or if `out` is empty.
    ///
    /// # Errors
    ///
    /// The errors of the stream's own method.
    fn pack(&mut self, out: &mut [u8]) -> Result<usize, Self::Error>;
}

/// A [`Stream`] that unpacks.
pub trait UnpackStream: Stream {
    /// Unpacks up to `bytes.len()` bytes at the position and returns the number unpacked, which is 0 at the end of
    /// the stream or if `bytes` is empty.
    ///
    /// # Errors
    ///
    /// The errors of the stream's own method.
    fn unpack(&mut self, bytes: &[u8]) -> Result<usize, Self::Error>;

    /// Returns when all unpacked bytes are in the memory, except the bytes of an incomplete value. Only a stream through a
    /// [`Backend`](super::Backend) does any work here.
    ///
    /// # Errors
    ///
    /// The errors of the backend.
    fn flush(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// An unpacker whose records several threads can check and write independently.
#[cfg(feature = "rayon")]
pub(super) trait UnpackRecords: UnpackStream<Error = Error> + Sync {
    /// Packed bytes of a record; `None` if the rest of the stream must be unpacked in order.
    fn record(&self) -> Option<usize>;

    /// Checks whole records at a position.
    fn check(&self, position: u64, bytes: &[u8]) -> Result<(), Error>;

    /// Writes whole records that were checked, at a position, while other threads write others.
    ///
    /// # Safety
    ///
    /// The records must be in this unpacker's part of the stream, and nothing else may write them meanwhile.
    unsafe fn put_shared(&self, position: u64, bytes: &[u8]) -> Result<(), Error>;

    /// Moves past whole records that were written.
    fn advance(&mut self, bytes: usize);
}

/// The methods that are the same for all streams, both as inherent methods and as [`Stream`]. Each stream has a field
/// `progress` with its [`Progress`](super::progress::Progress). `$leave` is called before a seek changes the position, and may
/// refuse the seek.
macro_rules! stream {
    (
        impl[$($generics:tt)*] $stream:ty, error = $error:ty, hash = $hash:expr $(, leave = $leave:expr)?;
        $(#[$seek:meta])*
    ) => {
        impl<$($generics)*> $stream {
            /// The position: the number of bytes of the packed stream before the next one.
            #[doc(alias = "bConverted")]
            #[inline]
            pub fn position(&self) -> u64 {
                self.progress.position()
            }

            /// Seeks to `position`, in bytes from the start of the stream, in time logarithmic in the number of blocks.
            $(#[$seek])*
            ///
            /// # Errors
            ///
            /// [`Error::Position`](crate::Error::Position) if `position` is past the end. The position is unchanged
            /// if there is an error.
            pub fn set_position(&mut self, position: u64) -> Result<(), crate::error::Error> {
                self.progress.check(position)?;
                $(if position != self.progress.position() {
                    $leave(self, position)?;
                })?
                self.progress.seek(position)
            }

            /// The number of bytes left in the stream.
            #[inline]
            pub fn remaining(&self) -> u64 {
                self.progress.remaining()
            }

            /// Whether the position is at the end.
            #[doc(alias = "CONVERTOR_COMPLETED")]
            #[inline]
            pub fn is_complete(&self) -> bool {
                self.remaining() == 0
            }

            /// The 64-bit hash of the type signature of all instances together: the hash of `contiguous(count, type)`.
            /// It does not depend on the representation.
            pub fn signature_hash(&self) -> u64 {
                $hash(self)
            }

            /// The stream with a checksum over the packed bytes from here on.
            #[doc(alias = "CONVERTOR_WITH_CHECKSUM")]
            pub fn with_checksum<Sum: $crate::convertor::Checksum>(
                self,
                checksum: Sum,
            ) -> $crate::convertor::Checksummed<Self, Sum> {
                $crate::convertor::Checksummed::new(self, checksum)
            }
        }

        impl<$($generics)*> $crate::convertor::stream::sealed::Sealed for $stream {}

        impl<$($generics)*> $crate::convertor::Stream for $stream {
            type Error = $error;

            fn position(&self) -> u64 {
                self.position()
            }

            fn set_position(&mut self, position: u64) -> Result<(), crate::error::Error> {
                self.set_position(position)
            }

            fn remaining(&self) -> u64 {
                self.remaining()
            }

            fn signature_hash(&self) -> u64 {
                self.signature_hash()
            }
        }
    };
}

pub(super) use stream;

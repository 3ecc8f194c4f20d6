//! Packers and unpackers: the packed stream in fragments.
//!
//! A [`Packer`] or an [`Unpacker`] consists of its progress and its [`Mode`], which does the work for a range of the stream. What
//! is the same in every mode is in `packer` and `unpacker`, and in the macro of this file; each mode has a file.

mod backend;
#[cfg(feature = "bytes")]
mod buf;
#[cfg(feature = "bytes")]
mod buf_mut;
mod checksum;
mod converted;
mod copied;
#[cfg(feature = "std")]
mod io;
mod packer;
#[cfg(feature = "rayon")]
mod parallel;
mod progress;
mod records;
mod unpacker;

pub use backend::{Backend, Fragment, Through};
#[cfg(feature = "bytes")]
pub use buf_mut::UnpackerBuf;
#[cfg(feature = "crc32c")]
pub use checksum::Crc32c;
pub use checksum::{Checksum, Checksummed};
pub use converted::Converted;
pub use packer::Packer;
pub(in crate::convertor) use records::ValidateRecords;
pub(crate) use records::ValidateTyped;
pub use unpacker::Unpacker;

/// What a [`Packer`] or an [`Unpacker`] does with the bytes between memory and its stream: [`Native`](crate::convertor::Native) copies them, [`Converted`]
/// converts the values, and [`Through`] calls a [`Backend`].
///
/// It is the bound of code that takes any stream, and cannot be implemented outside this crate.
///
/// ```
/// use dtype_runtime::convertor::Mode;
/// use dtype_runtime::{Representation, Unpacker};
///
/// /// Unpacks the fragments, and returns the number of bytes that are missing.
/// fn receive<M: Mode>(mut to: Unpacker<'_, M>, fragments: &[&[u8]]) -> Result<u64, M::Error> {
///     for fragment in fragments {
///         to.unpack(fragment)?;
///     }
///     Ok(to.remaining())
/// }
///
/// let mut numbers = [0_u16; 3];
/// assert_eq!(receive(Unpacker::new(&mut numbers), &[&[1, 1, 2], &[2]]), Ok(2));
/// let big = Unpacker::new(&mut numbers).with_representation(Representation::BigEndian)?;
/// assert_eq!(receive(big, &[&[0, 7]]), Ok(4));
/// assert_eq!(numbers, [7, 0x0202, 0]);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
pub trait Mode: sealed::Transfer {}

impl<M: sealed::Transfer> Mode for M {}

pub(in crate::convertor) mod sealed {
    use alloc::vec::Vec;
    use core::ops::Range;

    use super::records::Checks;
    use crate::convertor::native::Native;
    use crate::convertor::stack::StackFrame;
    use crate::error::Error;

    /// Packs and unpacks ranges of a stream.
    pub trait Transfer {
        /// The error of packing.
        type PackError;
        /// The error of unpacking.
        type Error;

        /// The hash of the type signature of all instances together.
        fn signature_hash(&self) -> u64;

        /// Packs a range of the stream, which is as long as `out`. `search_hint` is what the last call left there.
        ///
        /// # Safety
        ///
        /// The range must lie in the stream. If the instances have an address, their data must be readable.
        unsafe fn pack(
            &mut self,
            range: Range<u64>,
            out: &mut [u8],
            search_hint: &mut usize,
        ) -> Result<(), Self::PackError>;

        /// Unpacks a range of the stream, which is as long as `bytes`. If there are `checks`, the records that the bytes
        /// complete are checked before they are written.
        ///
        /// # Safety
        ///
        /// The range must lie in the unpacker's part of the stream. If the instances have an address, their data in this part
        /// must be writable and not overlap, nothing else may access them, and any bytes that pass `checks` must be valid.
        unsafe fn unpack(
            &mut self,
            checks: &mut Option<Checks>,
            range: Range<u64>,
            bytes: &[u8],
            search_hint: &mut usize,
        ) -> Result<(), Self::Error>;

        /// Returns when all unpacked bytes are in the memory.
        fn flush(&mut self) -> Result<(), Self::Error> {
            Ok(())
        }
    }

    /// A mode whose stream consists of this machine's bytes, which the stack counts.
    pub trait Described: Transfer {
        /// The stack of the convertor at a position of the stream.
        fn stack(&self, position: u64) -> Vec<StackFrame>;
    }

    /// A mode whose memory several unpackers can fill at the same time, each its part of the stream.
    pub trait Shared: Transfer<Error = Error> + Sized {
        /// The instances in memory.
        fn native(&self) -> &Native;

        /// Refuses a position at which the stream cannot be split, because it is inside a value that is written as a whole.
        fn check_boundary(&self, _position: u64) -> Result<(), Error> {
            Ok(())
        }

        /// The mode for the part of the stream from `middle` on.
        fn split_off(&mut self, middle: u64) -> Self;

        /// Packed bytes of items that are converted independently of one another: a stream of whole items has no part of a
        /// value.
        #[cfg(feature = "rayon")]
        fn item(&self) -> u64;

        /// Checks that whole items can be unpacked.
        #[cfg(feature = "rayon")]
        fn check(&self, _range: Range<u64>, _bytes: &[u8]) -> Result<(), Error> {
            Ok(())
        }

        /// Unpacks whole items, while other threads unpack others.
        ///
        /// # Safety
        ///
        /// The range must lie in the unpacker's part of the stream. The data of these items must be writable and not overlap,
        /// nothing else may access them meanwhile, and any bytes must be valid there.
        #[cfg(feature = "rayon")]
        unsafe fn put_shared(&self, range: Range<u64>, bytes: &[u8]) -> Result<(), Error>;

        /// Forgets parts of items that arrived before all of these items did.
        #[cfg(feature = "rayon")]
        fn forget(&mut self, _range: Range<u64>) {}
    }
}

/// The methods that packers and unpackers of all modes share. `$leave` is called before a seek changes the position, and may
/// refuse the seek.
macro_rules! stream {
    ($stream:ident, leave = $leave:expr; $(#[$seek:meta])*) => {
        impl<M: $crate::convertor::stream::Mode> $stream<'_, M> {
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
                if position != self.progress.position() {
                    $leave(&mut *self, position)?;
                }
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
                self.mode.signature_hash()
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

        impl<M: $crate::convertor::stream::sealed::Described> $stream<'_, M> {
            /// The stack of the convertor at the position, over the type's description: what Open MPI's `opal_convertor_t`
            /// keeps as `pStack`. For tools: it takes time linear in the length of the description. A converted stream has no
            /// stack, which counts the bytes of this machine.
            #[doc(alias = "pStack")]
            pub fn stack(&self) -> alloc::vec::Vec<$crate::convertor::StackFrame> {
                self.mode.stack(self.progress.position())
            }
        }
    };
}

use stream;

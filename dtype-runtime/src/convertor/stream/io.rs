//! [`Read`], [`Write`] and [`Seek`] of the standard library for packers and unpackers.

use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Seek, SeekFrom, Write};

use super::Mode;
use super::backend::{Backend, Through};
use super::checksum::{Checksum, Checksummed};
use super::converted::Converted;
use super::packer::Packer;
use super::unpacker::Unpacker;
use crate::convertor::native::Native;

/// A mode whose errors convert to those of the standard library.
pub trait IoMode: Mode {
    /// The error of packing.
    fn pack_error(error: Self::PackError) -> io::Error;

    /// The error of unpacking.
    fn unpack_error(error: Self::Error) -> io::Error;
}

macro_rules! io_errors {
    ($(impl[$($generics:tt)*] $mode:ty, |$error:ident| $pack:expr, $unpack:expr;)*) => {$(
        impl<$($generics)*> IoMode for $mode {
            fn pack_error($error: Self::PackError) -> io::Error {
                $pack
            }

            fn unpack_error($error: Self::Error) -> io::Error {
                $unpack
            }
        }
    )*};
}

// Errors of the engine are about values.
io_errors! {
    impl[] Native, |error| match error {}, io::Error::new(ErrorKind::InvalidData, error);
    impl[] Converted, |error| io::Error::new(ErrorKind::InvalidData, error),
        io::Error::new(ErrorKind::InvalidData, error);
    impl[B: Backend<Error: Into<Box<dyn std::error::Error + Send + Sync>>>] Through<B>,
        |error| io::Error::other(error), io::Error::other(error);
}

/// Packs into one buffer after another, or unpacks from them, up to the first one that is refused.
fn one_by_one<B, E>(
    buffers: impl IntoIterator<Item = B>,
    mut convert: impl FnMut(B) -> Result<usize, E>,
) -> Result<usize, E> {
    let mut all = 0;
    for buffer in buffers {
        match convert(buffer) {
            Ok(bytes) => all += bytes,
            // If an earlier buffer was accepted, the error is not lost: the next call refuses the same buffer first.
            Err(error) if all == 0 => return Err(error),
            Err(_) => break,
        }
    }
    Ok(all)
}

macro_rules! reads {
    ($(#[$docs:meta])* impl[$($generics:tt)*] $stream:ty, $pack:path) => {
        impl<M: IoMode, $($generics)*> Read for $stream {
            $(#[$docs])*
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                $pack(self, buf).map_err(M::pack_error)
            }

            /// Fills the buffers up to the first one that is refused.
            fn read_vectored(&mut self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
                one_by_one(bufs, |buf| self.read(buf))
            }
        }
    };
}

macro_rules! writes {
    ($(#[$docs:meta])* impl[$($generics:tt)*] $stream:ty) => {
        impl<M: IoMode, $($generics)*> Write for $stream {
            $(#[$docs])*
            fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
                self.unpack(buf).map_err(M::unpack_error)
            }

            /// Accepts the buffers up to the first one that is refused.
            fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
                one_by_one(bufs, |buf| self.write(buf))
            }

            /// Returns when all bytes are in the memory, except those that cannot be written yet: the first bytes of a value.
            /// Only a stream through a [`Backend`] does any work here.
            fn flush(&mut self) -> io::Result<()> {
                self.flush().map_err(M::unpack_error)
            }
        }
    };
}

macro_rules! seeks {
    ($(#[$docs:meta])* $stream:ident) => {
        impl<M: Mode> Seek for $stream<'_, M> {
            /// As `set_position`. A position that it refuses, or before the first byte, is
            /// [`InvalidInput`](ErrorKind::InvalidInput). The end is the end of this packer's or unpacker's part of the stream.
            $(#[$docs])*
            fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
                let current = self.position();
                let position = match to {
                    SeekFrom::Start(position) => Some(position),
                    SeekFrom::Current(offset) => current.checked_add_signed(offset),
                    SeekFrom::End(offset) => (current + self.remaining()).checked_add_signed(offset),
                };
                let refused = |error: Box<dyn std::error::Error + Send + Sync>| {
                    io::Error::new(ErrorKind::InvalidInput, error)
                };
                let before = || refused("a position before the first byte".into());
                let position = position.ok_or_else(before)?;
                self.set_position(position).map_err(|error| refused(error.into()))?;
                Ok(position)
            }
        }
    };
}

reads! {
    /// As `pack`. A native packer never fails. If a value does not fit its format, the error is
    /// [`InvalidData`](ErrorKind::InvalidData), which contains the [`Error`](crate::Error); an error of a backend becomes
    /// [`Other`](ErrorKind::Other), and contains that error.
    impl[] Packer<'_, M>, Self::pack_next
}
reads! {
    /// As [`pack`](Checksummed::pack), with the errors of the packer's [`Read`].
    impl[C: Checksum] Checksummed<Packer<'_, M>, C>, Self::pack
}
writes! {
    /// As [`unpack`](Unpacker::unpack); an [`Error`](crate::Error) becomes [`InvalidData`](ErrorKind::InvalidData), and is
    /// contained in it, and an error of a backend [`Other`](ErrorKind::Other). At the end of the stream, no bytes are accepted.
    impl[] Unpacker<'_, M>
}
writes! {
    /// As [`unpack`](Checksummed::unpack), with the errors of the unpacker's [`Write`].
    impl[C: Checksum] Checksummed<Unpacker<'_, M>, C>
}
seeks! {
    ///
    /// ```
    /// use dtype_runtime::Packer;
    /// use std::io::{Read, Seek, SeekFrom};
    /// let mut packer = Packer::new(b"abcdef");
    /// packer.seek(SeekFrom::End(-2))?;
    /// let mut last = String::new();
    /// packer.read_to_string(&mut last)?;
    /// assert_eq!(last, "ef");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    Packer
}
seeks! { Unpacker }

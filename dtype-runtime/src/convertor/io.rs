//! [`Read`], [`Write`] and [`Seek`] of the standard library for each packer and unpacker.

use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Seek, SeekFrom, Write};

use super::backend::{Backend, BackendPacker, BackendUnpacker};
use super::checksum::{Checksum, Checksummed};
use super::converting::{ConvertingPacker, ConvertingUnpacker};
use super::packer::Packer;
use super::stream::{PackStream, Stream, UnpackStream};
use super::unpacker::Unpacker;

/// A stream whose errors convert to those of the standard library.
pub trait IoStream: Stream {
    /// The error as a standard library error.
    fn io_error(error: Self::Error) -> io::Error;
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

fn seek<S: Stream>(stream: &mut S, to: SeekFrom) -> io::Result<u64> {
    let current = stream.position();
    let position = match to {
        SeekFrom::Start(position) => Some(position),
        SeekFrom::Current(offset) => current.checked_add_signed(offset),
        SeekFrom::End(offset) => (current + stream.remaining()).checked_add_signed(offset),
    };
    let before = || io::Error::new(ErrorKind::InvalidInput, "a position before the first byte");
    let position = position.ok_or_else(before)?;
    stream
        .set_position(position)
        .map_err(|error| io::Error::new(ErrorKind::InvalidInput, error))?;
    Ok(position)
}

macro_rules! reads {
    ($(#[$docs:meta])* impl[$($generics:tt)*] $stream:ty, $pack:path, $error:path) => {
        impl<$($generics)*> Read for $stream {
            $(#[$docs])*
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                $pack(self, buf).map_err($error)
            }

            /// Fills the buffers up to the first one that is refused.
            fn read_vectored(&mut self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
                one_by_one(bufs, |buf| self.read(buf))
            }
        }
    };
}

macro_rules! writes {
    ($(#[$docs:meta])* impl[$($generics:tt)*] $stream:ty, $unpack:path, $flush:path, $error:path) => {
        impl<$($generics)*> Write for $stream {
            $(#[$docs])*
            fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
                $unpack(self, buf).map_err($error)
            }

            /// Accepts the buffers up to the first one that is refused.
            fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
                one_by_one(bufs, |buf| self.write(buf))
            }

            /// Returns when all bytes are in the memory, except those that cannot be written yet: the first bytes of a value.
            /// Only a stream through a [`Backend`] does any work here.
            fn flush(&mut self) -> io::Result<()> {
                $flush(self).map_err($error)
            }
        }
    };
}

macro_rules! seeks {
    ($(#[$docs:meta])* impl[$($generics:tt)*] $stream:ty) => {
        impl<$($generics)*> Seek for $stream {
            /// As `set_position`. A position that it refuses, or before the first byte, is
            /// [`InvalidInput`](ErrorKind::InvalidInput). The end is the end of this packer's or unpacker's part of the stream.
            $(#[$docs])*
            fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
                seek(self, to)
            }
        }
    };
}

macro_rules! io_errors {
    ($(impl[$($generics:tt)*] $stream:ty, |$error:ident| $io:expr;)*) => {$(
        impl<$($generics)*> IoStream for $stream {
            fn io_error($error: Self::Error) -> io::Error {
                $io
            }
        }
    )*};
}

// Errors of the engine are about values.
io_errors! {
    impl[] Packer<'_>, |error| match error {};
    impl[] ConvertingPacker<'_>, |error| io::Error::new(ErrorKind::InvalidData, error);
    impl[] Unpacker<'_>, |error| io::Error::new(ErrorKind::InvalidData, error);
    impl[] ConvertingUnpacker<'_>, |error| io::Error::new(ErrorKind::InvalidData, error);
    impl[B: Backend<Error: Into<Box<dyn std::error::Error + Send + Sync>>>] BackendPacker<B>,
        |error| io::Error::other(error);
    impl[B: Backend<Error: Into<Box<dyn std::error::Error + Send + Sync>>>] BackendUnpacker<B>,
        |error| io::Error::other(error);
}

reads! {
    /// As [`pack`](Packer::pack); never fails.
    impl[] Packer<'_>, PackStream::pack, Self::io_error
}
reads! {
    /// As [`pack`](ConvertingPacker::pack); for a value that does not fit its format, the error is
    /// [`InvalidData`](ErrorKind::InvalidData), which contains the [`Error`](crate::Error).
    impl[] ConvertingPacker<'_>, PackStream::pack, Self::io_error
}
reads! {
    /// As [`pack`](BackendPacker::pack); an error of the backend becomes [`Other`](ErrorKind::Other), and contains that error.
    impl[B: Backend<Error: Into<Box<dyn std::error::Error + Send + Sync>>>] BackendPacker<B>,
    PackStream::pack, Self::io_error
}
writes! {
    /// As [`unpack`](Unpacker::unpack); its [`Error`](crate::Error)s become [`InvalidData`](ErrorKind::InvalidData), and are
    /// contained in it. At the end of the stream, no bytes are accepted.
    impl[] Unpacker<'_>, UnpackStream::unpack, UnpackStream::flush, Self::io_error
}
writes! {
    /// As [`unpack`](ConvertingUnpacker::unpack); its [`Error`](crate::Error)s become [`InvalidData`](ErrorKind::InvalidData),
    /// and are contained in it. At the end of the stream, no bytes are accepted.
    impl[] ConvertingUnpacker<'_>, UnpackStream::unpack, UnpackStream::flush, Self::io_error
}
writes! {
    /// As [`unpack`](BackendUnpacker::unpack); an error of the backend becomes [`Other`](ErrorKind::Other), and contains that
    /// error. At the end of the stream, no bytes are accepted.
    impl[B: Backend<Error: Into<Box<dyn std::error::Error + Send + Sync>>>] BackendUnpacker<B>,
    UnpackStream::unpack, UnpackStream::flush, Self::io_error
}
reads! {
    /// As [`pack`](Checksummed::pack), with the errors of the stream.
    impl[S: PackStream + IoStream, C: Checksum] Checksummed<S, C>, Self::pack, S::io_error
}
writes! {
    /// As [`unpack`](Checksummed::unpack), with the errors of the stream.
    impl[S: UnpackStream + IoStream, C: Checksum] Checksummed<S, C>, Self::unpack, Self::flush, S::io_error
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
    impl[] Packer<'_>
}
seeks! { impl[] ConvertingPacker<'_> }
seeks! { impl[B: Backend] BackendPacker<B> }
seeks! { impl[] Unpacker<'_> }
seeks! { impl[] ConvertingUnpacker<'_> }
seeks! { impl[B: Backend] BackendUnpacker<B> }

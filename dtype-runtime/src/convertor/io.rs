//! Streams as the standard library has them: [`Read`], [`Write`] and [`Seek`] for each packer and unpacker.

use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Seek, SeekFrom, Write};

use super::backend::{Backend, BackendPacker, BackendUnpacker};
use super::checksum::{Checksum, Checksummed};
use super::converting::{ConvertingPacker, ConvertingUnpacker};
use super::packer::Packer;
use super::stream::{PackStream, Stream, UnpackStream};
use super::unpacker::Unpacker;

/// A stream whose errors convert to the standard library's.
pub trait IoStream: Stream {
    /// The error as a standard library error.
    fn io_error(error: Self::Error) -> io::Error;
}

/// Packs into, or unpacks from, one buffer after another, up to the first that is refused.
fn one_by_one<B, E>(
    buffers: impl IntoIterator<Item = B>,
    mut convert: impl FnMut(B) -> Result<usize, E>,
) -> Result<usize, E> {
    let mut all = 0;
    for buffer in buffers {
        match convert(buffer) {
            Ok(bytes) => all += bytes,
            // A refused buffer is refused again when it comes first in the next call.
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
    ($(#[$docs:meta])* impl[$($generics:tt)*] $stream:ty) => {
        impl<$($generics)*> Read for $stream {
            $(#[$docs])*
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                PackStream::pack(self, buf).map_err(Self::io_error)
            }

            /// Fills the buffers up to the first that is refused.
            fn read_vectored(&mut self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
                one_by_one(bufs, |buf| self.read(buf))
            }
        }
    };
}

macro_rules! writes {
    ($(#[$docs:meta])* impl[$($generics:tt)*] $stream:ty) => {
        impl<$($generics)*> Write for $stream {
            $(#[$docs])*
            fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
                UnpackStream::unpack(self, buf).map_err(Self::io_error)
            }

            /// Accepts the buffers up to the first that is refused.
            fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
                one_by_one(bufs, |buf| self.write(buf))
            }

            /// Does nothing: only bytes that cannot be written yet, the first bytes of a value, are kept.
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
    };
}

macro_rules! seeks {
    ($(#[$docs:meta])* impl[$($generics:tt)*] $stream:ty) => {
        impl<$($generics)*> Seek for $stream {
            /// As `set_position`. A position that it refuses, or before the first byte, is
            /// [`InvalidInput`](ErrorKind::InvalidInput). The end is that of the part of the stream that this unpacker
            /// or packer has.
            $(#[$docs])*
            fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
                seek(self, to)
            }
        }
    };
}

impl IoStream for Packer<'_> {
    fn io_error(error: Self::Error) -> io::Error {
        match error {}
    }
}

/// A value that was refused.
fn invalid_data(error: crate::Error) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error)
}

impl IoStream for ConvertingPacker<'_> {
    fn io_error(error: crate::Error) -> io::Error {
        invalid_data(error)
    }
}

impl IoStream for Unpacker<'_> {
    fn io_error(error: crate::Error) -> io::Error {
        invalid_data(error)
    }
}

impl IoStream for ConvertingUnpacker<'_> {
    fn io_error(error: crate::Error) -> io::Error {
        invalid_data(error)
    }
}

impl<B: Backend> IoStream for BackendPacker<B>
where
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    fn io_error(error: B::Error) -> io::Error {
        io::Error::other(error)
    }
}

impl<B: Backend> IoStream for BackendUnpacker<B>
where
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    fn io_error(error: B::Error) -> io::Error {
        io::Error::other(error)
    }
}

reads! {
    /// As [`pack`](Packer::pack); never fails.
    impl[] Packer<'_>
}
reads! {
    /// As [`pack`](ConvertingPacker::pack); a value that does not fit its format is
    /// [`InvalidData`](ErrorKind::InvalidData), with the [`Error`](crate::Error) inside.
    impl[] ConvertingPacker<'_>
}
reads! {
    /// As [`pack`](BackendPacker::pack); an error of the backend is [`Other`](ErrorKind::Other), with it inside.
    impl[B: Backend<Error: Into<Box<dyn std::error::Error + Send + Sync>>>] BackendPacker<B>
}
writes! {
    /// As [`unpack`](Unpacker::unpack); what is refused there is [`InvalidData`](ErrorKind::InvalidData) here, with
    /// the [`Error`](crate::Error) inside. At the end it accepts nothing.
    impl[] Unpacker<'_>
}
writes! {
    /// As [`unpack`](ConvertingUnpacker::unpack); what is refused there is [`InvalidData`](ErrorKind::InvalidData)
    /// here, with the [`Error`](crate::Error) inside. At the end it accepts nothing.
    impl[] ConvertingUnpacker<'_>
}
writes! {
    /// As [`unpack`](BackendUnpacker::unpack); an error of the backend is [`Other`](ErrorKind::Other), with it inside.
    /// At the end it accepts nothing.
    impl[B: Backend<Error: Into<Box<dyn std::error::Error + Send + Sync>>>] BackendUnpacker<B>
}

impl<S: PackStream + IoStream, C: Checksum> Read for Checksummed<S, C> {
    /// As [`pack`](Checksummed::pack), with the errors of the stream.
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.pack(buf).map_err(S::io_error)
    }

    /// Fills the buffers up to the first that is refused.
    fn read_vectored(&mut self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        one_by_one(bufs, |buf| self.read(buf))
    }
}

impl<S: UnpackStream + IoStream, C: Checksum> Write for Checksummed<S, C> {
    /// As [`unpack`](Checksummed::unpack), with the errors of the stream.
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.unpack(buf).map_err(S::io_error)
    }

    /// Accepts the buffers up to the first that is refused.
    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        one_by_one(bufs, |buf| self.write(buf))
    }

    /// Does nothing: only bytes that cannot be written yet, the first bytes of a value, are kept.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
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

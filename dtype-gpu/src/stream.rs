//! Packed streams of device memory as readers and writers of bytes.

use std::io;

use crate::device::{Buffer, Queue};
use crate::driver::Driver;
use crate::error::Error;
use crate::packing::Packing;

/// The most bytes of a fragment, in host memory between the device and the caller.
const FRAGMENT: usize = 1 << 20;

/// The packed stream of instances in device memory, which is read in order: each call packs its bytes on the device.
///
/// Made by [`Packing::reader`].
#[derive(Debug)]
pub struct Reader<'a, D: Driver>(Stream<'a, D>);

/// The packed stream of instances in device memory, which is written in order: each call unpacks its bytes on the device. Any
/// bytes are accepted, as by [`Packing::unpack`].
///
/// Made by [`Packing::writer`].
#[derive(Debug)]
pub struct Writer<'a, D: Driver>(Stream<'a, D>);

/// Instances, and how far their stream has come.
#[derive(Debug)]
struct Stream<'a, D: Driver> {
    packing: &'a Packing<D>,
    queue: &'a Queue<D>,
    memory: (&'a Buffer<D>, i64),
    count: usize,
    position: u64,
    end: u64,
    fragment: Buffer<D>,
}

impl<'a, D: Driver> Stream<'a, D> {
    fn new(
        packing: &'a Packing<D>,
        queue: &'a Queue<D>,
        memory: (&'a Buffer<D>, i64),
        count: usize,
    ) -> Result<Self, Error> {
        let end = packing.committed().packed_size(count)?;
        let fragment = packing.device().host_buffer(end.min(FRAGMENT))?;
        Ok(Self { packing, queue, memory, count, position: 0, end: end as u64, fragment })
    }

    /// The bytes that the next call moves, if it is lent `len`.
    fn next(&self, len: usize) -> usize {
        let left = usize::try_from(self.end - self.position).unwrap_or(usize::MAX);
        len.min(left).min(self.fragment.len())
    }
}

impl<D: Driver> io::Read for Reader<'_, D> {
    /// Returns 0 at the end of the stream.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let Stream { packing, queue, memory, count, position, .. } = self.0;
        let bytes = self.0.next(out.len());
        let range = position..position + bytes as u64;
        packing.pack_range(queue, memory, count, range, (&self.0.fragment, 0))?;
        if let Some(mapped) = self.0.fragment.map(queue)? {
            out[..bytes].copy_from_slice(&mapped[..bytes]);
        }
        self.0.position += bytes as u64;
        Ok(bytes)
    }
}

impl<D: Driver> io::Write for Writer<'_, D> {
    /// Returns 0 at the end of the stream.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Stream { packing, queue, memory, count, position, .. } = self.0;
        let number = self.0.next(bytes.len());
        let range = position..position + number as u64;
        if let Some(mut mapped) = self.0.fragment.map(queue)? {
            mapped[..number].copy_from_slice(&bytes[..number]);
        }
        packing.unpack_range(queue, (&self.0.fragment, 0), count, range, memory)?;
        self.0.position += number as u64;
        Ok(number)
    }

    /// Returns when all bytes are in the memory.
    fn flush(&mut self) -> io::Result<()> {
        Ok(self.0.queue.wait()?)
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::other(error)
    }
}

impl<D: Driver> Packing<D> {
    /// The packed stream of `count` instances as a reader, say for a socket. It packs fragments of up to a mebibyte.
    ///
    /// ```
    /// use std::io;
    ///
    /// use dtype_gpu::opencl::OpenCl;
    /// use dtype_gpu::{Device, PrepareOn};
    /// use dtype_runtime::{Basic, Type};
    ///
    /// # if OpenCl::first().is_err() { return Ok(()) }
    /// let device = Device::new(OpenCl::first()?);
    /// let queue = device.queue()?;
    /// let column = Type::vector(3, 1, 4, &Type::basic(Basic::U8))?.commit().prepare_on(&device)?;
    /// let matrix = device.buffer(12)?;
    /// matrix.write(&queue, 0, b"abcdefghijkl")?;
    ///
    /// let mut reader = column.reader(&queue, (&matrix, 1), 1)?;
    /// let mut writer = column.writer(&queue, (&matrix, 2), 1)?;
    /// assert_eq!(io::copy(&mut reader, &mut writer)?, 3);
    ///
    /// let mut bytes = [0; 12];
    /// matrix.read(&queue, 0, &mut bytes)?;
    /// assert_eq!(&bytes, b"abbdeffhijjl");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Layout`] if the instances have too many bytes, and those of the driver. The other errors of
    /// [`pack`](Self::pack) are those of reading.
    pub fn reader<'a>(
        &'a self,
        queue: &'a Queue<D>,
        from: (&'a Buffer<D>, i64),
        count: usize,
    ) -> Result<Reader<'a, D>, Error> {
        Stream::new(self, queue, from, count).map(Reader)
    }

    /// The packed stream of `count` instances as a writer: the mirror image of [`reader`](Self::reader). Calls return before
    /// the bytes are in the memory.
    ///
    /// # Errors
    ///
    /// As [`reader`](Self::reader).
    pub fn writer<'a>(
        &'a self,
        queue: &'a Queue<D>,
        to: (&'a Buffer<D>, i64),
        count: usize,
    ) -> Result<Writer<'a, D>, Error> {
        Stream::new(self, queue, to, count).map(Writer)
    }
}

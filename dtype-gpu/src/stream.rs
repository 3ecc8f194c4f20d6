//! Device memory as a backend of the engine's packers and unpackers.

use core::fmt;
use core::ops::Range;
use std::io;

use dtype_runtime::convertor::{Backend, Fragment, Through};
use dtype_runtime::{Packer, Unpacker};

use crate::device::{Buffer, Queue};
use crate::driver::Driver;
use crate::error::Error;
use crate::packing::{Packing, PrepareOn as _};
use crate::source::Direction;

/// The greatest number of bytes in host memory between the device and the caller.
const STAGED: usize = 1 << 20;

/// A buffer as the [`Backend`] of the engine's packers and unpackers. A fragment is packed on the device into pinned host
/// memory of up to a mebibyte, in several pieces if it is longer, and copied to the caller from there.
///
/// Made by [`Packing::packer`] and [`Packing::unpacker`].
pub struct DeviceMemory<'a, D: Driver> {
    queue: &'a Queue<D>,
    buffer: &'a Buffer<D>,
    /// The type of the last fragment, prepared for the device.
    packing: Packing<D>,
    staged: Buffer<D>,
}

impl<'a, D: Driver> DeviceMemory<'a, D> {
    fn new(
        packing: &Packing<D>,
        queue: &'a Queue<D>,
        buffer: &'a Buffer<D>,
        count: usize,
    ) -> Result<Self, Error> {
        let bytes = packing.committed().packed_size(count)?.clamp(1, STAGED);
        let staged = packing.device().host_buffer(bytes)?;
        Ok(Self { queue, buffer, packing: packing.clone(), staged })
    }

    /// Calls `run` for each piece of a fragment that fits the pinned memory, with the piece's ranges in the stream and in the
    /// fragment.
    fn pieces(
        &mut self,
        fragment: &Fragment<'_>,
        mut run: impl FnMut(&mut Self, Range<u64>, Range<usize>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        // The backend may have been moved to a stream of another type.
        if !core::ptr::eq(fragment.committed().plan(), self.packing.committed().plan()) {
            self.packing = fragment.committed().prepare_on(self.packing.device())?;
        }
        let (first, len, step) = (fragment.range().start, fragment.len(), self.staged.len());
        (0..len).step_by(step).try_for_each(|start| {
            let end = len.min(start.saturating_add(step));
            run(self, first + start as u64..first + end as u64, start..end)
        })
    }
}

impl<D: Driver> fmt::Debug for DeviceMemory<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceMemory")
            .field("buffer", &self.buffer)
            .field("committed", self.packing.committed())
            .finish_non_exhaustive()
    }
}

impl<D: Driver> Backend for DeviceMemory<'_, D> {
    type Error = Error;

    fn size(&self) -> u64 {
        self.buffer.len() as u64
    }

    fn read(&mut self, fragment: &Fragment<'_>, packed: &mut [u8]) -> Result<(), Error> {
        let (origin, count) = (fragment.origin(), fragment.count());
        self.pieces(fragment, |memory, range, piece| {
            let Self { queue, buffer, packing, staged } = memory;
            packing.run(Direction::Pack, queue, (buffer, origin), count, range, (staged, 0))?;
            let mapped = staged.map(queue)?.expect("pinned host memory");
            packed[piece.clone()].copy_from_slice(&mapped[..piece.len()]);
            Ok(())
        })
    }

    /// Returns before the bytes are in the buffer, but commands that are queued later find them there.
    fn write(&mut self, fragment: &Fragment<'_>, packed: &[u8]) -> Result<(), Error> {
        let (origin, count) = (fragment.origin(), fragment.count());
        self.pieces(fragment, |memory, range, piece| {
            let Self { queue, buffer, packing, staged } = memory;
            let mut mapped = staged.map(queue)?.expect("pinned host memory");
            mapped[..piece.len()].copy_from_slice(&packed[piece]);
            drop(mapped);
            packing.run(Direction::Unpack, queue, (buffer, origin), count, range, (staged, 0))
        })
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.queue.wait()
    }
}

impl<D: Driver> Packing<D> {
    /// The engine's packer over device memory: the packed stream of `count` instances, to be read in fragments of any size from
    /// any position, for example for a socket. `from` is a buffer and the offset in bytes of displacement 0 of the first
    /// instance in it.
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
    /// let mut packer = column.packer(&queue, (&matrix, 1), 1)?;
    /// let mut unpacker = column.unpacker(&queue, (&matrix, 2), 1)?;
    /// packer.set_position(1)?;
    /// unpacker.set_position(1)?;
    /// assert_eq!(io::copy(&mut packer, &mut unpacker)?, 2);
    ///
    /// let mut bytes = [0; 12];
    /// matrix.read(&queue, 0, &mut bytes)?;
    /// assert_eq!(&bytes, b"abcdeffhijjl");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Layout`] if the instances reach outside the buffer or have too many bytes, and those of the driver.
    pub fn packer<'a>(
        &self,
        queue: &'a Queue<D>,
        from: (&'a Buffer<D>, i64),
        count: usize,
    ) -> Result<Packer<'static, Through<DeviceMemory<'a, D>>>, Error> {
        let memory = DeviceMemory::new(self, queue, from.0, count)?;
        Ok(self.committed().packer_with(memory, from.1.into(), count)?)
    }

    /// The engine's unpacker over device memory: the mirror image of [`packer`](Self::packer). Any bytes are accepted, as by
    /// [`unpack`](Self::unpack). Calls return before the bytes are in the buffer;
    /// [`flush`](Unpacker::flush) returns when they are.
    ///
    /// # Errors
    ///
    /// As [`packer`](Self::packer), and [`Error::Layout`] if the instances name a byte more than once.
    pub fn unpacker<'a>(
        &self,
        queue: &'a Queue<D>,
        to: (&'a Buffer<D>, i64),
        count: usize,
    ) -> Result<Unpacker<'static, Through<DeviceMemory<'a, D>>>, Error> {
        let memory = DeviceMemory::new(self, queue, to.0, count)?;
        Ok(self.committed().unpacker_with(memory, to.1.into(), count)?)
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::other(error)
    }
}

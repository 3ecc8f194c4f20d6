//! Exchanges of parts of grids in the memory of a device.

use dtype_gpu::driver::Driver;
use dtype_gpu::{Buffer, Device, Mapped, Packing, PrepareOn as _, Queue};

use super::{Exchange, Part, Prepared, Started};
use crate::error::Error;

/// An [`Exchange`] of grids in the memory of a device, made by [`Exchange::on_device`].
///
/// The device packs all parts into pinned host memory and unpacks what arrives from pinned host memory. The host waits for the
/// device once in each round. The library sends and receives memory of its own process, so it need not support devices, and the
/// peers may have their grids in host memory.
///
/// ```
/// use dtype_gpu::Device;
/// use dtype_gpu::opencl::OpenCl;
/// use dtype_mpi::{Error, Exchange, Neighbours};
/// use mpi::traits::*;
///
/// # if OpenCl::first().is_err() { return Ok(()) }
/// let universe = mpi::initialize().expect("MPI runs once");
/// let world = universe.world();
/// let ring = world.create_cartesian_communicator(&[world.size()], &[true], false).unwrap();
/// let device = Device::new(OpenCl::first()?);
/// let queue = device.queue()?;
///
/// // Each rank has four bytes, and a border of one on each side.
/// let halo = Exchange::halo_of::<u8>(&ring, &[6], 1, Neighbours::Faces)?;
/// let mut halo = halo.on_device(&device)?;
/// let grid = device.buffer(6)?;
/// grid.write(&queue, 0, b".abcd.")?;
/// halo.run(&queue, &grid)?;
///
/// let mut bytes = [0; 6];
/// grid.read(&queue, 0, &mut bytes)?;
/// assert_eq!(&bytes, b"dabcda");
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct DeviceExchange<'c, D: Driver> {
    exchange: Exchange<'c>,
    sends: Pinned<D>,
    receives: Pinned<D>,
}

/// The packed bytes of all parts of one direction, one part after another.
#[derive(Debug)]
struct Pinned<D: Driver> {
    packings: Vec<Packing<D>>,
    /// Where the bytes of each part begin.
    starts: Vec<usize>,
    memory: Buffer<D>,
}

impl<D: Driver> Pinned<D> {
    fn new(parts: &[Prepared<'_>], device: &Device<D>) -> Result<Self, Error> {
        let (mut packings, mut starts, mut total) = (Vec::new(), Vec::new(), 0_usize);
        for Prepared { part, bytes, .. } in parts {
            packings.push(part.committed().prepare_on(device)?);
            starts.push(total);
            total = total.checked_add(*bytes).ok_or(Error::Allocation { bytes: usize::MAX })?;
        }
        Ok(Self { packings, starts, memory: device.host_buffer(total)? })
    }

    /// Lends the bytes to the host, once the commands that use them have ended.
    fn map<'a>(&'a mut self, queue: &'a Queue<D>) -> Result<Mapped<'a, D>, Error> {
        let mapped = self.memory.map(queue)?;
        Ok(mapped.expect("pinned host memory"))
    }
}

impl Part {
    /// The origin. Every part of an exchange can lie in a memory, so the number fits.
    fn offset(&self) -> i64 {
        i64::try_from(self.origin).unwrap_or(i64::MAX)
    }
}

impl<'c> Exchange<'c> {
    /// The same exchange, of grids in the memory of a device. Any bytes that arrive are accepted, because this memory consists
    /// of bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Device`]; [`Error::Allocation`]. The other ranks do not know of an error at this one.
    pub fn on_device<D: Driver>(self, device: &Device<D>) -> Result<DeviceExchange<'c, D>, Error> {
        let (sends, receives) =
            (Pinned::new(&self.sends, device)?, Pinned::new(&self.receives, device)?);
        Ok(DeviceExchange { exchange: self, sends, receives })
    }
}

impl<'c, D: Driver> DeviceExchange<'c, D> {
    /// Exchanges the parts within one grid. Displacement 0 of a part without an origin is the first byte of the buffer.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start) and [`finish`](DeviceStarted::finish).
    pub fn run(&mut self, queue: &Queue<D>, grid: &Buffer<D>) -> Result<(), Error> {
        self.start(queue, grid)?.finish(queue, grid)
    }

    /// Starts to receive all parts; packs the ones to be sent, after earlier commands of the queue; and starts to send them. The
    /// device may compute until [`finish`](DeviceStarted::finish), which may have another buffer.
    ///
    /// # Errors
    ///
    /// [`Error::Type`] with [`OutOfBounds`](dtype_runtime::Error::OutOfBounds) for a part outside of the buffer;
    /// [`Error::Device`]; otherwise as [`Exchange::start`]. A rank with an error tells the others, as there.
    pub fn start(
        &mut self,
        queue: &Queue<D>,
        grid: &Buffer<D>,
    ) -> Result<DeviceStarted<'_, 'c, D>, Error> {
        let Self { exchange, sends, receives } = self;
        let packed = check(&exchange.receives, grid)
            .and_then(|()| check(&exchange.sends, grid))
            .and_then(|()| pack(&exchange.sends, sends, queue, grid));
        let starts = sends.starts.clone();
        let (ready, mapped) = match packed.and_then(|()| sends.map(queue)) {
            Ok(mapped) => (Ok(()), Some(mapped)),
            Err(error) => (Err(error), None),
        };
        let started = exchange.begin(ready, |index, _, packed| {
            if let Some(mapped) = &mapped {
                packed.copy_from_slice(&mapped[starts[index]..][..packed.len()]);
            }
            Ok(())
        })?;
        Ok(DeviceStarted { started, receives })
    }
}

/// Checks that all parts lie in a buffer.
fn check<D: Driver>(parts: &[Prepared<'_>], grid: &Buffer<D>) -> Result<(), Error> {
    for Prepared { part, .. } in parts {
        part.committed().check_span(grid.len() as u64, part.origin as i128, part.count)?;
    }
    Ok(())
}

fn pack<D: Driver>(
    parts: &[Prepared<'_>],
    pinned: &Pinned<D>,
    queue: &Queue<D>,
    grid: &Buffer<D>,
) -> Result<(), Error> {
    for ((Prepared { part, .. }, packing), &start) in
        parts.iter().zip(&pinned.packings).zip(&pinned.starts)
    {
        packing.pack(queue, (grid, part.offset()), part.count, (&pinned.memory, start as u64))?;
    }
    Ok(())
}

/// A [`DeviceExchange`] in progress. Dropping it waits, and discards what arrives, as for [`Started`].
#[must_use = "dropping it waits"]
#[derive(Debug)]
pub struct DeviceStarted<'e, 'c, D: Driver> {
    started: Started<'e, 'c>,
    receives: &'e mut Pinned<D>,
}

impl<D: Driver> DeviceStarted<'_, '_, D> {
    /// Waits until all parts have arrived and all have been sent, and enqueues the unpacking of those that arrived.
    ///
    /// # Errors
    ///
    /// [`Error::Type`] with [`OutOfBounds`](dtype_runtime::Error::OutOfBounds) for a part outside of the buffer;
    /// [`Error::Device`]; otherwise as [`Started::finish`].
    pub fn finish(self, queue: &Queue<D>, grid: &Buffer<D>) -> Result<(), Error> {
        let Self { started, receives } = self;
        check(&started.exchange.receives, grid)?;
        let (starts, mut arrived) = (receives.starts.clone(), Vec::new());
        let mut mapped = receives.map(queue)?;
        let result = started.exchange.complete(|index, receive, came| {
            let packed = receive.arrived(came)?;
            mapped[starts[index]..][..packed.len()].copy_from_slice(packed);
            arrived.push(index);
            Ok(())
        });
        drop(mapped);
        for index in arrived {
            let (part, from) = (&started.exchange.receives[index].part, starts[index] as u64);
            let (from, to) = ((&receives.memory, from), (grid, part.offset()));
            receives.packings[index].unpack(queue, from, part.count, to)?;
        }
        result
    }
}

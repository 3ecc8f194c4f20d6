//! Two halves of a grid on a device exchange their faces, as processes do that share a simulation: each packs the face that
//! the other one needs, and unpacks what it gets into its own ghost cells.
//!
//! ```console
//! cargo run -p dtype-gpu --example halo
//! ```

use anyhow::{Result, ensure};
use dtype_gpu::driver::Driver;
use dtype_gpu::opencl::OpenCl;
use dtype_gpu::{Buffer, Device, Error, Packing, PrepareOn, Queue};
use dtype_runtime::{Basic, Order, Type};

/// Cells of a half along each axis, with one ghost cell at both ends. The last axis is contiguous.
const CELLS: [u64; 3] = [34, 50, 66];

/// The cells of a half that are in one plane across the last axis, without the ghost cells of the other axes.
fn face(plane: u64) -> Result<Type, dtype_runtime::Error> {
    let [x, y, _] = CELLS;
    Type::subarray(&CELLS, &[x - 2, y - 2, 1], &[1, 1, plane], Order::C, &Type::basic(Basic::I64))
}

/// One half of the grid.
struct Half<D: Driver> {
    cells: Buffer<D>,
    /// The outermost cells on the side of the other half, and the ghost cells next to them.
    own: Packing<D>,
    ghosts: Packing<D>,
}

impl<D: Driver> Half<D> {
    /// All cells have this value. The other half is at the end of the last axis, or at its start.
    fn new(queue: &Queue<D>, value: i64, is_at_end: bool) -> Result<Self> {
        let device = queue.device();
        let last = CELLS[2] - 1;
        let (own, ghosts) = if is_at_end { (last - 1, last) } else { (1, 0) };
        let bytes = value.to_ne_bytes().repeat(usize::try_from(CELLS.iter().product::<u64>())?);
        let cells = device.buffer(bytes.len())?;
        cells.write(queue, 0, &bytes)?;
        let prepare = |plane| -> Result<_, Error> { face(plane)?.commit().prepare_on(device) };
        Ok(Self { cells, own: prepare(own)?, ghosts: prepare(ghosts)? })
    }

    fn cells(&self, queue: &Queue<D>) -> Result<Vec<i64>, Error> {
        let mut bytes = vec![0; self.cells.len()];
        self.cells.read(queue, 0, &mut bytes)?;
        Ok(bytes.as_chunks().0.iter().map(|cell| i64::from_ne_bytes(*cell)).collect())
    }
}

fn main() -> Result<()> {
    let device = match OpenCl::first() {
        Ok(driver) => Device::new(driver),
        Err(error) => {
            println!("left out: {error}");
            return Ok(());
        }
    };
    println!("on {}", device.name());
    let queue = device.queue()?;
    let (left, right) = (Half::new(&queue, 1, true)?, Half::new(&queue, 2, false)?);

    // Host memory that the device reaches: an MPI library or a network card sends it from there.
    let bytes = left.own.committed().packed_size(1)?;
    let (to_right, to_left) = (device.host_buffer(bytes)?, device.host_buffer(bytes)?);
    left.own.pack(&queue, (&left.cells, 0), 1, (&to_right, 0))?;
    right.own.pack(&queue, (&right.cells, 0), 1, (&to_left, 0))?;
    // Between two processes, the messages would be sent here, after `queue.wait()`.
    right.ghosts.unpack(&queue, (&to_right, 0), 1, (&right.cells, 0))?;
    left.ghosts.unpack(&queue, (&to_left, 0), 1, (&left.cells, 0))?;
    queue.wait()?;

    for (half, own, other) in [(&left, 1, 2), (&right, 2, 1)] {
        let cells = half.cells(&queue)?;
        let ghosts = cells.iter().filter(|cell| **cell == other).count();
        ensure!(ghosts * 8 == bytes, "{ghosts} cells came from the other half");
        ensure!(cells.iter().filter(|cell| **cell == own).count() == cells.len() - ghosts);
    }
    println!("{bytes} bytes went each way");
    Ok(())
}

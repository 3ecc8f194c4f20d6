//! The device with the memory that all measurements use, its clock, and the driver's own copies.

use std::collections::HashMap;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use cudarc::driver::sys::{self, CUdeviceptr, CUevent, CUmemorytype, CUresult, CUstream};
use dtype_gpu::cuda::nvrtc::{self, Image};
use dtype_gpu::cuda::{Cuda, Kernel};
use dtype_gpu::driver::{Argument, Driver};
use dtype_gpu::source::Source;
use dtype_gpu::{Buffer, Device, Queue};

use crate::hand::{Direction, Form, Hand};
use crate::layouts::{Layout, Planes, Rows};

/// Bytes on both sides of everything that a kernel writes.
pub(crate) const GUARD: usize = 4096;

/// A device and its memory.
pub(crate) struct Gpu {
    pub(crate) device: Device<Cuda>,
    pub(crate) queue: Queue<Cuda>,
    pub(crate) memory: Buffer<Cuda>,
    pub(crate) packed: Buffer<Cuda>,
    clock: [CUevent; 2],
    /// The kernels by hand, compiled.
    images: HashMap<Source, Image>,
    /// Bytes per second, read and written, of copies of 64 MiB, 256 MiB and 1 GiB.
    pub(crate) copies: [f64; 3],
}

/// The sizes of the copies that all figures are compared with.
pub(crate) const COPIES: [usize; 3] = [64 << 20, 256 << 20, 1 << 30];

/// A result of the driver as an error.
pub(crate) fn check(result: CUresult) -> Result<()> {
    ensure!(result == CUresult::CUDA_SUCCESS, "the driver says {result:?}");
    Ok(())
}

impl Gpu {
    /// The first device.
    pub(crate) fn new(memory: usize, packed: usize) -> Result<Self> {
        let device = Device::new(Cuda::new(0)?);
        let (queue, memory, packed) =
            (device.queue()?, device.buffer(memory)?, device.buffer(packed)?);
        let mut clock = [std::ptr::null_mut(); 2];
        for event in &mut clock {
            // SAFETY: the pointer points to an event; the device's context is current since the calls above.
            check(unsafe { sys::cuEventCreate(event, 0) })?;
        }
        let mut gpu =
            Self { device, queue, memory, packed, clock, images: HashMap::new(), copies: [1.0; 3] };
        for (index, bytes) in COPIES.into_iter().enumerate() {
            let turns = (gpu.packed.len() / bytes).min(8);
            let time = gpu.time(|turn| {
                let at = turn % turns * bytes;
                gpu.copy(gpu.memory_at(at), gpu.packed_at(at), bytes)
            })?;
            gpu.copies[index] = 2.0 * bytes as f64 / time;
        }
        Ok(gpu)
    }

    /// Compiles kernels by hand, several at a time.
    pub(crate) fn compile<'a>(&mut self, hands: impl Iterator<Item = &'a Hand>) -> Result<()> {
        let capability = self.cuda().capability();
        let forms = Mutex::new(hands.flat_map(|hand| &hand.forms).collect::<Vec<_>>());
        let next = || forms.lock().ok().and_then(|mut forms| forms.pop());
        let work = || -> Result<Vec<_>, dtype_gpu::Error> {
            std::iter::from_fn(next)
                .map(|form| Ok((form.source.clone(), nvrtc::compile(&form.source, capability)?)))
                .collect()
        };
        thread::scope(|scope| {
            let workers = [(); 8].map(|()| scope.spawn(work));
            for worker in workers {
                let images = worker.join().map_err(|_| anyhow::anyhow!("a thread panicked"))?;
                self.images.extend(images?);
            }
            Ok(())
        })
    }

    pub(crate) fn cuda(&self) -> &Cuda {
        self.device.driver()
    }

    pub(crate) fn stream(&self) -> CUstream {
        self.queue.raw().stream().cast()
    }

    pub(crate) fn memory_at(&self, at: usize) -> CUdeviceptr {
        self.memory.memory().address() + at as u64
    }

    pub(crate) fn packed_at(&self, at: usize) -> CUdeviceptr {
        self.packed.memory().address() + at as u64
    }

    /// The copy that figures of these packed bytes are compared with, in bytes per second.
    pub(crate) fn copy_speed(&self, packed: usize) -> f64 {
        self.copies[usize::from(packed > 100_000_000) + usize::from(packed > 600_000_000)]
    }

    /// The median time in seconds of a turn on the device: of three rows of ten turns.
    pub(crate) fn time(&self, mut turn: impl FnMut(usize) -> Result<()>) -> Result<f64> {
        turn(0)?;
        turn(1)?;
        let mut times = [0.0; 3];
        for time in &mut times {
            let mut milliseconds = 0.0;
            // SAFETY: events and stream are alive, and of the context that is current.
            unsafe {
                check(sys::cuEventRecord(self.clock[0], self.stream()))?;
                for number in 0..10 {
                    turn(number)?;
                }
                check(sys::cuEventRecord(self.clock[1], self.stream()))?;
                check(sys::cuEventSynchronize(self.clock[1]))?;
                check(sys::cuEventElapsedTime_v2(
                    &raw mut milliseconds,
                    self.clock[0],
                    self.clock[1],
                ))?;
            }
            *time = f64::from(milliseconds) / 10_000.0;
        }
        times.sort_by(f64::total_cmp);
        Ok(times[1])
    }

    /// The median time in seconds of a turn and of waiting for it, on the host.
    pub(crate) fn latency(&self, most: usize, mut turn: impl FnMut() -> Result<()>) -> Result<f64> {
        let mut times = Vec::new();
        let start = Instant::now();
        while times.len() < most && (times.len() < 3 || start.elapsed().as_secs_f64() < 0.05) {
            let start = Instant::now();
            turn()?;
            // SAFETY: the stream is alive.
            check(unsafe { sys::cuStreamSynchronize(self.stream()) })?;
            times.push(start.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        Ok(times[times.len() / 2])
    }

    pub(crate) fn copy(&self, from: CUdeviceptr, to: CUdeviceptr, bytes: usize) -> Result<()> {
        // SAFETY: the callers name ranges of the buffers.
        check(unsafe { sys::cuMemcpyAsync(to, from, bytes, self.stream()) })
    }

    /// The driver's copies of rows between memory and packed bytes, for `count` instances, the first at `at.0`.
    pub(crate) fn copy_instances(
        &self,
        direction: Direction,
        layout: &Layout,
        rows: Rows,
        at: (usize, usize),
        count: usize,
    ) -> Result<()> {
        let (memory, packed) = (self.memory_at(at.0), self.packed_at(at.1));
        let Some(planes) = rows.planes else {
            return self.copy_rows(direction, memory, packed, rows, count);
        };
        let (extent, size) = (layout.extent() as u64, layout.ty.size());
        (0..count as u64).try_for_each(|instance| {
            let (memory, packed) = (memory + instance * extent, packed + instance * size);
            self.copy_planes(direction, memory, packed, rows, planes)
        })
    }

    /// All rows in one call.
    fn copy_rows(
        &self,
        direction: Direction,
        memory: CUdeviceptr,
        packed: CUdeviceptr,
        rows: Rows,
        count: usize,
    ) -> Result<()> {
        let ends = [(memory, rows.pitch), (packed, rows.width)];
        let [(from, from_pitch), (to, to_pitch)] = in_order(direction, ends);
        let copy = sys::CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcHost: std::ptr::null(),
            srcDevice: from,
            srcArray: std::ptr::null_mut(),
            srcPitch: from_pitch,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstHost: std::ptr::null_mut(),
            dstDevice: to,
            dstArray: std::ptr::null_mut(),
            dstPitch: to_pitch,
            WidthInBytes: rows.width,
            Height: rows.number * count,
        };
        // SAFETY: the callers name ranges of the buffers.
        check(unsafe { sys::cuMemcpy2DAsync_v2(&raw const copy, self.stream()) })
    }

    /// The planes of an instance in one call.
    fn copy_planes(
        &self,
        direction: Direction,
        memory: CUdeviceptr,
        packed: CUdeviceptr,
        rows: Rows,
        planes: Planes,
    ) -> Result<()> {
        let ends = [(memory, rows.pitch, planes.height), (packed, rows.width, rows.number)];
        let [(from, from_pitch, from_height), (to, to_pitch, to_height)] =
            in_order(direction, ends);
        let copy = sys::CUDA_MEMCPY3D {
            srcXInBytes: 0,
            srcY: 0,
            srcZ: 0,
            srcLOD: 0,
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcHost: std::ptr::null(),
            srcDevice: from,
            srcArray: std::ptr::null_mut(),
            reserved0: std::ptr::null_mut(),
            srcPitch: from_pitch,
            srcHeight: from_height,
            dstXInBytes: 0,
            dstY: 0,
            dstZ: 0,
            dstLOD: 0,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstHost: std::ptr::null_mut(),
            dstDevice: to,
            dstArray: std::ptr::null_mut(),
            reserved1: std::ptr::null_mut(),
            dstPitch: to_pitch,
            dstHeight: to_height,
            WidthInBytes: rows.width,
            Height: rows.number,
            Depth: planes.number,
        };
        // SAFETY: the callers name ranges of the buffers.
        check(unsafe { sys::cuMemcpy3DAsync_v2(&raw const copy, self.stream()) })
    }
}

/// Memory and packed bytes as source and target.
fn in_order<T: Copy>(direction: Direction, [memory, packed]: [T; 2]) -> [T; 2] {
    match direction {
        Direction::Pack => [memory, packed],
        Direction::Unpack => [packed, memory],
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        for event in self.clock {
            // SAFETY: the event is alive and not used after this.
            let _ = unsafe { sys::cuEventDestroy_v2(event) };
        }
    }
}

/// A hand-written kernel on the device.
pub(crate) struct Ready<'a> {
    pub(crate) form: &'a Form,
    kernel: Kernel,
    lists: [Option<Buffer<Cuda>>; 2],
}

impl<'a> Ready<'a> {
    /// All kernels of a layout.
    pub(crate) fn all(gpu: &Gpu, hand: &'a Hand) -> Result<Vec<Self>> {
        hand.forms.iter().map(|form| Self::new(gpu, form, hand)).collect()
    }

    fn new(gpu: &Gpu, form: &'a Form, hand: &Hand) -> Result<Self> {
        let mut lists = [None, None];
        for (list, numbers) in lists.iter_mut().zip(&hand.lists) {
            if !numbers.is_empty() {
                let bytes: Vec<u8> =
                    numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
                let buffer = gpu.device.buffer(bytes.len())?;
                buffer.write(&gpu.queue, 0, &bytes)?;
                *list = Some(buffer);
            }
        }
        let image = gpu.images.get(&form.source).context("a kernel that was not compiled")?;
        Ok(Self { form, kernel: gpu.cuda().load(&form.source, image)?, lists })
    }

    /// Queues the kernel for `count` instances, the first at `memory`.
    pub(crate) fn launch(
        &self,
        gpu: &Gpu,
        memory: CUdeviceptr,
        packed: CUdeviceptr,
        count: usize,
    ) -> Result<()> {
        let units = self.form.units * count as u64;
        let list =
            |index: usize| self.lists[index].as_ref().map_or(0, |list| list.memory().address());
        let arguments = [memory, packed, units, list(0), list(1)].map(Argument::<Cuda>::Number);
        let groups = u32::try_from(units.div_ceil(self.form.per_group))?;
        // SAFETY: the kernels take their first three or all five of these arguments, and stay inside memory and packed
        // bytes, both of which have room for `count` instances.
        unsafe { Ok(gpu.cuda().launch(gpu.queue.raw(), &self.kernel, groups, &arguments)?) }
    }
}

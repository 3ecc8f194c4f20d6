//! OpenCL devices, through the library that the system provides at run time.

use core::ffi::c_void;
use core::ptr;
use std::sync::{Mutex, PoisonError};

use opencl3::command_queue::{self as raw, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device};
use opencl3::error_codes::ClError;
use opencl3::event::{CL_COMPLETE, Event};
use opencl3::kernel::Kernel;
use opencl3::memory::{
    Buffer, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_ALLOC_HOST_PTR, CL_MEM_READ_WRITE, ClMem, cl_mem,
};
use opencl3::platform::get_platforms;
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, cl_event, cl_int};

use crate::driver::{Argument, Driver};
use crate::error::Error;
use crate::source::{Dialect, Source};

/// An OpenCL device.
#[derive(Debug)]
pub struct OpenCl {
    context: Context,
    device: Device,
    name: String,
}

/// Device memory, or pinned host memory that kernels reach.
#[derive(Debug)]
pub struct Memory(Buffer<u8>);

/// A kernel with the lock that its arguments need: they are state of the kernel until it is launched.
#[derive(Debug)]
pub struct Compiled {
    kernel: Mutex<Kernel>,
    threads: usize,
}

/// The error of a call.
fn failed<E: Into<ClError>>(call: &'static str) -> impl Fn(E) -> Error {
    move |error| {
        let error = error.into();
        Error::Driver { call, code: error.0, message: error.to_string() }
    }
}

/// Releases the event of a command whose end nothing waits for.
fn release(event: cl_event) {
    drop(Event::new(event));
}

impl OpenCl {
    /// All devices of all platforms, in the order in which the system lists them.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] if the system has no OpenCL library, no platform or no device; [`Error::Driver`] if a device
    /// cannot be opened.
    pub fn devices() -> Result<Vec<Self>, Error> {
        let none = |reason: String| Error::NoDevice { driver: "OpenCL", reason };
        let platforms = get_platforms().map_err(|error| none(error.to_string()))?;
        let mut all = Vec::new();
        for platform in platforms {
            // If a platform has no device, this returns an error.
            for id in platform.get_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default() {
                all.push(Self::open(Device::new(id))?);
            }
        }
        if all.is_empty() {
            return Err(none("no platform has a device".to_owned()));
        }
        Ok(all)
    }

    /// The first device.
    ///
    /// # Errors
    ///
    /// As [`devices`](Self::devices).
    pub fn first() -> Result<Self, Error> {
        Self::devices().map(|mut all| all.swap_remove(0))
    }

    fn open(device: Device) -> Result<Self, Error> {
        let context = Context::from_device(&device).map_err(failed("clCreateContext"))?;
        let name = device.name().map_err(failed("clGetDeviceInfo"))?;
        Ok(Self { context, device, name })
    }
}

// SAFETY: the library follows these rules for memory objects, events and mappings: a released object stays until its commands
// have ended.
unsafe impl Driver for OpenCl {
    const DIALECT: Dialect = Dialect::OpenClC;

    type Memory = Memory;
    type Queue = CommandQueue;
    type Kernel = Compiled;
    type Event = Event;

    fn name(&self) -> &str {
        &self.name
    }

    fn allocate(&self, bytes: usize) -> Result<Memory, Error> {
        // SAFETY: without a host pointer, nothing but the context is used.
        unsafe { Buffer::create(&self.context, CL_MEM_READ_WRITE, bytes, ptr::null_mut()) }
            .map(Memory)
            .map_err(failed("clCreateBuffer"))
    }

    fn allocate_host(&self, bytes: usize) -> Result<Memory, Error> {
        let flags = CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR;
        // SAFETY: as above.
        let memory = unsafe { Buffer::create(&self.context, flags, bytes, ptr::null_mut()) }
            .map(Memory)
            .map_err(failed("clCreateBuffer"))?;
        let queue = self.queue()?;
        let address = self.map(&queue, &memory, bytes)?;
        // SAFETY: the mapped region has `bytes` bytes, and nothing else uses it yet.
        unsafe {
            address.write_bytes(0, bytes);
            self.unmap(&queue, &memory, address)?;
        }
        Ok(memory)
    }

    fn queue(&self) -> Result<CommandQueue, Error> {
        // SAFETY: the device is the one of the context. Without properties the queue is in order.
        let queue = unsafe { CommandQueue::create(&self.context, self.device.id(), 0) };
        queue.map_err(failed("clCreateCommandQueue"))
    }

    fn check_queue(&self, queue: &CommandQueue) -> Result<(), Error> {
        let call = "clGetCommandQueueInfo";
        let context = queue.context().map_err(failed(call))?;
        let device = queue.device().map_err(failed(call))?;
        if context != self.context.get() || device != self.device.id() {
            return Err(Error::OtherDevice { what: "queue" });
        }
        let properties = queue.properties().map_err(failed(call))?;
        if properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE != 0 {
            return Err(Error::OutOfOrder);
        }
        Ok(())
    }

    fn compile(&self, source: &Source) -> Result<Compiled, Error> {
        let text = source.text(Self::DIALECT);
        let mut program = Program::create_from_source(&self.context, &text)
            .map_err(failed("clCreateProgramWithSource"))?;
        if let Err(error) = program.build(&[self.device.id()], "") {
            let log = program.get_build_log(self.device.id()).unwrap_or_default();
            return Err(Error::Compile {
                kernel: source.name.to_owned(),
                log: format!("{error}\n{log}"),
            });
        }
        let kernel = Kernel::create(&program, source.name).map_err(failed("clCreateKernel"))?;
        Ok(Compiled { kernel: Mutex::new(kernel), threads: source.threads as usize })
    }

    unsafe fn launch(
        &self,
        queue: &CommandQueue,
        kernel: &Compiled,
        groups: u32,
        arguments: &[Argument<'_, Self>],
    ) -> Result<(), Error> {
        let all = groups as usize * kernel.threads;
        let kernel_threads = kernel.threads;
        // A panic while the lock is held can only leave arguments that the next launch replaces.
        let kernel = kernel.kernel.lock().unwrap_or_else(PoisonError::into_inner);
        for (index, argument) in (0..).zip(arguments) {
            // SAFETY: the caller passes the arguments that the kernel has.
            let set = unsafe {
                match argument {
                    Argument::Memory(memory) => kernel.set_arg::<cl_mem>(index, &memory.0.get()),
                    Argument::Number(number) => kernel.set_arg(index, number),
                }
            };
            set.map_err(failed("clSetKernelArg"))?;
        }
        // SAFETY: there is one dimension, with one size of each kind. The caller guarantees what the kernel accesses.
        unsafe {
            queue.enqueue_nd_range_kernel(
                kernel.get(),
                1,
                ptr::null(),
                &raw const all,
                &raw const kernel_threads,
                &[],
            )
        }
        .map(drop)
        .map_err(failed("clEnqueueNDRangeKernel"))
    }

    unsafe fn copy(
        &self,
        queue: &CommandQueue,
        (from, start): (&Memory, usize),
        (to, at): (&Memory, usize),
        bytes: usize,
    ) -> Result<(), Error> {
        let (queue, from, to) = (queue.get(), from.0.get(), to.0.get());
        // SAFETY: the objects are alive. The caller guarantees the ranges.
        unsafe { raw::enqueue_copy_buffer(queue, from, to, start, at, bytes, 0, ptr::null()) }
            .map(release)
            .map_err(failed("clEnqueueCopyBuffer"))
    }

    unsafe fn read(
        &self,
        queue: &CommandQueue,
        (from, start): (&Memory, usize),
        to: &mut [u8],
    ) -> Result<(), Error> {
        // SAFETY: the slice is borrowed until the call returns, and the copy has ended by then. The caller guarantees the
        // range.
        unsafe { queue.enqueue_read_buffer(&from.0, CL_BLOCKING, start, to, &[]) }
            .map(drop)
            .map_err(failed("clEnqueueReadBuffer"))
    }

    unsafe fn write(
        &self,
        queue: &CommandQueue,
        from: &[u8],
        (to, at): (&Memory, usize),
    ) -> Result<(), Error> {
        let (queue, to) = (queue.get(), to.0.get());
        let (bytes, from) = (from.len(), from.as_ptr().cast::<c_void>());
        // SAFETY: as for `read`.
        unsafe {
            raw::enqueue_write_buffer(queue, to, CL_BLOCKING, at, bytes, from, 0, ptr::null())
        }
        .map(release)
        .map_err(failed("clEnqueueWriteBuffer"))
    }

    fn map(&self, queue: &CommandQueue, memory: &Memory, bytes: usize) -> Result<*mut u8, Error> {
        let mut address = ptr::null_mut();
        let flags = CL_MAP_READ | CL_MAP_WRITE;
        // SAFETY: the call returns when the region is mapped, or an error if it is larger than the memory.
        unsafe {
            queue.enqueue_map_buffer(&memory.0, CL_BLOCKING, flags, 0, bytes, &mut address, &[])
        }
        .map_err(failed("clEnqueueMapBuffer"))?;
        Ok(address.cast())
    }

    unsafe fn unmap(
        &self,
        queue: &CommandQueue,
        memory: &Memory,
        address: *mut u8,
    ) -> Result<(), Error> {
        // SAFETY: the caller passes the address of this memory's mapping.
        let event = unsafe { queue.enqueue_unmap_mem_object(memory.0.get(), address.cast(), &[]) }
            .map_err(failed("clEnqueueUnmapMemObject"))?;
        // Commands of other queues do not start after this one.
        self.wait(&event)
    }

    fn record(&self, queue: &CommandQueue) -> Result<Event, Error> {
        // SAFETY: the marker waits for no event of another context.
        let event = unsafe { queue.enqueue_marker_with_wait_list(&[]) }
            .map_err(failed("clEnqueueMarkerWithWaitList"))?;
        queue.flush().map_err(failed("clFlush"))?;
        Ok(event)
    }

    fn wait(&self, event: &Event) -> Result<(), Error> {
        event.wait().map_err(failed("clWaitForEvents"))
    }

    fn wait_on_device(&self, queue: &CommandQueue, event: &Event) -> Result<(), Error> {
        // SAFETY: the event is of the same context, as the callers check.
        unsafe { queue.enqueue_barrier_with_wait_list(&[event.get()]) }
            .map(drop)
            .map_err(failed("clEnqueueBarrierWithWaitList"))
    }

    fn has_happened(&self, event: &Event) -> Result<bool, Error> {
        let call = "clGetEventInfo";
        let status: cl_int = event.command_execution_status().map_err(failed(call))?.0;
        if status < 0 {
            return Err(failed(call)(ClError(status)));
        }
        Ok(status == CL_COMPLETE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Device, Queue};

    #[test]
    fn queues_from_elsewhere_are_of_the_device_and_in_order() {
        let Ok(other) = OpenCl::first() else {
            return println!("left out: queues_from_elsewhere: no device");
        };
        let device = Device::new(OpenCl::first().unwrap());
        let OpenCl { context, device: id, .. } = device.driver();
        // SAFETY: the device is the one of the context.
        let queue = |properties| unsafe { CommandQueue::create(context, id.id(), properties) };
        let from = |raw| Queue::from_raw(&device, raw).map(drop);
        assert_eq!(from(queue(0).unwrap()), Ok(()));
        let out_of_order = queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE).unwrap();
        assert_eq!(from(out_of_order), Err(Error::OutOfOrder));
        // The same device in another context, which has other memory.
        let elsewhere = Err(Error::OtherDevice { what: "queue" });
        assert_eq!(from(other.queue().unwrap()), elsewhere);
    }
}

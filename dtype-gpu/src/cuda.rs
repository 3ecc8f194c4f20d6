//! CUDA: the driver's own interface and the compiler NVRTC, both loaded at run time.

mod context;
pub mod nvrtc;

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use cudarc::driver::sys;

use self::context::{Context, check};
use crate::driver::{Argument, Driver};
use crate::error::Error;
use crate::source::{Dialect, Source};

/// A CUDA device with its primary context, which the runtime interface and other libraries of the process also use.
///
/// Each call makes that context current for its thread, and leaves it current.
#[derive(Clone, Debug)]
pub struct Cuda(Arc<Context>);

impl Cuda {
    /// The device with this number.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] if there is no driver or no such device; the driver's errors.
    pub fn new(number: u32) -> Result<Self, Error> {
        Ok(Self(Arc::new(Context::new(number)?)))
    }

    /// The number of devices: 0 without a driver.
    pub fn count() -> u32 {
        context::count().unwrap_or(0)
    }

    /// The device's compute capability: 90 is 9.0.
    pub fn capability(&self) -> u32 {
        self.0.capability
    }

    /// Memory in this device, or within its reach, that other code has allocated and keeps until the returned value is dropped.
    ///
    /// # Safety
    ///
    /// Kernels of this device must be allowed to read and write the memory at `address`, as far as it is used.
    pub unsafe fn memory_at(&self, address: u64) -> Memory {
        Memory { address, kind: Kind::Foreign, context: Arc::clone(&self.0) }
    }

    /// A stream (`CUstream`, `cudaStream_t`) that other code has made.
    ///
    /// # Safety
    ///
    /// The stream must belong to the device's primary context, which [`Queue::from_raw`](crate::Queue::from_raw) checks, and
    /// must not be destroyed before the returned value is dropped.
    pub unsafe fn stream(&self, stream: *mut c_void) -> Queue {
        Queue { stream: stream.cast(), owned: false, context: Arc::clone(&self.0) }
    }

    /// Loads the output of [`nvrtc::compile`] for a source.
    ///
    /// # Errors
    ///
    /// The errors of the driver.
    pub fn load(&self, source: &Source, image: &nvrtc::Image) -> Result<Kernel, Error> {
        let context = self.0.bind()?;
        let name = std::ffi::CString::new(source.name).map_err(|error| Error::Compile {
            kernel: source.name.into(),
            log: error.to_string(),
        })?;
        let mut module = ptr::null_mut();
        // SAFETY: the compiler made the image, which other code cannot change, and the driver copies it.
        check("cuModuleLoadData", unsafe {
            sys::cuModuleLoadData(&raw mut module, image.bytes().as_ptr().cast())
        })?;
        let mut kernel = Kernel {
            module,
            function: ptr::null_mut(),
            threads: source.threads,
            context: Arc::clone(context),
        };
        // SAFETY: the module is loaded, and the name ends with a zero.
        check("cuModuleGetFunction", unsafe {
            sys::cuModuleGetFunction(&raw mut kernel.function, module, name.as_ptr())
        })?;
        Ok(kernel)
    }
}

/// Device memory, or pinned host memory that kernels reach.
#[derive(Debug)]
pub struct Memory {
    address: sys::CUdeviceptr,
    kind: Kind,
    context: Arc<Context>,
}

#[derive(Debug)]
enum Kind {
    Device,
    /// Pinned memory; this is its address for the host.
    Host(*mut u8),
    /// Memory of other code, which is not freed here.
    Foreign,
}

// SAFETY: the addresses are used only in calls of the driver, which may come from any thread. Only `Driver::map` returns the
// host's address.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// The address for kernels (`CUdeviceptr`).
    pub fn address(&self) -> u64 {
        self.address
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.context.bind().is_err() {
            return;
        }
        match self.kind {
            // SAFETY: the driver allocated the memory, and the call returns only when the device does not use it.
            Kind::Device => drop(unsafe { sys::cuMemFree_v2(self.address) }),
            // SAFETY: the driver allocated the memory, and no commands of the context that use it are left.
            Kind::Host(address) => drop(unsafe {
                sys::cuCtxSynchronize();
                sys::cuMemFreeHost(address.cast())
            }),
            Kind::Foreign => (),
        }
    }
}

/// A stream.
#[derive(Debug)]
pub struct Queue {
    stream: sys::CUstream,
    owned: bool,
    context: Arc<Context>,
}

// SAFETY: the driver's streams may be used from any thread, by several at a time.
unsafe impl Send for Queue {}
// SAFETY: as above.
unsafe impl Sync for Queue {}

impl Queue {
    /// The stream, for other libraries (`CUstream`, `cudaStream_t`).
    pub fn stream(&self) -> *mut c_void {
        self.stream.cast()
    }

    fn synchronize(&self) -> Result<(), Error> {
        // SAFETY: the stream is alive.
        check("cuStreamSynchronize", unsafe { sys::cuStreamSynchronize(self.stream) })
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if self.owned && self.context.bind().is_ok() {
            // SAFETY: the stream is alive and not used after this; the driver frees it once its commands have ended.
            let _ = unsafe { sys::cuStreamDestroy_v2(self.stream) };
        }
    }
}

/// A kernel in the device's memory.
#[derive(Debug)]
pub struct Kernel {
    module: sys::CUmodule,
    function: sys::CUfunction,
    threads: u32,
    context: Arc<Context>,
}

// SAFETY: the driver's modules and functions may be used from any thread, by several at a time.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

impl Drop for Kernel {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: the module is alive, and once the context has no commands left, nothing executes it.
            let _ = unsafe {
                sys::cuCtxSynchronize();
                sys::cuModuleUnload(self.module)
            };
        }
    }
}

/// An event without a time.
#[derive(Debug)]
pub struct Event {
    event: sys::CUevent,
    context: Arc<Context>,
}

// SAFETY: the driver's events may be used from any thread, by several at a time.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Drop for Event {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: the event is alive and not used after this; the driver frees it once it has happened.
            let _ = unsafe { sys::cuEventDestroy_v2(self.event) };
        }
    }
}

// SAFETY: the driver follows these rules for streams and events. Calls that free memory return only when the device does not
// use it.
unsafe impl Driver for Cuda {
    const DIALECT: Dialect = Dialect::CudaCpp;

    type Memory = Memory;
    type Queue = Queue;
    type Kernel = Kernel;
    type Event = Event;

    fn name(&self) -> &str {
        &self.0.name
    }

    fn allocate(&self, bytes: usize) -> Result<Memory, Error> {
        let context = self.0.bind()?;
        let mut address = 0;
        // SAFETY: the pointer points to an address.
        check("cuMemAlloc", unsafe { sys::cuMemAlloc_v2(&raw mut address, bytes) })?;
        Ok(Memory { address, kind: Kind::Device, context: Arc::clone(context) })
    }

    fn allocate_host(&self, bytes: usize) -> Result<Memory, Error> {
        let context = self.0.bind()?;
        let mut host = ptr::null_mut();
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: the pointer points to a pointer.
        check("cuMemHostAlloc", unsafe { sys::cuMemHostAlloc(&raw mut host, bytes, flags) })?;
        let host: *mut u8 = host.cast();
        let mut memory =
            Memory { address: 0, kind: Kind::Host(host), context: Arc::clone(context) };
        // SAFETY: the allocation has this length.
        unsafe { host.write_bytes(0, bytes) };
        // SAFETY: the host's address came from the allocation above.
        check("cuMemHostGetDevicePointer", unsafe {
            sys::cuMemHostGetDevicePointer_v2(&raw mut memory.address, host.cast(), 0)
        })?;
        Ok(memory)
    }

    fn queue(&self) -> Result<Queue, Error> {
        let context = self.0.bind()?;
        let mut stream = ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: the pointer points to a stream.
        check("cuStreamCreate", unsafe { sys::cuStreamCreate(&raw mut stream, flags) })?;
        Ok(Queue { stream, owned: true, context: Arc::clone(context) })
    }

    fn check_queue(&self, queue: &Queue) -> Result<(), Error> {
        self.0.bind()?;
        let mut context = ptr::null_mut();
        // SAFETY: the stream is alive, and the pointer points to a context.
        check("cuStreamGetCtx", unsafe { sys::cuStreamGetCtx(queue.stream, &raw mut context) })?;
        // The driver's default streams belong to whatever context is current: to this one now, and to the queue's later.
        if self.0.has_handle(context) && queue.context.has_handle(context) {
            return Ok(());
        }
        Err(Error::OtherDevice { what: "queue" })
    }

    fn compile(&self, source: &Source) -> Result<Kernel, Error> {
        self.load(source, &nvrtc::compile(source, self.0.capability)?)
    }

    unsafe fn launch(
        &self,
        queue: &Queue,
        kernel: &Kernel,
        groups: u32,
        arguments: &[Argument<'_, Self>],
    ) -> Result<(), Error> {
        self.0.bind()?;
        // Addresses and numbers are both 64 bits wide.
        let mut values: Vec<u64> = arguments
            .iter()
            .map(|argument| match argument {
                Argument::Memory(memory) => memory.address,
                Argument::Number(number) => *number,
            })
            .collect();
        let mut pointers: Vec<*mut c_void> =
            values.iter_mut().map(|value| ptr::from_mut(value).cast()).collect();
        // SAFETY: the caller guarantees that these are the kernel's arguments, and the driver copies them. Stream and function
        // are alive.
        check("cuLaunchKernel", unsafe {
            sys::cuLaunchKernel(
                kernel.function,
                groups,
                1,
                1,
                kernel.threads,
                1,
                1,
                0,
                queue.stream,
                pointers.as_mut_ptr(),
                ptr::null_mut(),
            )
        })
    }

    unsafe fn copy(
        &self,
        queue: &Queue,
        from: (&Memory, usize),
        to: (&Memory, usize),
        bytes: usize,
    ) -> Result<(), Error> {
        self.0.bind()?;
        // SAFETY: the caller guarantees that the ranges lie in their memory. The driver knows where each address lies.
        check("cuMemcpyAsync", unsafe {
            sys::cuMemcpyAsync(
                to.0.address + to.1 as u64,
                from.0.address + from.1 as u64,
                bytes,
                queue.stream,
            )
        })
    }

    unsafe fn read(
        &self,
        queue: &Queue,
        from: (&Memory, usize),
        to: &mut [u8],
    ) -> Result<(), Error> {
        self.0.bind()?;
        // SAFETY: the caller guarantees that the range lies in its memory, and the slice is borrowed until the stream is idle.
        check("cuMemcpyDtoHAsync", unsafe {
            sys::cuMemcpyDtoHAsync_v2(
                to.as_mut_ptr().cast(),
                from.0.address + from.1 as u64,
                to.len(),
                queue.stream,
            )
        })?;
        queue.synchronize()
    }

    unsafe fn write(&self, queue: &Queue, from: &[u8], to: (&Memory, usize)) -> Result<(), Error> {
        self.0.bind()?;
        // SAFETY: the caller guarantees that the range lies in its memory, and the slice is borrowed until the stream is idle.
        check("cuMemcpyHtoDAsync", unsafe {
            sys::cuMemcpyHtoDAsync_v2(
                to.0.address + to.1 as u64,
                from.as_ptr().cast(),
                from.len(),
                queue.stream,
            )
        })?;
        queue.synchronize()
    }

    fn map(&self, queue: &Queue, memory: &Memory, _bytes: usize) -> Result<*mut u8, Error> {
        self.0.bind()?;
        queue.synchronize()?;
        match memory.kind {
            Kind::Host(address) => Ok(address),
            Kind::Device | Kind::Foreign => Err(Error::Driver {
                call: "map",
                code: sys::CUresult::CUDA_ERROR_INVALID_VALUE as i32,
                message: "the memory is not pinned host memory".into(),
            }),
        }
    }

    unsafe fn unmap(&self, _: &Queue, _: &Memory, _: *mut u8) -> Result<(), Error> {
        // Kernels and the host share the memory.
        Ok(())
    }

    fn record(&self, queue: &Queue) -> Result<Event, Error> {
        let context = self.0.bind()?;
        let mut event = ptr::null_mut();
        let flags = sys::CUevent_flags::CU_EVENT_DISABLE_TIMING as u32;
        // SAFETY: the pointer points to an event.
        check("cuEventCreate", unsafe { sys::cuEventCreate(&raw mut event, flags) })?;
        let event = Event { event, context: Arc::clone(context) };
        // SAFETY: event and stream are alive.
        check("cuEventRecord", unsafe { sys::cuEventRecord(event.event, queue.stream) })?;
        Ok(event)
    }

    fn wait(&self, event: &Event) -> Result<(), Error> {
        self.0.bind()?;
        // SAFETY: the event is alive.
        check("cuEventSynchronize", unsafe { sys::cuEventSynchronize(event.event) })
    }

    fn wait_on_device(&self, queue: &Queue, event: &Event) -> Result<(), Error> {
        self.0.bind()?;
        // SAFETY: event and stream are alive.
        check("cuStreamWaitEvent", unsafe { sys::cuStreamWaitEvent(queue.stream, event.event, 0) })
    }

    fn has_happened(&self, event: &Event) -> Result<bool, Error> {
        self.0.bind()?;
        // SAFETY: the event is alive.
        match unsafe { sys::cuEventQuery(event.event) } {
            sys::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            other => check("cuEventQuery", other).map(|()| true),
        }
    }
}

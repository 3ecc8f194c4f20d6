//! A device with its memory, its queues and the kernels that were compiled for it.

use core::fmt;
use core::ops::{Deref, DerefMut};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::driver::Driver;
use crate::error::Error;
use crate::source::Source;

/// The greatest number of kernels that a device keeps. A program with more layouts compiles the least recently used ones again.
const MAX_KERNELS: usize = 512;

/// A device. Clones are the same device: they share its compiled kernels.
pub struct Device<D: Driver>(Arc<Inner<D>>);

struct Inner<D: Driver> {
    driver: D,
    kernels: Mutex<Kernels<D>>,
}

/// The compiled kernels, each with the time of its last use.
struct Kernels<D: Driver> {
    all: HashMap<Source, (Arc<D::Kernel>, u64)>,
    now: u64,
}

impl<D: Driver> Kernels<D> {
    fn get(&mut self, source: &Source) -> Option<Arc<D::Kernel>> {
        self.now += 1;
        let (kernel, used) = self.all.get_mut(source)?;
        *used = self.now;
        Some(Arc::clone(kernel))
    }

    /// Adds a kernel, in place of the one that was not used for the longest time if there are too many.
    fn insert(&mut self, source: Source, kernel: Arc<D::Kernel>) {
        if self.all.len() >= MAX_KERNELS {
            let oldest = self.all.iter().min_by_key(|(_, (_, used))| *used);
            if let Some(oldest) = oldest.map(|(source, _)| source.clone()) {
                self.all.remove(&oldest);
            }
        }
        self.all.insert(source, (kernel, self.now));
    }
}

/// Locks data that no panic leaves half changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<D: Driver> Clone for Device<D> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<D: Driver> Device<D> {
    /// A device that a driver has opened.
    pub fn new(driver: D) -> Self {
        let kernels = Mutex::new(Kernels { all: HashMap::new(), now: 0 });
        Self(Arc::new(Inner { driver, kernels }))
    }

    /// The driver.
    pub fn driver(&self) -> &D {
        &self.0.driver
    }

    /// The device's name, as the driver has it.
    pub fn name(&self) -> &str {
        self.driver().name()
    }

    /// Makes a queue, in which commands are executed in order.
    ///
    /// # Errors
    ///
    /// The errors of the driver.
    pub fn queue(&self) -> Result<Queue<D>, Error> {
        Ok(Queue { raw: self.driver().queue()?, device: self.clone() })
    }

    /// Allocates `len` bytes of device memory with unspecified contents.
    ///
    /// # Errors
    ///
    /// The errors of the driver, for example for too many bytes.
    pub fn buffer(&self, len: usize) -> Result<Buffer<D>, Error> {
        let memory = self.driver().allocate(padded(len))?;
        Ok(Buffer { memory, len, device: self.clone(), users: None })
    }

    /// Allocates `len` zeroed bytes of pinned host memory, which the device reaches and [`Buffer::map`] lends to the host.
    ///
    /// # Errors
    ///
    /// As [`buffer`](Self::buffer).
    pub fn host_buffer(&self, len: usize) -> Result<Buffer<D>, Error> {
        let memory = self.driver().allocate_host(padded(len))?;
        let users = Some(Mutex::new(Vec::new()));
        Ok(Buffer { memory, len, device: self.clone(), users })
    }

    /// The kernel of a source, compiled on first use. Threads that need it at the same time may each compile it.
    pub(crate) fn kernel(&self, source: Source) -> Result<Arc<D::Kernel>, Error> {
        if let Some(kernel) = lock(&self.0.kernels).get(&source) {
            return Ok(kernel);
        }
        let kernel = Arc::new(self.driver().compile(&source)?);
        lock(&self.0.kernels).insert(source, Arc::clone(&kernel));
        Ok(kernel)
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The number of bytes to allocate. It is rounded up because kernels read whole words of 16 bytes at both ends of a range.
fn padded(len: usize) -> usize {
    len.max(1).saturating_add(15) / 16 * 16
}

/// Commands of a device, executed in order. They start when [`wait`](Self::wait) is called, when an event is recorded, or
/// earlier.
pub struct Queue<D: Driver> {
    pub(crate) raw: D::Queue,
    device: Device<D>,
}

impl<D: Driver> Queue<D> {
    /// A queue of another library, for example one that `cuda::Cuda::stream` makes from a stream. Commands of this crate are
    /// executed in order with that library's.
    ///
    /// # Errors
    ///
    /// [`Error::OtherDevice`] if the driver says that the queue belongs to another device or context; [`Error::OutOfOrder`];
    /// and those of the driver.
    pub fn from_raw(device: &Device<D>, raw: D::Queue) -> Result<Self, Error> {
        device.driver().check_queue(&raw)?;
        Ok(Self { raw, device: device.clone() })
    }

    /// The device.
    pub fn device(&self) -> &Device<D> {
        &self.device
    }

    /// The driver's queue, for commands of other libraries.
    pub fn raw(&self) -> &D::Queue {
        &self.raw
    }

    /// Returns when all commands of the queue have ended.
    ///
    /// # Errors
    ///
    /// The errors of the driver and of the commands.
    pub fn wait(&self) -> Result<(), Error> {
        self.event()?.wait()
    }

    /// An event that happens when the commands now in the queue have ended.
    ///
    /// # Errors
    ///
    /// The errors of the driver.
    pub fn event(&self) -> Result<Event<D>, Error> {
        Ok(Event { raw: self.device.driver().record(&self.raw)?, device: self.device.clone() })
    }

    /// Makes commands that are queued from now on start after an event, which may belong to another queue of the device.
    ///
    /// # Errors
    ///
    /// [`Error::OtherDevice`], and those of the driver.
    pub fn start_after(&self, event: &Event<D>) -> Result<(), Error> {
        self.check_device(&event.device, "event")?;
        self.device.driver().wait_on_device(&self.raw, &event.raw)
    }

    pub(crate) fn check_device(&self, device: &Device<D>, what: &'static str) -> Result<(), Error> {
        if self.device.is(device) { Ok(()) } else { Err(Error::OtherDevice { what }) }
    }
}

/// The end of some commands of a queue.
pub struct Event<D: Driver> {
    raw: D::Event,
    device: Device<D>,
}

impl<D: Driver> Event<D> {
    /// Returns when the event has happened.
    ///
    /// # Errors
    ///
    /// The errors of the driver and of the commands.
    pub fn wait(&self) -> Result<(), Error> {
        self.device.driver().wait(&self.raw)
    }

    /// Whether the event has happened.
    ///
    /// # Errors
    ///
    /// The errors of the driver and of the commands.
    pub fn has_happened(&self) -> Result<bool, Error> {
        self.device.driver().has_happened(&self.raw)
    }
}

/// Events at the ends of commands.
type Users<D> = Vec<Result<Event<D>, Error>>;

/// Memory of a device, or host memory that the device reaches. It may be dropped at any time: it is freed once the commands
/// that use it have ended. With CUDA, the drop returns only then.
///
/// Commands of one queue use a buffer one after another. Commands of several queues that use the same bytes at the same
/// time, at least one of them to write, leave unspecified bytes unless events order them.
pub struct Buffer<D: Driver> {
    pub(crate) memory: D::Memory,
    len: usize,
    device: Device<D>,
    /// For host memory, the ends of the commands that may still use it. An error stands for commands whose end is unknown.
    users: Option<Mutex<Users<D>>>,
}

impl<D: Driver> Buffer<D> {
    /// The first `len` bytes of memory that another library has allocated, such as `cuda::Cuda::memory_at`.
    ///
    /// # Safety
    ///
    /// The memory must be device memory of this device, its address a multiple of 16, and its length at least `len` rounded up
    /// to a multiple of 16, because kernels read whole words of 16 bytes at both ends of a range. It must stay allocated until
    /// the commands that are queued for the buffer have ended, and must not share a byte with the memory of another buffer.
    pub unsafe fn from_memory(device: &Device<D>, memory: D::Memory, len: usize) -> Self {
        Self { memory, len, device: device.clone(), users: None }
    }

    /// The length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the length is 0.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The driver's memory, for commands of other libraries.
    pub fn memory(&self) -> &D::Memory {
        &self.memory
    }

    /// The device.
    pub fn device(&self) -> &Device<D> {
        &self.device
    }

    /// Copies bytes from `at` on to the host, after the commands of the queue, and returns when the copy has ended.
    ///
    /// # Errors
    ///
    /// [`Error::OutsideBuffer`], [`Error::OtherDevice`], and those of the driver and of the commands.
    pub fn read(&self, queue: &Queue<D>, at: usize, to: &mut [u8]) -> Result<(), Error> {
        queue.check_device(&self.device, "buffer")?;
        self.check(at as u64, to.len() as u64)?;
        if to.is_empty() {
            return Ok(());
        }
        // SAFETY: the range lies in the memory.
        unsafe { self.device.driver().read(&queue.raw, (&self.memory, at), to) }
    }

    /// Copies bytes from the host to `at`, after the commands of the queue, and returns when `from` may be changed.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn write(&self, queue: &Queue<D>, at: usize, from: &[u8]) -> Result<(), Error> {
        queue.check_device(&self.device, "buffer")?;
        self.check(at as u64, from.len() as u64)?;
        if from.is_empty() {
            return Ok(());
        }
        // SAFETY: the range lies in the memory.
        unsafe { self.device.driver().write(&queue.raw, from, (&self.memory, at)) }?;
        self.used_by(queue)
    }

    /// Lends the bytes of a [host buffer](Device::host_buffer) to the host, once the commands that use it have ended; `None`
    /// for device memory. Commands that are queued after the bytes are given back see what the host has written.
    ///
    /// # Errors
    ///
    /// [`Error::OtherDevice`], and those of the driver and of the commands.
    pub fn map<'a>(&'a mut self, queue: &'a Queue<D>) -> Result<Option<Mapped<'a, D>>, Error> {
        queue.check_device(&self.device, "buffer")?;
        let Some(users) = &self.users else { return Ok(None) };
        let mut users = lock(users);
        for user in &*users {
            user.as_ref().map_err(Error::clone)?.wait()?;
        }
        users.clear();
        drop(users);
        let address = self.device.driver().map(&queue.raw, &self.memory, padded(self.len))?;
        Ok(Some(Mapped { buffer: self, queue, address }))
    }

    /// Records that the commands of a queue may use host memory.
    pub(crate) fn used_by(&self, queue: &Queue<D>) -> Result<(), Error> {
        let Some(users) = &self.users else { return Ok(()) };
        let (event, mut users) = (queue.event(), lock(users));
        let error = event.as_ref().err().cloned();
        users.retain(|user| !matches!(user, Ok(event) if event.has_happened() == Ok(true)));
        users.push(event);
        error.map_or(Ok(()), Err)
    }

    /// Checks that a range lies in the buffer.
    pub(crate) fn check(&self, start: u64, bytes: u64) -> Result<(), Error> {
        let len = self.len as u64;
        if start > len || bytes > len - start {
            return Err(Error::OutsideBuffer { start, bytes, len });
        }
        Ok(())
    }

    /// Whether both are the same buffer.
    pub(crate) fn is(&self, other: &Self) -> bool {
        core::ptr::eq(self, other)
    }
}

/// The bytes of a host buffer, lent to the host.
pub struct Mapped<'a, D: Driver> {
    buffer: &'a mut Buffer<D>,
    queue: &'a Queue<D>,
    address: *mut u8,
}

impl<D: Driver> Deref for Mapped<'_, D> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the mapping has at least `len` bytes, which were zeroed at first. All commands that use the memory have
        // ended, and none can be queued while this borrows the buffer.
        unsafe { core::slice::from_raw_parts(self.address, self.buffer.len) }
    }
}

impl<D: Driver> DerefMut for Mapped<'_, D> {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and this is borrowed mutably.
        unsafe { core::slice::from_raw_parts_mut(self.address, self.buffer.len) }
    }
}

impl<D: Driver> Drop for Mapped<'_, D> {
    fn drop(&mut self) {
        let (driver, memory) = (self.buffer.device.driver(), &self.buffer.memory);
        // SAFETY: the address belongs to this mapping, which ends here. If unmapping fails, the next command on the memory
        // fails, too.
        let _ = unsafe { driver.unmap(&self.queue.raw, memory, self.address) };
    }
}

impl<D: Driver> fmt::Debug for Device<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device")
            .field("name", &self.name())
            .field("kernels", &lock(&self.0.kernels).all.len())
            .finish_non_exhaustive()
    }
}

impl<D: Driver> fmt::Debug for Queue<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("device", &self.device.name()).finish_non_exhaustive()
    }
}

impl<D: Driver> fmt::Debug for Event<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("device", &self.device.name()).finish_non_exhaustive()
    }
}

impl<D: Driver> fmt::Debug for Buffer<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer")
            .field("len", &self.len)
            .field("is_host", &self.users.is_some())
            .field("device", &self.device.name())
            .finish_non_exhaustive()
    }
}

impl<D: Driver> fmt::Debug for Mapped<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mapped").field("buffer", &self.buffer).finish_non_exhaustive()
    }
}

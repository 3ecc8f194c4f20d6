//! What this crate requires of a driver: memory, queues, compiled kernels, launches, copies and events.

use core::fmt::Debug;

use crate::error::Error;
use crate::source::{Dialect, Source};

/// A device, reached through one of the drivers.
///
/// A queue is in order: a command starts when the one before it has ended. Calls return before their commands have ended,
/// unless their documentation says otherwise. A driver may be called from any thread.
///
/// # Safety
///
/// Safe functions of this crate rely on this documentation. Memory must have as many bytes as were allocated, with the
/// alignment below, and must not be freed before its commands have ended. An event must happen only when the commands before it
/// have ended. [`map`](Self::map) must return the address of as many initialized bytes, which no command uses until
/// [`unmap`](Self::unmap).
pub unsafe trait Driver: Debug + Send + Sync + Sized + 'static {
    /// The language of the kernels.
    const DIALECT: Dialect;

    /// Memory that kernels reach. It is aligned to 128 bytes or more. Dropping it frees it once all commands that use it have
    /// ended.
    type Memory: Debug + Send + Sync;
    /// Commands that are executed in order.
    type Queue: Debug + Send + Sync;
    /// A compiled kernel.
    type Kernel: Debug + Send + Sync;
    /// The end of the commands that were in a queue when the event was recorded.
    type Event: Debug + Send + Sync;

    /// The device's name.
    fn name(&self) -> &str;

    /// Allocates device memory with unspecified contents. `bytes` is at least 1.
    ///
    /// # Errors
    ///
    /// The errors of the driver.
    fn allocate(&self, bytes: usize) -> Result<Self::Memory, Error>;

    /// Allocates zeroed, pinned host memory that kernels reach as well. `bytes` is at least 1.
    ///
    /// # Errors
    ///
    /// The errors of the driver.
    fn allocate_host(&self, bytes: usize) -> Result<Self::Memory, Error>;

    /// Makes a queue.
    ///
    /// # Errors
    ///
    /// The errors of the driver.
    fn queue(&self) -> Result<Self::Queue, Error>;

    /// Checks a queue that other code has made: it must execute the commands of this device, in order.
    ///
    /// # Errors
    ///
    /// [`Error::OtherDevice`], [`Error::OutOfOrder`], and the errors of the driver.
    fn check_queue(&self, queue: &Self::Queue) -> Result<(), Error>;

    /// Compiles the text of a kernel in this driver's dialect.
    ///
    /// # Errors
    ///
    /// [`Error::Compile`] with the compiler's log, and the errors of the driver.
    fn compile(&self, source: &Source) -> Result<Self::Kernel, Error>;

    /// Queues `groups` groups of the kernel's [`threads`](Source::threads).
    ///
    /// # Errors
    ///
    /// The errors of the driver.
    ///
    /// # Safety
    ///
    /// The arguments must be those of the kernel, and with them the kernel must stay inside their memory.
    unsafe fn launch(
        &self,
        queue: &Self::Queue,
        kernel: &Self::Kernel,
        groups: u32,
        arguments: &[Argument<'_, Self>],
    ) -> Result<(), Error>;

    /// Queues a copy of `bytes` bytes, at least 1, from one memory to another.
    ///
    /// # Errors
    ///
    /// The errors of the driver.
    ///
    /// # Safety
    ///
    /// Both ranges must lie in their memory, and must not overlap.
    unsafe fn copy(
        &self,
        queue: &Self::Queue,
        from: (&Self::Memory, usize),
        to: (&Self::Memory, usize),
        bytes: usize,
    ) -> Result<(), Error>;

    /// Copies bytes, at least 1, from memory to the host, after the commands of the queue, and returns when the copy has ended.
    ///
    /// # Errors
    ///
    /// The errors of the driver.
    ///
    /// # Safety
    ///
    /// The range must lie in the memory.
    unsafe fn read(
        &self,
        queue: &Self::Queue,
        from: (&Self::Memory, usize),
        to: &mut [u8],
    ) -> Result<(), Error>;

    /// Copies bytes, at least 1, from the host to memory, after the commands of the queue, and returns when the source may be
    /// changed.
    ///
    /// # Errors
    ///
    /// The errors of the driver.
    ///
    /// # Safety
    ///
    /// The range must lie in the memory.
    unsafe fn write(
        &self,
        queue: &Self::Queue,
        from: &[u8],
        to: (&Self::Memory, usize),
    ) -> Result<(), Error>;

    /// Gives the host access to memory of [`allocate_host`](Self::allocate_host). Returns the address once the commands of the
    /// queue have ended. The address is valid until [`unmap`](Self::unmap).
    ///
    /// # Errors
    ///
    /// The errors of the driver.
    fn map(
        &self,
        queue: &Self::Queue,
        memory: &Self::Memory,
        bytes: usize,
    ) -> Result<*mut u8, Error>;

    /// Ends the host's access. Commands queued from now on, in any queue, see what the host has written.
    ///
    /// # Errors
    ///
    /// The errors of the driver.
    ///
    /// # Safety
    ///
    /// `address` must come from [`map`](Self::map) for this memory, and must not be used any more.
    unsafe fn unmap(
        &self,
        queue: &Self::Queue,
        memory: &Self::Memory,
        address: *mut u8,
    ) -> Result<(), Error>;

    /// Records an event after the commands of the queue, and makes the device start these.
    ///
    /// # Errors
    ///
    /// The errors of the driver.
    fn record(&self, queue: &Self::Queue) -> Result<Self::Event, Error>;

    /// Returns when the event has happened.
    ///
    /// # Errors
    ///
    /// The errors of the driver, and of the commands before the event.
    fn wait(&self, event: &Self::Event) -> Result<(), Error>;

    /// Makes commands that are queued from now on start after the event, which may belong to another queue.
    ///
    /// # Errors
    ///
    /// The errors of the driver.
    fn wait_on_device(&self, queue: &Self::Queue, event: &Self::Event) -> Result<(), Error>;

    /// Whether the event has happened.
    ///
    /// # Errors
    ///
    /// The errors of the driver, and of the commands before the event.
    fn has_happened(&self, event: &Self::Event) -> Result<bool, Error>;
}

impl<D: Driver> Clone for Argument<'_, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D: Driver> Copy for Argument<'_, D> {}

/// An argument of a kernel.
#[derive(Debug)]
pub enum Argument<'a, D: Driver> {
    /// The address of the first byte of memory.
    Memory(&'a D::Memory),
    /// A number of 64 bits.
    Number(u64),
}

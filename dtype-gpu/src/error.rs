//! The error type.

/// An operation was refused or failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The driver's library cannot be loaded, or it has no device.
    #[error("no {driver} device: {reason}")]
    NoDevice {
        /// `"OpenCL"` or `"CUDA"`.
        driver: &'static str,
        /// The reason according to the system.
        reason: String,
    },
    /// A call of the driver failed.
    #[error("{call} failed with code {code}: {message}")]
    Driver {
        /// The function of the driver.
        call: &'static str,
        /// The code that it returned.
        code: i32,
        /// The name or the description of the code.
        message: String,
    },
    /// The driver's compiler refused a kernel.
    #[error("the compiler refused the kernel {kernel}:\n{log}")]
    Compile {
        /// The name of the kernel.
        kernel: String,
        /// The compiler's log.
        log: String,
    },
    /// The layout does not fit the memory, the count or the packed bytes, or a value is invalid.
    #[error(transparent)]
    Layout(#[from] dtype_runtime::Error),
    /// A range of bytes that does not lie in a buffer.
    #[error("{bytes} bytes at {start} do not lie in a buffer of {len} bytes")]
    OutsideBuffer {
        /// The first byte.
        start: u64,
        /// The number of bytes.
        bytes: u64,
        /// The buffer's length in bytes.
        len: u64,
    },
    /// A range of packed bytes that does not lie in the packed stream.
    #[error("packed bytes {start}..{end} do not lie in a stream of {size} bytes")]
    OutsideStream {
        /// The first byte.
        start: u64,
        /// One past the last byte.
        end: u64,
        /// The length of the stream in bytes.
        size: u64,
    },
    /// A buffer, an event or a prepared type belongs to another device than the queue, or a queue to another device or context
    /// than the one that should use it.
    #[error("the {what} belongs to another device")]
    OtherDevice {
        /// What belongs to the other device: `"buffer"`, `"event"`, `"prepared type"` or `"queue"`.
        what: &'static str,
    },
    /// A queue that other code has made may execute its commands out of order.
    #[error("the queue may execute its commands out of order, but buffers are used in order")]
    OutOfOrder,
}

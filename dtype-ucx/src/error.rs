//! Errors of calls and of messages. Every variant says what was found and what was expected.

use std::ffi::CStr;
use std::fmt;
use std::time::Duration;

use crate::raw::{self, RawStatus};

/// An error code of UCX (`ucs_status_t`). [`Display`](fmt::Display) shows UCX's own text for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Status(i8);

impl Status {
    pub(crate) fn new(status: RawStatus) -> Self {
        Self(status.0)
    }

    /// The number, negative for an error.
    pub fn code(self) -> i32 {
        i32::from(self.0)
    }

    /// Whether the code says that the connection or the peer is lost: `UCS_ERR_UNREACHABLE`, `UCS_ERR_REJECTED`,
    /// `UCS_ERR_NOT_CONNECTED`, `UCS_ERR_CONNECTION_RESET`, `UCS_ERR_ENDPOINT_TIMEOUT`, and other failures of a link or
    /// an endpoint.
    pub fn is_connection_lost(self) -> bool {
        matches!(self.0, -6 | -25..=-23 | -89..=-40)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: the function takes any number, and returns a string that lives as long as the library, or one that is
        // overwritten by the next call in the same thread, and copied before that.
        let text = unsafe { CStr::from_ptr(raw::ucs_status_string(RawStatus(self.0))) };
        write!(f, "{} ({})", text.to_string_lossy(), self.0)
    }
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// UCX returned an error.
    #[error("{call}: {status}")]
    Call {
        /// The function of UCX that was called, or that started the operation.
        call: &'static str,
        /// The status that the call returned, or that the operation completed with.
        status: Status,
    },
    /// The peer has died, or the connection to it is lost, was never made, or was closed by force because a
    /// [scope](crate::Worker::scope), a put or a get had failed.
    ///
    /// UCX does not say which connection a message comes from. A receive that UCX has cancelled returns this error if any
    /// connection of its worker is lost.
    #[error("{call}: the connection to the peer is lost: {status}")]
    ConnectionLost {
        /// The function of UCX that was called, or that started the operation; `the error handler` if UCX reported the loss
        /// before the operation started.
        call: &'static str,
        /// The status that the call returned, that the operation completed with, or with which the connection was lost.
        status: Status,
    },
    /// The message is longer than the elements to receive into. It is consumed even so.
    ///
    /// The elements may have been partly written, unless they are records for which not all bit patterns are valid: UCX writes
    /// a long message, which it sends in fragments, until it turns out to be too long. An active message writes nothing in this
    /// case.
    #[error("the message is too long: there is room for {room} bytes")]
    TooLong {
        /// Packed bytes that the elements have room for.
        room: usize,
    },
    /// The header of an active message is longer than the transports of the worker allow.
    #[error("a header of {len} bytes exceeds the limit of {max} bytes for this worker")]
    HeaderTooLong {
        /// The length of the header in bytes.
        len: usize,
        /// The length in bytes of the longest header.
        max: usize,
    },
    /// The worker already has a handler for this id, and keeps it.
    #[error("the worker already has a handler for active messages with the id {id}")]
    HandlerExists {
        /// The id.
        id: u8,
    },
    /// The operation was cancelled: its endpoint was closed, its scope ended with an error, or a handler panicked. If the
    /// connection is lost, the error is [`ConnectionLost`](Self::ConnectionLost) instead.
    #[error("the operation was cancelled")]
    Cancelled,
    /// A scope of one worker cannot send on an endpoint of another worker, because it makes no progress with that worker.
    #[error("the scope and the endpoint belong to different workers")]
    OtherWorker,
    /// No message, or not all of one, arrived in time; in a [scope](crate::Worker::scope), no message completed.
    #[error("no message completed within {timeout:?}")]
    TimedOut {
        /// The time that the caller gave, or the limit of the scope.
        timeout: Duration,
    },
    /// UCX does not accept this value for a setting.
    #[error("UCX does not accept the value {value:?} for the setting {name:?}")]
    Setting {
        /// The name of the setting, without `UCX_`.
        name: String,
        /// The value.
        value: String,
    },
    /// UCX was built without support for threads.
    #[error("UCX was built without support for threads")]
    Threads,
    /// The context was not made by [`with_events`](crate::Context::with_events).
    #[error("a worker has events only if its context was made by `Context::with_events`")]
    NoEvents,
    /// The bytes are not the address of a worker, as [`WorkerAddress::to_bytes`](crate::WorkerAddress::to_bytes) makes
    /// them.
    #[error("{len} bytes are not the address of a worker: {what}")]
    Address {
        /// The number of bytes.
        len: usize,
        /// The reason, in words.
        what: &'static str,
    },
    /// The bytes are not a key of registered memory, as [`MemoryKey::to_bytes`](crate::MemoryKey::to_bytes) makes them.
    #[error("{len} bytes are not the key of registered memory: {what}")]
    Key {
        /// The number of bytes.
        len: usize,
        /// The reason, in words.
        what: &'static str,
    },
    /// A key was used with an endpoint that leads to another process than the one whose memory it names.
    #[error(
        "the key names memory of process {key:016x}, but the endpoint leads to process {peer:016x}"
    )]
    OtherProcess {
        /// The identifier of the process that made the key.
        key: u64,
        /// The identifier of the process that the endpoint leads to.
        peer: u64,
    },
    /// The memory belongs to another context than the worker. When a key is used with an endpoint, the worker is the peer's;
    /// otherwise it is the worker that was to [serve](crate::Worker::serve) the memory. UCX's keys are valid only for workers
    /// of the context that made them.
    #[error(
        "the memory is registered with context {memory:016x}, but the worker is one of context {worker:016x}"
    )]
    OtherContext {
        /// The number of the context that the memory is registered with.
        memory: u64,
        /// The number of the worker's context.
        worker: u64,
    },
    /// The registered memory has records of another type, or with another layout, than the requested type.
    #[error("the registered memory holds {found}, expected {expected}")]
    RegisteredType {
        /// The requested type.
        expected: String,
        /// The type and layout that the key names.
        found: String,
    },
    /// A layout has another value at a displacement than the registered memory.
    #[error(
        "displacement {displacement}: the layout names {layout}, the registered memory holds {memory}"
    )]
    RemoteLayout {
        /// The displacement in bytes from the start of the memory; for a repeated value, the displacement of the first.
        displacement: i64,
        /// The basic datatype that the layout names.
        layout: &'static str,
        /// The basic datatype that starts there in the registered memory, or `"no value"`.
        memory: &'static str,
    },
    /// The worker that [serves](crate::Worker::serve) the memory has refused a put or a get. Nothing of the refused part was
    /// written.
    #[error("the owner of the memory has refused a {way} of {bytes} bytes: {reason}")]
    Refused {
        /// `"put"` or `"get"`.
        way: &'static str,
        /// The number of packed bytes in the message: a part of a long put or get.
        bytes: usize,
        /// Why.
        reason: Refusal,
    },
    /// The data do not fit the type or the memory.
    #[error(transparent)]
    Datatype(#[from] dtype_runtime::Error),
}

/// Why the owner of memory refused a put or a get that its worker should have completed: see [`Error::Refused`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The worker does not [serve](crate::Worker::serve) this memory, or the memory was dropped or unregistered.
    #[error("its worker does not serve this memory, which may have been dropped or unregistered")]
    Unregistered,
    /// The layout reaches outside the memory.
    #[error("the layout reaches outside the memory")]
    Outside,
    /// The request was not valid: it was damaged, or sent by another version of this crate.
    #[error("the request is damaged")]
    Malformed,
    /// The owner could not allocate memory for the packed bytes.
    #[error("there is no memory for the packed bytes")]
    NoMemory,
}

impl Refusal {
    const ALL: [Self; 4] = [Self::Unregistered, Self::Outside, Self::Malformed, Self::NoMemory];

    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Unregistered => 1,
            Self::Outside => 2,
            Self::Malformed => 3,
            Self::NoMemory => 4,
        }
    }

    /// The refusal with a code. An unknown code comes from a damaged message.
    pub(crate) fn from_code(code: u8) -> Self {
        Self::ALL.into_iter().find(|refusal| refusal.code() == code).unwrap_or(Self::Malformed)
    }
}

/// The error for a status that is not `UCS_OK`.
pub(crate) fn failed(call: &'static str, status: RawStatus) -> Error {
    let status = Status::new(status);
    if status.is_connection_lost() {
        Error::ConnectionLost { call, status }
    } else if status == Status::new(raw::ERR_CANCELED) {
        Error::Cancelled
    } else {
        Error::Call { call, status }
    }
}

/// The error of a connection that has failed with a status.
pub(crate) fn lost(status: RawStatus) -> Error {
    match failed("the error handler", status) {
        Error::Call { call, status } => Error::ConnectionLost { call, status },
        error => error,
    }
}

/// The result of a call that returns only a status.
pub(crate) fn check(call: &'static str, status: RawStatus) -> Result<(), Error> {
    if status == RawStatus::OK { Ok(()) } else { Err(failed(call, status)) }
}

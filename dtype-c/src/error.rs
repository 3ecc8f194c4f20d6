//! Error codes, and what a thread can ask about its last error.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};

use dtype_message::Error as Message;
use dtype_runtime::Error as Engine;

/// A code of `dtype.h`.
#[allow(non_camel_case_types, reason = "the name in dtype.h")]
pub type dtype_error = i32;

macro_rules! codes {
    ($($name:ident = $code:literal, $text:literal;)*) => {
        $(
            /// A code of `dtype.h`.
            pub const $name: dtype_error = $code;
        )*

        /// Every code, with its name and what it means.
        pub const CODES: &[(&str, dtype_error, &CStr)] = &[$((stringify!($name), $code, $text)),*];
    };
}

codes! {
    DTYPE_OK = 0, c"no error";
    DTYPE_ERROR_NULL = 1, c"a pointer is NULL";
    DTYPE_ERROR_HANDLE = 2, c"not a live object of this kind";
    DTYPE_ERROR_BUSY = 3, c"another thread uses the object";
    DTYPE_ERROR_ARGUMENT = 4, c"an argument is out of range";
    DTYPE_ERROR_LIMIT = 5, c"too large, too deep or too many";
    DTYPE_ERROR_MEMORY = 6, c"no memory could be allocated";
    DTYPE_ERROR_ROOM = 7, c"the destination is too small";
    DTYPE_ERROR_LENGTH = 8, c"the number of packed bytes is wrong";
    DTYPE_ERROR_BOUNDS = 9, c"the layout reaches outside the memory";
    DTYPE_ERROR_OVERLAP = 10, c"data overlap";
    DTYPE_ERROR_POSITION = 11, c"no such position in the stream";
    DTYPE_ERROR_SIGNATURE = 12, c"the basic datatypes differ";
    DTYPE_ERROR_VALUE = 13, c"the bytes are no value of their type";
    DTYPE_ERROR_CONVERSION = 14, c"a value cannot be converted";
    DTYPE_ERROR_TEXT = 15, c"the text is malformed";
    DTYPE_ERROR_MARSHALLED = 16, c"the bytes are no marshalled type";
    DTYPE_ERROR_FRAME = 17, c"the frame is malformed or damaged";
    DTYPE_ERROR_REFUSED = 18, c"the frame exceeds the limits";
    DTYPE_ERROR_TRUNCATED = 19, c"the stream ended inside a frame";
    DTYPE_ERROR_LOST = 20, c"the start of the next frame is unknown";
    DTYPE_ERROR_UNSUPPORTED = 21, c"not possible with this type";
    DTYPE_ERROR_INTERNAL = 22, c"a fault of the library";
}

/// Why a call did nothing.
#[derive(Debug)]
pub(crate) enum Failure {
    Engine(Engine),
    Message(Message),
    /// A code with its own message.
    Other(dtype_error, String),
}

impl From<Engine> for Failure {
    fn from(error: Engine) -> Self {
        Self::Engine(error)
    }
}

impl From<Message> for Failure {
    fn from(error: Message) -> Self {
        match error {
            Message::Records(inner) => Self::Engine(*inner),
            other => Self::Message(other),
        }
    }
}

impl Failure {
    #[cold]
    pub(crate) fn new(code: dtype_error, text: &str) -> Self {
        Self::Other(code, text.into())
    }

    #[cold]
    pub(crate) fn null(argument: &str) -> Self {
        Self::Other(DTYPE_ERROR_NULL, format!("{argument} is NULL"))
    }

    pub(crate) fn argument(text: String) -> Self {
        Self::Other(DTYPE_ERROR_ARGUMENT, text)
    }

    pub(crate) fn unsupported(text: &str) -> Self {
        Self::new(DTYPE_ERROR_UNSUPPORTED, text)
    }

    pub(crate) fn overlap() -> Self {
        Self::new(DTYPE_ERROR_OVERLAP, "source and destination overlap")
    }
}

fn engine_code(error: &Engine) -> dtype_error {
    match error {
        Engine::Overflow { .. }
        | Engine::TooDeep { .. }
        | Engine::TooManyEntries { .. }
        | Engine::CountTooLarge { .. } => DTYPE_ERROR_LIMIT,
        Engine::Marshalled { .. } | Engine::Contents { .. } => DTYPE_ERROR_MARSHALLED,
        Engine::DestinationTooSmall { .. } => DTYPE_ERROR_ROOM,
        Engine::PackedLength { .. } | Engine::PartialRecord { .. } => DTYPE_ERROR_LENGTH,
        Engine::Position { .. } | Engine::OutsidePart { .. } | Engine::InsideRecord { .. } => {
            DTYPE_ERROR_POSITION
        }
        Engine::NoConversion { .. } | Engine::IntegerRange { .. } | Engine::FloatRange { .. } => {
            DTYPE_ERROR_CONVERSION
        }
        Engine::OutOfBounds { .. } => DTYPE_ERROR_BOUNDS,
        Engine::Overlap { .. } => DTYPE_ERROR_OVERLAP,
        Engine::InvalidValue { .. } | Engine::CheckFailed { .. } => DTYPE_ERROR_VALUE,
        Engine::Allocation { .. } => DTYPE_ERROR_MEMORY,
        Engine::SignatureMismatch { .. } => DTYPE_ERROR_SIGNATURE,
        _ => DTYPE_ERROR_ARGUMENT,
    }
}

fn message_code(error: &Message) -> dtype_error {
    match error {
        Message::Truncated { .. } => DTYPE_ERROR_TRUNCATED,
        Message::Lost => DTYPE_ERROR_LOST,
        Message::Mismatch(_) | Message::NoSignature { .. } => DTYPE_ERROR_SIGNATURE,
        Message::Unprotected { .. }
        | Message::PayloadLimit { .. }
        | Message::RecordLimit { .. } => DTYPE_ERROR_REFUSED,
        _ => DTYPE_ERROR_FRAME,
    }
}

/// What a thread can ask about its last error.
struct Last {
    message: CString,
    record: u64,
    field: CString,
}

thread_local! {
    static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
}

/// The text up to its first zero byte.
fn c_string(text: &str) -> CString {
    let text = text.split('\0').next().unwrap_or_default();
    CString::new(text).unwrap_or_default()
}

#[cold]
#[inline(never)]
pub(crate) fn report(failure: &Failure) -> dtype_error {
    let (record, field) = match failure {
        Failure::Engine(
            Engine::InvalidValue { record, path, .. } | Engine::CheckFailed { record, path, .. },
        ) => (*record as u64, &path[..]),
        _ => (u64::MAX, ""),
    };
    let (code, message) = match failure {
        Failure::Engine(error) => (engine_code(error), error.to_string()),
        Failure::Message(error) => (message_code(error), error.to_string()),
        Failure::Other(code, text) => (*code, text.clone()),
    };
    let last = Last { message: c_string(&message), record, field: c_string(field) };
    // A thread that is ending may have no place for it.
    let _ = LAST.try_with(|place| place.replace(Some(last)));
    code
}

/// What a code means.
#[unsafe(no_mangle)]
pub extern "C" fn dtype_error_text(error: dtype_error) -> *const c_char {
    let known = CODES.iter().find(|(_, code, _)| *code == error);
    known.map_or(c"an unknown code", |(.., text)| text).as_ptr()
}

/// Something of this thread's last error.
fn last<R>(without: R, read: impl FnOnce(&Last) -> R) -> R {
    let found = LAST.try_with(|last| last.borrow().as_ref().map(read));
    found.ok().flatten().unwrap_or(without)
}

/// The details of this thread's last error.
#[unsafe(no_mangle)]
pub extern "C" fn dtype_last_message() -> *const c_char {
    last(c"".as_ptr(), |last| last.message.as_ptr())
}

/// The record that this thread's last error refused.
#[unsafe(no_mangle)]
pub extern "C" fn dtype_last_record() -> u64 {
    last(u64::MAX, |last| last.record)
}

/// The field that this thread's last error refused.
#[unsafe(no_mangle)]
pub extern "C" fn dtype_last_field() -> *const c_char {
    last(c"".as_ptr(), |last| last.field.as_ptr())
}

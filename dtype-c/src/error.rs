//! Error codes, and what a thread can ask about its last error.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use dtype_message::Error as Message;
use dtype_runtime::Error as Engine;

/// A code of `dtype.h`.
#[allow(non_camel_case_types, reason = "the name in dtype.h")]
pub type dtype_error = i32;

macro_rules! codes {
    ($($name:ident = $code:literal, $text:literal;)*) => {
        $(
            #[doc = $text]
            pub const $name: dtype_error = $code;
        )*

        /// Every code, with its name and what it means.
        pub const CODES: &[(&CStr, dtype_error, &CStr)] = &[$((
            // The literals have no zero byte inside.
            match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => c"",
            },
            $code,
            match CStr::from_bytes_with_nul(concat!($text, "\0").as_bytes()) {
                Ok(text) => text,
                Err(_) => c"",
            },
        ),)*];
    };
}

codes! {
    DTYPE_OK = 0, "no error";
    DTYPE_ERROR_NULL = 1, "a pointer is NULL";
    DTYPE_ERROR_HANDLE = 2, "not a live object of this kind";
    DTYPE_ERROR_BUSY = 3, "another thread uses the object";
    DTYPE_ERROR_ARGUMENT = 4, "an argument is out of range";
    DTYPE_ERROR_LIMIT = 5, "too large, too deep or too many";
    DTYPE_ERROR_MEMORY = 6, "no memory could be allocated";
    DTYPE_ERROR_ROOM = 7, "the destination is too small";
    DTYPE_ERROR_LENGTH = 8, "the number of packed bytes is wrong";
    DTYPE_ERROR_BOUNDS = 9, "the layout reaches outside the memory";
    DTYPE_ERROR_OVERLAP = 10, "data overlap";
    DTYPE_ERROR_POSITION = 11, "no such position in the stream";
    DTYPE_ERROR_SIGNATURE = 12, "the basic datatypes differ";
    DTYPE_ERROR_VALUE = 13, "the bytes are no value of their type";
    DTYPE_ERROR_CONVERSION = 14, "a value cannot be converted";
    DTYPE_ERROR_TEXT = 15, "the text is malformed";
    DTYPE_ERROR_MARSHALLED = 16, "the bytes are no marshalled type";
    DTYPE_ERROR_FRAME = 17, "the frame is malformed or damaged";
    DTYPE_ERROR_REFUSED = 18, "the frame exceeds the limits";
    DTYPE_ERROR_TRUNCATED = 19, "the stream ended inside a frame";
    DTYPE_ERROR_LOST = 20, "the start of the next frame is unknown";
    DTYPE_ERROR_UNSUPPORTED = 21, "not possible with this type";
    DTYPE_ERROR_INTERNAL = 22, "a fault of the library";
}

/// Why a call did nothing.
#[derive(Debug)]
pub(crate) enum Failure {
    Null(&'static str),
    Handle {
        argument: &'static str,
        expected: &'static str,
    },
    Busy,
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
    pub(crate) fn argument(text: impl Into<String>) -> Self {
        Self::Other(DTYPE_ERROR_ARGUMENT, text.into())
    }

    pub(crate) fn unsupported(text: &str) -> Self {
        Self::Other(DTYPE_ERROR_UNSUPPORTED, text.into())
    }

    pub(crate) fn overlap() -> Self {
        Self::Other(DTYPE_ERROR_OVERLAP, "source and destination overlap".into())
    }

    pub(crate) fn references() -> Self {
        Self::Other(DTYPE_ERROR_LIMIT, "an object has at most 2^32 - 1 references".into())
    }

    fn code(&self) -> dtype_error {
        match self {
            Self::Null(_) => DTYPE_ERROR_NULL,
            Self::Handle { .. } => DTYPE_ERROR_HANDLE,
            Self::Busy => DTYPE_ERROR_BUSY,
            Self::Engine(error) => engine_code(error),
            Self::Message(error) => message_code(error),
            Self::Other(code, _) => *code,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Null(argument) => format!("{argument} is NULL"),
            Self::Handle { argument, expected } => {
                format!("{argument} is not {expected} that lives")
            }
            Self::Busy => "another thread is in a call with this object".into(),
            Self::Engine(error) => error.to_string(),
            Self::Message(error) => error.to_string(),
            Self::Other(_, text) => text.clone(),
        }
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
fn report(failure: &Failure) -> dtype_error {
    let (record, field) = match failure {
        Failure::Engine(
            Engine::InvalidValue { record, path, .. } | Engine::CheckFailed { record, path, .. },
        ) => (*record as u64, &path[..]),
        _ => (u64::MAX, ""),
    };
    let last = Last { message: c_string(&failure.text()), record, field: c_string(field) };
    // A thread that is ending may have no place for it.
    let _ = LAST.try_with(|place| place.replace(Some(last)));
    failure.code()
}

/// Runs the body of a function of `dtype.h`, and turns its failure, or a panic, into a code. A panic ends the program where the
/// library was compiled to abort.
#[inline(always)]
pub(crate) fn boundary(body: impl FnOnce() -> Result<(), Failure>) -> dtype_error {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => DTYPE_OK,
        Ok(Err(failure)) => report(&failure),
        Err(_) => report(&Failure::Other(
            DTYPE_ERROR_INTERNAL,
            "a fault of the library: it panicked".into(),
        )),
    }
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

//! Return codes, and the number types of the calls.

use std::os::raw::{c_char, c_int};

use mpi::ffi::{self, MPI_Aint, MPI_Count};

use crate::error::{Error, MESSAGE};

/// Converts a return code to a result.
#[inline]
pub(super) fn check(call: &'static str, code: c_int) -> Result<(), Error> {
    if code == 0 { Ok(()) } else { Err(failure(call, code)) }
}

/// The error for a code, with the library's message.
#[cold]
fn failure(call: &'static str, code: c_int) -> Error {
    let mut bytes = [0_u8; MESSAGE];
    let (mut length, mut class) = (0, 0);
    // SAFETY: the buffer has the length that the standard requires, and all arguments live through the calls.
    unsafe {
        ffi::MPI_Error_class(code, &raw mut class);
        ffi::MPI_Error_string(code, bytes.as_mut_ptr().cast::<c_char>(), &raw mut length);
    }
    Error::Call { call, code, class, message: text(&bytes, length) }
}

/// The first `length` bytes as text.
pub(super) fn text(bytes: &[u8], length: c_int) -> String {
    let length = usize::try_from(length).unwrap_or(0).min(bytes.len());
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}

/// Converts an address to the library's type.
pub(super) fn aint(call: &'static str, value: i64) -> Result<MPI_Aint, Error> {
    #[allow(
        clippy::useless_conversion,
        reason = "an i64 under one library, an isize under another"
    )]
    MPI_Aint::try_from(value).map_err(|_| Error::Argument { call, value, bits: MPI_Aint::BITS })
}

/// An address as an `i64`.
pub(super) fn offset(value: MPI_Aint) -> i64 {
    #[allow(clippy::unnecessary_cast, reason = "a long under one library, an isize under another")]
    let value = value as i64;
    value
}

/// A count as an `i64`.
pub(super) fn wide(value: MPI_Count) -> i64 {
    #[allow(
        clippy::useless_conversion,
        reason = "a long under one library, a long long under another"
    )]
    value.into()
}

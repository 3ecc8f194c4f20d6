//! Which messages are left to the MPI library because this engine gains nothing: with the word `all` in `DTYPE_PRELOAD`, none.

use dtype_runtime::Committed;

use crate::mode::Mode;

/// A type is compiled for its first message if that has at least this number of bytes, and the type is made of few
/// parts. Otherwise it is compiled for its second message, because programs exist that make a type for each message:
/// there, compiling would gain nothing.
pub(crate) const BYTES_AT_ONCE: usize = 2048;

/// The number of parts that a type may have to be compiled for its first message: compiling them costs less than the
/// library loses on [`BYTES_AT_ONCE`].
pub(crate) const PARTS_AT_ONCE: usize = 32;

/// Whether a type is compiled for its first message.
pub(crate) fn compiles_at_once(bytes: usize, parts: usize) -> bool {
    bytes >= BYTES_AT_ONCE && parts <= PARTS_AT_ONCE || Mode::get().all
}

/// The number of segments of memory of an element, if they are shorter than `long` bytes on average. Long ones are copied
/// by `memcpy`, here and in the library.
pub(crate) fn short_segments(committed: &Committed, long: u64) -> Option<u64> {
    let size = committed.size();
    let segments = committed.iov(1, 0..size).ok()?.segments().max(1);
    (size / segments < long || Mode::get().all).then_some(segments)
}

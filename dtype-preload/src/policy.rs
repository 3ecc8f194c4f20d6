//! Decides which messages are left to the MPI library because this engine is not faster. With the word `all` in
//! `DTYPE_PRELOAD`, there are none.

use dtype_runtime::Committed;

use crate::mode::Mode;

/// A type is compiled for its first message if the message has at least this many bytes and the type has few parts. Otherwise
/// it is compiled for its second message, because some programs make a type for each message, and for these, compiling would
/// gain nothing.
pub(crate) const BYTES_AT_ONCE: usize = 2048;

/// The greatest number of parts of a type that is compiled for its first message: compiling them costs less than the library
/// loses on [`BYTES_AT_ONCE`].
pub(crate) const PARTS_AT_ONCE: usize = 32;

/// Whether a type is compiled for its first message.
pub(crate) fn compiles_at_once(bytes: usize, parts: usize) -> bool {
    bytes >= BYTES_AT_ONCE && parts <= PARTS_AT_ONCE || Mode::get().all
}

/// The number of memory segments of an element, if their average length is less than `long` bytes. Longer ones are copied by
/// `memcpy`, both here and in the library.
pub(crate) fn short_segments(committed: &Committed, long: u64) -> Option<u64> {
    let size = committed.size();
    let segments = committed.iov(1, 0..size).ok()?.segments().max(1);
    (size / segments < long || Mode::get().all).then_some(segments)
}

//! Memory for packed bytes that a thread keeps for its next message, because allocating it would take a tenth of a short
//! message's time.

use std::cell::Cell;

/// A thread keeps no more bytes than this.
const MAX_CAPACITY: usize = 1 << 16;

thread_local! {
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// An empty vector with the memory that the thread keeps, unless `room` is more than a thread may keep.
#[inline]
pub(crate) fn take(room: usize) -> Vec<u8> {
    if room > MAX_CAPACITY {
        return Vec::new();
    }
    // A thread that is ending has no memory left.
    SPARE.try_with(Cell::take).unwrap_or_default()
}

/// Keeps a vector's memory for the next message.
#[inline]
pub(crate) fn keep(mut bytes: Vec<u8>) {
    if bytes.capacity() <= MAX_CAPACITY {
        bytes.clear();
        let _ = SPARE.try_with(|spare| spare.set(bytes));
    }
}

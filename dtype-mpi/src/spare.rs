//! Memory for packed bytes that a thread keeps from one message to the next: to allocate it would take a tenth of a short
//! message's time.

use std::cell::Cell;

/// A thread keeps no more bytes than this.
const MOST: usize = 1 << 16;

thread_local! {
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// An empty vector for `room` bytes, with memory if the thread has some and may keep as much.
#[inline]
pub(crate) fn take(room: usize) -> Vec<u8> {
    if room > MOST {
        return Vec::new();
    }
    // A thread that ends has none.
    SPARE.try_with(Cell::take).unwrap_or_default()
}

/// Keeps a vector's memory for the next message.
#[inline]
pub(crate) fn keep(mut bytes: Vec<u8>) {
    if bytes.capacity() <= MOST {
        bytes.clear();
        let _ = SPARE.try_with(|spare| spare.set(bytes));
    }
}

//! Copies from and to memory that other processes access at the same time.

use std::sync::atomic::{Ordering, fence};

/// The word in which shared memory is copied.
type Word = u64;

/// Copies bytes from memory that peers may write meanwhile.
///
/// The accesses are volatile: each byte is read once, whatever is done with the copy, so that what was checked is what is used.
/// A write at the same time makes bytes old or new, no more: it comes from another process, or from UCX, which the compiler
/// knows nothing of.
///
/// # Safety
///
/// `len` bytes must be readable and writable, and no thread of this process may write the first ones by code in Rust.
#[inline]
#[expect(clippy::cast_ptr_alignment, reason = "words begin at aligned addresses")]
pub(crate) unsafe fn load(from: *const u8, to: *mut u8, len: usize) {
    // What a peer wrote before it told us is seen.
    fence(Ordering::Acquire);
    // SAFETY: the caller guarantees both memories.
    let byte = |at| unsafe { to.add(at).write(from.add(at).read_volatile()) };
    // SAFETY: likewise, and words of the first one are aligned.
    let word = |at| unsafe {
        let word = from.add(at).cast::<Word>().read_volatile();
        to.add(at).cast::<Word>().write_unaligned(word);
    };
    visit(from, len, byte, word);
}

/// Copies bytes to memory that peers may access meanwhile: as [`load`].
///
/// # Safety
///
/// `len` bytes must be initialised and readable, and writable, and no thread of this process may access the latter by code in
/// Rust.
#[inline]
#[expect(clippy::cast_ptr_alignment, reason = "words begin at aligned addresses")]
pub(crate) unsafe fn store(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller guarantees both memories.
    let byte = |at| unsafe { to.add(at).write_volatile(from.add(at).read()) };
    // SAFETY: likewise, and words of the second one are aligned.
    let word = |at| unsafe {
        let word = from.add(at).cast::<Word>().read_unaligned();
        to.add(at).cast::<Word>().write_volatile(word);
    };
    visit(to, len, byte, word);
    // Seen by peers before anything that we tell them after it.
    fence(Ordering::Release);
}

/// Calls `word` with the offset of each aligned word of shared memory, and `byte` with those of the bytes before and after
/// them, in order.
#[inline]
fn visit(shared: *const u8, len: usize, byte: impl Fn(usize), word: impl Fn(usize)) {
    let head = len.min(shared.addr().wrapping_neg() % size_of::<Word>());
    let tail = len - (len - head) % size_of::<Word>();
    (0..head).for_each(&byte);
    (head..tail).step_by(size_of::<Word>()).for_each(word);
    (tail..len).for_each(byte);
}

//! Copies from and to memory that other processes access at the same time.

use std::sync::atomic::{Ordering, fence};

/// The word in which shared memory is copied.
type Word = u64;

/// Copies bytes from memory that peers may write at the same time.
///
/// The accesses are volatile: each byte is read only once, so the bytes that were checked are the bytes that are used. A write
/// at the same time has no other effect than that bytes are old or new, because it comes from another process, or from UCX, of
/// which the compiler knows nothing.
///
/// # Safety
///
/// `from` must be readable and `to` writable for `len` bytes, and no thread of this process may write the bytes at `from` from
/// Rust.
#[inline]
#[expect(clippy::cast_ptr_alignment, reason = "words begin at aligned addresses")]
pub(crate) unsafe fn load(from: *const u8, to: *mut u8, len: usize) {
    // Everything that a peer wrote before it notified this process is visible after this.
    fence(Ordering::Acquire);
    // SAFETY: the caller guarantees both memories.
    let byte = |at| unsafe { to.add(at).write(from.add(at).read_volatile()) };
    // SAFETY: as above, and words at `from` are aligned.
    let word = |at| unsafe {
        let word = from.add(at).cast::<Word>().read_volatile();
        to.add(at).cast::<Word>().write_unaligned(word);
    };
    visit(from, len, byte, word);
}

/// Copies bytes to memory that peers may access at the same time, as [`load`] does from there.
///
/// # Safety
///
/// `from` must be initialised and readable and `to` writable for `len` bytes, and no thread of this process may access the
/// bytes at `to` from Rust.
#[inline]
#[expect(clippy::cast_ptr_alignment, reason = "words begin at aligned addresses")]
pub(crate) unsafe fn store(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller guarantees both memories.
    let byte = |at| unsafe { to.add(at).write_volatile(from.add(at).read()) };
    // SAFETY: as above, and words at `to` are aligned.
    let word = |at| unsafe {
        let word = from.add(at).cast::<Word>().read_unaligned();
        to.add(at).cast::<Word>().write_volatile(word);
    };
    visit(to, len, byte, word);
    // Peers see these bytes before anything that this process sends them afterwards.
    fence(Ordering::Release);
}

/// Calls `word` with the offset of each aligned word of shared memory, and `byte` with the offsets of the bytes before and
/// after these words, in order.
#[inline]
fn visit(shared: *const u8, len: usize, byte: impl Fn(usize), word: impl Fn(usize)) {
    let head = len.min(shared.addr().wrapping_neg() % size_of::<Word>());
    let tail = len - (len - head) % size_of::<Word>();
    (0..head).for_each(&byte);
    (head..tail).step_by(size_of::<Word>()).for_each(word);
    (tail..len).for_each(byte);
}

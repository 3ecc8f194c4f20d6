//! How far ahead memory is prefetched.
//!
//! A processor prefetches by itself what a loop will need. AMD's Zen 5 does so for plain accesses but not for masked ones:
//! beyond the caches, arrays of records took one and a half times as long as with copies of single fields there, and half of
//! that with each line prefetched 2 KiB ahead. Zen 4 follows masked accesses. Prefetching as far ahead slows it down, by 10 %
//! to 30 % beyond the second-level cache, and prefetching a few steps ahead makes no difference. So only Zen 5 and what comes
//! after it prefetch far. On Intel's processors, neither distance was measured beside the other.

use core::arch::x86_64::__cpuid;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Bytes, on processors that do not follow masked accesses.
const FAR: usize = 2048;

/// The processor was not asked yet. As a distance, it does no harm.
const UNKNOWN: usize = 1;

static AHEAD: AtomicUsize = AtomicUsize::new(UNKNOWN);

/// How many bytes ahead memory is prefetched; 0 if the next steps are enough. [`prepare`] must have been called, or the
/// distance is not a good one.
#[inline(always)]
pub(super) fn ahead() -> usize {
    AHEAD.load(Ordering::Relaxed)
}

/// Asks the processor, if that was not done. A kernel does not ask by itself, because a call in it, though it is rarely
/// executed, has registers saved for each execution.
#[inline(always)]
pub(super) fn prepare() {
    if AHEAD.load(Ordering::Relaxed) == UNKNOWN {
        ask();
    }
}

#[cold]
fn ask() {
    let bytes = if is_zen_5_or_later() { FAR } else { 0 };
    AHEAD.store(bytes, Ordering::Relaxed);
}

#[allow(unused_unsafe, reason = "only some versions of Rust call it unsafe")]
fn is_zen_5_or_later() -> bool {
    // SAFETY: every processor that executes this file's callers has the instruction.
    let (vendor, version) = unsafe { (__cpuid(0), __cpuid(1)) };
    let name = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
    let (family, extended) = (version.eax >> 8 & 0xF, version.eax >> 20 & 0xFF);
    name.as_flattened() == b"AuthenticAMD" && family + extended >= 0x1A
}

//! How far ahead memory is prefetched.
//!
//! A processor prefetches by itself what a loop will need. AMD's Zen 5 does so for plain accesses but not for masked ones:
//! beyond the caches, arrays of records took one and a half times as long as with copies of single fields there, and half of
//! that with each line prefetched 2 KiB ahead. Zen 4 follows masked accesses. Prefetching as far ahead slows it down, by 10 %
//! to 30 % beyond the second-level cache, and prefetching a few steps ahead makes no difference. So only Zen 5 and what comes
//! after it prefetch far. On an Intel Xeon (with AMX), arrays beyond the second-level cache take the same time with either.

use core::arch::x86_64::__cpuid;
use core::sync::atomic::{AtomicU8, Ordering};

/// [`looks_far_ahead`]: no, yes, or the processor was not asked yet.
static FAR: AtomicU8 = AtomicU8::new(UNKNOWN);

const NO: u8 = 0;
const YES: u8 = 1;
const UNKNOWN: u8 = 2;

/// Whether memory must be prefetched far ahead; if not, the next steps are enough. The answer may be wrong if the processor was
/// not asked.
#[inline(always)]
pub(super) fn looks_far_ahead() -> bool {
    FAR.load(Ordering::Relaxed) != NO
}

/// Whether the processor was asked.
#[inline(always)]
pub(super) fn is_prepared() -> bool {
    FAR.load(Ordering::Relaxed) != UNKNOWN
}

/// Asks the processor. A kernel does not ask by itself, because a call in it, though it is rarely executed, has registers saved
/// for each execution.
pub(super) fn prepare() {
    let far = if is_zen_5_or_later() { YES } else { NO };
    FAR.store(far, Ordering::Relaxed);
}

#[allow(unused_unsafe, reason = "only some versions of Rust call it unsafe")]
fn is_zen_5_or_later() -> bool {
    // SAFETY: every processor that executes this file's callers has the instruction.
    let (vendor, version) = unsafe { (__cpuid(0), __cpuid(1)) };
    let name = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
    let (family, extended) = (version.eax >> 8 & 0xF, version.eax >> 20 & 0xFF);
    name.as_flattened() == b"AuthenticAMD" && family + extended >= 0x1A
}

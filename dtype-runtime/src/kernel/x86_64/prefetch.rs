//! How far ahead to prefetch memory.
//!
//! A processor prefetches by itself what a loop is about to read. AMD's Zen 5 does so for plain accesses but not for masked
//! ones: beyond the caches, masked copies of arrays of records took 1.5 times as long as copies of single fields, and half as
//! long once each line was prefetched 2 KiB ahead. Zen 4 prefetches for masked accesses, too. Prefetching 2 KiB ahead slows it
//! down by 10 % to 30 % beyond the second-level cache, and prefetching a few steps ahead makes no difference. So only Zen 5 and
//! later processors prefetch far ahead. On an Intel Xeon (with AMX), arrays beyond the second-level cache take the same time
//! either way.

use core::arch::x86_64::{__cpuid, CpuidResult};
use core::sync::atomic::{AtomicU8, Ordering};

/// Whether memory must be prefetched far ahead. If not, it is prefetched for the next steps.
pub(super) static FAR: Far = Far::new();

/// What the processor needs, found out once.
pub(super) struct Far(AtomicU8);

const NO: u8 = 0;
const YES: u8 = 1;
const UNKNOWN: u8 = 2;

impl Far {
    const fn new() -> Self {
        Self(AtomicU8::new(UNKNOWN))
    }

    /// Whether this processor needs far prefetching. Before [`ask`](Self::ask), the answer may be wrong.
    #[inline(always)]
    pub(super) fn is_needed(&self) -> bool {
        self.0.load(Ordering::Relaxed) != NO
    }

    /// Whether [`ask`](Self::ask) has been called.
    #[inline(always)]
    pub(super) fn is_known(&self) -> bool {
        self.0.load(Ordering::Relaxed) != UNKNOWN
    }

    /// Finds out from the processor's vendor and version. A kernel does not call this, because a call in a kernel, even if it
    /// is rare, makes each execution save registers.
    #[allow(unused_unsafe, reason = "only some versions of Rust call it unsafe")]
    pub(super) fn ask(&self) {
        // SAFETY: every processor that executes this file's callers has the instruction.
        let (vendor, version) = unsafe { (__cpuid(0), __cpuid(1)) };
        let far = if is_zen_5_or_later(&vendor, &version) { YES } else { NO };
        self.0.store(far, Ordering::Relaxed);
    }
}

/// Whether `cpuid` describes a Zen 5 or a later processor of AMD.
fn is_zen_5_or_later(vendor: &CpuidResult, version: &CpuidResult) -> bool {
    let name = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
    let (family, extended) = (version.eax >> 8 & 0xF, version.eax >> 20 & 0xFF);
    name.as_flattened() == b"AuthenticAMD" && family + extended >= 0x1A
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zen_5_and_its_successors_prefetch_far() {
        let is_later = |name: &[u8; 12], eax| {
            let [ebx, edx, ecx] = [0, 4, 8]
                .map(|at| u32::from_le_bytes([name[at], name[at + 1], name[at + 2], name[at + 3]]));
            let version = CpuidResult { eax, ebx: 0, ecx: 0, edx: 0 };
            is_zen_5_or_later(&CpuidResult { eax: 0, ebx, ecx, edx }, &version)
        };
        // Zen 2, 4, 5 and a later family, and an Intel processor.
        let amd = [0x0083_0F10, 0x00A6_0F12, 0x00B4_0F40, 0x00C0_0F00];
        assert_eq!(amd.map(|eax| is_later(b"AuthenticAMD", eax)), [false, false, true, true]);
        assert!(!is_later(b"GenuineIntel", 0x00B4_0F40));
    }

    #[test]
    fn the_answer_is_known_once_the_processor_was_asked() {
        let far = |answer| Far(AtomicU8::new(answer));
        let answers = [NO, YES].map(|answer| (far(answer).is_known(), far(answer).is_needed()));
        assert_eq!(answers, [(true, false), (true, true)]);
        let far = Far::new();
        assert!(!far.is_known());
        far.ask();
        assert!(far.is_known());
    }
}

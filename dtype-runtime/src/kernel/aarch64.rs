//! The instruction set of `aarch64`: NEON. Two of its registers are a [`Vector`].

use core::arch::aarch64::{
    uint8x16_t, vandq_u8, vbslq_u8, vceqq_u8, vcgtq_s64, veorq_u8, vld1q_u8, vmaxq_s8, vmaxq_s16,
    vmaxq_s32, vminvq_u8, vqtbl1q_u8, vreinterpretq_s8_u8, vreinterpretq_s16_u8,
    vreinterpretq_s32_u8, vreinterpretq_s64_u8, vreinterpretq_u8_s8, vreinterpretq_u8_s16,
    vreinterpretq_u8_s32, vreinterpretq_u8_u16, vreinterpretq_u8_u32, vreinterpretq_u8_u64,
    vreinterpretq_u16_u8, vreinterpretq_u32_u8, vreinterpretq_u64_u8, vst1q_u8, vsubq_u8,
    vsubq_u16, vsubq_u32, vsubq_u64,
};
use core::arch::asm;

use super::vector::Vector;

/// The low and the high half.
#[derive(Clone, Copy)]
pub(super) struct Neon(uint8x16_t, uint8x16_t);

impl Vector for Neon {
    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller guarantees the bytes.
        unsafe { Self::load_halves(from, from.add(16)) }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn load_halves(low: *const u8, high: *const u8) -> Self {
        // SAFETY: the caller guarantees the bytes.
        unsafe { Self(vld1q_u8(low), vld1q_u8(high)) }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller guarantees the bytes.
        unsafe { self.store_halves(to, to.add(16)) }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn store_halves(self, low: *mut u8, high: *mut u8) {
        // SAFETY: the caller guarantees the bytes.
        unsafe {
            vst1q_u8(low, self.0);
            vst1q_u8(high, self.1);
        }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn load_shuffled(from: *const u8, index: Self) -> Self {
        let (low, high);
        // SAFETY: it reads the 32 bytes that the caller guarantees, and no others. The results are initialised bytes, and
        // zeros.
        unsafe {
            asm!(
                "ldp {low:q}, {high:q}, [{from}]",
                "tbl {low:v}.16b, {{{low:v}.16b}}, {low_index:v}.16b",
                "tbl {high:v}.16b, {{{high:v}.16b}}, {high_index:v}.16b",
                from = in(reg) from,
                low_index = in(vreg) index.0,
                high_index = in(vreg) index.1,
                low = out(vreg) low,
                high = out(vreg) high,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        Self(low, high)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn store_shuffled(self, to: *mut u8, index: Self) {
        // SAFETY: it reads and writes the 32 bytes that the caller guarantees, and no others.
        unsafe {
            // The other table instruction keeps the bytes that have no index.
            asm!(
                "ldp {old_low:q}, {old_high:q}, [{to}]",
                "tbx {old_low:v}.16b, {{{low:v}.16b}}, {low_index:v}.16b",
                "tbx {old_high:v}.16b, {{{high:v}.16b}}, {high_index:v}.16b",
                "stp {old_low:q}, {old_high:q}, [{to}]",
                to = in(reg) to,
                low_index = in(vreg) index.0,
                high_index = in(vreg) index.1,
                low = in(vreg) self.0,
                high = in(vreg) self.1,
                old_low = out(vreg) _,
                old_high = out(vreg) _,
                options(nostack, preserves_flags),
            );
        }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn shuffle(self, index: Self) -> Self {
        self.with(index, |half, index| vqtbl1q_u8(half, index))
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn xor(self, other: Self) -> Self {
        self.with(other, |a, b| veorq_u8(a, b))
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn subtract<const W: usize>(self, other: Self) -> Self {
        self.with(other, |a, b| match W {
            1 => vsubq_u8(a, b),
            2 => vreinterpretq_u8_u16(vsubq_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b))),
            4 => vreinterpretq_u8_u32(vsubq_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b))),
            _ => vreinterpretq_u8_u64(vsubq_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b))),
        })
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn max<const W: usize>(self, other: Self) -> Self {
        self.with(other, |a, b| match W {
            1 => vreinterpretq_u8_s8(vmaxq_s8(vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(b))),
            2 => vreinterpretq_u8_s16(vmaxq_s16(vreinterpretq_s16_u8(a), vreinterpretq_s16_u8(b))),
            4 => vreinterpretq_u8_s32(vmaxq_s32(vreinterpretq_s32_u8(a), vreinterpretq_s32_u8(b))),
            _ => {
                let is_greater = vcgtq_s64(vreinterpretq_s64_u8(a), vreinterpretq_s64_u8(b));
                vbslq_u8(vreinterpretq_u8_u64(is_greater), a, b)
            }
        })
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn equals(self, other: Self) -> bool {
        let Self(low, high) = self.with(other, |a, b| vceqq_u8(a, b));
        vminvq_u8(vandq_u8(low, high)) == u8::MAX
    }
}

impl Neon {
    /// Applies a function to both halves.
    #[inline(always)]
    fn with(self, other: Self, one: impl Fn(uint8x16_t, uint8x16_t) -> uint8x16_t) -> Self {
        Self(one(self.0, other.0), one(self.1, other.1))
    }
}

//! Copying one block: a few moves, where a call would take longer.

use super::blocks::Direction;

/// The longest block that is worth no call, where registers have more than 16 bytes.
const LONG: usize = 1024;

/// Copies `len` bytes by two moves.
///
/// # Safety
///
/// As [`Direction::copy`]; `len` must be between `W` and `2 · W`.
#[inline(always)]
pub(super) unsafe fn two<D: Direction, const W: usize>(
    memory: *mut u8,
    packed: *mut u8,
    len: usize,
) {
    let second = len - W;
    // SAFETY: the first and the last `W` bytes of those that the caller vouches for. They overlap, and
    // write the same bytes there.
    unsafe {
        D::copy(memory, packed, W);
        D::copy(memory.add(second), packed.wrapping_add(second), W);
    }
}

/// Copies `len` bytes by three moves.
///
/// # Safety
///
/// As [`Direction::copy`]; `len` must be between `2 · W` and `3 · W`.
#[inline(always)]
pub(super) unsafe fn three<D: Direction, const W: usize>(
    memory: *mut u8,
    packed: *mut u8,
    len: usize,
) {
    let third = len - W;
    // SAFETY: the first, the second and the last `W` bytes of those that the caller vouches for. The last two
    // overlap, and write the same bytes there.
    unsafe {
        D::copy(memory, packed, W);
        D::copy(memory.add(W), packed.wrapping_add(W), W);
        D::copy(memory.add(third), packed.wrapping_add(third), W);
    }
}

/// Copies `len` bytes by four moves, which is faster than to decide how many are needed: processors
/// guess, and guess wrong.
///
/// # Safety
///
/// As [`Direction::copy`]; `len` must be between `W` and `4 · W`.
#[inline(always)]
pub(super) unsafe fn four<D: Direction, const W: usize>(
    memory: *mut u8,
    packed: *mut u8,
    len: usize,
) {
    let last = len - W;
    let (second, third) = (last.min(W), last.saturating_sub(W));
    // SAFETY: the first `2 · W` bytes and the last `2 · W`, or less where there are less: all of those
    // that the caller vouches for, and no others, as each move starts no later than `last`. Where they
    // overlap they write the same bytes.
    unsafe {
        D::copy(memory, packed, W);
        D::copy(memory.add(second), packed.wrapping_add(second), W);
        D::copy(memory.add(third), packed.wrapping_add(third), W);
        D::copy(memory.add(last), packed.wrapping_add(last), W);
    }
}

/// Copies more than 64 bytes, with registers of `R` bytes.
///
/// # Safety
///
/// As [`Direction::copy`]; `len` must be more than 64.
#[inline(always)]
pub(super) unsafe fn long<D: Direction, const R: usize>(
    memory: *mut u8,
    packed: *mut u8,
    len: usize,
) {
    if !D::IS_COPY || len > if R > 16 { LONG } else { 128 } {
        // SAFETY: as the caller vouches.
        return unsafe { D::copy(memory, packed, len) };
    }
    if R < 64 && len <= 128 {
        // SAFETY: as the caller vouches; seen to be of a length between these.
        return unsafe { four::<D, 32>(memory, packed, len) };
    }
    let last = len - 64;
    let mut at = 0;
    while at < last {
        // SAFETY: 64 of the bytes that the caller vouches for, as `last` is 64 before their end.
        unsafe { D::copy(memory.add(at), packed.wrapping_add(at), 64) };
        at += 64;
    }
    // SAFETY: likewise, the last ones. Those that were copied before are the same bytes.
    unsafe { D::copy(memory.add(last), packed.wrapping_add(last), 64) };
}

/// Copies `len` bytes, with registers of `R` bytes.
///
/// # Safety
///
/// As [`Direction::copy`].
#[inline(always)]
pub(super) unsafe fn any<D: Direction, const R: usize>(
    memory: *mut u8,
    packed: *mut u8,
    len: usize,
) {
    // SAFETY: each arm covers the `len` bytes that the caller vouches for, and no others.
    unsafe {
        match len {
            0 => {}
            1 => D::copy(memory, packed, 1),
            2..4 => two::<D, 2>(memory, packed, len),
            4..8 => two::<D, 4>(memory, packed, len),
            8..16 => two::<D, 8>(memory, packed, len),
            16..32 => two::<D, 16>(memory, packed, len),
            32..=64 => two::<D, 32>(memory, packed, len),
            _ => long::<D, R>(memory, packed, len),
        }
    }
}

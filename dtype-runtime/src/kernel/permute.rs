//! Small records as permutations of bytes: the one place that decides which instructions execute one.

#[cfg(target_arch = "x86_64")]
mod avx512;

#[cfg(test)]
mod tests;

use super::isa::{Isa, selected};
use crate::commit::Permutation;

/// Packs `count` records. Returns whether the machine has the instructions for it; if not, nothing was
/// done, and it has to be done in another way.
///
/// # Safety
///
/// `memory + displacement` must be readable for every byte of data of the records, and `packed` writable
/// for as many bytes as these are. The two must not overlap.
#[inline]
pub(crate) unsafe fn pack(
    all: &Permutation,
    count: usize,
    memory: *const u8,
    packed: *mut u8,
) -> bool {
    match selected() {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => {
            // SAFETY: the processor has the instructions; the caller vouches for the memory.
            unsafe {
                match all.vectors() {
                    1 => avx512::pack::<1>(all, count, memory, packed),
                    _ => avx512::pack::<2>(all, count, memory, packed),
                }
            }
            true
        }
        _ => false,
    }
}

/// Unpacks `count` records; as [`pack`].
///
/// # Safety
///
/// `packed` must be readable for the packed bytes of the records, and `memory + displacement` writable for
/// every byte of data. The two must not overlap.
#[inline]
pub(crate) unsafe fn unpack(
    all: &Permutation,
    count: usize,
    memory: *mut u8,
    packed: *const u8,
) -> bool {
    match selected() {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => {
            // SAFETY: the processor has the instructions; the caller vouches for the memory.
            unsafe {
                match all.vectors() {
                    1 => avx512::unpack::<1>(all, count, memory, packed),
                    _ => avx512::unpack::<2>(all, count, memory, packed),
                }
            }
            true
        }
        _ => false,
    }
}

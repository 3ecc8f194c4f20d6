//! Copies records of values, whose padding nobody else accesses, by shuffles.
//!
//! These routines are compiled for each type, and only AVX2 executes them. [`compiled_for_selected!`](super::registers) would
//! compile them for the other instruction sets, too; without it, a call of `pack` and `unpack` takes a sixth less time to
//! compile.

use crate::kernels::{Isa, decided};
use crate::plan::ShuffledBy;

/// Whether the machine shuffles records of values. If it does, it may be worth a call, where the alternative is inlined code.
#[inline(always)]
pub(crate) fn is_shuffling() -> bool {
    decided().is_some_and(Isa::shuffles)
}

/// Packs some of `count` records by shuffles, from the first on. Returns the number of these records, 0 if the machine lacks
/// the instructions; the others must be packed afterwards, in another way. Some of their packed bytes may be overwritten
/// before.
///
/// # Safety
///
/// `memory` must be valid for reading all bytes of the records, initialised or not in the gaps, and `packed` for writing
/// their packed bytes, and the two must not overlap. The records must be packed so.
#[inline]
pub(crate) unsafe fn pack_values<K: ShuffledBy>(
    count: usize,
    memory: *const u8,
    packed: *mut u8,
) -> usize {
    match decided() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: passed on to the caller. Only instructions that the processor has are ever selected.
        Some(isa) if isa.shuffles() => unsafe {
            super::x86_64::shuffle::pack::<K>(count, memory, packed)
        },
        _ => {
            let _ = (count, memory, packed);
            0
        }
    }
}

/// Unpacks some of `count` records by shuffles, from the first on. If `KEEPS_GAPS`, the bytes between their data stay as they
/// are, else they become zeros. Returns the number of these records, 0 if the machine lacks the instructions; the others must
/// be unpacked in another way.
///
/// # Safety
///
/// `memory` must be valid for reading and writing all bytes of the records, initialised or not, and `packed` for reading their
/// packed bytes, and the two must not overlap. The records must be unpacked so.
#[inline]
pub(crate) unsafe fn unpack_values<K: ShuffledBy, const KEEPS_GAPS: bool>(
    count: usize,
    memory: *mut u8,
    packed: *const u8,
) -> usize {
    match decided() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as in `pack_values`.
        Some(isa) if isa.shuffles() => unsafe {
            super::x86_64::shuffle::unpack::<K, KEEPS_GAPS>(count, memory, packed)
        },
        _ => {
            let _ = (count, memory, packed);
            0
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use alloc::boxed::Box;
    use alloc::vec::Vec;

    use super::super::x86_64::shuffle;
    use super::*;
    use crate::kernels::available;
    use crate::plan::{Blocks, Op, RunList, Shuffle};

    /// Runs in packed order: the displacement and the length of each.
    type Runs = [(usize, usize)];

    const fn shuffled(runs: &Runs, stride: usize) -> Shuffle {
        let mut ops = [const { Op::Blocks(Blocks { disp: 0, len: 0, count: 1, stride: 0 }) }; 8];
        let (mut size, mut j) = (0, 0);
        while j < runs.len() {
            let (disp, len) = runs[j];
            let (disp, bytes) = (disp as i64, len as u64);
            ops[j] = Op::Blocks(Blocks { disp, len: bytes, count: 1, stride: 0 });
            (size, j) = (size + len, j + 1);
        }
        match RunList::expand(ops.split_at(runs.len()).0) {
            Some(list) => Shuffle::of(&list, size, stride).expect("they are shuffled"),
            None => panic!("a few runs"),
        }
    }

    /// What the memory becomes, byte by byte.
    fn by_bytes(runs: &Runs, stride: usize, packed: &[u8], memory: &[u8]) -> Vec<u8> {
        let (mut memory, mut bytes) = (memory.to_vec(), packed.iter());
        for record in memory.chunks_mut(stride) {
            for place in runs.iter().flat_map(|&(disp, len)| disp..disp + len) {
                let Some(byte) = bytes.next() else { break };
                record[place] = *byte;
            }
        }
        memory
    }

    fn check<K: ShuffledBy>(runs: &Runs, stride: usize) {
        let size: usize = runs.iter().map(|(_, len)| len).sum();
        let numbers = |len: usize, modulus: usize| -> Box<[u8]> {
            (0..len).map(|i| (i % modulus).to_le_bytes()[0]).collect()
        };
        let step = if cfg!(miri) { 9 } else { 1 };
        for count in (0..4 * K::SHUFFLE.records() + 20).step_by(step) {
            // No longer than they must be, so that a sanitizer sees each byte before and after.
            let (mut packed, before) = (numbers(count * size, 251), numbers(count * stride, 241));
            let mut memory = before.clone();
            if K::SHUFFLE.unpacks() {
                let whole = count - count % K::SHUFFLE.records();
                for _ in 0..2 {
                    // SAFETY: both have the bytes of the records, which are unpacked so, and the processor has the
                    // instructions.
                    let done = unsafe {
                        shuffle::unpack::<K, true>(count, memory.as_mut_ptr(), packed.as_ptr())
                    };
                    let expected = by_bytes(runs, stride, &packed[..whole * size], &before);
                    assert_eq!((done, &*memory), (whole, &*expected), "{runs:?} × {count}");
                    packed.reverse();
                }
                let mut zeros = before.to_vec();
                zeros[..whole * stride].fill(0);
                // SAFETY: as above.
                let done = unsafe {
                    shuffle::unpack::<K, false>(count, memory.as_mut_ptr(), packed.as_ptr())
                };
                let expected = by_bytes(runs, stride, &packed[..whole * size], &zeros);
                assert_eq!((done, &*memory), (whole, &*expected), "{runs:?} × {count}");
            }
            if K::SHUFFLE.packs() {
                packed.fill(0xEE);
                // SAFETY: both have the bytes of the records, which are packed so, and the processor has the instructions.
                let done =
                    unsafe { shuffle::pack::<K>(count, before.as_ptr(), packed.as_mut_ptr()) };
                // All but those that the excess of the last half would have been written to.
                assert!(
                    done + (K::SHUFFLE.records() + 16usize.div_ceil(size)) > count && done <= count
                );
                let places = (0..done).flat_map(|record| {
                    runs.iter()
                        .flat_map(move |&(disp, len)| disp..disp + len)
                        .map(move |at| record * stride + at)
                });
                assert!(
                    packed[..done * size].iter().eq(places.map(|place| &before[place])),
                    "{runs:?} × {count}"
                );
            }
        }
    }

    macro_rules! check_all {
        ($($name:ident: $runs:expr, $stride:literal;)*) => { $({
            struct $name;
            impl ShuffledBy for $name {
                const SHUFFLE: &'static Shuffle = &shuffled(&$runs, $stride);
            }
            check::<$name>(&$runs, $stride);
        })* };
    }

    #[test]
    fn every_byte_gets_its_value() {
        if !available(Isa::Avx2) {
            return;
        }
        check_all! {
            Quarter: [(0, 6)], 8;
            Half: [(0, 13)], 16;
            Backwards: [(8, 8), (3, 1), (0, 3)], 16;
            Behind: [(0, 1), (8, 8)], 16;
            SevenOfSixteen: [(1, 13)], 14;
            FewBytes: [(0, 1), (2, 1)], 3;
            Three: [(0, 9), (12, 12)], 24;
            One: [(3, 26)], 32;
            Five: [(0, 9), (16, 18)], 40;
            Nine: [(0, 33)], 36;
            Mixed: [(12, 2), (0, 9), (10, 1)], 16;
            SevenOfFour: [(0, 9), (12, 8), (24, 9), (36, 8), (48, 8)], 56;
            Overlapping: [(0, 7), (9, 56)], 66;
            Sixteen: [(0, 200)], 256;
            Sparse: [(0, 1), (8, 4)], 64;
        }
    }
}

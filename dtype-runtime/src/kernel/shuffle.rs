//! Copies records of values by shuffles. No other code accesses the padding of these records meanwhile.
//!
//! [`Shuffle`] explains how. The routines are compiled for each type, so that the registers' offsets are constants: loaded from
//! a table, those of seven registers take a third more time.

use super::vector::{Vector, compiled_for_vectors};
use crate::plan::{Half, Shuffle, ShuffledBy};

/// Bytes ahead at which memory is prefetched, bytes of a cache line, and bytes of a register.
const AHEAD: usize = 2048;
const LINE: usize = 64;
const REGISTER: usize = 32;

compiled_for_vectors! {
    /// Packs some of `count` records by shuffles, from the first on. Returns the number of these records, 0 if the machine
    /// lacks the instructions. The caller must then pack the others in another way; some of their packed bytes may be
    /// overwritten before that.
    ///
    /// # Safety
    ///
    /// `memory` must be valid for reading all bytes of the records, initialised or not in the gaps, and `packed` for writing
    /// their packed bytes. The two must not overlap. `K`'s shuffles must be those of the records, and pack.
    pub(crate) unsafe fn pack_values[K: ShuffledBy][K](
        count: usize, memory: *const u8, packed: *mut u8,
    ) -> usize = V => pack::<V, K>(count, memory, packed); else 0
}

compiled_for_vectors! {
    /// Unpacks some of `count` records by shuffles, from the first on. The bytes between their data stay as they are if
    /// `KEEPS_GAPS`; otherwise they become zeros. Returns the number of these records, 0 if the machine lacks the instructions.
    /// The caller must unpack the others in another way.
    ///
    /// # Safety
    ///
    /// `memory` must be valid for reading and writing all bytes of the records, initialised or not, and `packed` for reading
    /// their packed bytes. The two must not overlap. `K`'s shuffles must be those of the records.
    pub(crate) unsafe fn unpack_values[K: ShuffledBy, const KEEPS_GAPS: bool][K, KEEPS_GAPS](
        count: usize, memory: *mut u8, packed: *const u8,
    ) -> usize = V => unpack::<V, K, KEEPS_GAPS>(count, memory, packed); else 0
}

/// Executes code for the two halves of each register of a period. It is unrolled by hand, so that the offsets are constants
/// whether the compiler unrolls loops or not. After the last register, no code is generated: a `match` on an associated
/// constant is decided before code generation, and unlike `if const`, it does not add a constant for each register.
macro_rules! for_each_register {
    ($by:ident, $halves:ident => $body:expr) => {
        for_each_register!($by, $halves => $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        const { assert!(Shuffle::MAX_REGISTERS == 16, "as many as are written out") }
    };
    ($by:ident, $halves:ident => $body:expr, $($j:literal)+) => {
        'all: {
            $( match $by::REGISTERS {
                $j => break 'all,
                _ => {
                    let $halves = $by::SHUFFLE.register($j);
                    $body
                }
            } )+
        }
    };
}

/// Packs whole periods of `count` records. Returns the number of the records in them.
///
/// # Safety
///
/// What [`pack_values`] requires; the processor must have the instructions.
#[inline(always)]
unsafe fn pack<V: Vector, K: ShuffledBy>(
    count: usize,
    mut memory: *const u8,
    mut packed: *mut u8,
) -> usize {
    debug_assert!(K::SHUFFLE.packs());
    let (in_memory, in_packed) = K::SHUFFLE.bytes();
    let periods = K::SHUFFLE.periods_to_pack(count);
    for _ in 0..periods {
        for_each_register!(K, halves => {
            let [low, high] = halves;
            // SAFETY: an index has 16 bytes, and a period of the caller's records is at the pointers: `periods_to_pack` counts
            // only periods whose stores, which cover at least their data, all end within the caller's packed bytes. The
            // register is a part of the period's memory, and by the invariant of `Shuffle` no half is stored further behind
            // than the last one. The next half, the next period or the caller overwrites what is stored there after the data.
            // Prefetching is a hint, whatever the address.
            unsafe {
                if low.place % LINE < REGISTER {
                    V::prefetch(memory.wrapping_add(low.place + AHEAD));
                }
                let data = load::<V>(halves, memory.add(low.place));
                data.store_halves(packed.add(low.to), packed.add(high.to));
            }
        });
        // The pointers wrap, because they step past the last period.
        (memory, packed) = (memory.wrapping_add(in_memory), packed.wrapping_add(in_packed));
    }
    periods * K::SHUFFLE.records()
}

/// Unpacks the whole periods of `count` records. Returns the number of the records in them.
///
/// # Safety
///
/// What [`unpack_values`] requires; the processor must have the instructions.
#[inline(always)]
unsafe fn unpack<V: Vector, K: ShuffledBy, const KEEPS_GAPS: bool>(
    count: usize,
    mut memory: *mut u8,
    mut packed: *const u8,
) -> usize {
    let (in_memory, in_packed) = K::SHUFFLE.bytes();
    let periods = count / K::SHUFFLE.records();
    for _ in 0..periods {
        for_each_register!(K, halves => {
            let [low, high] = halves;
            // SAFETY: an index has 16 bytes. A period of the caller's records is at the pointers. By the invariant of
            // `Shuffle`, the register is a part of its memory, and each half loads 16 of its packed bytes.
            unsafe {
                let bytes = V::load_halves(packed.add(low.from), packed.add(high.from));
                store::<V, KEEPS_GAPS>(halves, memory.add(low.place), bytes);
            }
        });
        // The pointers wrap, because they step past the last period.
        (memory, packed) = (memory.wrapping_add(in_memory), packed.wrapping_add(in_packed));
    }
    periods * K::SHUFFLE.records()
}

/// Loads a register and moves the data of each half to its front, with zeros after them.
///
/// # Safety
///
/// `place` must be valid for reading a register. The data must be initialised, and the processor must have the instructions.
#[inline(always)]
unsafe fn load<V: Vector>([low, high]: [&Half; 2], place: *const u8) -> V {
    if cfg!(miri) {
        // Miri does not interpret assembly.
        let mut data = [0; REGISTER];
        let index = [low.gather.to_le_bytes(), high.gather.to_le_bytes()];
        for (i, (byte, index)) in data.iter_mut().zip(index.as_flattened()).enumerate() {
            if *index < 0x80 {
                // SAFETY: the index names only data.
                *byte = unsafe { place.add(i / 16 * 16 + usize::from(*index)).read() };
            }
        }
        // SAFETY: the array has the bytes of a register.
        return unsafe { V::load(data.as_ptr()) };
    }
    // SAFETY: an index has 16 bytes, and names the data.
    unsafe {
        V::load_shuffled(
            place,
            V::load_halves((&raw const low.gather).cast(), (&raw const high.gather).cast()),
        )
    }
}

/// Moves the bytes of each half to their places, and stores them. The bytes of the gaps are unchanged if `KEEPS_GAPS`;
/// otherwise they become zeros.
///
/// # Safety
///
/// `place` must be valid for reading and writing a register, initialised or not. The processor must have the instructions.
#[inline(always)]
unsafe fn store<V: Vector, const KEEPS_GAPS: bool>(
    [low, high]: [&Half; 2],
    place: *mut u8,
    bytes: V,
) {
    // SAFETY: an index has 16 bytes, and the caller guarantees the place.
    unsafe {
        let index =
            V::load_halves((&raw const low.scatter).cast(), (&raw const high.scatter).cast());
        if !KEEPS_GAPS {
            return bytes.shuffle(index).store(place);
        }
        if !cfg!(miri) {
            return bytes.store_shuffled(place, index);
        }
        // Miri does not interpret assembly.
        let mut data = [0; REGISTER];
        bytes.shuffle(index).store(data.as_mut_ptr());
        let index = [low.scatter.to_le_bytes(), high.scatter.to_le_bytes()];
        for (i, (byte, index)) in data.into_iter().zip(index.as_flattened()).enumerate() {
            if *index < 0x80 {
                place.add(i).write(byte);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::boxed::Box;
    use alloc::vec::Vec;

    use super::*;
    use crate::isa::{Isa, selected};
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
            Some(list) => Shuffle::new(&list, size, stride).expect("they are shuffled"),
            None => panic!("a few runs"),
        }
    }

    /// The expected memory, computed byte by byte.
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
            // No longer than required, so that a sanitizer finds an access before or after.
            let (mut packed, before) = (numbers(count * size, 251), numbers(count * stride, 241));
            let mut memory = before.clone();
            let whole = count - count % K::SHUFFLE.records();
            for _ in 0..2 {
                // SAFETY: both have the bytes of the records, these are the records' shuffles, and the processor has the
                // instructions.
                let done = unsafe {
                    unpack_values::<K, true>(count, memory.as_mut_ptr(), packed.as_ptr())
                };
                let expected = by_bytes(runs, stride, &packed[..whole * size], &before);
                assert_eq!((done, &*memory), (whole, &*expected), "{runs:?} × {count}");
                packed.reverse();
            }
            let mut zeros = before.to_vec();
            zeros[..whole * stride].fill(0);
            // SAFETY: as above.
            let done =
                unsafe { unpack_values::<K, false>(count, memory.as_mut_ptr(), packed.as_ptr()) };
            let expected = by_bytes(runs, stride, &packed[..whole * size], &zeros);
            assert_eq!((done, &*memory), (whole, &*expected), "{runs:?} × {count}");
            if K::SHUFFLE.packs() {
                packed.fill(0xEE);
                // SAFETY: both have the bytes of the records, these are the records' shuffles, and they pack; the processor has
                // the instructions.
                let done = unsafe { pack_values::<K>(count, before.as_ptr(), packed.as_mut_ptr()) };
                // All bytes after these, except those that the excess of the last half may overwrite, are unchanged.
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
        if selected() == Isa::Portable {
            return println!("skipped: the portable kernels shuffle nothing");
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

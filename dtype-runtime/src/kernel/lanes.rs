//! Whether the values in packed records lie in their ranges.

use super::registers::{Registers, compiled_for_selected};
use crate::plan::Tests;

/// Tests the values of some of the `count` packed records, from the first on. Returns the number of these records, 0 if the
/// machine lacks the instructions; `None` if a value does not lie in its range.
#[inline]
pub(crate) fn test(all: &Tests, records: &[u8], count: usize) -> Option<usize> {
    // SAFETY: nothing is required but the instructions, which the dispatch sees to.
    unsafe { by_registers(all, records, count) }
}

compiled_for_selected! {
    /// # Safety
    ///
    /// None: the dispatch selects instructions that the processor has.
    unsafe fn by_registers[][](all: &Tests, records: &[u8], count: usize) -> Option<usize>
        = R => R::test(all, records, count);
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::super::x86_64::{Avx2, Avx512};
    use super::*;
    use crate::basic::{Discriminants, Validity};
    use crate::kernels::{Isa, available};
    use crate::plan::{Ranged, RangedList};

    /// A value's position, its bytes, and which of them it accepts.
    type Value = (usize, usize, Validity);

    /// The values of a record, and its size in bytes: bytes alone, as these have a kernel of their own, or any width.
    fn records() -> impl Strategy<Value = (Vec<Value>, usize)> {
        const GAPS: Validity = Validity::Enum(Discriminants::new(&[1, 2, 5, 6]));
        let byte = prop_oneof![
            Just((1, Validity::Bool)),
            Just((1, Validity::AtMost(200))),
            Just((1, Validity::NonZero)),
        ];
        let value = prop_oneof![
            byte.clone(),
            Just((1, GAPS)),
            Just((2, Validity::NonZero)),
            Just((4, Validity::Char)),
            Just((4, Validity::NotNan { infinity: 0x7F80_0000 })),
            Just((8, Validity::NonZero)),
            Just((8, Validity::AtMost(u32::MAX))),
        ];
        prop_oneof![records_of(byte), records_of(value)]
    }

    fn records_of(
        value: impl Strategy<Value = (usize, Validity)>,
    ) -> impl Strategy<Value = (Vec<Value>, usize)> {
        let values = prop::collection::vec((0..4_usize, value), 1..8);
        (values, 0..4_usize).prop_map(|(values, rest)| {
            let mut end = 0;
            let place = |(gap, (size, validity))| {
                let position = end + gap;
                end = position + size;
                (position, size, validity)
            };
            let values = values.into_iter().map(place).collect();
            (values, end + rest)
        })
    }

    fn bits(bytes: &[u8]) -> u128 {
        bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u128::from(*byte))
    }

    /// The results of all sets of instructions that test.
    fn results(tests: &Tests, records: &[u8], count: usize) -> Vec<Option<usize>> {
        let mut results = Vec::new();
        // SAFETY: the processor has the instructions.
        unsafe {
            if available(Isa::Avx2) && (tests.narrow.is_some() || tests.bytes.is_some()) {
                results.push(Avx2::test(tests, records, count));
            }
            if available(Isa::Avx512) && tests.wide.is_some() {
                results.push(Avx512::test(tests, records, count));
            }
        }
        results
    }

    proptest! {
        /// Neither more is refused than one value after another, nor less: what asks for the reason would find none, and take its
        /// time.
        #[test]
        fn the_same_is_refused(
            (values, size) in records(),
            wrong in any::<prop::sample::Index>(),
            noise in prop::collection::vec(any::<u8>(), 4),
        ) {
            const COUNT: usize = 200;
            let mut list = RangedList::new();
            for &(position, size, validity) in &values {
                for range in validity.ranges().unwrap().all() {
                    let is_added = list.push(Ranged { position, size, range: *range });
                    prop_assert!(is_added);
                }
            }
            // As if one after another took a microsecond.
            let tests = Tests::of(&list, size, 8000);
            let is_valid = |record: &[u8]| {
                values.iter().all(|&(at, len, validity)| validity.accepts(bits(&record[at..at + len])))
            };
            // The number 1 is valid everywhere; a byte more, if that is valid, too.
            let mut ones = alloc::vec![0; size];
            for (at, ..) in &values {
                ones[*at] = 1;
            }
            let mut bytes = ones.repeat(COUNT);
            for (index, record) in bytes.chunks_mut(size).enumerate() {
                let before = record.to_vec();
                record[index % size] = noise[index % 4];
                if !is_valid(record) {
                    record.copy_from_slice(&before);
                }
            }
            for result in results(&tests, &bytes, COUNT) {
                prop_assert!(result.is_some_and(|tested| tested <= COUNT && 2 * tested >= COUNT));
            }
            let place = wrong.index(bytes.len() / 2);
            for value in [0, 2, 0x80, 0xD8, 0xFF] {
                bytes[place] = value;
                let record = place / size;
                let valid = is_valid(&bytes[record * size..][..size]);
                for result in results(&tests, &bytes, COUNT) {
                    prop_assert_eq!(result.is_some(), valid);
                }
            }
        }
    }
}

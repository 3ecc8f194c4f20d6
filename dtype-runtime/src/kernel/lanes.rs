//! Tests whether the values in packed records lie in their ranges.
//!
//! [`Tests`] explains how. Loads here have no mask, so the last records, for which a step would load bytes past the end, are
//! left to the caller.

use super::vector::{Vector, compiled_for_vectors};
use crate::isa::selected;
use crate::plan::{Load, Tests};

/// Tests the values of some of the packed records, from the first on. Returns the number of these records (0 if the machine
/// lacks the instructions), or `None` if a value does not lie in its range.
#[inline]
pub(crate) fn test(tests: &Tests, records: &[u8]) -> Option<usize> {
    selected();
    by_vectors(tests, records)
}

compiled_for_vectors! {
    fn by_vectors[][](tests: &Tests, records: &[u8]) -> Option<usize> = V => match tests.width() {
        1 if tests.is_in_place() => steps::<V, 1, true>(tests, records),
        1 => steps::<V, 1, false>(tests, records),
        2 => steps::<V, 2, false>(tests, records),
        4 => steps::<V, 4, false>(tests, records),
        _ => steps::<V, 8, false>(tests, records),
    }; else Some(0)
}

/// Tests the values of the records of whole steps, in lanes of `W` bytes. `W` and `IN_PLACE` must be those of the tests.
///
/// # Safety
///
/// The processor must have the instructions.
#[inline(always)]
unsafe fn steps<V: Vector, const W: usize, const IN_PLACE: bool>(
    tests: &Tests,
    records: &[u8],
) -> Option<usize> {
    let [a, b, c, d] = tests.loads();
    // SAFETY: the caller guarantees the instructions.
    let (mut first, mut second) =
        unsafe { (Pair::<V, W, IN_PLACE>::new(a, b), Pair::<V, W, IN_PLACE>::new(c, d)) };
    let (of_step, size) = tests.records();
    let (step, mut rest) = (of_step * size, records);
    while rest.len() >= step.max(tests.reach()) {
        // SAFETY: the bytes reach as far as the loads.
        unsafe {
            first.test(rest);
            second.test(rest);
        }
        rest = &rest[step..];
    }
    // SAFETY: the caller guarantees the instructions.
    let is_valid = unsafe { first.is_valid() & second.is_valid() };
    is_valid.then(|| (records.len() - rest.len()) / size)
}

/// The tests in one register: the bytes of two loads.
struct Pair<V, const W: usize, const IN_PLACE: bool> {
    from: [usize; 2],
    index: V,
    flip: V,
    least: V,
    /// The greatest result of each lane so far.
    greatest: V,
    /// The greatest allowed result of each lane.
    most: V,
}

/// The least number of each lane of `W` bytes.
const fn lowest<const W: usize>() -> [u8; 32] {
    let (mut all, mut last) = ([0; 32], W - 1);
    while last < 32 {
        all[last] = 0x80;
        last += W;
    }
    all
}

impl<V: Vector, const W: usize, const IN_PLACE: bool> Pair<V, W, IN_PLACE> {
    /// # Safety
    ///
    /// The processor must have the instructions.
    #[inline(always)]
    unsafe fn new(low: &Load, high: &Load) -> Self {
        // SAFETY: arrays of 16 and of 32 bytes.
        unsafe {
            let both =
                |low: &[u8; 16], high: &[u8; 16]| V::load_halves(low.as_ptr(), high.as_ptr());
            Self {
                from: [low.from, high.from],
                index: both(&low.index, &high.index),
                flip: both(&low.flip, &high.flip),
                least: both(&low.least, &high.least),
                greatest: V::load(const { &lowest::<W>() }.as_ptr()),
                most: both(&low.most, &high.most),
            }
        }
    }

    /// Tests the values in a step, which starts at the start of the bytes.
    ///
    /// # Safety
    ///
    /// There must be 16 bytes from both `from`s on. The processor must have the instructions.
    #[inline(always)]
    unsafe fn test(&mut self, bytes: &[u8]) {
        debug_assert!(self.from.iter().all(|from| from + 16 <= bytes.len()), "{:?}", self.from);
        // SAFETY: the caller guarantees the bytes.
        unsafe {
            let [low, high] = self.from.map(|from| bytes.as_ptr().add(from));
            let values = if IN_PLACE {
                // The second load follows the first directly.
                V::load(low)
            } else {
                V::load_halves(low, high).shuffle(self.index).xor(self.flip)
            };
            self.greatest = self.greatest.max::<W>(values.subtract::<W>(self.least));
        }
    }

    /// Whether all values so far lie in their ranges.
    ///
    /// # Safety
    ///
    /// The processor must have the instructions.
    #[inline(always)]
    unsafe fn is_valid(&self) -> bool {
        // SAFETY: the caller guarantees the instructions.
        unsafe { self.greatest.max::<W>(self.most).equals(self.most) }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::basic::{Discriminants, Validity};
    use crate::isa::Isa;
    use crate::plan::{Ranged, RangedList};

    /// A value's position, its number of bytes, and which of them it accepts.
    type Value = (usize, usize, Validity);

    /// The values of a record, and its size in bytes. Values of one byte alone have a kernel of their own, so both kinds are
    /// made: bytes only, and any width.
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

    proptest! {
        /// The kernel refuses exactly the records that a test of each value refuses. If it refused more, the code that looks
        /// for the invalid value would find none, and would take time.
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
            // As if testing value after value took a microsecond.
            let tests = Tests::new(&list, size, 8000);
            let Some(tests) = tests.filter(|_| selected() != Isa::Portable) else { return Ok(()) };
            let is_valid = |record: &[u8]| {
                values.iter().all(|&(at, len, validity)| validity.accepts(bits(&record[at..at + len])))
            };
            // The number 1 is valid everywhere; one byte is then replaced, by a valid value or an invalid one.
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
            let tested = test(&tests, &bytes);
            prop_assert!(tested.is_some_and(|tested| tested <= COUNT && 2 * tested >= COUNT));
            let place = wrong.index(bytes.len() / 2);
            for value in [0, 2, 0x80, 0xD8, 0xFF] {
                bytes[place] = value;
                let record = place / size;
                let valid = is_valid(&bytes[record * size..][..size]);
                prop_assert_eq!(test(&tests, &bytes).is_some(), valid);
            }
        }
    }

    #[test]
    fn the_least_number_of_a_lane_has_the_highest_bit_alone() {
        fn lanes<const W: usize>() -> [[u8; W]; 2] {
            let bytes = lowest::<W>();
            let (all, _) = bytes.as_chunks::<W>();
            assert!(all.iter().all(|lane| *lane == all[0]));
            [all[0], all[all.len() - 1]]
        }
        assert_eq!(lanes::<1>(), [[0x80]; 2]);
        assert_eq!(lanes::<4>(), [i32::MIN.to_le_bytes(); 2]);
        assert_eq!(lanes::<8>(), [i64::MIN.to_le_bytes(); 2]);
    }
}

//! Values of one byte in packed records that must lie in a range, tested where they are.
//!
//! The lanes of a vector are bytes, like the values, so nothing has to be permuted: a kernel loads packed bytes, moves each
//! range to 0, and keeps the greatest result of each lane. The bytes of other values may be anything. A *period* is as many
//! records as have all these values within a vector, so the values are in the same lanes of every vector.
//!
//! An example: records of 18 bytes, with `bool`s at 8 and 9. Vectors of 32 bytes are loaded from byte 8 of a record, and have
//! the values of two.
//!
//! ```text
//! lanes     0     1     2 …    17    18    19    20 …    31
//! packed    8     9     10     25    26    27    28      39
//! greatest  1     1     FF     FF    1     1     FF      FF
//! ```

use super::{Ranged, RangedList, fewest};

/// What it costs to test a period, in the unit of `one_by_one`, as measured with an AMD EPYC of the third generation.
const PERIOD: usize = 2;

/// The tests of packed records whose tested values have one byte each.
#[derive(Debug)]
pub(crate) struct ByteLanes {
    /// Bytes from the start of the period to those that are loaded.
    from: usize,
    /// Bytes of a period.
    period: usize,
    /// Packed bytes of a record.
    size: usize,
    /// What is added to each lane, so that its range starts at 0.
    addend: [u8; Self::WIDTH],
    /// The greatest that each lane may be then.
    most: [u8; Self::WIDTH],
    fewest: usize,
}

impl ByteLanes {
    /// Bytes of a vector.
    pub(crate) const WIDTH: usize = 32;

    /// The tests of these values, in records of `size` packed bytes; `None` if one of them has more bytes or several ranges, or
    /// if they lie too far apart. `one_by_one` is as in [`Tests::of`](super::Tests::of).
    pub(super) const fn of(values: &RangedList, size: usize, one_by_one: usize) -> Option<Self> {
        let values = values.all();
        let Some(Ranged { position: from, .. }) = values.first() else { return None };
        let end = values[values.len() - 1].position + 1;
        if end - *from > Self::WIDTH {
            return None;
        }
        let records = (Self::WIDTH - (end - *from)) / size + 1;
        let fewest = fewest(records, one_by_one, PERIOD);
        if fewest == usize::MAX {
            return None;
        }
        let (addend, most) = ([0; Self::WIDTH], [u8::MAX; Self::WIDTH]);
        let mut all = Self { from: *from, period: records * size, size, addend, most, fewest };
        let mut i = 0;
        while i < values.len() {
            let Ranged { position, size: bytes, range } = values[i];
            if bytes != 1 || range.flip != 0 || i > 0 && values[i - 1].position == position {
                return None;
            }
            let mut record = 0;
            while record < records {
                let lane = record * size + position - *from;
                all.addend[lane] = range.least.to_le_bytes()[0].wrapping_neg();
                all.most[lane] = range.most.to_le_bytes()[0];
                record += 1;
            }
            i += 1;
        }
        Some(all)
    }

    /// From this number of records on, the vectors are faster than one test after another.
    pub(crate) const fn fewest(&self) -> usize {
        self.fewest
    }
}

/// What a kernel reads to execute the tests.
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "nothing executes them here"))]
impl ByteLanes {
    /// Bytes from the start of the period to those that are loaded.
    pub(crate) const fn from(&self) -> usize {
        self.from
    }

    /// Bytes of a period.
    pub(crate) const fn period(&self) -> usize {
        self.period
    }

    /// Packed bytes of a record.
    pub(crate) const fn size(&self) -> usize {
        self.size
    }

    /// What is added to each lane, so that its range starts at 0.
    pub(crate) const fn addend(&self) -> &[u8; Self::WIDTH] {
        &self.addend
    }

    /// The greatest that each lane may be then.
    pub(crate) const fn most(&self) -> &[u8; Self::WIDTH] {
        &self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basic::Validity;

    /// The tests of values with a position and a number of bytes each.
    fn lanes(values: &[(usize, usize, Validity)], size: usize) -> Option<ByteLanes> {
        let mut list = RangedList::new();
        for &(position, bytes, validity) in values {
            for &range in validity.ranges()?.all() {
                assert!(list.push(Ranged { position, size: bytes, range }));
            }
        }
        ByteLanes::of(&list, size, 2 * values.len())
    }

    /// The example above.
    #[test]
    fn each_record_has_its_lanes() {
        let side = Validity::NonZero;
        let all = lanes(&[(8, 1, Validity::Bool), (9, 1, side)], 18).unwrap();
        assert_eq!((all.from(), all.period(), all.size()), (8, 36, 18));
        for (lane, (addend, most)) in all.addend().iter().zip(all.most()).enumerate() {
            let expected = match lane % 18 {
                0 => (0, 1),
                1 => (255, 254),
                _ => (0, 255),
            };
            assert_eq!((*addend, *most), expected, "{lane}");
        }
    }

    #[test]
    fn what_does_not_fit_is_left_to_others() {
        let truth = Validity::Bool;
        assert!(lanes(&[], 3).is_none());
        assert!(lanes(&[(0, 1, truth), (31, 1, truth)], 40).is_some());
        assert!(lanes(&[(0, 1, truth), (32, 1, truth)], 40).is_none());
        assert!(lanes(&[(0, 1, truth), (1, 2, Validity::NonZero)], 3).is_none());
        // A byte with two ranges would need two lanes.
        let gap = Validity::Enum(crate::basic::Discriminants::new(&[1, 2, 5, 6]));
        assert!(lanes(&[(0, 1, truth), (1, 1, gap)], 3).is_none());
        // A single `bool` in a long record is tested as fast by itself.
        assert!(lanes(&[(0, 1, truth)], 40).is_none());
    }
}

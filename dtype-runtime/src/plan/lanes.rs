//! Tests in vector registers whether values in packed records lie in their ranges.
//!
//! A kernel loads packed bytes and permutes them so that each value has a lane of its own. In each lane it shifts the value's
//! range to the least number that a lane can hold, and keeps the greatest result. One comparison at the end decides for all
//! records.
//!
//! An example: records of 17 bytes, with a `bool` at 0 and a `char` at 1. Lanes are as wide as the widest value, here 4 bytes;
//! narrower values are extended by zeros. There is one record in 16 bytes from the `bool` on.
//!
//! ```text
//! lanes     0            1                   2             3
//! packed    0            1 2 3 4             –             –
//! result    bits         (bits ^ D800) - 800 0             0
//! greatest  1            10F7FF              any           any
//! ```
//!
//! A value with several conditions takes several lanes: an enum with the numbers 1, 2, 5 and 6 must lie from 1 to 6, and not
//! from 3 to 4.
//!
//! A *period* is the greatest number of records whose values lie within 16 bytes of the first value, and for which there are
//! enough lanes. If the values of a single record need more bytes or lanes than that, two or four loads serve one record. A
//! *step* makes four loads: for four periods, for two, or for one.
//!
//! Values of one byte each need no permutation. They are tested where they lie, in two adjacent loads, and the bytes between
//! them may have any value.
//!
//! Instructions compare lanes as signed numbers, so all results are kept with the highest bit inverted.

use super::costs;
use crate::basic::BitRange;

/// A value in a packed record, and one of its ranges.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranged {
    /// Bytes from the start of the packed record.
    pub(crate) position: usize,
    /// Bytes of the value.
    pub(crate) size: usize,
    /// Which values are accepted.
    pub(crate) range: BitRange,
}

/// The values of a record that are tested.
pub(crate) struct RangedList {
    list: [Ranged; Self::MAX_RANGES],
    len: usize,
}

/// Bytes of a load.
const WIDTH: usize = 16;

/// The tests of packed records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tests {
    loads: [Load; Self::LOADS],
    /// Bytes of a lane: 1, 2, 4 or 8.
    width: usize,
    /// Whether bytes are tested where they lie, without a permutation. Every second load then follows directly after the one
    /// before it.
    in_place: bool,
    /// Packed bytes of a record.
    size: usize,
    /// Records of a step.
    records: usize,
    /// The greatest [`from`](Load::from) of the loads.
    furthest: usize,
    /// The least number of records for which the steps are faster than testing value after value.
    fewest: usize,
}

/// The tests on the bytes of one load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// Bytes from the start of the step to the loaded bytes.
    pub(crate) from: usize,
    /// For each byte, which of the loaded bytes it is; [`NO_BYTE`] if it is to become a zero.
    pub(crate) index: [u8; WIDTH],
    /// For each lane, the bits to invert and the number to subtract.
    pub(crate) flip: [u8; WIDTH],
    pub(crate) least: [u8; WIDTH],
    /// The greatest number, as a signed one, that each lane may hold afterwards.
    pub(crate) most: [u8; WIDTH],
}

impl RangedList {
    /// The greatest number of values.
    pub(crate) const MAX_RANGES: usize = 64;

    /// The values.
    const fn all(&self) -> &[Ranged] {
        self.list.split_at(self.len).0
    }

    /// A list without values.
    pub(crate) const fn new() -> Self {
        let nothing = Ranged { position: 0, size: 0, range: BitRange::ALL };
        Self { list: [nothing; Self::MAX_RANGES], len: 0 }
    }

    /// Adds a value, in the order of positions. Returns whether there was room for it.
    pub(crate) const fn push(&mut self, value: Ranged) -> bool {
        if self.len == Self::MAX_RANGES {
            return false;
        }
        let mut at = self.len;
        while at > 0 && self.list[at - 1].position > value.position {
            self.list[at] = self.list[at - 1];
            at -= 1;
        }
        self.list[at] = value;
        self.len += 1;
        true
    }
}

/// An index that makes a zero byte.
const NO_BYTE: u8 = 0x80;

impl Load {
    /// Accepts everything.
    const fn nothing(width: usize) -> Self {
        let mut most = [u8::MAX; WIDTH];
        let mut last = width - 1;
        while last < WIDTH {
            most[last] = i8::MAX.cast_unsigned();
            last += width;
        }
        Self { from: 0, index: [NO_BYTE; WIDTH], flip: [0; WIDTH], least: [0; WIDTH], most }
    }

    /// Adds a value that lies `byte` bytes after the first one that is loaded.
    #[expect(clippy::cast_possible_truncation, reason = "bytes of a load")]
    const fn put(&mut self, lane: usize, width: usize, byte: usize, value: &Ranged) {
        let BitRange { flip, least, most } = value.range;
        let highest = 1 << (8 * width - 1);
        let (flip, least) = (flip.to_le_bytes(), (least ^ highest).to_le_bytes());
        let (most, mut i) = ((most ^ highest).to_le_bytes(), 0);
        while i < width {
            let at = lane * width + i;
            if i < value.size {
                self.index[at] = (byte + i) as u8;
            }
            (self.flip[at], self.least[at], self.most[at]) = (flip[i], least[i], most[i]);
            i += 1;
        }
    }
}

impl Tests {
    /// Loads of a step.
    pub(crate) const LOADS: usize = 4;

    /// The tests of these values, in records of `size` packed bytes. `one_by_one` is the time, in sixteenths of a nanosecond,
    /// to test the values of one record one after another. `None` if the loads have no room for all values, if there are no
    /// values, or if testing them one after another is always faster, as for one `bool` in records of 70 bytes.
    pub(crate) const fn new(values: &RangedList, size: usize, one_by_one: usize) -> Option<Self> {
        let all = match Self::in_place(values.all(), size) {
            Some(all) => Some(all),
            None => Self::in_lanes(values.all(), size),
        };
        let Some(all) = all else { return None };
        let cost = if all.in_place { costs::avx2::TESTS_IN_PLACE } else { costs::avx2::TESTS };
        match cost.fewest_steps(one_by_one * all.records) {
            None => None,
            Some(steps) => Some(Self { fewest: steps * all.records, ..all }),
        }
    }

    /// The tests of values of one byte, each with one range that is not inverted, where they lie: in two adjacent loads. `None`
    /// if there are other values, or if they lie too far apart.
    const fn in_place(values: &[Ranged], size: usize) -> Option<Self> {
        let (Some(first), Some(last)) = (values.first(), values.last()) else { return None };
        let (from, span) = (first.position, last.position - first.position);
        if span >= 2 * WIDTH {
            return None;
        }
        let records = (2 * WIDTH - 1 - span) / size + 1;
        let (mut loads, mut i) = ([Load::nothing(1); 2], 0);
        (loads[0].from, loads[1].from) = (from, from + WIDTH);
        while i < values.len() {
            let Ranged { position, size: bytes, range } = values[i];
            if bytes != 1 || range.flip != 0 || i > 0 && values[i - 1].position == position {
                return None;
            }
            let mut record = 0;
            while record < records {
                let at = record * size + position - from;
                // Nothing reads the index of bytes that are tested where they are.
                loads[at / WIDTH].put(at % WIDTH, 1, 0, &values[i]);
                record += 1;
            }
            i += 1;
        }
        Some(Self { in_place: true, ..Self::repeated(&loads, 1, size, records) })
    }

    /// The tests of any values, each in a lane of its own.
    const fn in_lanes(values: &[Ranged], size: usize) -> Option<Self> {
        let (mut width, mut end, mut i) = (1, 0, 0);
        while i < values.len() {
            let value = &values[i];
            if !value.size.is_power_of_two() || value.size > size_of::<u64>() {
                return None;
            }
            if value.size >= width {
                width = value.size;
            }
            if value.position + value.size >= end {
                end = value.position + value.size;
            }
            i += 1;
        }
        let Some(Ranged { position: first, .. }) = values.first() else { return None };
        let lanes = WIDTH / width;
        let mut records = 1;
        if end - *first <= WIDTH && values.len() <= lanes {
            let (fit, lie) = (lanes / values.len(), (WIDTH - (end - *first)) / size + 1);
            records = if fit <= lie { fit } else { lie };
        }
        let mut loads = [Load::nothing(width); Self::LOADS];
        loads[0].from = *first;
        let (mut number, mut lane, mut i) = (1, 0, 0);
        while i < records * values.len() {
            let value = &values[i % values.len()];
            let position = i / values.len() * size + value.position;
            if lane == lanes || position + value.size > loads[number - 1].from + WIDTH {
                if number == Self::LOADS {
                    return None;
                }
                loads[number].from = position;
                (number, lane) = (number + 1, 0);
            }
            let load = &mut loads[number - 1];
            load.put(lane, width, position - load.from, value);
            (lane, i) = (lane + 1, i + 1);
        }
        Some(Self::repeated(loads.split_at(number.next_power_of_two()).0, width, size, records))
    }

    /// The tests with as many periods in a step as its loads allow. A period has `records` records and `loads`.
    const fn repeated(loads: &[Load], width: usize, size: usize, records: usize) -> Self {
        let mut all = [loads[0]; Self::LOADS];
        let (mut furthest, mut k) = (0, 0);
        while k < Self::LOADS {
            all[k] = loads[k % loads.len()];
            all[k].from += k / loads.len() * records * size;
            if all[k].from >= furthest {
                furthest = all[k].from;
            }
            k += 1;
        }
        let records = Self::LOADS / loads.len() * records;
        Self { loads: all, width, in_place: false, size, records, furthest, fewest: 0 }
    }

    /// The least number of records for which the steps are faster than testing value after value.
    pub(crate) const fn fewest(&self) -> usize {
        self.fewest
    }

    /// The loads of a step.
    pub(crate) const fn loads(&self) -> &[Load; Self::LOADS] {
        &self.loads
    }

    /// Bytes of a lane: 1, 2, 4 or 8.
    pub(crate) const fn width(&self) -> usize {
        self.width
    }

    /// Whether bytes are tested where they lie, without a permutation. Every second load then follows directly after the one
    /// before it.
    pub(crate) const fn is_in_place(&self) -> bool {
        self.in_place
    }

    /// Records of a step, and packed bytes of a record.
    pub(crate) const fn records(&self) -> (usize, usize) {
        (self.records, self.size)
    }

    /// How many bytes the loads of a step reach.
    pub(crate) const fn reach(&self) -> usize {
        self.furthest + WIDTH
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basic::{Discriminants, Validity};

    /// Values with a position and a number of bytes each.
    fn list(values: &[(usize, usize, Validity)]) -> RangedList {
        let mut list = RangedList::new();
        for &(position, bytes, validity) in values {
            for &range in validity.ranges().unwrap().all() {
                assert!(list.push(Ranged { position, size: bytes, range }));
            }
        }
        list
    }

    fn tests(values: &[(usize, usize, Validity)], size: usize) -> Option<Tests> {
        Tests::new(&list(values), size, 2 * values.len())
    }

    /// The example above.
    #[test]
    fn each_value_has_its_lane() {
        let all = tests(&[(0, 1, Validity::Bool), (1, 4, Validity::Char)], 17).unwrap();
        assert_eq!(
            (all.width(), all.is_in_place(), all.records(), all.reach()),
            (4, false, (4, 17), 67)
        );
        assert_eq!(all.loads().map(|load| load.from), [0, 17, 34, 51]);
        let x = NO_BYTE;
        let Load { index, flip, least, most, .. } = all.loads()[3];
        assert_eq!(index, [0, x, x, x, 1, 2, 3, 4, x, x, x, x, x, x, x, x]);
        assert_eq!(flip[..8], [0, 0, 0, 0, 0, 0xD8, 0, 0]);
        assert_eq!(least[..12], [0, 0, 0, 0x80, 0, 8, 0, 0x80, 0, 0, 0, 0]);
        assert_eq!(most[..12], [1, 0, 0, 0x80, 0xFF, 0xF7, 0x10, 0x80, 0xFF, 0xFF, 0xFF, 0x7F]);
        // Several records in a load. The least number of a range may have the highest bit set.
        let high = Validity::Enum(Discriminants::new(&[0x90, 0x91]));
        let all = Tests::in_lanes(list(&[(8, 1, high)]).all(), 9).unwrap();
        assert_eq!((all.records(), all.loads().map(|load| load.from)), ((8, 9), [8, 26, 44, 62]));
        let Load { index, least, most, .. } = all.loads()[3];
        assert_eq!(
            (index[..3].to_vec(), least[..3].to_vec()),
            (vec![0, 9, x], vec![0x10, 0x10, 0])
        );
        assert_eq!(most[..3], [0x81, 0x81, 0x7F]);
    }

    #[test]
    fn bytes_are_tested_where_they_are() {
        let all = tests(&[(8, 1, Validity::Bool), (9, 1, Validity::NonZero)], 10).unwrap();
        assert_eq!(
            (all.width(), all.is_in_place(), all.records(), all.reach()),
            (1, true, (8, 10), 80)
        );
        assert_eq!(all.loads().map(|load| load.from), [8, 24, 48, 64]);
        let [least, most] = [
            [all.loads()[2].least, all.loads()[3].least],
            [all.loads()[2].most, all.loads()[3].most],
        ];
        for (lane, both) in least.as_flattened().iter().zip(most.as_flattened()).enumerate() {
            let expected = match lane % 10 {
                0 => (0x80, 0x81),
                1 => (0x81, 0x7E),
                _ => (0, 0x7F),
            };
            assert_eq!(both, (&expected.0, &expected.1), "{lane}");
        }
    }

    #[test]
    fn several_loads_for_a_record() {
        let loads = |values: &[_], size| {
            let all = Tests::in_lanes(list(values).all(), size)?;
            Some((all.records(), all.loads().map(|load| load.from)))
        };
        let wide = |position| (position, 8, Validity::NonZero);
        assert_eq!(loads(&[wide(0), wide(8), wide(16)], 24), Some(((2, 24), [0, 16, 24, 40])));
        let five = [0, 1, 2, 3, 4].map(|k| wide(20 * k));
        assert_eq!(loads(&five[..4], 100), Some(((1, 100), [0, 20, 40, 60])));
        assert_eq!(loads(&five[..3], 100), Some(((1, 100), [0, 20, 40, 0])));
        assert_eq!(loads(&five, 100), None);
    }

    #[test]
    fn what_does_not_fit_or_is_not_faster_is_left() {
        let (truth, is_in_place) =
            (Validity::Bool, |all: Option<Tests>| all.map(|all| all.is_in_place()));
        assert!(tests(&[], 3).is_none());
        assert_eq!(is_in_place(tests(&[(0, 1, truth), (31, 1, truth)], 40)), Some(true));
        assert_eq!(is_in_place(tests(&[(0, 1, truth), (32, 1, truth)], 40)), None);
        assert_eq!(is_in_place(tests(&[(0, 1, truth), (1, 2, Validity::NonZero)], 3)), Some(false));
        // A byte with two ranges needs two lanes.
        let gap = Validity::Enum(Discriminants::new(&[1, 2, 5, 6]));
        assert_eq!(
            is_in_place(tests(&[(0, 1, truth), (1, 1, gap), (2, 1, truth)], 3)),
            Some(false)
        );
        // A single `bool` in a long record is tested as fast without lanes.
        assert!(tests(&[(0, 2, Validity::NonZero)], 40).is_none());
    }

    #[test]
    fn values_are_tested_in_the_order_of_positions() {
        let value = |(position, size)| Ranged { position, size, range: BitRange::ALL };
        let mut list = RangedList::new();
        let values = [(8, 1), (0, 2), (4, 1), (4, 2), (9, 1), (0, 1)];
        assert!(values.into_iter().all(|all| list.push(value(all))));
        let order: Vec<_> = list.all().iter().map(|value| (value.position, value.size)).collect();
        assert_eq!(order, [(0, 2), (0, 1), (4, 1), (4, 2), (8, 1), (9, 1)]);
        while list.all().len() < RangedList::MAX_RANGES {
            assert!(list.push(value((70, 1))));
        }
        assert!(!list.push(value((70, 1))));
    }

    #[test]
    fn a_step_pays_from_a_number_of_records_on() {
        let fewest = |values: &[_], size| tests(values, size).unwrap().fewest();
        // A step of 4 records gains 7, so 10 steps pay for the call; a step of 8 records in place gains 28, so 3 do.
        assert_eq!(fewest(&[(0, 1, Validity::Bool), (1, 4, Validity::Char)], 17), 40);
        assert_eq!(fewest(&[(8, 1, Validity::Bool), (9, 1, Validity::NonZero)], 10), 24);
    }

    #[test]
    fn a_load_has_the_records_that_fit_its_lanes_and_bytes() {
        let records = |values: &[(usize, usize)], size| {
            let values =
                values.iter().map(|(position, bytes)| (*position, *bytes, Validity::NonZero));
            let all = Tests::in_lanes(list(&values.collect::<Vec<_>>()).all(), size)?;
            Some((all.width(), all.records().0))
        };
        // Four loads of as many records as have lanes, or as fit the bytes.
        assert_eq!(records(&[(0, 2)], 2), Some((2, 4 * 8)));
        assert_eq!(records(&[(0, 2)], 4), Some((2, 4 * 4)));
        assert_eq!(records(&[(3, 1), (1, 2)], 5), Some((2, 4 * 3)));
        assert_eq!(records(&[(0, 1), (1, 1), (1, 1)], 2), Some((1, 4 * 5)));
        // The last value ends with the load, and one byte after it.
        assert_eq!(records(&[(2, 2), (16, 2)], 18), Some((2, 4)));
        assert_eq!(records(&[(2, 2), (17, 2)], 19), Some((2, 2)));
        // As many values as there are lanes, and one more.
        assert_eq!(records(&[(0, 8), (8, 8)], 16), Some((8, 4)));
        assert_eq!(records(&[(0, 8), (4, 8), (8, 8)], 16), Some((8, 2)));
        // A value of three bytes and one of sixteen do not fit any lane.
        assert_eq!((records(&[(0, 3)], 8), records(&[(0, 16)], 16)), (None, None));
    }
}

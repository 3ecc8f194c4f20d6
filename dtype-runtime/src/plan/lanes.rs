//! Values in packed records that must lie in a range, tested in the lanes of vector registers.
//!
//! A kernel loads packed bytes, permutes them so that each value has a lane of its own, moves each range to 0, and
//! keeps the greatest result of each lane. One comparison at the end decides for all records.
//!
//! An example: records of 17 bytes, with a `bool` at 0 and a `char` at 1, in vectors of 64 bytes. Lanes are
//! as wide as the widest value, here 4 bytes; narrower values are extended by zeros.
//!
//! ```text
//! lanes     0            1                   2             3                   …   6             7
//! packed    0            1 2 3 4             17            18 19 20 21         …   51            52 53 54 55
//! result    bits         (bits ^ D800) - 800 …                                 4 records, as a fifth ends at byte 72
//! greatest  1            10F7FF              1             10F7FF              …   1             10F7FF
//! ```
//!
//! A value that has several conditions has several lanes: an enum with the numbers 1, 2, 5 and 6 lies from 1 to 6, and not from
//! 3 to 4.
//!
//! A *period* is as many records as have all their values within a vector's bytes of the first value. If the values of a single
//! record need more bytes or more lanes than a vector has, there are several vectors for one record. Vectors have as many bytes
//! as one instruction permutes: 64 with AVX-512, and 16 with AVX2, whose registers hold two of them.
//!
//! Values of one byte each need no permutation: [`ByteLanes`] are for these.

mod bytes;

pub(crate) use bytes::ByteLanes;

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
    list: [Ranged; Self::MOST],
    len: usize,
}

/// The tests of packed records, in each form that a set of instructions executes.
#[derive(Debug)]
pub(crate) struct Tests {
    /// For AVX-512.
    pub(crate) wide: Option<Lanes<64>>,
    /// For AVX2, as is the next.
    pub(crate) narrow: Option<Lanes<16>>,
    pub(crate) bytes: Option<ByteLanes>,
}

impl Tests {
    /// The tests of these values, in records of `size` packed bytes. `one_by_one` says what it costs to test the values of one
    /// record without vectors, in sixteenths of a nanosecond.
    pub(crate) const fn of(values: &RangedList, size: usize, one_by_one: usize) -> Self {
        Self {
            wide: Lanes::of(values, size, one_by_one),
            narrow: Lanes::of(values, size, one_by_one),
            bytes: ByteLanes::of(values, size, one_by_one),
        }
    }

    /// From this number of records on, tests of several at once may be faster; `usize::MAX` if they never are.
    pub(crate) const fn fewest(&self) -> usize {
        let wide = Lanes::fewest_of(self.wide.as_ref());
        let mut fewest = Lanes::fewest_of(self.narrow.as_ref());
        if let Some(bytes) = &self.bytes
            && bytes.fewest() < fewest
        {
            fewest = bytes.fewest();
        }
        if wide < fewest { wide } else { fewest }
    }
}

/// The tests of packed records in vectors of `WIDTH` bytes.
#[derive(Debug)]
pub(crate) struct Lanes<const WIDTH: usize> {
    vectors: [LaneVector<WIDTH>; MOST_VECTORS],
    /// Vectors for each period: 1, 2 or 4. Those that are not needed accept everything.
    number: usize,
    /// Bytes of a lane: 1, 2, 4 or 8.
    width: usize,
    /// Records in a period; 1 if there are several vectors.
    records: usize,
    /// Lanes of one record in the first vector.
    of_record: usize,
    /// Packed bytes of a record.
    size: usize,
    /// The greatest [`from`](LaneVector::from) of the vectors.
    furthest: usize,
    /// Whether any range flips bits.
    flips: bool,
    /// From this number of records on, the vectors are faster than one test after another.
    fewest: usize,
}

/// The most vectors for one record.
const MOST_VECTORS: usize = 4;

/// What is tested in one vector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneVector<const WIDTH: usize> {
    /// Bytes from the start of the period to those that are loaded.
    pub(crate) from: usize,
    /// For each byte, which of the loaded bytes it is; [`NO_BYTE`] if it is not part of a value.
    pub(crate) index: [u8; WIDTH],
    /// Which bytes are part of a value, one bit each. The others are to become zeros.
    pub(crate) keep: u64,
    /// For each lane, the range, with the least byte first.
    pub(crate) flip: [u8; WIDTH],
    pub(crate) least: [u8; WIDTH],
    pub(crate) most: [u8; WIDTH],
}

impl RangedList {
    /// The greatest number of values.
    pub(crate) const MOST: usize = 64;

    /// The values.
    const fn all(&self) -> &[Ranged] {
        self.list.split_at(self.len).0
    }

    /// A list without values.
    pub(crate) const fn new() -> Self {
        let nothing = Ranged { position: 0, size: 0, range: BitRange::ALL };
        Self { list: [nothing; Self::MOST], len: 0 }
    }

    /// Adds a value, in the order of positions. Returns whether there was room for it.
    pub(crate) const fn push(&mut self, value: Ranged) -> bool {
        if self.len == Self::MOST {
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

/// An index that the byte shuffle of AVX2 makes a zero of.
const NO_BYTE: u8 = 0x80;

impl<const WIDTH: usize> LaneVector<WIDTH> {
    const NOTHING: Self = Self {
        from: 0,
        index: [NO_BYTE; WIDTH],
        keep: 0,
        flip: [0; WIDTH],
        least: [0; WIDTH],
        most: [0; WIDTH],
    };

    /// Adds a value that lies `byte` bytes after the first one that is loaded.
    #[expect(clippy::cast_possible_truncation, reason = "bytes of a vector")]
    const fn put(&mut self, lane: usize, width: usize, byte: usize, value: &Ranged) {
        let BitRange { flip, least, most } = value.range;
        let (flip, least, most) = (flip.to_le_bytes(), least.to_le_bytes(), most.to_le_bytes());
        let mut i = 0;
        while i < width {
            let at = lane * width + i;
            if i < value.size {
                self.index[at] = (byte + i) as u8;
                self.keep |= 1 << at;
            }
            (self.flip[at], self.least[at], self.most[at]) = (flip[i], least[i], most[i]);
            i += 1;
        }
    }
}

impl<const WIDTH: usize> Lanes<WIDTH> {
    /// The tests of these values, in records of `size` packed bytes; `None` if there are too many for the vectors, or
    /// none, or they are never faster than `one_by_one` as in [`Tests::of`], as for a record of 70 bytes with a single `bool`.
    const fn of(values: &RangedList, size: usize, one_by_one: usize) -> Option<Self> {
        let Some(mut all) = Self::laid_out(values, size) else { return None };
        all.fewest = all.faster_than(one_by_one);
        if all.fewest == usize::MAX { None } else { Some(all) }
    }

    /// [`fewest`](Self::fewest), if there are such tests.
    const fn fewest_of(tests: Option<&Self>) -> usize {
        match tests {
            Some(tests) => tests.fewest,
            None => usize::MAX,
        }
    }

    /// The number of records from which on the vectors are faster; `usize::MAX` if they never are. The costs are in sixteenths of
    /// a nanosecond, as measured with AMD EPYCs: of the fifth generation for vectors of 64 bytes, of the third for those of 16,
    /// of which a register has two.
    const fn faster_than(&self, one_by_one: usize) -> usize {
        let period = if WIDTH == 16 { 1 + 2 * self.number } else { 4 + 4 * self.number };
        fewest(self.records, one_by_one, period)
    }

    /// As [`of`](Self::of), however fast.
    const fn laid_out(values: &RangedList, size: usize) -> Option<Self> {
        let values = values.all();
        if values.is_empty() {
            return None;
        }
        let (mut width, mut end, mut flips, mut i) = (1, 0, false, 0);
        while i < values.len() {
            let value = &values[i];
            if !value.size.is_power_of_two() || value.size > size_of::<u64>() {
                return None;
            }
            if value.size > width {
                width = value.size;
            }
            if value.position + value.size > end {
                end = value.position + value.size;
            }
            flips |= value.range.flip != 0;
            i += 1;
        }
        let (lanes, from) = (WIDTH / width, values[0].position);
        let mut all = Self {
            vectors: [LaneVector::NOTHING; MOST_VECTORS],
            number: 1,
            width,
            records: 1,
            of_record: values.len(),
            size,
            furthest: from,
            flips,
            fewest: 0,
        };
        if end - from <= WIDTH && values.len() <= lanes {
            let (fit, lie) = (lanes / values.len(), (WIDTH - (end - from)) / size + 1);
            all.records = if fit < lie { fit } else { lie };
            all.vectors[0].from = from;
            let mut i = 0;
            while i < all.records * values.len() {
                let value = &values[i % values.len()];
                let byte = i / values.len() * size + value.position - from;
                all.vectors[0].put(i, width, byte, value);
                i += 1;
            }
            return Some(all);
        }
        let (mut vector, mut lane, mut i) = (0, 0, 0);
        all.vectors[0].from = from;
        while i < values.len() {
            let value = &values[i];
            if lane == lanes || value.position + value.size > all.vectors[vector].from + WIDTH {
                (vector, lane) = (vector + 1, 0);
                if vector == MOST_VECTORS {
                    return None;
                }
                all.vectors[vector].from = value.position;
                all.furthest = value.position;
            }
            let byte = value.position - all.vectors[vector].from;
            all.vectors[vector].put(lane, width, byte, value);
            lane += 1;
            i += 1;
        }
        all.number = (vector + 1).next_power_of_two();
        all.of_record = lanes;
        Some(all)
    }
}

/// The number of records from which on a kernel is faster that tests `records` at a time for a cost of `period`, over that of
/// `one_by_one` for each; `usize::MAX` if it never is.
const fn fewest(records: usize, one_by_one: usize, period: usize) -> usize {
    /// To call the kernel, and to load the constants.
    const CALL: usize = 64;
    match (one_by_one * records).checked_sub(period) {
        None | Some(0) => usize::MAX,
        Some(gain) => CALL * records / gain + 1,
    }
}

/// What a kernel reads to execute the tests.
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "nothing executes them here"))]
impl<const WIDTH: usize> Lanes<WIDTH> {
    /// From this number of records on, the vectors are faster than one test after another.
    pub(crate) const fn fewest(&self) -> usize {
        self.fewest
    }

    /// What is tested in each vector.
    pub(crate) const fn vectors(&self) -> &[LaneVector<WIDTH>; MOST_VECTORS] {
        &self.vectors
    }

    /// Vectors for each period: 1, 2 or 4. Those that are not needed accept everything.
    pub(crate) const fn number(&self) -> usize {
        self.number
    }

    /// Bytes of a lane: 1, 2, 4 or 8.
    pub(crate) const fn width(&self) -> usize {
        self.width
    }

    /// Records in a period; 1 if there are several vectors.
    pub(crate) const fn records(&self) -> usize {
        self.records
    }

    /// Lanes of one record in the first vector.
    pub(crate) const fn of_record(&self) -> usize {
        self.of_record
    }

    /// Packed bytes of a record.
    pub(crate) const fn size(&self) -> usize {
        self.size
    }

    /// Whether any range flips bits.
    pub(crate) const fn flips(&self) -> bool {
        self.flips
    }

    /// The greatest [`from`](LaneVector::from) of the vectors.
    pub(crate) const fn furthest(&self) -> usize {
        self.furthest
    }
}

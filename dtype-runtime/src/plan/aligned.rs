//! Small records as whole cache lines: how to unpack them so that no store touches two lines.
//!
//! A store to two lines takes twice as long as to one, even if a mask leaves out all that it has in one of them. The windows of
//! a [`Permutation`](super::Permutation) have whole records, so most windows lie in two lines, unless the stride divides the
//! width of a line. Here the windows are the lines, and a record may lie in two of them. After a *round* of records, a record
//! starts where a line does, and all repeats.
//!
//! An example: records of 24 bytes, a `u64` at 0 and a byte at 8, which is packed first: 9 packed bytes.
//!
//! ```text
//! a round     8 records, 3 lines, 72 packed bytes
//! line 0      records 0 and 1, and all data of record 2, at 48 to 56     from packed byte 0 on
//! line 1      records 3 and 4, and the u64 of record 5, at 120           from packed byte 27 on
//! line 2      the byte of record 5, at 128, and records 6 and 7          from packed byte 45 on
//! ```
//!
//! Each line is a *step*: 64 packed bytes are loaded, permuted so that each is at its place in the line, and stored under a
//! mask. If the data of a line span more than 64 packed bytes, as they may if the fields have another order in memory, the line
//! takes two steps.
//!
//! An array starts anywhere in a round. The records before the first whole round are left to the permutation, and so are the
//! last ones, where fewer packed bytes are left than a step loads.

use crate::kernels::WIDTH;

/// How rounds of records are unpacked.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Aligned {
    steps: [Step; Self::MOST],
    number: usize,
    /// Records in a round: a power of two.
    records: usize,
    /// Bytes of memory from one record to the next.
    stride: usize,
    /// Packed bytes of a record.
    size: usize,
    /// Displacement in bytes of the records' first byte from their origin, rounded down so that these bytes may start a line.
    first: isize,
    /// Records from the one that starts a line to the one that starts `64 / records` bytes after the start of a line.
    distance: usize,
}

/// What is copied to one line of a round by one permutation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    /// For each byte of the line, which of the loaded packed bytes it is; 0 in the gaps.
    pub(crate) index: [u8; WIDTH],
    /// Which bytes of the line are written, one bit each.
    pub(crate) data: u64,
    /// Bytes from the start of the round to the line.
    pub(crate) line: usize,
    /// Packed bytes from the start of the round to those that are loaded.
    pub(crate) from: usize,
}

impl Step {
    const NOTHING: Self = Self { index: [0; WIDTH], data: 0, line: 0, from: 0 };

    /// Adds the packed bytes from `packed` on, which lie in the line from `at` on: at most `len`, and as many as the line has and
    /// are loaded. Returns their number.
    #[expect(clippy::cast_possible_truncation, reason = "less than 64")]
    const fn add(&mut self, at: usize, packed: usize, len: usize) -> usize {
        let first = packed - self.from;
        let room = WIDTH - if at < first { first } else { at };
        let len = if len < room { len } else { room };
        self.data |= u64::MAX >> (WIDTH - len) << at;
        let mut i = 0;
        while i < len {
            self.index[at + i] = (first + i) as u8;
            i += 1;
        }
        len
    }
}

/// For each packed byte of a record, how many from there on follow one another in memory.
const fn lens_from(offsets: &[u8]) -> [u8; WIDTH] {
    let (mut lens, mut k) = ([1; WIDTH], offsets.len());
    while k > 1 {
        k -= 1;
        if matches!(offsets[k].checked_sub(offsets[k - 1]), Some(1)) {
            lens[k - 1] = lens[k] + 1;
        }
    }
    lens
}

impl Aligned {
    /// The most steps of a round: as many masks as there are registers for them.
    pub(crate) const MOST: usize = 7;

    /// Records with these packed bytes, each `offsets` bytes after the least displacement of a record, which is `first`. `None` if
    /// that takes more than `most.0` steps for `most.1` records, or more than [`MOST`](Self::MOST) for a round; if the records reach
    /// into each other's place, or do not follow one another; or if there is nothing to align.
    #[expect(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "bytes of a few lines")]
    pub(super) const fn of(
        offsets: &[u8],
        stride: isize,
        first: isize,
        most: (usize, usize),
    ) -> Option<Self> {
        // At a greater distance, hardly two records share a line.
        let is_near = 0 < stride && stride < 2 * WIDTH as isize;
        if !is_near || WIDTH.is_multiple_of(stride as usize) || offsets.is_empty() {
            return None;
        }
        let stride = stride as usize;
        let start = 1 << stride.trailing_zeros();
        let records = WIDTH / start;
        // Where the first line of the data starts, if the origin is as aligned as the stride allows.
        let before = first.rem_euclid(start as isize);
        let mut all = Self {
            steps: [Step::NOTHING; Self::MOST],
            number: 0,
            records,
            stride,
            size: offsets.len(),
            first: first.wrapping_sub(before),
            distance: 1,
        };
        while all.distance * stride % WIDTH != start {
            all.distance += 1;
        }
        let lens = lens_from(offsets);
        // The last step of each line.
        let mut last = [Self::MOST; 2 * WIDTH];
        let (mut record, mut k) = (0, 0);
        while record < records {
            let (offset, len) = (before as usize + offsets[k] as usize, lens[k] as usize);
            if offset + len > stride {
                return None;
            }
            let place = record * stride + offset;
            let (packed, line) = (record * offsets.len() + k, place / WIDTH);
            let mut number = last[line];
            if number == Self::MOST || packed - all.steps[number].from >= WIDTH {
                number = all.number;
                if number == Self::MOST {
                    return None;
                }
                (all.number, last[line]) = (number + 1, number);
                all.steps[number] = Step { line: line * WIDTH, from: packed, ..Step::NOTHING };
            }
            // Bytes that follow one another are added together: the compiler computes this for each type in a program, and byte
            // by byte would take it too long.
            k += all.steps[number].add(place % WIDTH, packed, len);
            if k == offsets.len() {
                (record, k) = (record + 1, 0);
            }
        }
        if all.number * most.1 <= most.0 * records { Some(all) } else { None }
    }
}

/// What a kernel reads.
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "nothing executes them here"))]
impl Aligned {
    /// The number of records before the first one that starts a line, if the first of all is at this address; `None` if none does.
    pub(crate) const fn records_to_round(&self, address: usize) -> Option<usize> {
        let start = WIDTH / self.records;
        let past = address % WIDTH;
        if !past.is_multiple_of(start) {
            return None;
        }
        Some((WIDTH - past) / start * self.distance % self.records)
    }

    /// The steps of a round, each from a later packed byte on than the one before.
    pub(crate) fn steps(&self) -> &[Step] {
        self.steps.get(..self.number).unwrap_or_default()
    }

    /// Bytes from one round to the next, in memory and packed.
    pub(crate) const fn round(&self) -> (usize, usize) {
        (self.records * self.stride, self.records * self.size)
    }

    /// Records in a round.
    pub(crate) const fn records(&self) -> usize {
        self.records
    }

    /// Packed bytes that the steps of a round load: no fewer than a round has.
    pub(crate) fn reach(&self) -> usize {
        self.steps().last().map_or(0, |step| step.from + WIDTH)
    }

    /// Displacement in bytes of the records' first byte from their origin, rounded down so that these bytes may start a line.
    pub(crate) const fn first(&self) -> isize {
        self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps of records with these runs in packed order, as many as there may be.
    fn of(runs: &[(u8, u8)], stride: isize) -> Option<Aligned> {
        let offsets: Vec<u8> = runs.iter().flat_map(|&(disp, len)| disp..disp + len).collect();
        Aligned::of(&offsets, stride, 0, (Aligned::MOST, 1))
    }

    #[test]
    fn the_example_has_a_step_for_each_line() {
        let all = of(&[(8, 1), (0, 8)], 24).unwrap();
        assert_eq!((all.records, all.round()), (8, (192, 72)));
        let steps: Vec<_> = all.steps().iter().map(|step| (step.line, step.from)).collect();
        assert_eq!(steps, [(0, 0), (64, 27), (128, 45)]);
        assert_eq!(all.steps()[2].data & 0x1FF_FFFF, 0x1FF_0001, "a byte, and the next record");
    }

    #[test]
    fn every_byte_has_its_place() {
        for stride in 1..140_isize {
            for runs in [&[(0, 1)][..], &[(0, 5)], &[(7, 4), (0, 6)], &[(30, 2), (0, 17), (20, 9)]]
            {
                let Some(all) = of(runs, stride) else { continue };
                let mut copied = vec![0; all.round().1];
                for step in all.steps() {
                    assert!(step.from + WIDTH <= all.reach());
                    for (at, &index) in step.index.iter().enumerate() {
                        assert!(usize::from(index) < WIDTH);
                        if step.data >> at & 1 == 0 {
                            continue;
                        }
                        let (packed, place) = (step.from + usize::from(index), step.line + at);
                        copied[packed] += 1;
                        let (record, byte) = (packed / all.size, packed % all.size);
                        let mut offsets = runs.iter().flat_map(|&(disp, len)| disp..disp + len);
                        let offset = usize::from(offsets.nth(byte).unwrap());
                        assert_eq!(place, record * all.stride + offset, "{runs:?}, {stride}");
                    }
                }
                assert!(copied.iter().all(|&number| number == 1), "{runs:?}, {stride}");
            }
        }
    }

    #[test]
    fn an_array_starts_at_any_record_of_a_round() {
        for stride in (4..128).step_by(4) {
            let Some(all) = of(&[(0, 3)], stride) else { continue };
            for address in 0..WIDTH {
                let records = all.records_to_round(address);
                let starts = |record: &usize| (address + record * all.stride).is_multiple_of(WIDTH);
                assert_eq!(records, (0..all.records).find(starts), "{stride}, {address}");
            }
        }
    }

    #[test]
    fn the_first_byte_need_not_start_a_line() {
        let all = Aligned::of(&[0, 1, 2, 8, 9], 24, 4, (Aligned::MOST, 1)).unwrap();
        assert_eq!((all.first(), all.steps()[0].data & 0xFF_FFFF), (0, 0b11_0000_0111_0000));
        assert_eq!(Aligned::of(&[0, 1, 2], 24, -20, (Aligned::MOST, 1)).unwrap().first(), -24);
    }

    #[test]
    fn what_gains_nothing_is_left() {
        assert!(of(&[(0, 9)], 32).is_none(), "every window is a line");
        assert!(of(&[(0, 9)], 9).is_none(), "64 records in 9 lines");
        assert!(of(&[(0, 9)], -24).is_none());
        assert!(of(&[(0, 1)], 192).is_none(), "one record in three lines");
        assert!(of(&[(30, 9), (0, 9)], 36).is_none(), "records overlap");
        let few = |steps| Aligned::of(&[0, 1, 2], 24, 0, (steps, 8));
        assert!(few(3).is_some() && few(2).is_none());
    }
}

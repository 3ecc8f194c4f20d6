//! Shuffles of records of values, half a register at a time: how to copy records where no instruction loads or stores single
//! bytes under a mask.
//!
//! While a slice is borrowed, no other code may access its padding. So whole registers of memory may be loaded and stored, as
//! long as the bytes of the gaps are stored back unchanged and nowhere else. (In newly allocated memory, gaps may become
//! zeros.) AVX2 and NEON permute the bytes within 16 bytes, which are half a register here, so each half of memory has at most
//! 16 packed bytes. An example: records of 24 bytes with a `u64` at 0, a `u8` at 8, a `u32` at 12 and an `f64` at 16, 21 packed
//! bytes.
//!
//! ```text
//! record    0                                  1                                  2
//! memory    0 – 8 . . . 12 – 15    16 – 23     24 – 31    32 . . . 36 – 39 – 47   48 – 56 …   '.' is a gap
//! halves    0                      1                      2                       3
//! packed    0 – 8       9  – 12    13 – 20     21 – 28    29       30 – 33 – 41   42 – 50 …
//! ```
//!
//! To pack, a kernel loads each half, moves its data to its front, and stores 16 bytes: half 0 at packed byte 0, half 1 at 13,
//! over the excess of half 0. The records after these overwrite the excess of the last half. To unpack, a kernel loads 16
//! packed bytes for each half, from the same position on, moves them to their places, and stores the two halves as one
//! register.
//!
//! A *period* is as many records as fill whole registers, here four: 96 bytes, three registers. If the last register would
//! reach past the period's end, it is moved back to end there, and so overlaps the register before it. The last load of packed
//! bytes is moved back in the same way.

use super::runs::{Run, RunList};

/// Bytes of a register, and of half a register.
const REGISTER: usize = 32;
const HALF: usize = 16;

/// The index of a byte shuffle of half a register; the entry of the first byte is in the lowest bits.
type Index = u128;

/// The index that makes all bytes zero.
const NO_BYTES: Index = Index::from_le_bytes([0x80; HALF]);

/// `index` with the `len` entries at `at` replaced by `first` and the numbers that follow it. None of them is more than 15.
///
/// The compiler evaluates this for every type in a program, and entry by entry that would take too long.
const fn with_bytes(index: Index, at: usize, first: usize, len: usize) -> Index {
    const ONES: Index = Index::from_le_bytes([1; HALF]);
    const NUMBERS: Index =
        Index::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
    let replaced = Index::MAX >> (8 * (HALF - len));
    let bytes = (ONES * first as Index + NUMBERS) & replaced;
    index & !(replaced << (8 * at)) | bytes << (8 * at)
}

/// How records are copied by shuffles.
///
/// # Invariant
///
/// - A register is [`REGISTER`] bytes of a period's memory, and the registers cover it.
/// - If it [packs](Self::packs), each half stores its data at their place in the packed bytes, in the order of these places,
///   and each packed byte is stored by one half. The next half overwrites the excess of the half before it; what the last half
///   stores after its data is at most the length of a half.
/// - To unpack, each half loads [`HALF`] of a period's packed bytes (a period has at least as many), and moves each byte of
///   data to its place.
#[derive(Debug)]
pub(crate) struct Shuffle {
    /// The halves: two for each register.
    halves: [Half; 2 * Self::MAX_REGISTERS],
    /// Registers of a period.
    number: usize,
    /// Records in a period.
    records: usize,
    /// Packed bytes of a record.
    size: usize,
    /// Bytes of memory from one record to the next.
    stride: usize,
    packs: bool,
}

/// How half a register is copied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Half {
    /// Bytes from the start of the period's memory.
    pub(crate) place: usize,
    /// To pack: packed bytes from the start of the period to where the half is stored.
    pub(crate) to: usize,
    /// To pack: for each stored byte, which byte of the half it is; zeros after the data.
    pub(crate) gather: Index,
    /// To unpack: packed bytes from the start of the period to the loaded ones.
    pub(crate) from: usize,
    /// To unpack: for each byte of memory, which loaded byte it is; zeros in the gaps.
    pub(crate) scatter: Index,
}

impl Half {
    const NOTHING: Self = Self { place: 0, to: 0, gather: NO_BYTES, from: 0, scatter: NO_BYTES };

    /// To unpack: sets where the `len` bytes at `at` in the half come from, namely from packed byte `byte` on. Returns false if
    /// the half does not load these. The data must be added in packed order.
    const fn unpack(&mut self, at: usize, byte: usize, len: usize) -> bool {
        if byte <= self.from {
            self.from = byte;
        }
        let first = byte - self.from;
        let are_loaded = first + len <= HALF;
        if are_loaded {
            self.scatter = with_bytes(self.scatter, at, first, len);
        }
        are_loaded
    }

    /// Sets where the same bytes go when they are packed, without those before packed byte `end`, which earlier halves have
    /// packed. Returns the new end, or `None` if the bytes do not follow what is packed so far.
    const fn pack(&mut self, at: usize, byte: usize, len: usize, end: usize) -> Option<usize> {
        if byte + len <= end {
            return Some(end);
        }
        let Some(skipped) = end.checked_sub(byte) else { return None };
        let (place, len) = (end - self.to, len - skipped);
        if place + len > HALF {
            return None;
        }
        self.gather = with_bytes(self.gather, place, at + skipped, len);
        Some(end + len)
    }
}

impl Shuffle {
    /// The greatest number of registers of a period. The code for each of them is unrolled.
    pub(crate) const MAX_REGISTERS: usize = 16;

    /// No registers, for records that are copied in other ways.
    pub(crate) const NOTHING: Self = Self {
        halves: [Half::NOTHING; 2 * Self::MAX_REGISTERS],
        number: 0,
        records: 1,
        size: 0,
        stride: 0,
        packs: false,
    };

    /// The shuffles of records of `size` packed bytes with these runs, `stride` bytes apart. `None` if they cannot be shuffled.
    pub(crate) const fn new(runs: &RunList, size: usize, stride: usize) -> Option<Self> {
        let Some(mut all) = Self::of_period(size, stride) else { return None };
        if all.fill(runs) { Some(all) } else { None }
    }

    /// A period with its numbers of records and registers, and nothing else set.
    const fn of_period(size: usize, stride: usize) -> Option<Self> {
        let Some(records) = Self::records_of(size, stride) else { return None };
        let number = (records * stride).div_ceil(REGISTER);
        Some(Self { number, records, size, stride, ..Self::NOTHING })
    }

    /// Sets how each half is copied. Returns whether the halves can be unpacked: only then can they be packed.
    const fn fill(&mut self, runs: &RunList) -> bool {
        if !lie_within(runs, self.stride) {
            return false;
        }
        let (memory, packed) = self.bytes();
        self.packs = true;
        let (mut position, mut k) = (0, 0);
        while k < 2 * self.number {
            let end = (k / 2 + 1) * REGISTER;
            let place = if end <= memory { end } else { memory } - REGISTER + k % 2 * HALF;
            // At most 16 bytes before the end of the period.
            self.halves[k] = Half { place, to: position, from: packed - HALF, ..Half::NOTHING };
            match self.half(k, runs, position) {
                Some(end) => position = end,
                None => return false,
            }
            k += 1;
        }
        true
    }

    /// Sets how half a register is copied. The earlier halves have packed everything before packed byte `position`. Returns the
    /// position up to which this half packs; `None` if it cannot be unpacked.
    const fn half(&mut self, k: usize, runs: &RunList, position: usize) -> Option<usize> {
        let half = &mut self.halves[k];
        let (start, mut end) = (half.place, position);
        let (runs, mut record) = (runs.all(), start / self.stride);
        // The period ends at or after the end of the half.
        let next = (start + HALF).div_ceil(self.stride);
        while record != next {
            let (mut byte, mut j) = (record * self.size, 0);
            while j < runs.len() {
                let Run { disp, len } = runs[j];
                // The part of the run that lies in the half.
                let place = record * self.stride + disp.unsigned_abs();
                let from = if place <= start { start } else { place };
                let to = if place + len <= start + HALF { place + len } else { start + HALF };
                if from < to {
                    let (at, byte, len) = (from - start, byte + (from - place), to - from);
                    if !half.unpack(at, byte, len) {
                        return None;
                    }
                    if self.packs {
                        match half.pack(at, byte, len, end) {
                            Some(next) => end = next,
                            None => self.packs = false,
                        }
                    }
                }
                (byte, j) = (byte + len, j + 1);
            }
            record += 1;
        }
        Some(end)
    }

    /// The number of records per period with the fewest registers for each record; `None` if every number needs too many.
    const fn records_of(size: usize, stride: usize) -> Option<usize> {
        let (mut best, mut records) = (None, 1);
        while records <= REGISTER && records * stride <= Self::MAX_REGISTERS * REGISTER {
            if records * stride >= REGISTER && records * size >= HALF {
                let registers = (records * stride).div_ceil(REGISTER);
                best = match best {
                    Some((fewest, of)) if fewest * records <= registers * of => Some((fewest, of)),
                    _ => Some((registers, records)),
                };
            }
            records *= 2;
        }
        match best {
            Some((_, records)) => Some(records),
            None => None,
        }
    }
}

/// Whether the runs of a record end within its stride.
const fn lie_within(runs: &RunList, stride: usize) -> bool {
    let (runs, mut j) = (runs.all(), 0);
    while j < runs.len() {
        let Run { disp, len } = runs[j];
        if disp < 0 || disp.unsigned_abs() + len > stride {
            return false;
        }
        j += 1;
    }
    true
}

/// What a kernel reads.
impl Shuffle {
    /// The number of registers of a period.
    pub(crate) const fn number(&self) -> usize {
        self.number
    }

    /// The two halves of register `number`.
    #[inline(always)]
    pub(crate) const fn register(&self, number: usize) -> [&Half; 2] {
        [&self.halves[2 * number], &self.halves[2 * number + 1]]
    }

    /// Records in a period.
    pub(crate) const fn records(&self) -> usize {
        self.records
    }

    /// Bytes of a period, in memory and packed.
    pub(crate) const fn bytes(&self) -> (usize, usize) {
        (self.records * self.stride, self.records * self.size)
    }

    /// Whether no two registers of a period overlap. A register that overlaps the one before it must not load what that one has
    /// just stored.
    pub(crate) const fn keeps_gaps(&self) -> bool {
        self.bytes().0.is_multiple_of(REGISTER)
    }

    /// Whether these shuffles can pack records.
    pub(crate) const fn packs(&self) -> bool {
        self.packs
    }

    /// The number of periods among `count` records that can be packed without a store past the end of the packed bytes.
    pub(crate) const fn periods_to_pack(&self, count: usize) -> usize {
        let (packed, period) = (count * self.size, self.records * self.size);
        let reach = match (2 * self.number).checked_sub(1) {
            Some(last) => self.halves[last].to + HALF,
            None => return 0,
        };
        match packed.checked_sub(reach) {
            Some(more) => more / period + 1,
            None => 0,
        }
    }
}

/// Records that have a kernel compiled for them.
pub(crate) trait ShuffledBy {
    /// The shuffles of these records; [`Shuffle::NOTHING`] if they are copied in another way.
    const SHUFFLE: &'static Shuffle;

    /// The number of registers of a period, for code that is unrolled for them.
    const REGISTERS: usize = Self::SHUFFLE.number();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Blocks, Op};

    /// The index entry that makes a zero byte.
    const NO_BYTE: u8 = 0x80;

    /// Runs in packed order: the displacement and the length of each.
    type Runs = [(usize, usize)];

    fn list(runs: &Runs) -> RunList {
        let blocks = |&(disp, len): &(usize, usize)| {
            Op::Blocks(Blocks { disp: disp as i64, len: len as u64, count: 1, stride: 0 })
        };
        RunList::expand(&runs.iter().map(blocks).collect::<Vec<_>>()).unwrap()
    }

    fn of(runs: &Runs, stride: usize) -> Option<Shuffle> {
        Shuffle::new(&list(runs), runs.iter().map(|(_, len)| len).sum(), stride)
    }

    #[test]
    fn the_example_has_three_registers() {
        let all = of(&[(0, 9), (12, 12)], 24).unwrap();
        assert_eq!((all.number(), all.records(), all.bytes()), (3, 4, (96, 84)));
        let [first, second] = [0, 1].map(|number| all.register(number));
        let halves = [first[0], first[1], second[0], second[1]];
        assert_eq!(halves.map(|half| half.place), [0, 16, 32, 48]);
        assert_eq!(halves.map(|half| half.to), [0, 13, 29, 42]);
        assert_eq!(halves.map(|half| half.from), [0, 13, 29, 42]);
        let [scatter, gather] = [first[0].scatter, first[0].gather].map(Index::to_le_bytes);
        assert_eq!(scatter[7..13], [7, 8, NO_BYTE, NO_BYTE, NO_BYTE, 9]);
        assert_eq!(gather[8..16], [8, 12, 13, 14, 15, NO_BYTE, NO_BYTE, NO_BYTE]);
        // The last half has 13 bytes of data, from 71 on.
        assert_eq!([4, 5, 8, 9].map(|count| all.periods_to_pack(count)), [0, 1, 1, 2]);
    }

    /// For each byte of a period's memory, the number of the packed byte that it is; `None` in the gaps.
    fn expected(runs: &Runs, stride: usize, records: usize) -> Vec<Option<usize>> {
        let mut memory = vec![None; records * stride];
        let places = (0..records).flat_map(|record| {
            let start = record * stride;
            runs.iter().flat_map(move |&(disp, len)| start + disp..start + disp + len)
        });
        for (byte, place) in places.enumerate() {
            memory[place] = Some(byte);
        }
        memory
    }

    fn halves(shuffle: &Shuffle) -> impl Iterator<Item = &Half> {
        (0..shuffle.number()).flat_map(|number| shuffle.register(number))
    }

    /// What the halves store to memory, as numbers of packed bytes.
    fn unpacked(shuffle: &Shuffle) -> Vec<Option<usize>> {
        let (memory, packed) = shuffle.bytes();
        let mut stored = vec![Some(usize::MAX); memory];
        for &Half { place, from, scatter, .. } in halves(shuffle) {
            assert!(from + HALF <= packed, "{shuffle:?}");
            for (i, index) in scatter.to_le_bytes().into_iter().enumerate() {
                assert!(index == NO_BYTE || usize::from(index) < HALF);
                stored[place + i] = (index != NO_BYTE).then(|| from + usize::from(index));
            }
        }
        stored
    }

    /// What the halves store to the packed bytes, as offsets in memory.
    fn packed(shuffle: &Shuffle) -> Vec<Option<usize>> {
        let mut stored = vec![None; shuffle.bytes().1 + HALF];
        for &Half { place, to, gather, .. } in halves(shuffle) {
            for (i, index) in gather.to_le_bytes().into_iter().enumerate() {
                assert!(index == NO_BYTE || usize::from(index) < HALF);
                let place = place + usize::from(index);
                stored[to + i] = (index != NO_BYTE).then_some(place);
            }
        }
        stored
    }

    #[test]
    fn every_byte_has_its_place() {
        let shapes: [&Runs; 6] = [
            &[(0, 1)],
            &[(0, 5)],
            &[(7, 4), (0, 6)],
            &[(12, 2), (0, 9), (10, 1), (16, 8)],
            &[(3, 5), (8, 24), (40, 1)],
            &[(0, 53)],
        ];
        let (mut whole, mut overlapping, mut only_unpacked) = (0, 0, 0);
        for stride in 1..=513 {
            for runs in shapes {
                let Some(all) = of(runs, stride) else { continue };
                let expected = expected(runs, stride, all.records());
                assert_eq!(unpacked(&all), expected, "{runs:?}, {stride}");
                if all.packs() {
                    let packed = packed(&all);
                    for (place, byte) in expected.iter().enumerate() {
                        let Some(byte) = byte else { continue };
                        assert_eq!(packed[*byte], Some(place), "{runs:?}, {stride}");
                    }
                    let (_, period) = all.bytes();
                    let end = period + packed[period..].len();
                    let count = end.div_ceil(period / all.records());
                    assert!(
                        all.periods_to_pack(count) >= 1 && all.periods_to_pack(all.records()) <= 1
                    );
                }
                match (all.packs(), all.bytes().0.is_multiple_of(REGISTER)) {
                    (true, true) => whole += 1,
                    (true, false) => overlapping += 1,
                    (false, _) => only_unpacked += 1,
                }
            }
        }
        assert!(whole > 50 && overlapping > 50 && only_unpacked > 10);
    }

    #[test]
    fn some_records_cannot_be_shuffled() {
        assert!(of(&[(0, 8), (24, 8), (8, 1)], 32).is_none(), "17 packed bytes in a half");
        assert!(of(&[(0, 9)], 520).is_none(), "17 registers");
        assert!(of(&[(0, 4), (12, 8)], 16).is_none(), "beyond the record");
        let packs = |runs: &Runs, stride| of(runs, stride).unwrap().packs();
        assert!(packs(&[(0, 7), (9, 56)], 66), "the end of a run in a half of its own");
        assert!(!packs(&[(0, 7), (24, 8), (7, 1)], 32), "a run behind the next half");
        let keeps = |stride| of(&[(0, 7), (9, 50)], stride).unwrap().keeps_gaps();
        assert_eq!([66, 64].map(keeps), [false, true]);
    }
}

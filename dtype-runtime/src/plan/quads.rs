//! Small records in groups of four bytes, *quads*: how to pack them where no instruction loads single bytes under a mask.
//!
//! AVX2 loads quads under a mask, from any byte of memory on. So it reads no gap of records whose runs have four bytes or more.
//! There are two ways to move what was loaded to its place.
//!
//! *Across* a register of eight quads, one instruction moves whole quads. That is for records whose data are quads on one grid.
//! An example: records of 16 bytes, a `u32` at 0 and an `f64` at 8, of which a register has two.
//!
//! ```text
//! quads     0   .   2 3   4   .   6 7       '.' is a gap, which is not loaded
//! packed    0 2 3   4 6 7   . .             24 bytes; the next two records follow from there on
//! ```
//!
//! In *halves* of a register, one instruction moves single bytes. That is for records of 8 or 16 bytes whose runs have four
//! bytes or more, so that two loads cover them: one of the quads from the first byte of a record on, and one of those that
//! start 1 to 3 bytes later. An example: records of 8 bytes, a `u32` at 0 and a `u16` at 4, of which a half has two.
//!
//! ```text
//! half      0 1 2 3   4 5   .   .   8 9 10 11   12 13   .   .
//! first     0 1 2 3                 8 9 10 11                     loaded from byte 0 on
//! second        2 3   4 5               10 11   12 13             loaded from byte 2 on
//! packed    0 1 2 3 4 5 8 9 10 11 12 13 . . . .                   12 bytes; the other half follows from there on
//! ```

use super::byte_map::ByteMap;

/// Bytes of a quad.
const QUAD: usize = 4;

/// Quads of a register.
const QUADS: usize = 8;

/// Bytes of half a register.
const HALF: usize = 16;

/// How records are packed by their quads.
///
/// # Invariant
///
/// - A quad that is loaded is data of one record, from the first of the register on.
/// - The packed bytes of all records fit the register, and those of a half fit a half.
/// - If there are several records, they follow one another, a whole number of quads apart. In halves, they fill the register:
///   their stride is 8 or 16.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quads {
    /// Which quads of a register are loaded, −1 or 0 each: from the records' first byte on, and from `further` bytes after it.
    masks: [[i8; QUADS]; 2],
    /// 0 if there is only one load.
    further: u8,
    /// Records of a register.
    records: u8,
    order: Order,
    /// Minimum number of records for which a call is faster than inlined moves; `None` if there is none in a cache.
    fewest: Option<usize>,
}

/// Where what is loaded has its place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// For each packed quad, which of the loaded quads it is.
    Across([u8; QUADS]),
    /// For each packed byte of a half, which byte it is of a half of each load: [`NO_BYTE`] if it is none of them.
    Halves([[u8; HALF]; 2]),
}

/// An index that the byte shuffle makes a zero of.
const NO_BYTE: u8 = 0x80;

impl Quads {
    /// Fewer moves than this for a register are faster one by one: measured on a Zen 3, which makes two stores of up to 8 bytes
    /// in a cycle, and one longer one.
    const FEWEST_ACROSS: usize = 3;
    const FEWEST_IN_HALVES: usize = 4;

    /// How many inlined moves take as long as a register, and as a call without the registers: measured likewise.
    const MOVES_ACROSS: usize = 2;
    const MOVES_IN_HALVES: usize = 4;
    const MOVES_OF_A_CALL: usize = 36;

    /// The quads of records that are `stride` bytes apart; `None` if they are not faster than the moves of the records.
    pub(super) const fn new_if_faster(map: &ByteMap, stride: i64) -> Option<Self> {
        if let Some(all) = Self::across(map, stride)
            && all.records as usize * map.moves >= Self::FEWEST_ACROSS
        {
            return Some(all.with_fewest(map, Self::MOVES_ACROSS));
        }
        if let Some(all) = Self::halves(map, stride)
            && all.records as usize * map.moves >= Self::FEWEST_IN_HALVES
        {
            return Some(all.with_fewest(map, Self::MOVES_IN_HALVES));
        }
        None
    }

    /// The same, if a register takes as long as `moves` inlined moves.
    const fn with_fewest(self, map: &ByteMap, moves: usize) -> Self {
        let records = self.records as usize;
        // Records of one move each are packed several at a time by what the compiler makes of the loop over them.
        let saved = if map.moves == 1 { 0 } else { (records * map.moves).saturating_sub(moves) };
        let fewest = match Self::MOVES_OF_A_CALL.checked_div(saved) {
            Some(registers) => Some(registers * records),
            None => None,
        };
        Self { fewest, ..self }
    }

    /// Whether a register takes less time than another way, which copies `records` records in `time` sixteenths of a
    /// nanosecond.
    pub(super) const fn is_faster_than(&self, time: usize, records: usize) -> bool {
        const TIME_OF_A_MOVE: usize = 4;
        let moves = match self.order {
            Order::Across(_) => Self::MOVES_ACROSS,
            Order::Halves(_) => Self::MOVES_IN_HALVES,
        };
        moves * TIME_OF_A_MOVE * records < time * self.records as usize
    }

    /// Minimum number of records for which a call is faster than inlined moves; `None` if there is none in a cache.
    pub(super) const fn fewest(&self) -> Option<usize> {
        self.fewest
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "quads of a register, and a stride that is not negative"
    )]
    const fn across(map: &ByteMap, stride: i64) -> Option<Self> {
        let (span, quads) = (map.span(), map.len / QUAD);
        let is_whole = quads > 0 && map.len.is_multiple_of(QUAD);
        // Records that have bytes twice may have more quads than they span.
        if !is_whole || quads > QUADS || span > QUADS * QUAD {
            return None;
        }
        let mut records = 1;
        // Only records that do not interleave: a part of a period is then a prefix of the register.
        if stride >= span as i64 && stride % QUAD as i64 == 0 {
            let (fit, lie) = (QUADS / quads, (QUADS * QUAD - span) / stride as usize + 1);
            records = if fit < lie { fit } else { lie };
        }
        let (mut mask, mut index) = ([0; QUADS], [0; QUADS]);
        let mut packed = 0;
        while packed < records * quads {
            let (record, first) = (packed / quads, packed % quads * QUAD);
            let offset = map.offset(first);
            let mut byte = 0;
            while byte < QUAD {
                if !offset.is_multiple_of(QUAD) || map.offset(first + byte) != offset + byte {
                    return None;
                }
                byte += 1;
            }
            let quad = (record * stride as usize + offset) / QUAD;
            mask[quad] = -1;
            index[packed] = quad as u8;
            packed += 1;
        }
        let masks = [mask, [0; QUADS]];
        Some(Self {
            masks,
            further: 0,
            records: records as u8,
            order: Order::Across(index),
            fewest: None,
        })
    }

    const fn halves(map: &ByteMap, stride: i64) -> Option<Self> {
        let mut further = 1;
        while further < QUAD {
            if let Some(all) = Self::halves_from(map, stride, further) {
                return Some(all);
            }
            further += 1;
        }
        None
    }

    /// As [`halves`](Self::halves), if the second load starts `further` bytes after the first.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bytes of a half, and a stride of 8 or 16"
    )]
    const fn halves_from(map: &ByteMap, stride: i64, further: usize) -> Option<Self> {
        if !matches!(stride, 8 | 16) {
            return None;
        }
        let stride = stride as usize;
        if map.len == 0 || map.len > stride || map.span() > stride {
            return None;
        }
        let mut is_data = [false; HALF];
        let mut k = 0;
        while k < map.len {
            is_data[map.offset(k)] = true;
            k += 1;
        }
        let (mut masks, mut index) = ([[0; QUADS]; 2], [[NO_BYTE; HALF]; 2]);
        let mut packed = 0;
        while packed < HALF / stride * map.len {
            let (record, offset) = (packed / map.len * stride, map.offset(packed % map.len));
            // The quad of the first grid that has the byte, or else that of the second.
            let first = offset / QUAD * QUAD;
            let load = if Self::is_quad(&is_data, first) { 0 } else { 1 };
            if load == 1 && offset < further {
                return None;
            }
            let start = if load == 0 { 0 } else { further };
            let quad = (offset - start) / QUAD * QUAD;
            if !Self::is_quad(&is_data, start + quad) {
                return None;
            }
            index[load][packed] = (record + offset - start) as u8;
            let at = (record + quad) / QUAD;
            masks[load][at] = -1;
            masks[load][at + HALF / QUAD] = -1;
            packed += 1;
        }
        let records = 2 * HALF / stride;
        let further = further as u8;
        Some(Self {
            masks,
            further,
            records: records as u8,
            order: Order::Halves(index),
            fewest: None,
        })
    }

    /// Whether the bytes from `first` on are a quad of data.
    const fn is_quad(is_data: &[bool; HALF], first: usize) -> bool {
        let mut byte = first;
        while byte < first + QUAD {
            if byte >= HALF || !is_data[byte] {
                return false;
            }
            byte += 1;
        }
        true
    }
}

/// What a kernel reads to pack records by their quads.
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "nothing packs so here"))]
impl Quads {
    /// Which quads of a register are loaded, −1 or 0 each: from the records' first byte on, and from [`further`](Self::further)
    /// bytes after it.
    pub(crate) const fn masks(&self) -> &[[i8; QUADS]; 2] {
        &self.masks
    }

    pub(crate) const fn further(&self) -> usize {
        self.further as usize
    }

    /// Records of a register.
    pub(crate) const fn records(&self) -> usize {
        self.records as usize
    }

    /// Where what is loaded has its place.
    pub(crate) const fn order(&self) -> &Order {
        &self.order
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    /// Records of these runs, each a displacement and a length, `stride` bytes apart.
    fn of(runs: &[(i64, u64)], stride: i64) -> Option<Quads> {
        let mut map = ByteMap::new();
        for &(disp, len) in runs {
            assert!(map.run(disp, len));
        }
        Quads::new_if_faster(&map, stride)
    }

    fn records(runs: &[(i64, u64)], stride: i64) -> Option<(bool, usize)> {
        of(runs, stride).map(|all| (matches!(all.order(), Order::Across(_)), all.records()))
    }

    #[test]
    fn the_examples() {
        let all = of(&[(0, 4), (8, 8)], 16).unwrap();
        assert_eq!(all.masks()[0], [-1, 0, -1, -1, -1, 0, -1, -1]);
        assert!(*all.order() == Order::Across([0, 2, 3, 4, 6, 7, 0, 0]));

        let all = of(&[(0, 4), (4, 2)], 8).unwrap();
        assert_eq!(*all.masks(), [[-1, 0, -1, 0, -1, 0, -1, 0]; 2]);
        assert_eq!(all.further(), 2);
        let x = NO_BYTE;
        let first = [0, 1, 2, 3, x, x, 8, 9, 10, 11, x, x, x, x, x, x];
        let second = [x, x, x, x, 2, 3, x, x, x, x, 10, 11, x, x, x, x];
        assert!(*all.order() == Order::Halves([first, second]));
    }

    #[test]
    fn a_call_pays_from_a_number_of_records_on() {
        let fewest = |runs: &[(i64, u64)], stride| of(runs, stride).unwrap().fewest();
        // Two records of two moves each, in place of two moves: 18 registers.
        assert_eq!(fewest(&[(0, 4), (8, 8)], 16), Some(36));
        // One record of three and of four moves.
        assert_eq!(fewest(&[(0, 4), (8, 8), (20, 4)], 24), Some(36));
        assert_eq!(fewest(&[(0, 12), (16, 12)], 32), Some(18));
        // In halves: four records, and two, of two moves each, in place of four.
        assert_eq!(fewest(&[(0, 6)], 8), Some(36));
        assert_eq!(fewest(&[(0, 13)], 16), None);
        // Records of one move.
        assert_eq!(fewest(&[(0, 4)], 8), None);
    }

    /// Runs of a record in any order, some of them with the same bytes, and the bytes from one record to the next.
    fn shapes() -> impl Strategy<Value = (Vec<(i64, u64)>, i64)> {
        let runs = prop::collection::vec((-2..8_i64, 1..14_i64, any::<u16>()), 1..8);
        let stride = prop::sample::select(&[4_i64, 8, 12, 16, 20, 24, 32, 40, -16]);
        (runs, any::<bool>(), stride).prop_map(|(all, on_a_grid, stride)| {
            let (mut end, mut size, mut keyed) = (0, 0, Vec::new());
            for (gap, len, key) in all {
                let (gap, len) = if on_a_grid { (gap / 2 * 4, len / 4 * 4) } else { (gap, len) };
                if len > 0 && end + gap + len <= 34 && size + len <= 64 {
                    keyed.push((key, (end + gap, len.cast_unsigned())));
                    (end, size) = (end + gap + len, size + len);
                }
            }
            keyed.sort_unstable();
            (keyed.into_iter().map(|(_, run)| run).collect(), stride)
        })
    }

    proptest! {
        /// A byte that is loaded is data of a record, and each packed byte comes from its place.
        #[test]
        fn no_gap_is_loaded((runs, stride) in shapes()) {
            let Some(all) = of(&runs, stride) else { return Ok(()) };
            let least = runs.iter().map(|(disp, _)| *disp).min().unwrap();
            let places = |record: i64| {
                runs.iter().flat_map(move |&(disp, len)| {
                    let first = record * stride + disp - least;
                    first..first + len.cast_signed()
                })
            };
            let expected: Vec<i64> = (0..).take(all.records()).flat_map(places).collect();
            let mut loaded = [[None; 32]; 2];
            for (load, start) in [0, all.further()].into_iter().enumerate() {
                for (byte, place) in loaded[load].iter_mut().enumerate() {
                    if all.masks()[load][byte / QUAD] < 0 {
                        let at = i64::try_from(start + byte).unwrap();
                        prop_assert!(expected.contains(&at), "{} of {:?}", at, runs);
                        *place = Some(at);
                    }
                }
            }
            let packed: Vec<Option<i64>> = match all.order() {
                Order::Across(index) => {
                    let first = |quad: u8| usize::from(quad) * QUAD;
                    let bytes = index.iter().flat_map(|&quad| first(quad)..first(quad) + QUAD);
                    bytes.map(|byte| loaded[0][byte]).collect()
                }
                Order::Halves(index) => {
                    let each = expected.len() / 2;
                    let byte = |half: usize, k: usize| {
                        let from = |load: usize| {
                            let byte = usize::from(index[load][k]);
                            (byte < HALF).then(|| loaded[load][half * HALF + byte]).flatten()
                        };
                        from(0).xor(from(1))
                    };
                    (0..2).flat_map(|half| (0..each).map(move |k| (half, k)))
                        .map(|(half, k)| byte(half, k))
                        .collect()
                }
            };
            for (k, place) in expected.iter().enumerate() {
                prop_assert_eq!(packed[k], Some(*place), "byte {} of {:?}", k, runs);
            }
        }
    }

    #[test]
    fn only_records_that_are_covered_by_quads_have_them() {
        // Three moves for a register, and two.
        assert_eq!(records(&[(0, 12), (16, 8)], 24), Some((true, 1)));
        assert_eq!(records(&[(0, 4)], 12), Some((true, 3)));
        assert_eq!(records(&[(0, 28)], 32), None);
        // In any order, from any place on, backwards, or one within another.
        assert_eq!(records(&[(13, 8), (1, 4), (9, 4)], 24), Some((true, 1)));
        assert_eq!(records(&[(0, 4), (8, 4), (16, 4)], -24), Some((true, 1)));
        assert_eq!(records(&[(0, 4), (8, 4), (16, 4)], 4), Some((true, 1)));
        // Not whole quads, not on one grid, and too far.
        assert_eq!(records(&[(0, 8), (9, 8), (20, 4)], 24), None);
        assert_eq!(records(&[(0, 4), (6, 4), (20, 4)], 24), None);
        assert_eq!(records(&[(0, 4), (8, 4), (32, 4)], 36), None);
        // In halves: runs of four bytes or more.
        assert_eq!(records(&[(0, 13)], 16), Some((false, 2)));
        assert_eq!(records(&[(0, 5)], 8), Some((false, 4)));
        assert_eq!(records(&[(8, 5), (0, 5)], 16), Some((false, 2)));
        assert_eq!(records(&[(0, 3)], 8), None);
        assert_eq!(records(&[(0, 1), (8, 8)], 16), None);
        // Bytes twice: more of them than a register has, or not.
        assert_eq!(records(&[(0, 16), (0, 16), (0, 4)], 16), None);
        assert_eq!(records(&[(0, 5), (0, 4)], 8), None);
        assert_eq!(records(&[(0, 8), (12, 4), (0, 8)], 16), Some((true, 1)));
        // Two runs that need second loads at different distances.
        assert_eq!(records(&[(0, 5), (8, 6)], 16), None);
    }
}

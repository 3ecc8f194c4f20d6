//! Small records in groups of four bytes, *quads*: how to pack them where no instruction loads single bytes under a mask.
//!
//! AVX2 loads quads under a mask, from any byte of memory on, and one instruction moves them across a register of eight. So it
//! reads no gap of records whose data are quads on one grid. An example: records of 16 bytes, a `u32` at 0 and an `f64` at 8,
//! of which a register has two.
//!
//! ```text
//! quads     0   .   2 3   4   .   6 7       '.' is a gap, which is not loaded
//! packed    0 2 3   4 6 7   . .             24 bytes; the next two records follow from there on
//! ```

use super::byte_map::ByteMap;
use super::costs;

/// Bytes of a quad.
const QUAD: usize = 4;

/// Quads of a register.
const QUADS: usize = 8;

/// How records are packed by their quads.
///
/// # Invariant
///
/// - A quad that is loaded is data of one record, from the first of the register on.
/// - The packed bytes of all records fit the register.
/// - If there are several records, they follow one another, a whole number of quads apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quads {
    /// Which quads of a register are loaded, −1 or 0 each.
    mask: [i8; QUADS],
    /// For each packed quad, which of the loaded quads it is.
    index: [u8; QUADS],
    /// Records of a register.
    records: u8,
    /// Minimum number of records for which a call is faster than inlined moves; `None` if there is none in a cache.
    fewest: Option<usize>,
}

impl Quads {
    /// Fewer moves than this for a register are faster one by one: measured on a Zen 3, which makes two stores of up to 8 bytes
    /// in a cycle, and one longer one.
    const MIN_MOVES: usize = 3;

    /// The quads of records that are `stride` bytes apart; `None` if they are not faster than the moves of the records.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "quads of a register, and a stride that is not negative"
    )]
    pub(super) const fn new_if_faster(map: &ByteMap, stride: i64) -> Option<Self> {
        let (span, quads) = (map.span(), map.len / QUAD);
        // Records that have bytes twice may have more quads than they span.
        if quads == 0 || !map.len.is_multiple_of(QUAD) || quads > QUADS || span > QUADS * QUAD {
            return None;
        }
        let mut records = 1;
        // Only records that do not interleave: a part of a period is then a prefix of the register.
        if stride >= span as i64 && stride % QUAD as i64 == 0 {
            let (fit, lie) = (QUADS / quads, (QUADS * QUAD - span) / stride as usize + 1);
            records = if fit <= lie { fit } else { lie };
        }
        let moves = records * map.moves;
        if moves < Self::MIN_MOVES {
            return None;
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
        // Records of one move each are packed several at a time by what the compiler makes of the loop over them.
        let time = if map.moves == 1 { 0 } else { moves * costs::MOVE };
        let fewest = match costs::QUADS.fewest_steps(time) {
            Some(registers) => Some(registers * records),
            None => None,
        };
        Some(Self { mask, index, records: records as u8, fewest })
    }

    /// Whether a register takes less time than another way, which copies `records` records in `time` sixteenths of a
    /// nanosecond.
    pub(super) const fn is_faster_than(&self, time: usize, records: usize) -> bool {
        costs::QUADS.step * records < time * self.records as usize
    }

    /// Minimum number of records for which a call is faster than inlined moves; `None` if there is none in a cache.
    pub(super) const fn fewest(&self) -> Option<usize> {
        self.fewest
    }

    /// Records of a register.
    pub(crate) const fn records(&self) -> usize {
        self.records as usize
    }
}

/// What a kernel reads to pack records by their quads.
#[cfg_attr(
    not(any(test, target_arch = "x86_64")),
    expect(dead_code, reason = "nothing packs so here")
)]
impl Quads {
    /// Which quads of a register are loaded, −1 or 0 each.
    pub(crate) const fn mask(&self) -> &[i8; QUADS] {
        &self.mask
    }

    /// For each packed quad, which of the loaded quads it is.
    pub(crate) const fn index(&self) -> &[u8; QUADS] {
        &self.index
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

    fn records(runs: &[(i64, u64)], stride: i64) -> Option<usize> {
        of(runs, stride).map(|all| all.records())
    }

    #[test]
    fn the_example() {
        let all = of(&[(0, 4), (8, 8)], 16).unwrap();
        assert_eq!(*all.mask(), [-1, 0, -1, -1, -1, 0, -1, -1]);
        assert_eq!(*all.index(), [0, 2, 3, 4, 6, 7, 0, 0]);
    }

    #[test]
    fn a_call_pays_from_a_number_of_records_on() {
        let fewest = |runs: &[(i64, u64)], stride| of(runs, stride).unwrap().fewest();
        // Two records of two moves each, in place of two moves: 18 registers.
        assert_eq!(fewest(&[(0, 4), (8, 8)], 16), Some(36));
        // One record of three and of four moves.
        assert_eq!(fewest(&[(0, 4), (8, 8), (20, 4)], 24), Some(36));
        assert_eq!(fewest(&[(0, 12), (16, 12)], 32), Some(18));
        // Records of one move.
        assert_eq!(fewest(&[(0, 4)], 8), None);
    }

    #[test]
    fn a_register_of_quads_takes_as_long_as_two_moves() {
        // Two records of a register.
        let all = of(&[(0, 4), (8, 8)], 16).unwrap();
        for (records, as_fast) in [(1, 4), (2, 8), (3, 12), (8, 32)] {
            assert!(
                !all.is_faster_than(as_fast, records) && all.is_faster_than(as_fast + 1, records)
            );
        }
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
            for (quad, mask) in all.mask().iter().enumerate() {
                for at in quad * QUAD..(quad + 1) * QUAD {
                    let at = i64::try_from(at).unwrap();
                    prop_assert!(*mask == 0 || expected.contains(&at), "{} of {:?}", at, runs);
                }
            }
            let place = |quad: &u8| {
                let quad = usize::from(*quad);
                (quad * QUAD..(quad + 1) * QUAD).map(move |at| i64::try_from(at).unwrap())
            };
            let packed: Vec<i64> = all.index().iter().flat_map(place).collect();
            prop_assert!(packed.starts_with(&expected), "{:?} of {:?}", packed, runs);
        }
    }

    #[test]
    fn only_records_that_are_covered_by_quads_have_them() {
        // Three moves for a register, and two.
        assert_eq!(records(&[(0, 12), (16, 8)], 24), Some(1));
        assert_eq!(records(&[(0, 4)], 12), Some(3));
        assert_eq!(records(&[(0, 28)], 32), None);
        // In any order, from any place on, backwards, or one within another.
        assert_eq!(records(&[(13, 8), (1, 4), (9, 4)], 24), Some(1));
        assert_eq!(records(&[(0, 4), (8, 4), (16, 4)], -24), Some(1));
        assert_eq!(records(&[(0, 4), (8, 4), (16, 4)], 4), Some(1));
        // As many quads as a register has, in memory or packed.
        assert_eq!(records(&[(0, 12), (16, 8), (28, 4)], 40), Some(1));
        assert_eq!(records(&[(16, 16), (8, 8), (4, 4), (0, 4)], 40), Some(1));
        // Not whole quads, not on one grid, and too far.
        assert_eq!(records(&[(0, 8), (9, 8), (20, 4)], 24), None);
        assert_eq!(records(&[(0, 4), (6, 4), (20, 4)], 24), None);
        assert_eq!(records(&[(0, 4), (8, 4), (32, 4)], 36), None);
        assert_eq!(records(&[(0, 13)], 16), None);
        assert_eq!(records(&[(0, 3)], 8), None);
        // Bytes twice: more of them than a register has, or not.
        assert_eq!(records(&[(0, 16), (0, 16), (0, 4)], 16), None);
        assert_eq!(records(&[(0, 8), (12, 4), (0, 8)], 16), Some(1));
    }
}

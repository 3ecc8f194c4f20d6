//! Permutations and steps compared with a loop over single bytes, and tiles.

use core::fmt::Debug;
use core::ops::Range;
use core::ptr::null_mut;

use proptest::prelude::*;

use super::permute;
use crate::isa::{Isa, available, selected};
use crate::kernel::record::Tiled;
use crate::kernel::registers::{Registers, compiled_for_selected};
use crate::kernel::{Direction, Move, Pack, Unpack};
use crate::plan::{ByteMap, Permutation, Run, Step};

/// Bytes of a register.
const WIDTH: usize = 64;

/// Bytes around the memory that a kernel may touch.
const MARGIN: usize = 128;

/// Runs of a record in packed order: displacement, length, and whether the bytes are swapped.
type Runs = Vec<(usize, usize, bool)>;

/// Runs that do not overlap, with gaps anywhere, in any order, and the bytes from one record to the next.
fn records() -> impl Strategy<Value = (Runs, i64)> {
    let runs = prop::collection::vec((0..9_usize, 1..20_usize, any::<bool>(), any::<u16>()), 1..9);
    (runs, 0..100_i64, any::<bool>()).prop_map(|(mut gaps_and_runs, apart, backwards)| {
        let (mut end, mut size) = (0, 0);
        let mut keyed = Vec::new();
        for (gap, len, swapped, key) in gaps_and_runs.drain(..) {
            let len = len.min(WIDTH - size);
            if len > 0 && end + gap + len <= 2 * WIDTH {
                keyed.push((key, (end + gap, len, swapped)));
                (end, size) = (end + gap + len, size + len);
            }
        }
        keyed.sort_unstable();
        let stride = i64::try_from(end).unwrap() + apart;
        (keyed.into_iter().map(|(_, run)| run).collect(), if backwards { -stride } else { stride })
    })
}

/// The displacement of each packed byte of a record.
fn displacements(runs: &Runs) -> Vec<usize> {
    let bytes = |&(disp, len, swapped): &(usize, usize, bool)| {
        (0..len).map(move |i| disp + if swapped { len - 1 - i } else { i })
    };
    runs.iter().flat_map(bytes).collect()
}

fn permutation(runs: &Runs, stride: i64) -> Permutation {
    let mut map = ByteMap::new();
    for &(disp, len, swapped) in runs {
        let disp = i64::try_from(disp).unwrap();
        assert!(if swapped { map.swapped(disp, len as u64) } else { map.run(disp, len as u64) });
    }
    Permutation::new(&map, stride).unwrap()
}

/// Memory that contains the records, their packed bytes, and room around both.
struct Case {
    memory: Vec<u8>,
    packed: Vec<u8>,
    /// The index in memory of each packed byte.
    places: Vec<usize>,
    /// The index of the first record.
    origin: usize,
    /// The index of the first packed byte.
    start: usize,
    /// Which packed bytes to copy.
    range: Range<usize>,
}

impl Case {
    fn new(runs: &Runs, stride: i64, count: usize, unaligned: usize) -> Self {
        let step = usize::try_from(stride.unsigned_abs()).unwrap();
        let displacements = displacements(runs);
        let end = displacements.iter().max().map_or(0, |last| last + 1);
        let len = 2 * MARGIN + count * step + end + unaligned;
        let first =
            if stride < 0 { MARGIN + count.saturating_sub(1) * step } else { MARGIN } + unaligned;
        let places = (0..count)
            .flat_map(|i| {
                let record = if stride < 0 { first - i * step } else { first + i * step };
                displacements.iter().map(move |disp| record + disp)
            })
            .collect::<Vec<_>>();
        let byte = |i: usize| (i * 7 + i / 251).to_le_bytes()[0];
        Self {
            memory: (0..len).map(byte).collect(),
            packed: (0..2 * MARGIN + unaligned + places.len()).map(|i| !byte(i)).collect(),
            range: 0..places.len(),
            places,
            origin: first,
            start: MARGIN + unaligned,
        }
    }

    /// The same case with only the packed bytes of a range copied.
    fn part(mut self, range: Range<usize>) -> Self {
        self.places = self.places[range.clone()].to_vec();
        self.range = range;
        self
    }

    /// Packs, moves and unpacks the range, and compares the bytes.
    fn check(self, permutation: &Permutation) {
        let range = self.range.clone();
        let memory = self.memory.as_ptr().wrapping_add(self.origin).cast_mut();
        let mut other: Vec<u8> = self.memory.iter().map(|byte| !byte).collect();
        let mut expected = other.clone();
        for place in &self.places {
            expected[*place] = self.memory[*place];
        }
        let to = other.as_mut_ptr().wrapping_add(self.origin);
        // SAFETY: both sides have the bytes, and nothing else refers to them.
        assert!(unsafe { permute::<Move>(permutation, range.clone(), memory, to) });
        assert!(other == expected, "{permutation:?}");
        let (first, second) = (range.clone(), range);
        self.check_by(
            permutation,
            // SAFETY: as above.
            |memory, packed| unsafe { permute::<Pack>(permutation, first, memory, packed) },
            // SAFETY: as above.
            |memory, packed| unsafe { permute::<Unpack>(permutation, second, memory, packed) },
        );
    }

    /// Packs and unpacks the range by these functions, and compares the bytes on both sides.
    fn check_by(
        mut self,
        what: &dyn Debug,
        pack: impl FnOnce(*mut u8, *mut u8) -> bool,
        unpack: impl FnOnce(*mut u8, *mut u8) -> bool,
    ) {
        let mut expected = self.packed.clone();
        for (k, place) in self.places.iter().enumerate() {
            expected[self.start + k] = self.memory[*place];
        }
        let memory = self.memory.as_mut_ptr().wrapping_add(self.origin);
        let mut packed = self.packed.clone();
        assert!(pack(memory, packed.as_mut_ptr().wrapping_add(self.start)));
        assert!(packed == expected, "{:?} of {what:?}", self.range);

        let mut expected = self.memory.clone();
        for (k, place) in self.places.iter().enumerate() {
            expected[*place] = self.packed[self.start + k];
        }
        let memory = self.memory.as_mut_ptr().wrapping_add(self.origin);
        assert!(unpack(memory, self.packed.as_mut_ptr().wrapping_add(self.start)));
        assert!(self.memory == expected, "{:?} of {what:?}", self.range);
    }
}

/// Whether the tests are skipped, because AVX-512 is not available or not selected.
fn is_skipped() -> bool {
    let is_skipped = selected() != Isa::Avx512;
    if is_skipped {
        let why = if available(Isa::Avx512) { "selected" } else { "in this machine" };
        println!("skipped: no AVX-512 {why}");
    }
    is_skipped
}

proptest! {
    #[test]
    fn permutations_do_what_single_bytes_do(
        (runs, stride) in records(),
        count in 0..40_usize,
        unaligned in 0..64_usize,
    ) {
        if !is_skipped() {
            let all = permutation(&runs, stride);
            Case::new(&runs, stride, count, unaligned).check(&all);
        }
    }
}

proptest! {
    #[test]
    fn parts_do_what_single_bytes_do(
        (runs, stride) in records(),
        count in 1..20_usize,
        start in any::<prop::sample::Index>(),
        end in any::<prop::sample::Index>(),
    ) {
        let size = runs.iter().map(|(_, len, _)| len).sum::<usize>();
        if !is_skipped() && size > 0 {
            let all = permutation(&runs, stride);
            let start = start.index(size);
            let end = start + end.index(count * size + 1 - start);
            Case::new(&runs, stride, count, start).part(start..end).check(&all);
        }
    }
}

/// {f64, u32, u8} of 16 bytes, {u8, u64} of 16, {u32, u16} of 8, 53 bytes of 56, single bytes, 24 bytes over a vector and a
/// half, and a full vector; each in both byte orders.
#[test]
fn every_count() {
    if is_skipped() {
        return;
    }
    let shapes: [(&[(usize, usize)], i64); 8] = [
        (&[(0, 8), (8, 4), (12, 1)], 16),
        (&[(8, 1), (0, 8)], 16),
        (&[(0, 4), (4, 2)], 8),
        (&[(0, 24), (24, 24), (48, 4), (52, 1)], 56),
        (&[(0, 1)], 2),
        (&[(0, 1), (1, 1)], 64),
        (&[(0, 8), (40, 8), (88, 8)], 96),
        (&[(3, 32), (40, 32)], 77),
    ];
    for (runs, stride) in shapes {
        for swapped in [false, true] {
            let runs: Runs = runs.iter().map(|&(disp, len)| (disp, len, swapped)).collect();
            let all = permutation(&runs, stride);
            for count in 0..=200 {
                Case::new(&runs, stride, count, count % 67).check(&all);
            }
            // Every part of short records, and some of longer ones.
            let (step, last) = (1 + all.size() / 8, all.size() * 5);
            for start in (0..all.size()).step_by(step) {
                for end in (start..=last).step_by(step).chain([last]) {
                    Case::new(&runs, stride, 5, start).part(start..end).check(&all);
                }
            }
        }
    }
}

/// Adjacent windows, enough of them for a first step that ends at a cache line: from each offset in a line, whole, and from
/// each byte of the first record on.
#[test]
fn every_place_in_a_cache_line() {
    if is_skipped() {
        return;
    }
    let shapes: [(&[(usize, usize)], i64); 6] = [
        (&[(0, 1)], 2),
        (&[(1, 1), (0, 1)], 4),
        (&[(0, 4), (4, 2)], 8),
        (&[(8, 1), (0, 8)], 16),
        (&[(0, 8), (12, 4), (16, 1)], 32),
        (&[(0, 64)], 64),
    ];
    for (runs, stride) in shapes {
        let runs: Runs = runs.iter().map(|&(disp, len)| (disp, len, false)).collect();
        let all = permutation(&runs, stride);
        for windows in [16, 17, 64, 70] {
            let count = windows * all.records() + 1;
            for unaligned in 0..64 {
                Case::new(&runs, stride, count, unaligned).check(&all);
                for start in (1..all.size()).step_by(1 + all.size() / 8) {
                    let end = count * all.size() - start;
                    Case::new(&runs, stride, count, unaligned).part(start..end).check(&all);
                }
            }
        }
    }
}

#[test]
fn records_that_lie_in_one_another_are_taken_one_by_one() {
    if is_skipped() {
        return;
    }
    // The second byte of a record lies after the first byte of the next.
    let runs = vec![(0, 1, false), (5, 1, false)];
    let all = permutation(&runs, 2);
    assert_eq!(all.records(), 1);
    for count in 0..20 {
        Case::new(&runs, 2, count, 1).check(&all);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut map = ByteMap::new();
    assert!(Permutation::new(&map, 1).is_none());
    assert!(map.run(0, 60) && !map.run(60, 5) && !map.run(i64::MAX, 1) && !map.run(-129, 1));
    assert!(map.run(-100, 1) && map.run(100, 1));
    assert!(Permutation::new(&map, 1).is_none());
    let mut map = ByteMap::new();
    assert!(map.run(i64::MAX - 3, 4) && !map.run(0, u64::MAX) && !map.swapped(i64::MIN, 1));
    assert!(Permutation::new(&map, i64::MIN).is_none_or(|all| all.records() == 1));
    assert!(Permutation::new(&map, i64::MAX).is_none_or(|all| all.records() == 1));
}

#[test]
fn tiles_are_about_a_part_of_the_first_level_cache() {
    // The records in each tile.
    let tiles = |size, stride: i64, count| {
        let all = Tiled::new(size, stride, count)?;
        let mut tiles = Vec::new();
        let end = all.each::<Pack>(null_mut(), null_mut(), |records, steps, memory, packed| {
            let before = tiles.iter().sum::<usize>();
            assert_eq!((steps.memory as i64, steps.packed), (stride, size));
            let first = steps.memory.wrapping_mul(before.cast_signed());
            assert_eq!((memory.addr().cast_signed(), packed.addr()), (first, size * before));
            tiles.push(records);
        });
        let bytes = size * tiles.iter().sum::<usize>();
        assert_eq!((end.addr(), all.packed_size()), (bytes, bytes));
        Some(tiles)
    };
    assert_eq!(tiles(8, 16, 512), Some(vec![512]));
    // Half a tile more is no tile of its own.
    assert_eq!(tiles(8, 16, 768), Some(vec![768]));
    assert_eq!(tiles(8, 16, 769), Some(vec![512, 257]));
    assert_eq!(tiles(8, -16, 1400), Some(vec![512, 512, 376]));
    // Packed records larger than those in memory.
    assert_eq!(tiles(64, 16, 200), Some(vec![128, 72]));
    // Too few records in total, or in a tile.
    assert_eq!((tiles(8, 16, 3), tiles(8, 16, 4)), (None, Some(vec![4])));
    assert_eq!((tiles(8, 2049, 9), tiles(8, 2048, 9)), (None, Some(vec![4, 5])));
}

compiled_for_selected! {
    /// [`Registers::steps`] of the selected instructions.
    ///
    /// # Safety
    ///
    /// Its promise.
    unsafe fn steps[D: Direction][D](
        all: &[Step], record: (usize, isize), count: usize, memory: *mut u8, packed: *mut u8,
    ) -> bool = R => R::steps::<D>(all, record, count, memory, packed);
}

/// Copies records in steps, whether these are faster or not, and compares the bytes.
fn check_steps(runs: &Runs, stride: i64, count: usize, unaligned: usize) {
    let list: Vec<Run> = runs
        .iter()
        .map(|&(disp, len, _)| Run { disp: isize::try_from(disp).unwrap(), len })
        .collect();
    let all = Step::cut(&list).unwrap();
    let record = (list.iter().map(|run| run.len).sum(), isize::try_from(stride).unwrap());
    Case::new(runs, stride, count, unaligned).check_by(
        &(runs, stride, count),
        // SAFETY: both sides have the bytes of the records, and nothing else refers to them.
        |memory, packed| unsafe { steps::<Pack>(&all, record, count, memory, packed) },
        // SAFETY: as above.
        |memory, packed| unsafe { steps::<Unpack>(&all, record, count, memory, packed) },
    );
}

/// Runs of up to several registers that do not overlap, in any order, and the bytes from one record to the next.
fn long_records() -> impl Strategy<Value = (Runs, i64)> {
    let runs = prop::collection::vec((0..80_usize, 1..90_usize, any::<u16>()), 1..20);
    (runs, 0..100_i64, any::<bool>()).prop_map(|(gaps_and_runs, apart, backwards)| {
        let mut end = 0;
        let mut keyed: Vec<_> = gaps_and_runs
            .into_iter()
            .map(|(gap, len, key)| {
                let disp = end + gap;
                end = disp + len;
                (key, (disp, len, false))
            })
            .collect();
        keyed.sort_unstable();
        let stride = i64::try_from(end).unwrap() + apart;
        (keyed.into_iter().map(|(_, run)| run).collect(), if backwards { -stride } else { stride })
    })
}

proptest! {
    #[test]
    fn steps_do_what_single_bytes_do(
        (runs, stride) in long_records(),
        count in 0..70_usize,
        unaligned in 0..64_usize,
    ) {
        if !is_skipped() {
            check_steps(&runs, stride, count, unaligned);
        }
    }
}

/// A byte that is packed twice, a record shorter than a register whose runs lie far apart, adjacent records, windows that are
/// full, and runs that are packed backwards.
#[test]
fn every_count_of_records_in_steps() {
    if is_skipped() {
        return;
    }
    let shapes: [(&[(usize, usize)], i64); 6] = [
        (&[(0, 40), (44, 25), (72, 4), (75, 21)], 96),
        (&[(0, 1), (200, 8)], 208),
        (&[(0, 100)], 100),
        (&[(0, 64), (64, 64)], 130),
        (&[(120, 3), (90, 29), (30, 60), (1, 7)], -123),
        (&[(3, 1)], 4),
    ];
    for (runs, stride) in shapes {
        let runs: Runs = runs.iter().map(|&(disp, len)| (disp, len, false)).collect();
        for count in 0..=70 {
            check_steps(&runs, stride, count, count % 67);
        }
    }
}

/// Steps neither move nor zero: such records are left to the other kernels, with nothing copied.
#[test]
fn steps_only_pack_and_unpack() {
    let all = Step::cut(&[Run { disp: 0, len: 70 }]).unwrap();
    let (mut memory, mut other) = ([1_u8; 700], [2_u8; 700]);
    let (from, to) = (memory.as_mut_ptr(), other.as_mut_ptr());
    // SAFETY: both sides have the bytes of ten records.
    let done = unsafe {
        [
            steps::<Move>(&all, (70, 70), 10, from, to),
            steps::<crate::kernel::Zero>(&all, (70, 70), 10, from, to),
        ]
    };
    assert_eq!((done, memory, other), ([false; 2], [1; 700], [2; 700]));
}

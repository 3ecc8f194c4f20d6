//! The bytes of small records as a permutation: for as many records as fit a vector register, which byte of memory each packed
//! byte is.
//!
//! A kernel that executes a permutation loads a *window* of memory, permutes its bytes in the register, and stores the packed
//! bytes. To unpack, it loads packed bytes and stores the window under a mask, so that gaps are never written. Both take about
//! the same time for any permutation, so it pays if one vector replaces several moves.
//!
//! An example: records of 16 bytes with 1 byte at displacement 0 and 8 bytes at 8.
//!
//! ```text
//! span of a record  0 to 15: 16 bytes, 9 of them packed
//! records           64 / 9 = 7 fit the packed vector, (64 - 16) / 16 + 1 = 4 lie in the window: 4
//! gather            0 8 9 10 11 12 13 14 15 | 16 24 25 …      36 packed bytes from one window
//! scatter           0 . . . . . . . 1 2 3 4 5 6 7 8 | 9 …     '.' is a gap; its bit in `data` is 0
//! ```
//!
//! If a single record spans more than one vector, the window is two vectors.

use super::byte_map::ByteMap;
use crate::isa::WIDTH;

/// The bytes of a register.
type Vector = [u8; WIDTH];

/// Records as a permutation of bytes, for both directions.
///
/// A *period* is as many records as have at most [`WIDTH`] packed bytes together and lie in one window of memory. A window is
/// [`WIDTH`] bytes, or twice as many if a single record spans more than one vector.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Permutation {
    /// For each packed byte of a period, which byte of the window it is.
    gather: Vector,
    /// For each byte of the window, which packed byte of a period it is; 0 in the gaps.
    scatter: [Vector; 2],
    /// Which bytes of the window are data, one bit each.
    data: [u64; 2],
    /// Which bytes of the window are data of the first record, one bit each.
    data_of_one: [u64; 2],
    /// What lies in a window, and therefore in a period.
    window: Window,
    /// Packed bytes of a record.
    size: usize,
    /// 1 / `size` in units of 2⁻⁶⁴, rounded up; 0 if it does not fit.
    reciprocal: u64,
    /// Bytes of memory from one record to the next.
    stride: isize,
    /// Bytes from one period to the next, in memory and packed.
    period: (isize, usize),
    /// Bytes from a window to the memory to prefetch, on processors that do not prefetch far enough by themselves.
    far: isize,
}

/// What lies in a window.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Window {
    /// Displacement in bytes from the origin of its first record.
    first: isize,
    /// The number of records.
    records: usize,
    /// Whether the window is two vectors.
    is_wide: bool,
}

impl Window {
    /// The window of records that are `stride` bytes apart; `None` if the data of one record do not fit a window.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bytes of a window, and displacements of data in memory"
    )]
    const fn new(map: &ByteMap, stride: i64) -> Option<Self> {
        let first = map.first.wrapping_add(map.least as i64);
        let span = map.span().cast_signed() as i64;
        if map.len == 0
            || span > 2 * WIDTH as i64
            || stride as isize as i64 != stride
            || first as isize as i64 != first
        {
            return None;
        }
        let is_wide = span > WIDTH as i64;
        let mut records = 1;
        // Only for records that do not interleave is a part of a period a prefix of the window.
        if stride >= span && !is_wide {
            let (fit, lie) = (WIDTH / map.len, (WIDTH as i64 - span) / stride + 1);
            records = if fit <= lie as usize { fit } else { lie as usize };
        }
        Some(Self { first: first as isize, records, is_wide })
    }

    /// Vectors of memory in the window: 1 or 2.
    const fn vectors(&self) -> usize {
        if self.is_wide { 2 } else { 1 }
    }
}

impl Permutation {
    /// How far ahead to prefetch, in bytes, on processors that do not prefetch far enough by themselves.
    pub(crate) const FAR: isize = 2048;

    /// How far ahead to prefetch, in periods, on any processor.
    pub(crate) const NEAR: isize = 4;

    /// The permutation of records that are `stride` bytes apart; `None` if the data of one record do not fit a window.
    pub(crate) const fn new(map: &ByteMap, stride: i64) -> Option<Self> {
        match Window::new(map, stride) {
            Some(window) => Some(Self::with_window(map, stride, window)),
            None => None,
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bytes of a window, and displacements of data in memory"
    )]
    const fn with_window(map: &ByteMap, stride: i64, window: Window) -> Self {
        let records = window.records;
        let stride = stride as isize;
        let period = stride.wrapping_mul(records as isize);
        let far = if period.unsigned_abs() <= WIDTH {
            // Each line of memory has a window, so any distance will do.
            period.signum() * Self::FAR
        } else {
            let steps = Self::FAR / period.saturating_abs();
            period.wrapping_mul(if steps >= Self::NEAR { steps } else { Self::NEAR })
        };
        let mut all = Self {
            gather: [0; WIDTH],
            scatter: [[0; WIDTH]; 2],
            data: [0; 2],
            data_of_one: [0; 2],
            window,
            size: map.len,
            reciprocal: (u64::MAX / map.len as u64).wrapping_add(1),
            stride,
            period: (period, records * map.len),
            far,
        };
        let mut packed = 0;
        let mut record = 0;
        while record < records {
            let origin = record as i64 * stride as i64 - map.least as i64;
            let mut k = 0;
            while k < map.len {
                let byte = (map.offsets[k] as i64 + origin) as usize;
                all.gather[packed] = byte as u8;
                all.scatter[byte / WIDTH][byte % WIDTH] = packed as u8;
                all.data[byte / WIDTH] |= 1 << (byte % WIDTH);
                packed += 1;
                k += 1;
            }
            if record == 0 {
                all.data_of_one = all.data;
            }
            record += 1;
        }
        all
    }

    /// Packed bytes of a record.
    pub(crate) const fn size(&self) -> usize {
        self.size
    }

    /// The record that holds a packed position.
    ///
    /// This is the position times the reciprocal; with a division, a fragment of 1 KiB takes 7 % longer. The reciprocal is
    /// rounded up by less than 2⁻⁶⁴, so for positions before 2⁵⁸ the product is too large by less than 1 / 64. That is at most
    /// 1 / `size`, so the product does not reach the next record.
    #[inline]
    pub(crate) const fn record_of(&self, position: u64) -> u64 {
        const MAX_DISTANCE: u64 = 1 << 58;
        const { assert!(MAX_DISTANCE as u128 * WIDTH as u128 <= 1 << 64) };
        if position >= MAX_DISTANCE || self.reciprocal == 0 {
            return position / self.size as u64;
        }
        ((position as u128 * self.reciprocal as u128) >> 64) as u64
    }
}

/// What a kernel reads to execute a permutation.
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "nothing executes one here"))]
impl Permutation {
    /// For each packed byte of a period, which byte of the window it is.
    pub(crate) const fn gather(&self) -> &Vector {
        &self.gather
    }

    /// For each byte of the window, which packed byte of a period it is; 0 in the gaps.
    pub(crate) const fn scatter(&self) -> &[Vector; 2] {
        &self.scatter
    }

    /// Which bytes of the window are data, one bit each.
    pub(crate) const fn data(&self) -> [u64; 2] {
        self.data
    }

    /// Which bytes of the window are data of the first record, one bit each.
    pub(crate) const fn data_of_one(&self) -> [u64; 2] {
        self.data_of_one
    }

    /// Records in a period.
    pub(crate) const fn records(&self) -> usize {
        self.window.records
    }

    /// Bytes of memory from one record to the next.
    pub(crate) const fn stride(&self) -> isize {
        self.stride
    }

    /// Bytes from one period to the next, in memory and packed.
    pub(crate) const fn period(&self) -> (isize, usize) {
        self.period
    }

    /// Bytes from a window to the memory to prefetch, on processors that do not prefetch far enough by themselves.
    pub(crate) const fn far(&self) -> isize {
        self.far
    }

    /// Displacement in bytes of the window from the origin of its first record.
    pub(crate) const fn first(&self) -> isize {
        self.window.first
    }

    /// Vectors of memory in the window: 1 or 2.
    pub(crate) const fn vectors(&self) -> usize {
        self.window.vectors()
    }
}

impl core::fmt::Debug for Permutation {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { window: Window { records, .. }, size, stride, .. } = self;
        write!(f, "Permutation({records} records of {size} bytes at once, {stride} bytes apart)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(runs: &[(i64, u64)]) -> ByteMap {
        let mut map = ByteMap::new();
        for &(disp, len) in runs {
            assert!(map.run(disp, len));
        }
        map
    }

    #[test]
    fn debug_output_has_no_tables() {
        let text = "Permutation(4 records of 13 bytes at once, 16 bytes apart)";
        assert_eq!(format!("{:?}", Permutation::new(&bytes(&[(0, 13)]), 16).unwrap()), text);
    }

    #[test]
    fn multiplying_divides() {
        for size in 1..=WIDTH as u64 {
            let mut map = ByteMap::new();
            assert!(map.run(0, size));
            let all = Permutation::new(&map, 128).unwrap();
            let ends = [1 << 57, 1 << 58, (1 << 58) + (1 << 40), u64::MAX].map(|end| end / size);
            for record in (0..200).chain(ends.into_iter().flat_map(|end| end - 100..=end)) {
                let first = record * size;
                let last = first.saturating_add(size - 1);
                for position in [first, last] {
                    assert_eq!(all.record_of(position), position / size, "{position} / {size}");
                }
            }
        }
    }

    #[test]
    fn a_window_has_records_that_do_not_interleave() {
        let window = |runs: &[(i64, u64)], stride| {
            let all = Permutation::new(&bytes(runs), stride)?;
            Some((all.vectors(), all.records()))
        };
        // As many records as lie in the window, or as many as have their packed bytes in a vector.
        assert_eq!(window(&[(0, 4)], 16), Some((1, 4)));
        assert_eq!(window(&[(0, 4)], 20), Some((1, 4)));
        assert_eq!(window(&[(0, 4)], 21), Some((1, 3)));
        assert_eq!(window(&[(0, 16), (0, 16)], 16), Some((1, 2)));
        assert_eq!(window(&[(0, 4)], 4), Some((1, 16)));
        // Records that interleave, or that span two vectors.
        assert_eq!(window(&[(0, 4), (8, 4)], 11), Some((1, 1)));
        assert_eq!(window(&[(0, 4)], -16), Some((1, 1)));
        assert_eq!(window(&[(0, 1), (63, 1)], 64), Some((1, 1)));
        assert_eq!(window(&[(0, 1), (64, 1)], 65), Some((2, 1)));
        assert_eq!(window(&[(0, 1), (127, 1)], 128), Some((2, 1)));
        assert_eq!(window(&[(127, 1), (0, 1), (-1, 1)], 200), None);
        assert_eq!(window(&[], 8), None);
    }

    #[test]
    fn whole_periods_are_prefetched_ahead() {
        let far = |stride| Permutation::new(&bytes(&[(0, 33)]), stride).unwrap().far();
        assert_eq!([40, 64, 100, 500, 1000].map(far), [2048, 2048, 2000, 2000, 4000]);
        assert_eq!([-40, -64, -100, -1000].map(far), [-2048, -2048, -2000, -4000]);
    }

    #[test]
    fn bytes_that_are_packed_twice_are_loaded() {
        let all = Permutation::new(&bytes(&[(0, 4), (0, 4)]), 8).unwrap();
        assert_eq!((all.records(), all.data()), (8, [0x0F0F_0F0F_0F0F_0F0F, 0]));
    }
}

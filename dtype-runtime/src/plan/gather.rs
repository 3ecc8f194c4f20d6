//! Columns of an array of small structs as permutations of bytes, several records at a time.
//!
//! Take records of 24 bytes with an `f64` at 0, a `u32` at 8 and a `u8` at 20. Five of them lie in a *window* of two vectors,
//! 128 bytes. The window is loaded once, under a mask that leaves out the bytes of no column; for each column, one instruction
//! picks its bytes out of the two vectors, and one store writes them:
//!
//! ```text
//! window    f f f f f f f f u u u u . . . . . . . . b . . . f f f f f f f f u u u u …
//! columns   f0 f1 f2 f3 f4    u0 u1 u2 u3 u4    b0 b1 b2 b3 b4
//! ```
//!
//! That is 2 + 3 · 2 instructions for 15 values; one by one, the values take 30. A store is wider than its piece, and the next
//! store overwrites the excess.
//!
//! To unpack, a kernel loads a piece of each column, and one instruction puts the bytes of two columns where they belong in a
//! vector of the window. The vectors of all pairs of columns are joined by `or`, and stored under the mask.

use crate::isa::WIDTH;

/// The most columns.
pub(crate) const MAX_COLUMNS: usize = 16;

/// Bytes of a window.
const WINDOW: usize = 2 * WIDTH;

/// A column in a record: where it is, and how many bytes it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) offset: usize,
    pub(crate) len: usize,
}

/// Columns whose permutations are constants: the compiler then unrolls the loops over them and keeps the indices in registers.
pub(crate) trait Constant {
    /// The columns.
    const GATHER: &'static Gather;
}

/// Columns as permutations of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gather {
    places: [Place; MAX_COLUMNS],
    /// For each byte of a column's piece, which byte of the window it is.
    index: [[u8; WIDTH]; MAX_COLUMNS],
    /// The columns in use.
    number: usize,
    /// For each vector of the window and each pair of columns: where each byte of the vector comes from in the two pieces, and
    /// whether it comes from them at all.
    back: [[[u8; WIDTH]; MAX_COLUMNS / 2]; 2],
    keep: [[u64; MAX_COLUMNS / 2]; 2],
    /// Which bytes of the window are in a column, one bit each.
    data: [u64; 2],
    /// Records in a window.
    records: usize,
    /// Bytes of memory from one record to the next.
    stride: usize,
    /// The least number of remaining records with which no store reaches past the end of a column.
    fewest: usize,
}

impl Gather {
    /// No columns.
    pub(crate) const NONE: Self = Self {
        places: [Place { offset: 0, len: 0 }; MAX_COLUMNS],
        index: [[0; WIDTH]; MAX_COLUMNS],
        number: 0,
        back: [[[0; WIDTH]; MAX_COLUMNS / 2]; 2],
        keep: [[0; MAX_COLUMNS / 2]; 2],
        data: [0; 2],
        records: 1,
        stride: 0,
        fewest: 0,
    };

    /// The permutations of the first `number` of these columns, in records of `stride` bytes. `None` where no target copies
    /// several records at a time, or where it does not pay: at least two records must fit a window.
    pub(crate) const fn new(
        places: [Place; MAX_COLUMNS],
        number: usize,
        stride: usize,
    ) -> Option<Self> {
        if number == 0 || stride == 0 {
            return None;
        }
        let mut records = WINDOW / stride;
        let mut column = 0;
        while column < number {
            let fit = WIDTH / places[column].len;
            if fit <= records {
                records = fit;
            }
            column += 1;
        }
        if records < 2 {
            return None;
        }
        let mut all = Self { places, number, records, stride, fewest: records, ..Self::NONE };
        column = 0;
        while column < number {
            let Place { offset, len } = places[column];
            let mut byte = 0;
            while byte < records * len {
                let at = byte / len * stride + offset + byte % len;
                let (vector, inside) = (at / WIDTH, at % WIDTH);
                #[expect(clippy::cast_possible_truncation, reason = "at most 127")]
                {
                    all.index[column][byte] = at as u8;
                    all.back[vector][column / 2][inside] = (column % 2 * WIDTH + byte) as u8;
                }
                all.keep[vector][column / 2] |= 1 << inside;
                all.data[vector] |= 1 << inside;
                byte += 1;
            }
            let fewest = all.width(column).div_ceil(len);
            if fewest >= all.fewest {
                all.fewest = fewest;
            }
            column += 1;
        }
        Some(all)
    }

    /// Bytes that one move copies for a piece: 16, 32 or 64.
    #[inline(always)]
    pub(crate) const fn width(&self, column: usize) -> usize {
        match self.piece(column) {
            0..=16 => 16,
            17..=32 => 32,
            _ => 64,
        }
    }

    /// Bytes of a column's piece.
    #[inline(always)]
    pub(crate) const fn piece(&self, column: usize) -> usize {
        self.records * self.places[column].len
    }

    /// The columns.
    #[inline(always)]
    pub(crate) fn places(&self) -> &[Place] {
        &self.places[..self.number]
    }

    /// The number of columns.
    #[inline(always)]
    pub(crate) const fn number(&self) -> usize {
        self.number
    }
}

/// What a kernel reads to move the columns.
#[cfg_attr(
    not(any(test, target_arch = "x86_64")),
    expect(dead_code, reason = "nothing executes them here")
)]
impl Gather {
    /// For each byte of a column's piece, which byte of the window it is.
    #[inline(always)]
    pub(crate) const fn index(&self, column: usize) -> &[u8; WIDTH] {
        &self.index[column]
    }

    /// For each byte of this vector of the window, which byte of the two columns' pieces it is, and whether it is one of them.
    #[inline(always)]
    pub(crate) const fn back(&self, vector: usize, pair: usize) -> (&[u8; WIDTH], u64) {
        (&self.back[vector][pair], self.keep[vector][pair])
    }

    /// Which bytes of the window are in a column.
    #[inline(always)]
    pub(crate) const fn data(&self) -> [u64; 2] {
        self.data
    }

    /// Records in a window.
    #[inline(always)]
    pub(crate) const fn records(&self) -> usize {
        self.records
    }

    /// Bytes of memory from one record to the next.
    #[inline(always)]
    pub(crate) const fn stride(&self) -> usize {
        self.stride
    }

    /// The least number of remaining records with which no move reaches past the end of a column.
    #[inline(always)]
    pub(crate) const fn fewest(&self) -> usize {
        self.fewest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns, each with an offset and a length, in records of `stride` bytes.
    fn gather(columns: &[(usize, usize)], stride: usize) -> Option<Gather> {
        let mut places = [Place { offset: 0, len: 0 }; MAX_COLUMNS];
        for (place, &(offset, len)) in places.iter_mut().zip(columns) {
            *place = Place { offset, len };
        }
        Gather::new(places, columns.len(), stride)
    }

    #[test]
    fn the_example_has_five_records() {
        let all = gather(&[(0, 8), (8, 4), (20, 1)], 24).unwrap();
        assert_eq!((all.number(), all.records(), all.stride()), (3, 5, 24));
        assert_eq!([0, 1, 2].map(|column| all.piece(column)), [40, 20, 5]);
        assert_eq!([0, 1, 2].map(|column| all.width(column)), [64, 32, 16]);
        // A move of 16 bytes has 16 of the last column.
        assert_eq!(all.fewest(), 16);
    }

    #[test]
    fn two_records_lie_in_a_window() {
        let records = |columns: &[_], stride| gather(columns, stride).map(|all| all.records());
        assert_eq!([64, 65].map(|stride| records(&[(0, 4)], stride)), [Some(2), None]);
        assert_eq!(records(&[(0, 4), (8, 32)], 40), Some(2));
        assert_eq!(records(&[(0, 4), (8, 33)], 48), None);
        assert_eq!(records(&[(0, 1)], 1), Some(64));
        assert_eq!((records(&[], 8), records(&[(0, 4)], 0)), (None, None));
        // No move reaches further than the records of a window.
        assert_eq!(gather(&[(0, 16)], 32).unwrap().fewest(), 4);
        assert_eq!(gather(&[(0, 3)], 30).unwrap().fewest(), 6);
    }

    #[test]
    fn every_byte_has_its_place_in_both_directions() {
        let shapes: [(&[(usize, usize)], usize); 5] = [
            (&[(0, 8), (8, 4), (20, 1)], 24),
            (&[(3, 5)], 11),
            (&[(7, 1), (0, 1), (1, 2), (4, 2)], 8),
            (&[(32, 32), (0, 30)], 64),
            (&[(2, 3), (9, 7)], 16),
        ];
        for (columns, stride) in shapes {
            let all = gather(columns, stride).unwrap();
            let mut data = [0_u64; 2];
            for (number, &(offset, len)) in columns.iter().enumerate() {
                for byte in 0..all.piece(number) {
                    let at = byte / len * stride + offset + byte % len;
                    let (vector, inside) = (at / WIDTH, at % WIDTH);
                    assert_eq!(usize::from(all.index(number)[byte]), at, "{columns:?}");
                    let (back, keep) = all.back(vector, number / 2);
                    assert_eq!(usize::from(back[inside]), number % 2 * WIDTH + byte);
                    assert_eq!(keep >> inside & 1, 1, "{columns:?}");
                    data[vector] |= 1 << inside;
                }
            }
            assert_eq!(all.data(), data, "{columns:?}");
            // The pairs share no byte.
            for (vector, data) in data.into_iter().enumerate() {
                let kept = (0..MAX_COLUMNS / 2).map(|pair| all.back(vector, pair).1);
                assert_eq!(kept.sum::<u64>(), data, "{columns:?}");
            }
        }
    }
}

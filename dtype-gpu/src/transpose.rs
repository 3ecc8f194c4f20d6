//! The kernel for matrices that are packed column by column although their rows are contiguous.

use core::ops::Range;

use crate::layout::{Body, Repeat, WIDEST};
use crate::source::{Direction, Source, THREADS, constant, define, word};
use crate::special::{Launch, Special};

/// With fewer rows or columns than this, or with rows closer together, most of a tile would be empty, or words would be as
/// fast.
const FEWEST: u64 = 8;
const NEAREST: u64 = 64;

/// A matrix, or equal matrices at equal distances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Transpose {
    disp: i64,
    /// Bytes of an element.
    word: u64,
    /// Words of a column.
    rows: u64,
    /// Bytes from one word of a column to the next.
    stride: i64,
    /// Columns of a matrix, and bytes from one matrix to the next; `None` if all columns are one matrix.
    matrices: Option<(u64, i64)>,
}

impl Transpose {
    /// The matrices of a layout; `None` if it does not consist of matrices.
    pub(crate) fn of(layout: &Repeat) -> Option<Self> {
        let (mut disp, mut levels, mut at) =
            (layout.disp, vec![(layout.count, layout.stride)], layout);
        while let Body::Several(inner) = &at.body {
            let [only] = inner.as_slice() else { return None };
            disp = disp.wrapping_add(only.disp);
            levels.push((only.count, only.stride));
            at = only;
        }
        let word = at.size;
        let (&(rows, stride), outer) = levels.split_last()?;
        let (columns, matrices) = match *outer {
            [columns] => (columns, None),
            [(_, distance), columns] => (columns, Some((columns.0, distance))),
            _ => return None,
        };
        let has_words = at.body == Body::Run && word.is_power_of_two() && word <= WIDEST;
        let is_wide = rows >= FEWEST && columns.0 >= FEWEST && stride.unsigned_abs() >= NEAREST;
        let is_aligned = layout.unit() >= word && u64::try_from(columns.1) == Ok(word);
        // The numbers of tiles have 32 bits.
        let fits = rows < 1 << 31 && matrices.is_none_or(|(columns, _)| columns < 1 << 31);
        let all = Self { disp, word, rows, stride, matrices };
        (has_words && is_wide && is_aligned && fits).then_some(all)
    }

    /// The number of rows and of columns of a tile: as many as there are words in 256 bytes, at most 64.
    fn side(&self) -> u64 {
        (256 / self.word).min(64)
    }
}

impl Special for Transpose {
    fn granule(&self) -> u64 {
        self.rows * self.word * self.matrices.map_or(1, |(columns, _)| columns)
    }

    fn alignment(&self) -> u64 {
        self.word
    }

    fn launch(&self, _: Direction, origin: u64, start: u64, range: Range<u64>) -> Launch {
        let (before, number) =
            (range.start / self.granule(), (range.end - range.start) / self.granule());
        let (distance, columns, tiles) = match self.matrices {
            Some((columns, distance)) => {
                (distance.cast_unsigned(), number * columns, columns.div_ceil(self.side()) * number)
            }
            None => (self.word, number, number.div_ceil(self.side())),
        };
        let origin = origin.wrapping_add(self.disp.cast_unsigned());
        Launch {
            variant: 0,
            groups: tiles * self.rows.div_ceil(self.side()),
            origin: origin.wrapping_add(before.wrapping_mul(distance)),
            at: start.wrapping_add(range.start),
            numbers: vec![columns],
        }
    }

    fn source(&self, direction: Direction, _: u64) -> Source {
        let (rows, side) = (self.rows, self.side());
        let mut body = word(direction, self.word);
        body += &define("SIDE", side);
        body += &define("ROWS", rows);
        body += &define("ROW_TILES", rows.div_ceil(side));
        body += &define("STRIDE", constant(self.stride));
        if let Some((columns, distance)) = self.matrices {
            body += &define("COLUMNS", columns);
            body += &define("COLUMN_TILES", columns.div_ceil(side));
            body += &define("MATRIX_STRIDE", constant(distance));
        }
        body += include_str!("kernels/transpose.c");
        Source { name: "transpose", threads: THREADS, body }
    }
}

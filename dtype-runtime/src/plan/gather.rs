//! One short field of an array of structs as permutations of bytes: several records at a time become a piece of a column.
//!
//! Take records of 16 bytes and their `f64` at 0. Eight of them lie in 128 bytes of memory, two vectors. Each is loaded
//! under a mask that leaves the other fields and the padding out; one instruction picks the eight numbers out of the two
//! vectors, one store writes them. That is 4 instructions for 8 values, which take 16 one by one.
//!
//! ```text
//! window 0   a . b . c . d .      '.' is what the mask leaves out
//! window 1   e . f . g . h .
//! piece      a b c d e f g h      indices 0 … 127 into both windows
//! ```
//!
//! Two windows make a pair, each pair contributes some bytes of the piece, and the pairs are joined by `or`. A piece has as
//! many records as fit into one vector, and into [`PAIRS`] pairs of windows.

use super::permutation::WIDTH;

/// The most pairs of windows.
const PAIRS: usize = 4;

/// Pieces of a column as permutations of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gather {
    /// For each pair and each byte of the piece, which byte of the pair it is.
    index: [[u8; WIDTH]; PAIRS],
    /// Which bytes of the piece are from the pair, one bit each.
    keep: [u64; PAIRS],
    /// Which bytes of the windows are data of the column, one bit each.
    data: [[u64; 2]; PAIRS],
    /// Pairs in use.
    pairs: usize,
    /// Records in a piece.
    records: usize,
    /// Bytes of the value.
    len: usize,
    /// Bytes of memory from one record to the next.
    stride: usize,
}

impl Gather {
    /// Values of `len` bytes in records of `stride` bytes, if there are machines that copy several at a time, and that pays:
    /// values of 1, 2, 4 or 8 bytes, in records that are shorter than a vector.
    pub(crate) const fn of(len: usize, stride: usize) -> Option<Self> {
        if !matches!(len, 1 | 2 | 4 | 8) || stride >= WIDTH || stride <= len || WIDTH != 64 {
            return None;
        }
        // Those whose values lie in the windows.
        let (most, window) = (WIDTH / len, 2 * PAIRS * WIDTH);
        let fit = (window - len) / stride + 1;
        let records = if fit < most { fit } else { most };
        // Loads, permutations, `or` and a store, beside a load and a store for each value.
        let windows = ((records - 1) * stride + len).div_ceil(WIDTH);
        if 2 * windows + 1 > records * 3 / 2 {
            return None;
        }
        let mut all = Self {
            index: [[0; WIDTH]; PAIRS],
            keep: [0; PAIRS],
            data: [[0; 2]; PAIRS],
            pairs: 0,
            records,
            len,
            stride,
        };
        let mut byte = 0;
        while byte < records * len {
            let at = byte / len * stride + byte % len;
            let (pair, inside) = (at / (2 * WIDTH), at % (2 * WIDTH));
            #[expect(clippy::cast_possible_truncation, reason = "at most 127")]
            {
                all.index[pair][byte] = inside as u8;
            }
            all.keep[pair] |= 1 << byte;
            all.data[pair][inside / WIDTH] |= 1 << (inside % WIDTH);
            all.pairs = pair + 1;
            byte += 1;
        }
        Some(all)
    }

    /// Index, kept bytes and data of each pair of windows.
    #[inline(always)]
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&[u8; WIDTH], u64, [u64; 2])> {
        let all = self.index.iter().zip(self.keep).zip(self.data);
        all.take(self.pairs).map(|((index, keep), data)| (index, keep, data))
    }

    /// The number of pairs.
    #[inline(always)]
    pub(crate) const fn number(&self) -> usize {
        self.pairs
    }

    /// Records in a piece.
    #[inline(always)]
    pub(crate) const fn records(&self) -> usize {
        self.records
    }

    /// Bytes of a value.
    #[inline(always)]
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Bytes of memory from one record to the next.
    #[inline(always)]
    pub(crate) const fn stride(&self) -> usize {
        self.stride
    }
}

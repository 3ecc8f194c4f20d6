//! Copies columns of arrays of small structs with AVX-512 VBMI.
//!
//! Stores to columns, and loads from them, have the width of a register that holds the piece, as long as no column ends within
//! that width. For the last windows, stores and loads are masked.

use core::arch::x86_64::{
    __m512i, __mmask64, _MM_HINT_T0, _mm_loadu_si128, _mm_prefetch, _mm_storeu_si128,
    _mm256_loadu_si256, _mm256_storeu_si256, _mm512_castsi512_si128, _mm512_castsi512_si256,
    _mm512_loadu_si512, _mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8,
    _mm512_maskz_permutex2var_epi8, _mm512_or_si512, _mm512_permutex2var_epi8,
    _mm512_setzero_si512, _mm512_storeu_si512, _mm512_zextsi128_si512, _mm512_zextsi256_si512,
};

use super::super::direction::Way;
use super::{WIDTH, first, vector};
use crate::plan::{Constant, MAX_COLUMNS};

/// How many bytes ahead memory is prefetched. Beyond the caches, a short distance is slower here on Zen 4 too, unlike in
/// [`super::permute`]: there are more streams than the processor can follow.
const AHEAD: usize = 2048;

/// Executes code for each of the columns. It is unrolled by hand, so that the column is a constant and its data stay in
/// registers.
macro_rules! each_column {
    ($all:ident, $column:ident => $body:expr) => {
        each_column!($all, $column => $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        const { assert!(MAX_COLUMNS == 16, "as many as are written out") }
    };
    ($all:ident, $column:ident => $body:expr, $($j:literal)+) => {
        $( if const { $j < $all::GATHER.number() } {
            const $column: usize = $j;
            $body
        } )+
    };
}

/// The records that are left: how many, where they are, and where their values in the columns are.
struct Left {
    records: usize,
    memory: *mut u8,
    columns: [*mut u8; MAX_COLUMNS],
}

impl Left {
    /// The number of records in the next window with whole stores and loads (`WHOLE`), or with masked ones; `None` if there is
    /// none.
    #[inline(always)]
    fn next<G: Constant, const WHOLE: bool>(&self) -> Option<usize> {
        let (records, fewest) = const { (G::GATHER.records(), G::GATHER.fewest()) };
        if WHOLE {
            (self.records >= fewest).then_some(records)
        } else {
            (self.records > 0).then_some(self.records.min(records))
        }
    }

    /// Steps past a window whose values have been copied.
    #[inline(always)]
    fn pass<G: Constant>(&mut self, records: usize) {
        let bytes = const { G::GATHER.records() * G::GATHER.stride() };
        self.memory = self.memory.wrapping_add(bytes);
        self.records -= records;
    }
}

/// Both vectors of a window of `records` records, and which of their bytes are data.
#[inline]
#[target_feature(enable = "bmi2")]
fn vectors<G: Constant>(window: *mut u8, records: usize) -> [(*mut u8, __mmask64); 2] {
    let bytes = records * const { G::GATHER.stride() };
    let [low, high] = const { G::GATHER.data() };
    let high = high & first(bytes.saturating_sub(WIDTH));
    [(window, low & first(bytes)), (window.wrapping_add(WIDTH), high)]
}

/// The mask of the values of a column in `records` records.
#[inline]
#[target_feature(enable = "bmi2")]
fn values<G: Constant>(column: usize, records: usize) -> __mmask64 {
    first(records * G::GATHER.places()[column].len)
}

/// Copies the records to the columns, or back.
///
/// # Safety
///
/// `memory` must be valid for `D` on the data of the columns in `count` records, and each column on as many bytes. Records and
/// columns must not overlap.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) unsafe fn columns<D: Way, G: Constant>(
    count: usize,
    memory: *mut u8,
    columns: &[*mut u8; MAX_COLUMNS],
) {
    let mut left = Left { records: count, memory, columns: *columns };
    // SAFETY: the records that are left are those that the caller guarantees, and then some of them.
    unsafe {
        if D::PACKS {
            gather::<G, true>(&mut left);
            gather::<G, false>(&mut left);
        } else {
            scatter::<G, true>(&mut left);
            scatter::<G, false>(&mut left);
        }
    }
}

/// Copies records to the columns, window by window.
///
/// # Safety
///
/// The data of the columns must be readable in the records that are left, and each column writable for as many bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
unsafe fn gather<G: Constant, const WHOLE: bool>(left: &mut Left) {
    let mut indices = [_mm512_setzero_si512(); MAX_COLUMNS];
    for (column, index) in indices.iter_mut().enumerate() {
        *index = vector(G::GATHER.index(column));
    }
    while let Some(records) = left.next::<G, WHOLE>() {
        // SAFETY: the masks select data of `records` records, which are among those that are left. If stores are whole, at
        // least `fewest` records are left, so a column has room for the whole store, and later stores overwrite the bytes after
        // the piece. If not, the mask selects the values of `records` records. Prefetching is a hint, whatever the address.
        unsafe {
            let [low, high] = vectors::<G>(left.memory, records).map(|(place, data)| {
                if WHOLE {
                    _mm_prefetch::<_MM_HINT_T0>(place.wrapping_add(AHEAD).cast());
                }
                _mm512_maskz_loadu_epi8(data, place.cast())
            });
            each_column!(G, COLUMN => {
                let piece = _mm512_permutex2var_epi8(low, indices[COLUMN], high);
                let to = left.columns[COLUMN];
                if WHOLE {
                    match const { G::GATHER.width(COLUMN) } {
                        16 => _mm_storeu_si128(to.cast(), _mm512_castsi512_si128(piece)),
                        32 => _mm256_storeu_si256(to.cast(), _mm512_castsi512_si256(piece)),
                        _ => _mm512_storeu_si512(to.cast(), piece),
                    }
                } else {
                    _mm512_mask_storeu_epi8(to.cast(), values::<G>(COLUMN, records), piece);
                }
                left.columns[COLUMN] = to.wrapping_add(const { G::GATHER.piece(COLUMN) });
            });
        }
        left.pass::<G>(records);
    }
}

/// Copies the columns to records, window by window.
///
/// # Safety
///
/// The data of the columns must be writable in the records that are left, and each column readable for as many bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
unsafe fn scatter<G: Constant, const WHOLE: bool>(left: &mut Left) {
    // An odd last column is paired with an empty one.
    let mut pieces = [_mm512_setzero_si512(); MAX_COLUMNS];
    while let Some(records) = left.next::<G, WHOLE>() {
        // SAFETY: the masks select data of `records` records, which are among those that are left. If loads are whole, at least
        // `fewest` records are left, so a column has as many bytes as are loaded. If not, the mask selects the values of `records`
        // records.
        unsafe {
            each_column!(G, COLUMN => {
                let from = left.columns[COLUMN];
                pieces[COLUMN] = if WHOLE {
                    match const { G::GATHER.width(COLUMN) } {
                        16 => _mm512_zextsi128_si512(_mm_loadu_si128(from.cast())),
                        32 => _mm512_zextsi256_si512(_mm256_loadu_si256(from.cast())),
                        _ => _mm512_loadu_si512(from.cast()),
                    }
                } else {
                    _mm512_maskz_loadu_epi8(values::<G>(COLUMN, records), from.cast())
                };
                left.columns[COLUMN] = from.wrapping_add(const { G::GATHER.piece(COLUMN) });
            });
            let mut window: [__m512i; 2] = [_mm512_setzero_si512(); 2];
            each_column!(G, COLUMN => if COLUMN.is_multiple_of(2) {
                for (number, joined) in window.iter_mut().enumerate() {
                    let (index, keep) = G::GATHER.back(number, COLUMN / 2);
                    let (even, odd) = (pieces[COLUMN], pieces[(COLUMN + 1) % MAX_COLUMNS]);
                    let part = _mm512_maskz_permutex2var_epi8(keep, even, vector(index), odd);
                    *joined = _mm512_or_si512(*joined, part);
                }
            });
            for ((place, data), window) in
                vectors::<G>(left.memory, records).into_iter().zip(window)
            {
                _mm512_mask_storeu_epi8(place.cast(), data, window);
            }
        }
        left.pass::<G>(records);
    }
}

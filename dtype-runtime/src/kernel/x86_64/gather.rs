//! Columns of arrays of small structs with AVX-512 VBMI.
//!
//! Stores to columns, and loads from them, are as wide as a register that holds the piece. They go on as long as no column
//! ends within one. The last windows store and load under a mask.

use core::arch::x86_64::{
    __mmask64, _MM_HINT_T0, _mm_loadu_si128, _mm_prefetch, _mm_storeu_si128, _mm256_loadu_si256,
    _mm256_storeu_si256, _mm512_castsi512_si128, _mm512_castsi512_si256, _mm512_loadu_si512,
    _mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8, _mm512_maskz_permutex2var_epi8,
    _mm512_or_si512, _mm512_permutex2var_epi8, _mm512_setzero_si512, _mm512_storeu_si512,
    _mm512_zextsi128_si512, _mm512_zextsi256_si512,
};

use super::{WIDTH, first, vector};
use crate::plan::{Constant, MOST_COLUMNS};

/// How many bytes ahead memory is prefetched. Beyond the caches a short distance takes longer here on Zen 4, too, unlike
/// in [`super::permute`]: there are more streams than a processor follows by itself.
const AHEAD: usize = 2048;

/// Prefetches the two lines that are `AHEAD` bytes after a window. They need not exist.
#[inline(always)]
fn prefetch(window: *const u8) {
    let ahead = window.wrapping_add(AHEAD);
    // SAFETY: hints, whatever the address.
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(ahead.cast());
        _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(WIDTH).cast());
    }
}

/// Expands to `$one` for each of sixteen columns or eight pairs of columns that there may be.
macro_rules! each_column {
    ($one:ident) => {
        $one!(0);
        $one!(1);
        $one!(2);
        $one!(3);
        $one!(4);
        $one!(5);
        $one!(6);
        $one!(7);
        $one!(8);
        $one!(9);
        $one!(10);
        $one!(11);
        $one!(12);
        $one!(13);
        $one!(14);
        $one!(15);
    };
}

/// Which bytes of the window are data of the first `records` records.
#[inline]
#[target_feature(enable = "bmi2")]
fn data<G: Constant>(records: usize) -> [__mmask64; 2] {
    let bytes = records * const { G::GATHER.stride() };
    let [low, high] = const { G::GATHER.data() };
    [low & first(bytes), high & first(bytes.saturating_sub(WIDTH))]
}

/// The mask of the values of a column in `records` records.
#[inline]
#[target_feature(enable = "bmi2")]
fn values<G: Constant>(column: usize, records: usize) -> __mmask64 {
    first(records * G::GATHER.places()[column].len)
}

/// Copies the records to the columns.
///
/// # Safety
///
/// The data of the columns must be readable in `count` records, and each column writable for as many bytes as these are. No
/// two of them must overlap.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) unsafe fn gather<G: Constant>(
    count: usize,
    memory: *const u8,
    columns: &[*mut u8; MOST_COLUMNS],
) {
    let (mut left, mut memory, mut columns) = (count, memory, *columns);
    let mut indices = [_mm512_setzero_si512(); MOST_COLUMNS];
    for (column, index) in indices.iter_mut().enumerate() {
        *index = vector(G::GATHER.index(column));
    }
    /// A window of `$records` records: `$store` writes the piece of a column.
    macro_rules! window {
        ($records:expr, $store:ident) => {
            let records = $records;
            let [low, high] = data::<G>(records);
            // SAFETY: the masks select data of `records` records, which are among those that are left.
            let (low, high) = unsafe {
                let after = memory.wrapping_add(WIDTH);
                (
                    _mm512_maskz_loadu_epi8(low, memory.cast()),
                    _mm512_maskz_loadu_epi8(high, after.cast()),
                )
            };
            macro_rules! one {
                ($column:literal) => {
                    if const { $column < G::GATHER.number() } {
                        let piece = _mm512_permutex2var_epi8(low, indices[$column], high);
                        $store!($column, records, columns[$column], piece);
                        columns[$column] =
                            columns[$column].wrapping_add(const { G::GATHER.piece($column) });
                    }
                };
            }
            each_column!(one);
            memory = memory.wrapping_add(const { G::GATHER.records() * G::GATHER.stride() });
            left -= records;
        };
    }
    macro_rules! store_wide {
        ($column:literal, $records:expr, $to:expr, $piece:expr) => {
            // SAFETY: at least `fewest` records are left, so the column has as many bytes left as are stored. Those after
            // the piece are written again.
            unsafe {
                match const { G::GATHER.width($column) } {
                    16 => _mm_storeu_si128($to.cast(), _mm512_castsi512_si128($piece)),
                    32 => _mm256_storeu_si256($to.cast(), _mm512_castsi512_si256($piece)),
                    _ => _mm512_storeu_si512($to.cast(), $piece),
                }
            }
        };
    }
    macro_rules! store_values {
        ($column:literal, $records:expr, $to:expr, $piece:expr) => {
            // SAFETY: the mask selects the values of this many records, which are among those that are left.
            unsafe {
                _mm512_mask_storeu_epi8($to.cast(), values::<G>($column, $records), $piece);
            }
        };
    }
    while left >= const { G::GATHER.fewest() } {
        prefetch(memory);
        window!(const { G::GATHER.records() }, store_wide);
    }
    while left > 0 {
        window!(left.min(const { G::GATHER.records() }), store_values);
    }
}

/// Copies the columns to the records.
///
/// # Safety
///
/// As [`gather`], with the columns read and the memory written.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) unsafe fn scatter<G: Constant>(
    count: usize,
    memory: *mut u8,
    columns: &[*mut u8; MOST_COLUMNS],
) {
    let (mut left, mut memory, mut columns) = (count, memory, *columns);
    // An odd column has an empty one beside it.
    let mut pieces = [_mm512_setzero_si512(); MOST_COLUMNS];
    /// A window of `$records` records: `$load` reads the piece of a column.
    macro_rules! window {
        ($records:expr, $load:ident) => {
            let records = $records;
            macro_rules! one {
                ($column:literal) => {
                    if const { $column < G::GATHER.number() } {
                        pieces[$column] = $load!($column, records, columns[$column]);
                        columns[$column] =
                            columns[$column].wrapping_add(const { G::GATHER.piece($column) });
                    }
                };
            }
            each_column!(one);
            let mut window = [_mm512_setzero_si512(); 2];
            macro_rules! join {
                ($column:literal) => {
                    // Two columns at a time.
                    if const { $column % 2 == 0 && $column < G::GATHER.number() } {
                        for (number, joined) in window.iter_mut().enumerate() {
                            let (index, keep) = G::GATHER.back(number, $column / 2);
                            let (even, odd) =
                                (pieces[$column], pieces[($column + 1) % MOST_COLUMNS]);
                            let part =
                                _mm512_maskz_permutex2var_epi8(keep, even, vector(index), odd);
                            *joined = _mm512_or_si512(*joined, part);
                        }
                    }
                };
            }
            each_column!(join);
            for (number, (data, window)) in data::<G>(records).into_iter().zip(window).enumerate() {
                // SAFETY: the mask selects data of `records` records, which are among those that are left.
                unsafe {
                    let to = memory.wrapping_add(number * WIDTH);
                    _mm512_mask_storeu_epi8(to.cast(), data, window);
                }
            }
            memory = memory.wrapping_add(const { G::GATHER.records() * G::GATHER.stride() });
            left -= records;
        };
    }
    macro_rules! load_wide {
        ($column:literal, $records:expr, $from:expr) => {
            // SAFETY: at least `fewest` records are left, so the column has as many bytes left as are loaded.
            unsafe {
                match const { G::GATHER.width($column) } {
                    16 => _mm512_zextsi128_si512(_mm_loadu_si128($from.cast())),
                    32 => _mm512_zextsi256_si512(_mm256_loadu_si256($from.cast())),
                    _ => _mm512_loadu_si512($from.cast()),
                }
            }
        };
    }
    macro_rules! load_values {
        ($column:literal, $records:expr, $from:expr) => {
            // SAFETY: the mask selects the values of this many records, which are among those that are left.
            unsafe { _mm512_maskz_loadu_epi8(values::<G>($column, $records), $from.cast()) }
        };
    }
    while left >= const { G::GATHER.fewest() } {
        window!(const { G::GATHER.records() }, load_wide);
    }
    while left > 0 {
        window!(left.min(const { G::GATHER.records() }), load_values);
    }
}

//! Columns of arrays of small structs with AVX-512 VBMI.
//!
//! Stores to columns, and loads from them, are as wide as a register that holds the piece. They go on as long as no column
//! ends within one.

use core::arch::x86_64::{
    __m512i, _MM_HINT_T0, _mm_loadu_si128, _mm_prefetch, _mm_storeu_si128, _mm256_loadu_si256,
    _mm256_storeu_si256, _mm512_castsi512_si128, _mm512_castsi512_si256, _mm512_loadu_si512,
    _mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8, _mm512_maskz_permutex2var_epi8,
    _mm512_or_si512, _mm512_permutex2var_epi8, _mm512_setzero_si512, _mm512_storeu_si512,
    _mm512_zextsi128_si512, _mm512_zextsi256_si512,
};

use crate::plan::{Constant, MOST_COLUMNS};

/// Bytes of a register.
const WIDTH: usize = size_of::<__m512i>();

/// How many bytes ahead memory is prefetched.
const AHEAD: usize = 2048;

#[inline]
#[target_feature(enable = "avx512f")]
fn vector(bytes: &[u8; WIDTH]) -> __m512i {
    // SAFETY: the array has the 64 bytes that are loaded.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

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

/// Copies the first records to the columns, and returns their number.
///
/// # Safety
///
/// The data of the columns must be readable in `count` records, and each column writable for as many bytes as these are. No
/// two of them must overlap.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(super) unsafe fn gather<G: Constant>(
    count: usize,
    memory: *const u8,
    columns: [*mut u8; MOST_COLUMNS],
) -> usize {
    let (records, [low, high]) = const { (G::GATHER.records(), G::GATHER.data()) };
    let (mut done, mut memory, mut columns) = (0, memory, columns);
    let mut indices = [_mm512_setzero_si512(); MOST_COLUMNS];
    for (column, index) in indices.iter_mut().enumerate() {
        *index = vector(G::GATHER.index(column));
    }
    while count - done >= const { G::GATHER.fewest() } {
        prefetch(memory);
        // SAFETY: the masks select data of as many records as a window has, which are among those that are left.
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
                    let to = columns[$column];
                    // SAFETY: at least `fewest` records are left, so the column has as many bytes left as are stored.
                    // Those after the piece are written again.
                    unsafe {
                        match const { G::GATHER.width($column) } {
                            16 => _mm_storeu_si128(to.cast(), _mm512_castsi512_si128(piece)),
                            32 => _mm256_storeu_si256(to.cast(), _mm512_castsi512_si256(piece)),
                            _ => _mm512_storeu_si512(to.cast(), piece),
                        }
                    }
                    columns[$column] = to.wrapping_add(const { G::GATHER.piece($column) });
                }
            };
        }
        each_column!(one);
        memory = memory.wrapping_add(const { G::GATHER.records() * G::GATHER.stride() });
        done += records;
    }
    done
}

/// Copies the columns to the first records, and returns their number.
///
/// # Safety
///
/// As [`gather`], with the columns read and the memory written.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(super) unsafe fn scatter<G: Constant>(
    count: usize,
    memory: *mut u8,
    columns: [*mut u8; MOST_COLUMNS],
) -> usize {
    let (mut done, mut memory, mut columns) = (0, memory, columns);
    // An odd column has an empty one beside it.
    let mut pieces = [_mm512_setzero_si512(); MOST_COLUMNS];
    while count - done >= const { G::GATHER.fewest() } {
        macro_rules! load {
            ($column:literal) => {
                if const { $column < G::GATHER.number() } {
                    let from = columns[$column];
                    // SAFETY: at least `fewest` records are left, so the column has as many bytes left as are loaded.
                    pieces[$column] = unsafe {
                        match const { G::GATHER.width($column) } {
                            16 => _mm512_zextsi128_si512(_mm_loadu_si128(from.cast())),
                            32 => _mm512_zextsi256_si512(_mm256_loadu_si256(from.cast())),
                            _ => _mm512_loadu_si512(from.cast()),
                        }
                    };
                    columns[$column] = from.wrapping_add(const { G::GATHER.piece($column) });
                }
            };
        }
        each_column!(load);
        let mut window = [_mm512_setzero_si512(); 2];
        macro_rules! join {
            ($column:literal) => {
                // Two columns at a time.
                if const { $column % 2 == 0 && $column < G::GATHER.number() } {
                    for (number, joined) in window.iter_mut().enumerate() {
                        let (index, keep) = G::GATHER.back(number, $column / 2);
                        let (even, odd) = (pieces[$column], pieces[($column + 1) % MOST_COLUMNS]);
                        let part = _mm512_maskz_permutex2var_epi8(keep, even, vector(index), odd);
                        *joined = _mm512_or_si512(*joined, part);
                    }
                }
            };
        }
        each_column!(join);
        for (number, (data, window)) in G::GATHER.data().into_iter().zip(window).enumerate() {
            // SAFETY: the mask selects data of the records of the window, which are among those that are left.
            unsafe {
                let to = memory.wrapping_add(number * WIDTH);
                _mm512_mask_storeu_epi8(to.cast(), data, window);
            }
        }
        memory = memory.wrapping_add(const { G::GATHER.records() * G::GATHER.stride() });
        done += const { G::GATHER.records() };
    }
    done
}

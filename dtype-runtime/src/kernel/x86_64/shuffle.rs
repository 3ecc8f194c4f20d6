//! Records of values, shuffled with AVX2.
//!
//! See [`Shuffle`] for the idea. The registers' places are constants of the records' type: loaded from a
//! table, those of seven registers take a third more time.
//!
//! Gaps may be uninitialised, so they must not become a value of Rust's. Where they are loaded, a block of assembly does it,
//! and what comes out of it are data, and zeros.

use core::arch::asm;
use core::arch::x86_64::{
    __m256i, _MM_HINT_T0, _mm_prefetch, _mm_storeu_si128, _mm256_castsi256_si128,
    _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_loadu2_m128i, _mm256_shuffle_epi8,
    _mm256_storeu_si256,
};

use crate::plan::{Register, Shuffle, ShuffledBy};

/// Bytes to the memory that is prefetched, and of the line that comes.
const AHEAD: usize = 2048;
const LINE: usize = 64;

/// Does something for each register of a period. Written out, so that the places are constants whether the compiler unrolls
/// loops or not. After the last one, no code is generated: a `match` of an associated constant is decided before, and unlike
/// `if const`, it is not one more constant for each register.
macro_rules! for_each_register {
    ($by:ident, $register:ident => $body:expr) => {
        for_each_register!($by, $register => $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        const { assert!(Shuffle::MOST == 16, "as many as are written out") }
    };
    ($by:ident, $register:ident => $body:expr, $($j:literal)+) => {
        'all: {
            $( match $by::REGISTERS {
                $j => break 'all,
                _ => {
                    let $register = $by::SHUFFLE.register($j);
                    $body
                }
            } )+
        }
    };
}

/// Packs whole periods of `count` records. Returns the number of the records in them.
///
/// # Safety
///
/// As [`pack_values`](crate::kernel::pack_values); the processor must have the instructions.
#[target_feature(enable = "avx2")]
pub(in crate::kernel) unsafe fn pack<K: ShuffledBy>(
    count: usize,
    mut memory: *const u8,
    mut packed: *mut u8,
) -> usize {
    debug_assert!(K::SHUFFLE.packs());
    let (in_memory, in_packed) = K::SHUFFLE.bytes();
    let periods = K::SHUFFLE.periods_to_pack(count);
    for _ in 0..periods {
        for_each_register!(K, register => {
            let Register { place, to: [low, high], ref gather, .. } = *register;
            // SAFETY: the index has 32 bytes, and a period of the caller's records is at the pointers: `periods_to_pack` counts
            // periods that have all bytes that are stored for them, which are no fewer than their data, among those of the
            // caller. The register is a part of the period's memory, and by the invariant of `Shuffle` no half is stored
            // further behind than the last one. What is stored there after data, the next half, the next period or the caller
            // overwrites. Prefetching is a hint, whatever the address.
            unsafe {
                if place % LINE < size_of::<__m256i>() {
                    _mm_prefetch::<_MM_HINT_T0>(memory.wrapping_add(place + AHEAD).cast());
                }
                let index = _mm256_loadu_si256(gather.as_ptr().cast());
                let data = load_data(index, memory.add(place));
                _mm_storeu_si128(packed.add(low).cast(), _mm256_castsi256_si128(data));
                _mm_storeu_si128(packed.add(high).cast(), _mm256_extracti128_si256::<1>(data));
            }
        });
        // They wrap, as they step past the last period.
        (memory, packed) = (memory.wrapping_add(in_memory), packed.wrapping_add(in_packed));
    }
    periods * K::SHUFFLE.records()
}

/// Unpacks the whole periods of `count` records. Returns the number of the records in them.
///
/// # Safety
///
/// As [`unpack_values`](crate::kernel::unpack_values); the processor must have the instructions.
#[target_feature(enable = "avx2")]
pub(in crate::kernel) unsafe fn unpack<K: ShuffledBy, const KEEPS_GAPS: bool>(
    count: usize,
    mut memory: *mut u8,
    mut packed: *const u8,
) -> usize {
    debug_assert!(K::SHUFFLE.unpacks());
    let (in_memory, in_packed) = K::SHUFFLE.bytes();
    let periods = count / K::SHUFFLE.records();
    for _ in 0..periods {
        for_each_register!(K, register => {
            let Register { place, from: [low, high], ref scatter, .. } = *register;
            // SAFETY: the index has 32 bytes. A period of the caller's records is at the pointers. By the invariant of
            // `Shuffle`, the register is a part of its memory, and each half loads 16 of its packed bytes.
            unsafe {
                let index = _mm256_loadu_si256(scatter.as_ptr().cast());
                let bytes = _mm256_loadu2_m128i(packed.add(high).cast(), packed.add(low).cast());
                let data = _mm256_shuffle_epi8(bytes, index);
                let place = memory.add(place);
                if KEEPS_GAPS {
                    store_data(index, place, data);
                } else {
                    _mm256_storeu_si256(place.cast(), data);
                }
            }
        });
        // They wrap, as they step past the last period.
        (memory, packed) = (memory.wrapping_add(in_memory), packed.wrapping_add(in_packed));
    }
    periods * K::SHUFFLE.records()
}

/// Loads a register and shuffles the bytes of each half by the index: those whose index has the highest bit become zeros.
///
/// # Safety
///
/// `place` must be valid for reading 32 bytes. Those that the index names must be initialised.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load_data(index: __m256i, place: *const u8) -> __m256i {
    if cfg!(miri) {
        // Miri does not interpret assembly.
        let mut data = [0; size_of::<__m256i>()];
        for (i, (byte, index)) in data.iter_mut().zip(bytes_of(index)).enumerate() {
            if index < 0x80 {
                // SAFETY: one of the bytes that the caller guarantees.
                *byte = unsafe { place.add(i / 16 * 16 + usize::from(index)).read() };
            }
        }
        // SAFETY: the array has 32 bytes.
        return unsafe { _mm256_loadu_si256(data.as_ptr().cast()) };
    }
    let data;
    // SAFETY: it reads the 32 bytes that the caller guarantees, and no others. What comes out are bytes that are initialised,
    // and zeros. The processor has the instructions, as the attribute demands.
    unsafe {
        asm!(
            "vmovdqu {data}, ymmword ptr [{place}]",
            "vpshufb {data}, {data}, {index}",
            place = in(reg) place,
            index = in(ymm_reg) index,
            data = out(ymm_reg) data,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    data
}

/// Stores the bytes except those whose index has the highest bit: what is there stays as it is.
///
/// It is loaded and stored again, for want of a store under a mask of bytes. Nobody can tell, as nobody else accesses it.
///
/// # Safety
///
/// `place` must be valid for reading and writing 32 bytes, initialised or not.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store_data(index: __m256i, place: *mut u8, data: __m256i) {
    if cfg!(miri) {
        // Miri does not interpret assembly.
        for (i, (byte, index)) in bytes_of(data).into_iter().zip(bytes_of(index)).enumerate() {
            if index < 0x80 {
                // SAFETY: one of the bytes that the caller guarantees.
                unsafe { place.add(i).write(byte) };
            }
        }
        return;
    }
    // SAFETY: it reads and writes the 32 bytes that the caller guarantees, and no others. The processor has the instructions,
    // as the attribute demands.
    unsafe {
        asm!(
            "vpblendvb {data}, {data}, ymmword ptr [{place}], {index}",
            "vmovdqu ymmword ptr [{place}], {data}",
            place = in(reg) place,
            index = in(ymm_reg) index,
            data = inout(ymm_reg) data => _,
            options(nostack, preserves_flags),
        );
    }
}

/// The bytes of a register.
#[inline]
#[target_feature(enable = "avx2")]
fn bytes_of(register: __m256i) -> [u8; size_of::<__m256i>()] {
    let mut bytes = [0; size_of::<__m256i>()];
    // SAFETY: the array has the 32 bytes that are stored.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), register) };
    bytes
}

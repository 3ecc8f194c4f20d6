//! What an instruction set provides for the kernels, and the dispatch to the selected one.

use core::ops::Range;

use super::direction::{Direction, Way};
use crate::isa::Isa;
use crate::plan::{Constant, MAX_COLUMNS, Permutation, Step};

/// The registers of a set of instructions.
///
/// A kernel is generic over them and compiled once for each set, by [`compiled_for_selected!`]. Where a set has no
/// special instructions, the default here applies.
pub(super) trait Registers {
    /// The set, by which kernels are chosen.
    const ISA: Isa;

    /// Bytes of the widest register.
    const WIDTH: usize = Self::ISA.width();

    /// Copies `len` bytes by one load and one store of `W` bytes, 32 or 64, under a mask that leaves out the rest.
    ///
    /// # Safety
    ///
    /// `from` must be valid for reading `len` bytes and `to` for writing as many, and they must not overlap. `len` must be at
    /// most `W`. The processor must have the instructions.
    #[inline(always)]
    unsafe fn masked<const W: usize>(from: *const u8, to: *mut u8, len: usize) {
        // SAFETY: the caller guarantees both ranges.
        unsafe { to.copy_from_nonoverlapping(from, len) };
    }

    /// Copies `len` bytes and reverses each value of `W` bytes.
    ///
    /// # Safety
    ///
    /// `from` must be valid for reading `len` bytes and `to` for writing `len` bytes, and the two ranges must not overlap.
    /// `len` must be a multiple of `W`. The processor must have the instructions.
    #[inline(always)]
    unsafe fn reverse<const W: usize>(from: *const u8, to: *mut u8, len: usize) {
        for at in (0..len).step_by(W) {
            // SAFETY: the caller guarantees the values; this is one of them. An array of bytes needs no alignment.
            unsafe {
                let mut bytes = from.add(at).cast::<[u8; W]>().read();
                bytes.reverse();
                to.add(at).cast::<[u8; W]>().write(bytes);
            }
        }
    }

    /// Copies the packed bytes `range` of records, counted from the start of the first, by their permutation. Returns `false`,
    /// with nothing copied, if no instruction can.
    ///
    /// # Safety
    ///
    /// `memory + displacement` must be valid for `D` on every data byte of the range, and `packed` on as many bytes as these
    /// are. If memory is read, all data of the records in the range must be readable; if it is written, the records must not
    /// overlap. The range must start in the first record, or be empty. The two sides must not overlap; if `D` moves, no byte may
    /// be read after it was written. The processor must have the instructions.
    #[inline(always)]
    unsafe fn permute<D: Direction>(
        permutation: &Permutation,
        range: Range<usize>,
        memory: *mut u8,
        packed: *mut u8,
    ) -> bool {
        let _ = (permutation, range, memory, packed);
        false
    }

    /// Copies `count` records of `size` packed bytes, `stride` bytes apart, each in these steps. Returns `false`, with nothing
    /// copied, if no instruction can.
    ///
    /// # Safety
    ///
    /// `memory + displacement` must be valid for `D` on every data byte of the records, and `packed` on as many bytes. The two
    /// must not overlap, and the processor must have the instructions.
    #[inline(always)]
    unsafe fn steps<D: Direction>(
        steps: &[Step],
        (size, stride): (usize, isize),
        count: usize,
        memory: *mut u8,
        packed: *mut u8,
    ) -> bool {
        let _ = (steps, size, stride, count, memory, packed);
        false
    }

    /// Copies one record by its permutation. Returns `false`, with nothing copied, if no instruction can.
    ///
    /// # Safety
    ///
    /// `memory + displacement` must be valid for `D` on every data byte of the record, and `packed` on as many bytes. The two
    /// must not overlap, and the processor must have the instructions.
    #[inline(always)]
    unsafe fn permute_one<D: Direction>(
        permutation: &Permutation,
        memory: *mut u8,
        packed: *mut u8,
    ) -> bool {
        let _ = (permutation, memory, packed);
        false
    }

    /// Copies the records to the columns, or back, several records at a time. Returns `false`, with nothing copied, if no
    /// instruction can.
    ///
    /// # Safety
    ///
    /// `memory` must be valid for `D` on the data of the columns in each record, and each column on as many bytes. Records and
    /// columns must not overlap. The processor must have the instructions.
    #[inline(always)]
    unsafe fn columns<D: Way, G: Constant>(
        count: usize,
        memory: *mut u8,
        columns: &[*mut u8; MAX_COLUMNS],
    ) -> bool {
        let _ = (count, memory, columns);
        false
    }
}

/// The registers that every machine has.
pub(super) struct Portable;

impl Registers for Portable {
    const ISA: Isa = Isa::Portable;
}

/// Declares a function that is compiled for each instruction set, and calls the version of the selected set.
///
/// After the name come the generic parameters, first as declared and then as used. After `=` come a name for the [`Registers`]
/// and the body. `, without avx2` after the name lets the portable code serve AVX2 too, for kernels that do not gain from
/// registers of 32 bytes. Functions that the body calls must be `#[inline(always)]`: only code that is inlined into the
/// function may use the instructions.
macro_rules! compiled_for_selected {
    ($(#[$attribute:meta])* $visibility:vis unsafe fn $name:ident [$($declared:tt)*] [$($used:tt)*] (
        $($argument:ident: $type:ty),* $(,)?
    ) $(-> $result:ty)? = $registers:ident $(, without $without:ident)? => $body:expr;) => {
        $(#[$attribute])*
        $visibility unsafe fn $name<$($declared)*>($($argument: $type),*) $(-> $result)? {
            /// # Safety
            ///
            /// As the function around it; the processor must have the instructions.
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,movbe")]
            unsafe fn avx2<$($declared)*>($($argument: $type),*) $(-> $result)? {
                type $registers = $crate::kernel::x86_64::Avx2;
                // SAFETY: the caller of the function around it guarantees what the body requires.
                unsafe { $body }
            }

            /// # Safety
            ///
            /// As the function around it; the processor must have the instructions.
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,movbe")]
            unsafe fn avx512<$($declared)*>($($argument: $type),*) $(-> $result)? {
                type $registers = $crate::kernel::x86_64::Avx512;
                // SAFETY: the caller of the function around it guarantees what the body requires.
                unsafe { $body }
            }

            // Separate functions, so that the dispatch ends in a jump and saves no registers.
            /// # Safety
            ///
            /// As the function around it.
            unsafe fn portable<$($declared)*>($($argument: $type),*) $(-> $result)? {
                type $registers = $crate::kernel::registers::Portable;
                // SAFETY: the caller of the function around it guarantees what the body requires.
                unsafe { $body }
            }

            /// # Safety
            ///
            /// As the function around it.
            #[cold]
            #[inline(never)]
            unsafe fn undecided<$($declared)*>($($argument: $type),*) $(-> $result)? {
                $crate::isa::selected();
                // SAFETY: passed on to the caller of the function around it.
                unsafe { $name::<$($used)*>($($argument),*) }
            }

            const HAS_AVX2: bool = stringify!($($without)?).is_empty();
            // SAFETY: the caller guarantees what the body requires. Only a set that the processor has is ever
            // selected (`isa::select`, `isa::first`).
            unsafe {
                match $crate::isa::decided() {
                    #[cfg(target_arch = "x86_64")]
                    Some($crate::isa::Isa::Avx2) if HAS_AVX2 => {
                        avx2::<$($used)*>($($argument),*)
                    }
                    #[cfg(target_arch = "x86_64")]
                    Some($crate::isa::Isa::Avx512) => avx512::<$($used)*>($($argument),*),
                    Some(_) => portable::<$($used)*>($($argument),*),
                    None => undecided::<$($used)*>($($argument),*),
                }
            }
        }
    };
}

pub(super) use compiled_for_selected;

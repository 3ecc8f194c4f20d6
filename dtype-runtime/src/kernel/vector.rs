//! The primitives that an instruction set provides for kernels that rearrange bytes in vector registers.
//!
//! The kernels are algorithms over [`Vector`]: [`shuffle`](super::shuffle) and [`lanes`](super::lanes). An instruction set adds
//! an implementation of the trait, and an arm in [`compiled_for_vectors!`].

/// 32 bytes in registers. Its methods rearrange bytes within each half.
///
/// An index has one entry for each byte: which of the 16 bytes of its half goes there, or a number with the highest bit set,
/// which names no byte. No other bit is then set.
///
/// # Safety
///
/// The processor must have the instructions, for every method. A method without a section of its own requires nothing else.
/// Pointers need no alignment.
pub(super) trait Vector: Copy {
    /// Loads 32 bytes.
    ///
    /// # Safety
    ///
    /// `from` must be valid for reading 32 bytes, which must be initialised.
    unsafe fn load(from: *const u8) -> Self;

    /// Loads two halves.
    ///
    /// # Safety
    ///
    /// `low` and `high` must each be valid for reading 16 bytes, which must be initialised.
    unsafe fn load_halves(low: *const u8, high: *const u8) -> Self;

    /// Stores 32 bytes.
    ///
    /// # Safety
    ///
    /// `to` must be valid for writing 32 bytes.
    unsafe fn store(self, to: *mut u8);

    /// Stores two halves, the low one first.
    ///
    /// # Safety
    ///
    /// `low` and `high` must each be valid for writing 16 bytes.
    unsafe fn store_halves(self, low: *mut u8, high: *mut u8);

    /// Loads 32 bytes and rearranges them. Bytes that the index does not name may be uninitialised, so they must never be a
    /// Rust value: a block of assembly loads them, and only returns bytes that the index names, and zeros.
    ///
    /// # Safety
    ///
    /// `from` must be valid for reading 32 bytes. Those that the index names must be initialised.
    unsafe fn load_shuffled(from: *const u8, index: Self) -> Self;

    /// Rearranges the bytes and stores them. Bytes of memory whose index entry has the highest bit set are loaded and stored
    /// unchanged, initialised or not.
    ///
    /// # Safety
    ///
    /// `to` must be valid for reading and writing 32 bytes.
    unsafe fn store_shuffled(self, to: *mut u8, index: Self);

    /// Rearranges the bytes, with zeros where the index entry has the highest bit set.
    unsafe fn shuffle(self, index: Self) -> Self;

    /// The bits in which the two differ.
    unsafe fn xor(self, other: Self) -> Self;

    /// The difference of each lane of `W` bytes: 1, 2, 4 or 8. It wraps.
    unsafe fn subtract<const W: usize>(self, other: Self) -> Self;

    /// The greater one of each lane of `W` bytes, as signed numbers.
    unsafe fn max<const W: usize>(self, other: Self) -> Self;

    /// Whether all bytes are equal.
    unsafe fn equals(self, other: Self) -> bool;

    /// Prefetches the cache line of an address, which need not be mapped.
    #[inline(always)]
    unsafe fn prefetch(place: *const u8) {
        let _ = place;
    }
}

/// Declares a function that is compiled for each instruction set with a [`Vector`], and calls the version of the selected set.
/// If that set has none, the function returns the value after `else`.
///
/// The assembly needs addresses of 64 bits. The macro is called as [`compiled_for_selected!`](super::registers) is, with a name
/// for the vector. A function whose body requires only the instructions need not be `unsafe`.
macro_rules! compiled_for_vectors {
    ($(#[$attribute:meta])* $visibility:vis $($unsafe_fn_name:ident)+ [$($declared:tt)*] [$($used:tt)*] (
        $($argument:ident: $type:ty),* $(,)?
    ) -> $result:ty = $vector:ident => $body:expr; else $otherwise:expr) => {
        $(#[$attribute])*
        $visibility $($unsafe_fn_name)+<$($declared)*>($($argument: $type),*) -> $result {
            /// # Safety
            ///
            /// As the function around it; the processor must have the instructions.
            #[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
            #[target_feature(enable = "avx2")]
            unsafe fn avx2<$($declared)*>($($argument: $type),*) -> $result {
                type $vector = core::arch::x86_64::__m256i;
                // SAFETY: the caller of the function around it guarantees what the body requires.
                unsafe { $body }
            }

            /// # Safety
            ///
            /// As the function around it; the processor must have the instructions.
            #[cfg(target_arch = "aarch64")]
            #[target_feature(enable = "neon")]
            unsafe fn neon<$($declared)*>($($argument: $type),*) -> $result {
                type $vector = $crate::kernel::aarch64::Neon;
                // SAFETY: the caller of the function around it guarantees what the body requires.
                unsafe { $body }
            }

            // SAFETY: the caller guarantees what the body requires beside the instructions. Only a set that the processor has is
            // ever selected (`isa::select`, `isa::first`).
            #[allow(unused_unsafe, reason = "some machines have no vector")]
            unsafe {
                match $crate::isa::decided() {
                    #[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
                    Some($crate::isa::Isa::Avx2 | $crate::isa::Isa::Avx512) => {
                        avx2::<$($used)*>($($argument),*)
                    }
                    #[cfg(target_arch = "aarch64")]
                    Some($crate::isa::Isa::Neon) => neon::<$($used)*>($($argument),*),
                    _ => {
                        $(let _ = $argument;)*
                        $otherwise
                    }
                }
            }
        }
    };
}

pub(super) use compiled_for_vectors;

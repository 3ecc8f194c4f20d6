//! Which instruction set the kernels use.
//!
//! The processor is queried once, and the best instruction set that it has is used from then on. It affects only the time, and
//! not the packed bytes. If the environment variable `DTYPE_KERNELS` is set when an instruction set is first needed, it names
//! the one to use instead: `portable`, `avx2`, `avx512` or `neon`. A value that is none of these, or that the machine lacks, is
//! reported on standard error and ignored. Without the feature `std` the processor is not queried: the instruction set is the
//! one that the crate is compiled for.
//!
//! ```
//! use dtype_runtime::isa::{Isa, available, select, selected};
//! assert!(available(Isa::Portable));
//! select(Isa::Portable)?;
//! assert_eq!(selected(), Isa::Portable);
//! # Ok::<(), dtype_runtime::isa::UnavailableError>(())
//! ```

use core::fmt;
use core::sync::atomic::{AtomicU8, Ordering};

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Isa {
    /// The instruction set that the crate is compiled for, which every machine has.
    Portable = 1,
    /// AVX2 and MOVBE on `x86_64`: blocks are copied, and values reversed, widened and checked, 32 bytes at a time. Slices of
    /// small structs go through registers, several at a time.
    Avx2,
    /// The same with AVX-512 and its permutations of bytes (F, BW, VL and VBMI, and BMI2): blocks go 64 bytes at a time, and
    /// records of small structs are rearranged in registers, several at a time.
    Avx512,
    /// NEON on little-endian `aarch64`: slices of small structs go through registers, several at a time, and so do checks of
    /// values. All else is as in [`Portable`](Self::Portable), which is compiled with NEON, too.
    Neon,
}

impl Isa {
    /// All instruction sets, from the plainest to the best.
    pub const ALL: &'static [Self] = &[Self::Portable, Self::Avx2, Self::Avx512, Self::Neon];

    /// The name, as in `DTYPE_KERNELS`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Neon => "neon",
        }
    }

    /// Bytes of the widest register that copies blocks.
    pub(crate) const fn width(self) -> usize {
        match self {
            Self::Portable | Self::Neon => 16,
            Self::Avx2 => 32,
            Self::Avx512 => 64,
        }
    }

    /// Whether one instruction loads or stores single bytes under a mask.
    pub(crate) const fn masks(self) -> bool {
        matches!(self, Self::Avx512)
    }

    /// Whether one instruction permutes the bytes of a register, and the kernels use it for [permutations]. This alone decides
    /// how arrays of small structs are copied.
    ///
    /// [permutations]: crate::plan::Permutation
    #[inline(always)]
    pub(crate) const fn permutes(self) -> bool {
        matches!(self, Self::Avx512)
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The machine lacks the requested instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnavailableError {
    /// The requested instruction set.
    pub asked: Isa,
    /// The best one that the machine has.
    pub best: Isa,
}

impl fmt::Display for UnavailableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asked, best } = self;
        write!(f, "this machine has no {asked} kernels; the best it has are {best}")
    }
}

impl core::error::Error for UnavailableError {}

/// Bytes of a register that a permutation rearranges.
pub(crate) const WIDTH: usize = 64;

/// Whether the crate may select instructions that execute permutations, or some of them, on some machine.
pub(crate) const EXECUTES_PERMUTATIONS: bool =
    cfg!(all(target_arch = "x86_64", any(feature = "std", target_feature = "avx2")));

/// Whether the kernels of some instruction sets shuffle the values of slices. Assembly takes addresses in registers of 64 bits.
pub(crate) const ARE_SHUFFLED: bool = cfg!(target_pointer_width = "64");

/// The code of the instruction set in use; 0 until the first use.
static SELECTED: AtomicU8 = AtomicU8::new(0);

/// Whether the machine has all of these features. Without the feature `std`: whether the compilation target has them.
macro_rules! has {
    ($($feature:tt)+) => {{
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        let all = $(std::is_x86_feature_detected!($feature))&&+;
        #[cfg(not(all(target_arch = "x86_64", feature = "std")))]
        let all = cfg!(all(target_arch = "x86_64", $(target_feature = $feature),+));
        all
    }};
}

/// Whether the machine has this instruction set.
pub fn available(isa: Isa) -> bool {
    match isa {
        Isa::Portable => true,
        // A processor, or an emulator, may lack any one of these.
        Isa::Avx2 => has!("avx2" "movbe"),
        Isa::Avx512 => {
            available(Isa::Avx2) && has!("avx512f" "avx512bw" "avx512vl" "avx512vbmi" "bmi2")
        }
        // Part of the target for which the crate is compiled, or absent. The kernels need little-endian lanes and 64-bit
        // addresses.
        Isa::Neon => cfg!(all(
            target_arch = "aarch64",
            target_feature = "neon",
            target_endian = "little",
            target_pointer_width = "64",
        )),
    }
}

/// Uses this instruction set from now on, in all threads. For tests, and for benches that compare.
///
/// # Errors
///
/// [`UnavailableError`] if the machine lacks it; nothing changes then.
pub fn select(isa: Isa) -> Result<(), UnavailableError> {
    if !available(isa) {
        return Err(UnavailableError { asked: isa, best: best() });
    }
    SELECTED.store(isa as u8, Ordering::Relaxed);
    Ok(())
}

/// The instruction set in use.
#[inline]
pub fn selected() -> Isa {
    decided().unwrap_or_else(first)
}

/// The selected instruction set, if one is selected already.
#[inline(always)]
pub(crate) fn decided() -> Option<Isa> {
    // Each set must have an arm below.
    const { assert!(Isa::ALL.len() == 4) };
    match SELECTED.load(Ordering::Relaxed) {
        1 => Some(Isa::Portable),
        2 => Some(Isa::Avx2),
        3 => Some(Isa::Avx512),
        4 => Some(Isa::Neon),
        _ => None,
    }
}

/// Decides which instruction set is used.
#[cold]
fn first() -> Isa {
    let isa = wanted().unwrap_or_else(best);
    // If another thread has selected a set in the meantime, that one stays.
    match SELECTED.compare_exchange(0, isa as u8, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => isa,
        Err(_) => selected(),
    }
}

fn best() -> Isa {
    Isa::ALL.iter().copied().rfind(|isa| available(*isa)).unwrap_or(Isa::Portable)
}

/// The instruction set that the environment selects, if the machine has it.
#[cfg(feature = "std")]
fn wanted() -> Option<Isa> {
    let value = std::env::var_os("DTYPE_KERNELS")?;
    let named = Isa::ALL.iter().copied().find(|isa| value == *isa.name());
    match named {
        Some(isa) if available(isa) => return Some(isa),
        Some(isa) => {
            let error = UnavailableError { asked: isa, best: best() };
            eprintln!("dtype: DTYPE_KERNELS={isa}: {error}");
        }
        None => eprintln!("dtype: DTYPE_KERNELS={}: there are no such kernels", value.display()),
    }
    None
}

#[cfg(not(feature = "std"))]
fn wanted() -> Option<Isa> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_there_is() {
        let error = UnavailableError { asked: Isa::Avx512, best: Isa::Portable };
        let text = "this machine has no avx512 kernels; the best it has are portable";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn each_set_has_kernels_of_its_own() {
        let has = |isa: Isa| (isa.width(), isa.permutes(), isa.masks());
        assert_eq!([Isa::Portable, Isa::Neon].map(has), [(16, false, false); 2]);
        assert_eq!(has(Isa::Avx2), (32, false, false));
        assert_eq!(has(Isa::Avx512), (64, true, true));
        assert!(available(Isa::Portable) && available(selected()));
        assert!(available(Isa::Avx2) || !available(Isa::Avx512));
    }
}

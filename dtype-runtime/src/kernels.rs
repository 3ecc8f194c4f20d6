//! Which instruction set the kernels use.
//!
//! The processor is queried once, and the best instruction set that it has is used from then on. The packed bytes do
//! not depend on it, only the time does. If the environment variable `DTYPE_KERNELS` is set when an instruction set is
//! first needed, it names the one to use instead: `portable`, `avx2` or `avx512`. A value that is none of these, or
//! that the machine lacks, is reported on standard error and ignored. Without the feature `std` the processor is not
//! queried: the instruction set is the one that the crate is compiled for.
//!
//! ```
//! use dtype_runtime::kernels::{Isa, available, select, selected};
//! assert!(available(Isa::Portable));
//! select(Isa::Portable)?;
//! assert_eq!(selected(), Isa::Portable);
//! # Ok::<(), dtype_runtime::kernels::UnavailableError>(())
//! ```

use core::fmt;
use core::sync::atomic::{AtomicU8, Ordering};

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Isa {
    /// The one that the crate is compiled for, which every machine has.
    Portable,
    /// AVX2 and MOVBE on `x86_64`: blocks are copied, and values reversed, widened and checked, 32 bytes at a time. Slices of
    /// small structs go through registers, several at a time, and so do records of types made at run time that are packed, if
    /// each of their runs has four bytes or more.
    Avx2,
    /// The same with AVX-512 and its permutations of bytes (F, BW, VL and VBMI, and BMI2): blocks go 64 bytes at a time, and
    /// records of small structs are rearranged in registers, several at a time.
    Avx512,
}

impl Isa {
    /// All, from the plainest to the best.
    pub const ALL: &'static [Self] = &[Self::Portable, Self::Avx2, Self::Avx512];

    /// The name, as in `DTYPE_KERNELS`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// Whether one instruction permutes the bytes of a register, and the kernels execute [permutations] with it. Only this
    /// decides how arrays of small structs are copied.
    ///
    /// [permutations]: crate::plan::Permutation
    #[inline(always)]
    pub(crate) const fn permutes(self) -> bool {
        self.permuted_width().is_some()
    }

    /// Whether the kernels [pack] the records of some permutations, for want of such an instruction.
    ///
    /// [pack]: crate::plan::Quads
    #[inline(always)]
    pub(crate) const fn packs_by_quads(self) -> bool {
        matches!(self, Self::Avx2)
    }

    /// Whether the kernels [shuffle] records of values, for want of such an instruction. (They pass addresses to assembly, in
    /// registers of 64 bits.)
    ///
    /// [shuffle]: crate::plan::Shuffle
    #[inline(always)]
    pub(crate) const fn shuffles(self) -> bool {
        matches!(self, Self::Avx2) && cfg!(target_pointer_width = "64")
    }

    /// Bytes of the register that one instruction permutes.
    #[inline(always)]
    const fn permuted_width(self) -> Option<usize> {
        match self {
            Self::Portable | Self::Avx2 => None,
            Self::Avx512 => Some(64),
        }
    }

    /// Whether the crate, as it is compiled, may select these on some machine.
    const fn is_compiled(self) -> bool {
        match self {
            Self::Portable => true,
            Self::Avx2 => cfg!(all(target_arch = "x86_64", feature = "std")) || ALWAYS_AVX2,
            Self::Avx512 => cfg!(all(target_arch = "x86_64", feature = "std")) || ALWAYS_AVX512,
        }
    }

    const fn code(self) -> u8 {
        match self {
            Self::Portable => 1,
            Self::Avx2 => 2,
            Self::Avx512 => 3,
        }
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

/// Bytes of the registers that permutations are computed for. Where nothing executes one, any width will do.
pub(crate) const WIDTH: usize = {
    let (mut widest, mut i) = (64, 0);
    while i < Isa::ALL.len() {
        if Isa::ALL[i].is_compiled()
            && let Some(width) = Isa::ALL[i].permuted_width()
        {
            widest = width;
        }
        i += 1;
    }
    widest
};

/// Whether the crate is compiled for instructions that execute permutations, or some of them.
pub(crate) const EXECUTES_PERMUTATIONS: bool = {
    let (mut any, mut i) = (false, 0);
    while i < Isa::ALL.len() {
        let isa = Isa::ALL[i];
        any |= isa.is_compiled() && (isa.permutes() || isa.packs_by_quads());
        i += 1;
    }
    any
};

/// The code of what is used; 0 until it is needed first.
static SELECTED: AtomicU8 = AtomicU8::new(0);

/// Whether the machine has this instruction set.
pub fn available(isa: Isa) -> bool {
    match isa {
        Isa::Portable => true,
        Isa::Avx2 => has_avx2(),
        Isa::Avx512 => has_avx512(),
    }
}

/// Uses this instruction set from now on, in all threads: for tests, and for benches that compare.
///
/// # Errors
///
/// [`UnavailableError`] if the machine lacks it; nothing changes then.
pub fn select(isa: Isa) -> Result<(), UnavailableError> {
    if !available(isa) {
        return Err(UnavailableError { asked: isa, best: best() });
    }
    SELECTED.store(isa.code(), Ordering::Relaxed);
    Ok(())
}

/// The instruction set in use.
#[inline]
pub fn selected() -> Isa {
    decided().unwrap_or_else(first)
}

/// What is used, if it is decided.
#[inline(always)]
pub(crate) fn decided() -> Option<Isa> {
    // Every set has its arm below.
    const { assert!(Isa::ALL.len() == 3) };
    match SELECTED.load(Ordering::Relaxed) {
        1 => Some(Isa::Portable),
        2 => Some(Isa::Avx2),
        3 => Some(Isa::Avx512),
        _ => None,
    }
}

/// Decides what is used.
#[cold]
fn first() -> Isa {
    let isa = wanted().unwrap_or_else(best);
    // A `select` that came in between stays.
    match SELECTED.compare_exchange(0, isa.code(), Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => isa,
        Err(_) => selected(),
    }
}

fn best() -> Isa {
    Isa::ALL.iter().copied().rfind(|isa| available(*isa)).unwrap_or(Isa::Portable)
}

/// What the environment asks for, if the machine has it.
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

/// Whether every machine that the crate is compiled for has AVX2 and MOVBE.
const ALWAYS_AVX2: bool =
    cfg!(all(target_arch = "x86_64", target_feature = "avx2", target_feature = "movbe"));

/// The same for AVX-512, with all that its kernels need.
const ALWAYS_AVX512: bool = ALWAYS_AVX2
    && cfg!(all(
        target_feature = "avx512f",
        target_feature = "avx512bw",
        target_feature = "avx512vl",
        target_feature = "avx512vbmi",
        target_feature = "bmi2",
    ));

#[cfg(all(target_arch = "x86_64", feature = "std"))]
fn has_avx2() -> bool {
    // A processor, or who emulates one, may lack each of them alone.
    std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("movbe")
}

#[cfg(not(all(target_arch = "x86_64", feature = "std")))]
fn has_avx2() -> bool {
    ALWAYS_AVX2
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
fn has_avx512() -> bool {
    has_avx2()
        && std::is_x86_feature_detected!("avx512f")
        && std::is_x86_feature_detected!("avx512bw")
        && std::is_x86_feature_detected!("avx512vl")
        && std::is_x86_feature_detected!("avx512vbmi")
        && std::is_x86_feature_detected!("bmi2")
}

#[cfg(not(all(target_arch = "x86_64", feature = "std")))]
fn has_avx512() -> bool {
    ALWAYS_AVX512
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
}

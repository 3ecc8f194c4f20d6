//! The formats of C's `long double`. C leaves its width and its format open.

use core::fmt;

use super::Basic;

/// The formats of C's `long double`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LongDouble {
    /// As a `double`, in 8 bytes.
    Binary64,
    /// The x87's 80 bits in 12 bytes, as on 32-bit x86.
    X87In12,
    /// The x87's 80 bits in 16 bytes, as on x86-64.
    X87In16,
    /// IEEE 754 binary128, in 16 bytes.
    Binary128,
    /// The sum of two `double`s, in 16 bytes, as on PowerPC. Between machines with this format it is sent unchanged; it cannot
    /// be converted to another format.
    DoubleDouble,
}

impl LongDouble {
    /// Bytes of one value.
    pub const fn size(self) -> usize {
        match self {
            Self::Binary64 => 8,
            Self::X87In12 => 12,
            Self::X87In16 | Self::Binary128 | Self::DoubleDouble => 16,
        }
    }

    /// The format of this machine, determined by the width, and by the processor where a width has several
    /// formats.
    pub(crate) const NATIVE: Self = match Basic::LongDouble.size() {
        8 => Self::Binary64,
        12 => Self::X87In12,
        _ if cfg!(any(target_arch = "x86", target_arch = "x86_64", dtype_layouts = "x86_64")) => {
            Self::X87In16
        }
        _ if cfg!(any(target_arch = "powerpc", target_arch = "powerpc64")) => Self::DoubleDouble,
        _ => Self::Binary128,
    };
}

impl fmt::Display for LongDouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Binary64 => "binary64",
            Self::X87In12 => "x87 in 12 bytes",
            Self::X87In16 => "x87 in 16 bytes",
            Self::Binary128 => "binary128",
            Self::DoubleDouble => "double-double",
        })
    }
}

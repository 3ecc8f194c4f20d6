//! The flags of a datatype.

use core::fmt;
use core::ops::{BitOr, BitOrAssign};

/// The flags of Open MPI's `opal_datatype_t`, with the same names and the same meanings (`OPAL_DATATYPE_FLAG_*`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Flags(u16);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// A basic datatype or marker; not set on pair types.
    pub const PREDEFINED: Self = Self(1 << 0);
    /// Ready to be packed: predefined, or committed.
    pub const COMMITTED: Self = Self(1 << 1);
    /// Names a byte of memory more than once, or has too many interleaved blocks to rule that out. Such a type can be packed,
    /// but not unpacked.
    pub const OVERLAP: Self = Self(1 << 2);
    /// The data are one run, in the order of the type map, whatever the bounds.
    pub const CONTIGUOUS: Self = Self(1 << 3);
    /// Contiguous, and the extent equals the size: several instances in a row are contiguous, too.
    pub const NO_GAPS: Self = Self(1 << 4);
    /// The lower bound was set with an LB marker. A resize alone does not set this.
    pub const USER_LB: Self = Self(1 << 5);
    /// The upper bound was set with a UB marker. A resize alone does not set this.
    pub const USER_UB: Self = Self(1 << 6);
    /// Has data; markers and empty types do not.
    pub const DATA: Self = Self(1 << 7);
    /// Not available in this build. Every type is available in every build here, so this flag is never set; it
    /// exists for types that come from elsewhere.
    pub const UNAVAILABLE: Self = Self(1 << 8);
    /// The flags of both markers.
    pub(super) const MARKER: Self = Self(Self::PREDEFINED.0 | Self::COMMITTED.0);
    /// The flags of every basic datatype.
    pub const BASIC: Self = Self(
        Self::PREDEFINED.0
            | Self::CONTIGUOUS.0
            | Self::NO_GAPS.0
            | Self::DATA.0
            | Self::COMMITTED.0,
    );

    const NAMES: [(Self, &'static str); 9] = [
        (Self::UNAVAILABLE, "UNAVAILABLE"),
        (Self::PREDEFINED, "PREDEFINED"),
        (Self::COMMITTED, "COMMITTED"),
        (Self::OVERLAP, "OVERLAP"),
        (Self::CONTIGUOUS, "CONTIGUOUS"),
        (Self::NO_GAPS, "NO_GAPS"),
        (Self::USER_LB, "USER_LB"),
        (Self::USER_UB, "USER_UB"),
        (Self::DATA, "DATA"),
    ];

    /// Whether all of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// `self` if `condition` holds, otherwise no flags.
    pub(crate) const fn when(self, condition: bool) -> Self {
        if condition { self } else { Self::NONE }
    }

    #[cfg(feature = "serde")]
    pub(crate) const fn bits(self) -> u16 {
        self.0
    }

    /// The flags with these bits; `None` if a bit does not belong to a flag.
    #[cfg(feature = "serde")]
    pub(crate) fn from_bits(bits: u16) -> Option<Self> {
        let known = Self::NAMES.iter().fold(Self::NONE, |all, (flag, _)| all | *flag);
        (bits & !known.0 == 0).then_some(Self(bits))
    }

    /// The flags that `Debug` prints as this text.
    #[cfg(feature = "serde")]
    pub(crate) fn parse(names: &str) -> Option<Self> {
        if names == "NONE" {
            return Some(Self::NONE);
        }
        names.split(" | ").try_fold(Self::NONE, |all, name| {
            let (flag, _) = Self::NAMES.iter().find(|(_, known)| *known == name)?;
            Some(all | *flag)
        })
    }

    /// The flags of `self` that are also in `mask`.
    pub(crate) const fn only(self, mask: Self) -> Self {
        Self(self.0 & mask.0)
    }
}

impl BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut set = Self::NAMES.iter().filter(|(flag, _)| self.contains(*flag));
        let Some((_, first)) = set.next() else { return f.write_str("NONE") };
        f.write_str(first)?;
        set.try_for_each(|(_, name)| write!(f, " | {name}"))
    }
}

//! Which bit patterns are values.

/// Which bit patterns of a basic datatype form a value of the Rust type it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Validity {
    /// All bit patterns.
    Any,
    /// 0 and 1.
    Bool,
    /// The Unicode scalar values: 0 to 0x10FFFF without the surrogates.
    Char,
    /// All bit patterns but zero.
    NonZero,
    /// The discriminants of an enum.
    Enum(Discriminants),
}

impl Validity {
    /// Whether `bits`, the value zero-extended to 128 bits, is one of the legal patterns.
    #[inline]
    pub const fn accepts(self, bits: u128) -> bool {
        match self {
            Self::Any => true,
            Self::Bool => bits <= 1,
            Self::Char => bits <= 0x10_FFFF && (bits < 0xD800 || bits > 0xDFFF),
            Self::NonZero => bits != 0,
            Self::Enum(values) => values.contains(bits),
        }
    }

    /// Whether every bit pattern is legal, so that nothing needs to be checked.
    pub const fn is_any(self) -> bool {
        matches!(self, Self::Any)
    }
}

/// The discriminants of an enum, as bit patterns zero-extended to 128 bits.
/// Most enums number their variants without a gap, and two comparisons decide. For the others, the values are
/// searched.
/// searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Discriminants {
    least: u128,
    greatest: u128,
    dense: bool,
    values: &'static [u128],
}

impl Discriminants {
    /// The set of `values`, in any order.
    ///
    /// # Panics
    ///
    /// When `values` is empty: such an enum has no value, and nothing could ever be unpacked. The derive refuses
    /// such an enum earlier.
    pub const fn new(values: &'static [u128]) -> Self {
        assert!(!values.is_empty(), "an enum without variants has no value to pack");
        let (mut least, mut greatest) = (values[0], values[0]);
        // Only values in ascending order are known to have no duplicates.
        let mut ascending = true;
        let mut i = 1;
        while i < values.len() {
            if values[i] < least {
                least = values[i];
            }
            if values[i] > greatest {
                greatest = values[i];
            }
            ascending &= values[i - 1] < values[i];
            i += 1;
        }
        let dense = ascending && greatest - least == values.len() as u128 - 1;
        Self { least, greatest, dense, values }
    }

    /// Whether `bits` is one of the discriminants.
    #[inline]
    pub const fn contains(self, bits: u128) -> bool {
        if bits < self.least || bits > self.greatest {
            return false;
        }
        if self.dense {
            return true;
        }
        let mut i = 0;
        while i < self.values.len() {
            if self.values[i] == bits {
                return true;
            }
            i += 1;
        }
        false
    }

    /// The discriminants in declaration order.
    pub const fn values(self) -> &'static [u128] {
        self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn char_accepts_exactly_what_the_language_accepts() {
        for bits in (0..0x0011_0100_u32).chain([u32::MAX]) {
            let expected = char::from_u32(bits).is_some();
            assert_eq!(Validity::Char.accepts(bits.into()), expected, "{bits:#x}");
        }
    }

    #[test]
    fn sparse_and_dense_discriminants() {
        const SPARSE: Discriminants = Discriminants::new(&[7, 1, 200]);
        const DENSE: Discriminants = Discriminants::new(&[3, 4, 5]);
        const SHUFFLED: Discriminants = Discriminants::new(&[5, 3, 4]);
        const TWICE: Discriminants = Discriminants::new(&[0, 2, 2]);
        const ENDS: Discriminants = Discriminants::new(&[0, u128::MAX]);
        let accepted =
            |set: Discriminants| (0..300).filter(|&b| set.contains(b)).collect::<Vec<_>>();
        assert_eq!(accepted(SPARSE), [1, 7, 200]);
        assert_eq!(accepted(DENSE), [3, 4, 5]);
        assert_eq!(accepted(SHUFFLED), [3, 4, 5]);
        assert_eq!(accepted(TWICE), [0, 2]);
        assert_eq!(accepted(ENDS), [0]);
        assert!(ENDS.contains(u128::MAX) && !ENDS.contains(u128::MAX - 1));
    }
}

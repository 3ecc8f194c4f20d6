//! Which bit patterns of a basic datatype are values of a Rust type.

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
    /// The numbers up to this one.
    AtMost(u32),
    /// All floats except NaN.
    NotNan {
        /// The bit pattern of the positive infinity, which tells the format of the float.
        infinity: u64,
    },
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
            Self::AtMost(greatest) => bits <= greatest as u128,
            Self::NotNan { infinity } => {
                // The exponent of the infinity is all ones and its fraction zero; a NaN has the same exponent and
                // another fraction. The bits below the lowest one of the exponent are the fraction's.
                let fraction = (infinity & infinity.wrapping_neg()).wrapping_sub(1);
                bits & (infinity | fraction) as u128 <= infinity as u128
            }
            Self::Enum(values) => values.contains(bits),
        }
    }

    /// Whether every bit pattern is legal, so that nothing needs to be checked.
    pub const fn is_any(self) -> bool {
        matches!(self, Self::Any)
    }
}

/// A range of bit patterns: those for which `(bits ^ flip) - least`, computed with wrapping, is at most `most`.
///
/// Bits are extended by zeros to any width. The three numbers may then be truncated to that width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BitRange {
    pub(crate) flip: u64,
    pub(crate) least: u64,
    pub(crate) most: u64,
}

/// The fastest test of whether bits are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    /// The bits lie in a range.
    Range(BitRange),
    /// The difference between the bits and `least` is at most 63, and that bit of `set` is 1.
    Set { least: u64, set: u64 },
    /// Decided by [`Validity::accepts`].
    Other,
}

impl BitRange {
    /// All bit patterns.
    pub(crate) const ALL: Self = Self { flip: 0, least: 0, most: u64::MAX };

    const fn new(least: u64, most: u64) -> Self {
        Self { flip: 0, least, most }
    }

    /// All bit patterns except those from `first` to `last`, which the subtraction wraps to the greatest numbers.
    const fn all_but(first: u64, last: u64) -> Self {
        Self { flip: 0, least: last.wrapping_add(1), most: u64::MAX - (last - first) - 1 }
    }
}

/// The intersection of some ranges: bits that lie in all of them are accepted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranges {
    list: [BitRange; Self::MAX],
    len: usize,
}

impl Ranges {
    const MAX: usize = 4;

    const NONE: Self = Self { list: [BitRange::ALL; Self::MAX], len: 0 };

    /// The ranges.
    pub(crate) const fn all(&self) -> &[BitRange] {
        self.list.split_at(self.len).0
    }

    /// Adds a range; `None` if there are too many.
    const fn and(mut self, range: BitRange) -> Option<Self> {
        if self.len == Self::MAX {
            return None;
        }
        self.list[self.len] = range;
        self.len += 1;
        Some(self)
    }
}

impl Validity {
    /// The fastest test of whether bits, extended by zeros to 64 bits, are accepted.
    pub(crate) const fn test(self) -> Test {
        match self {
            Self::Any => Test::Range(BitRange::ALL),
            Self::Bool => Test::Range(BitRange::new(0, 1)),
            // Flipped, the surrogates are 0 to 0x7FF, and the subtraction wraps them to large numbers. The numbers up to
            // 0x10FFFF stay below 0x110000, because only lower bits are flipped.
            Self::Char => {
                let (flip, least) = (0xD800, 0x800);
                Test::Range(BitRange { flip, least, most: 0x10_FFFF - least })
            }
            Self::NonZero => Test::Range(BitRange::new(1, u64::MAX - 1)),
            Self::AtMost(greatest) => Test::Range(BitRange::new(0, greatest as u64)),
            // Two ranges: one for each sign.
            Self::NotNan { .. } => Test::Other,
            Self::Enum(values) => values.test(),
        }
    }

    /// Ranges that together accept the same bits as this validity; `None` for values of more than 64 bits, and if too many
    /// ranges are needed.
    pub(crate) const fn ranges(self) -> Option<Ranges> {
        match (self.test(), self) {
            (Test::Range(range), _) => Ranges::NONE.and(range),
            (_, Self::NotNan { infinity }) => {
                // All bits below the sign. The numbers above infinity are the NaNs of one sign.
                let greatest = infinity | (infinity & infinity.wrapping_neg()).wrapping_sub(1);
                let sign = greatest + 1;
                let Some(positive) = Ranges::NONE.and(BitRange::all_but(infinity + 1, greatest))
                else {
                    return None;
                };
                positive.and(BitRange::all_but(sign + infinity + 1, sign + greatest))
            }
            (_, Self::Enum(values)) => values.ranges(),
            _ => None,
        }
    }
}

/// The discriminants of an enum, as bit patterns zero-extended to 128 bits. In most enums they have no gaps, so two comparisons
/// decide; otherwise the values are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Discriminants {
    least: u128,
    greatest: u128,
    dense: bool,
    values: &'static [u128],
    names: &'static [&'static str],
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
        Self { least, greatest, dense, values, names: &[] }
    }

    /// The same set, with the names of the variants in the order of their values.
    ///
    /// # Panics
    ///
    /// When there is not a name for each value.
    #[must_use]
    pub const fn named(self, names: &'static [&'static str]) -> Self {
        assert!(names.len() == self.values.len(), "not a name for each value");
        Self { names, ..self }
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

    #[expect(clippy::cast_possible_truncation, reason = "checked to fit")]
    const fn test(&self) -> Test {
        let most = self.greatest - self.least;
        if self.greatest > u64::MAX as u128 {
            return Test::Other;
        }
        let (least, most) = (self.least as u64, most as u64);
        if self.dense {
            return Test::Range(BitRange::new(least, most));
        }
        if most >= u64::BITS as u64 {
            return Test::Other;
        }
        let (mut set, mut i) = (0_u64, 0);
        while i < self.values.len() {
            set |= 1 << (self.values[i] as u64 - least);
            i += 1;
        }
        if set.trailing_ones() as u64 == most + 1 {
            // The values are consecutive, in another order.
            return Test::Range(BitRange::new(least, most));
        }
        Test::Set { least, set }
    }

    /// The range from the least discriminant to the greatest, and for each gap in it the range of all bits but the gap.
    #[expect(clippy::cast_possible_truncation, reason = "checked to fit")]
    const fn ranges(&self) -> Option<Ranges> {
        /// Searching more than this would take long at compile time.
        const MAX_VALUES: usize = 128;
        if self.greatest > u64::MAX as u128 || self.values.len() > MAX_VALUES {
            return None;
        }
        let whole = BitRange::new(self.least as u64, (self.greatest - self.least) as u64);
        let (mut ranges, mut last) = (Ranges::NONE.and(whole), self.least);
        while let Some(some) = ranges {
            while last < self.greatest && self.contains(last + 1) {
                last += 1;
            }
            if last == self.greatest {
                break;
            }
            let (mut next, mut i) = (self.greatest, 0);
            while i < self.values.len() {
                if self.values[i] > last && self.values[i] < next {
                    next = self.values[i];
                }
                i += 1;
            }
            ranges = some.and(BitRange::all_but(last as u64 + 1, next as u64 - 1));
            last = next;
        }
        ranges
    }

    /// The discriminants in declaration order.
    pub const fn values(self) -> &'static [u128] {
        self.values
    }

    /// The names of the variants in declaration order; none for a set of values without names.
    pub const fn names(self) -> &'static [&'static str] {
        self.names
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

    /// The result of a test of bits, in arithmetic of a width.
    fn passes(test: Test, validity: Validity, bits: u64, mask: u64) -> bool {
        match test {
            Test::Range(BitRange { flip, least, most }) => {
                ((bits ^ flip & mask).wrapping_sub(least & mask) & mask) <= (most & mask)
            }
            Test::Set { least, set } => {
                let bit = bits.wrapping_sub(least);
                bit < 64 && set >> bit & 1 == 1
            }
            Test::Other => validity.accepts(bits.into()),
        }
    }

    #[test]
    fn tests_decide_as_the_validity_does() {
        const SIDES: Validity = Validity::Enum(Discriminants::new(&[0, 1, 2]));
        const SHUFFLED: Validity = Validity::Enum(Discriminants::new(&[250, 248, 249]));
        const FLAGS: Validity = Validity::Enum(Discriminants::new(&[1, 2, 4, 8, 64]));
        const FAR: Validity = Validity::Enum(Discriminants::new(&[0, 64]));
        const SIGNED: Validity = Validity::Enum(Discriminants::new(&[0xFF, 0, 1]));
        const HUGE: Validity = Validity::Enum(Discriminants::new(&[u128::MAX]));
        assert!(matches!(SHUFFLED.test(), Test::Range(_)));
        assert!(matches!(FLAGS.test(), Test::Set { .. }));
        assert!([FAR, SIGNED, HUGE].map(Validity::test).iter().all(|test| *test == Test::Other));
        let narrow = [Validity::Any, Validity::Bool, Validity::NonZero, SIDES, SHUFFLED, FLAGS];
        for validity in narrow.into_iter().chain([FAR, SIGNED]) {
            for bits in 0..=0xFF {
                let expected = validity.accepts(bits.into());
                for mask in [0xFF, 0xFFFF, u32::MAX.into(), u64::MAX] {
                    let found = passes(validity.test(), validity, bits, mask);
                    assert_eq!(found, expected, "{validity:?}, {bits:#x}, {mask:#x}");
                }
            }
        }
        for bits in (0..0x0011_0100).chain([u32::MAX.into(), 0xD800 << 16, 0xDFFF << 8]) {
            let expected = Validity::Char.accepts(bits.into());
            for mask in [u32::MAX.into(), u64::MAX] {
                assert_eq!(passes(Validity::Char.test(), Validity::Char, bits, mask), expected);
            }
        }
        for bits in [0, 1, u64::MAX] {
            let expected = Validity::NonZero.accepts(bits.into());
            let found = passes(Validity::NonZero.test(), Validity::NonZero, bits, u64::MAX);
            assert_eq!(found, expected);
        }
    }

    /// Whether ranges accept bits, in arithmetic of a width.
    fn lie_in_all(ranges: &Ranges, bits: u64, mask: u64) -> bool {
        ranges.all().iter().all(|&range| passes(Test::Range(range), Validity::Any, bits, mask))
    }

    #[test]
    fn ranges_accept_what_the_validity_does() {
        const ODD: Validity = Validity::Enum(Discriminants::new(&[1, 2, 5, 6]));
        const ENDS: Validity = Validity::Enum(Discriminants::new(&[0xFF, 0]));
        const SHUFFLED: Validity = Validity::Enum(Discriminants::new(&[9, 200, 3, 9, 4]));
        const MANY: Validity = Validity::Enum(Discriminants::new(&[0, 2, 4, 6, 8]));
        const HUGE: Validity = Validity::Enum(Discriminants::new(&[0, u128::MAX]));
        const FAR: Validity =
            Validity::Enum(Discriminants::new(&[u64::MAX as u128, 0, 1 << 63, 1 << 40]));
        assert!([MANY, HUGE].iter().all(|validity| validity.ranges().is_none()));
        assert_eq!(ODD.ranges().unwrap().all().len(), 2);
        for validity in [Validity::Bool, Validity::NonZero, ODD, ENDS, SHUFFLED] {
            let ranges = validity.ranges().unwrap();
            for bits in 0..=0xFF {
                for mask in [0xFF, 0xFFFF, u32::MAX.into(), u64::MAX] {
                    let expected = validity.accepts(bits.into());
                    assert_eq!(
                        lie_in_all(&ranges, bits, mask),
                        expected,
                        "{validity:?}, {bits:#x}"
                    );
                }
            }
        }
        let ranges = FAR.ranges().unwrap();
        for near in [0, 1 << 40, 1 << 63, u64::MAX] {
            for bits in [near, near.wrapping_add(1), near.wrapping_sub(1)] {
                let expected = FAR.accepts(bits.into());
                assert_eq!(lie_in_all(&ranges, bits, u64::MAX), expected, "{bits:#x}");
            }
        }
    }

    #[test]
    fn not_nan_accepts_every_other_float() {
        let narrow = Validity::NotNan { infinity: f32::INFINITY.to_bits().into() };
        let wide = Validity::NotNan { infinity: f64::INFINITY.to_bits() };
        let (narrow_ranges, wide_ranges) = (narrow.ranges().unwrap(), wide.ranges().unwrap());
        // Every exponent and sign, with the fractions at both ends.
        for top in 0..=0x1FF_u32 {
            for fraction in [0, 1, 2, 0x3F_FFFF, 0x40_0000, 0x7F_FFFE, 0x7F_FFFF] {
                let bits = top << 23 | fraction;
                assert_eq!(
                    narrow.accepts(bits.into()),
                    !f32::from_bits(bits).is_nan(),
                    "{bits:#x}"
                );
                for mask in [u32::MAX.into(), u64::MAX] {
                    let found = lie_in_all(&narrow_ranges, bits.into(), mask);
                    assert_eq!(found, !f32::from_bits(bits).is_nan(), "{bits:#x}");
                }
            }
        }
        for top in 0..=0xFFF_u64 {
            for fraction in [0, 1, 1 << 51, (1 << 52) - 1] {
                let bits = top << 52 | fraction;
                assert_eq!(wide.accepts(bits.into()), !f64::from_bits(bits).is_nan(), "{bits:#x}");
                let found = lie_in_all(&wide_ranges, bits, u64::MAX);
                assert_eq!(found, !f64::from_bits(bits).is_nan(), "{bits:#x}");
            }
        }
    }

    #[test]
    fn at_most_accepts_the_limit() {
        let validity = Validity::AtMost(7);
        assert!(validity.accepts(0) && validity.accepts(7));
        assert!(!validity.accepts(8) && !validity.accepts(u128::MAX));
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

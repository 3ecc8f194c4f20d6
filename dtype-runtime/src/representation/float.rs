//! Converts binary floating-point numbers between formats (IEEE 754-2019 section 5.4.2).

use crate::basic::LongDouble;

/// A number that is too large for a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfRange;

/// The parts of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Zero,
    /// The topmost bit of the significand is its leading one, and `exponent` is the weight of that bit.
    Finite {
        exponent: i32,
        significand: u128,
    },
    Infinite,
    /// The payload: the bits after the quiet bit, from the topmost bit on.
    Nan {
        payload: u128,
    },
}

/// Bits of exponent and fraction.
#[derive(Clone, Copy)]
struct Format {
    exponent: u32,
    fraction: u32,
    /// Whether the leading one of the significand is stored, as in the x87 format.
    leading: bool,
}

impl Format {
    const fn new(long_double: LongDouble) -> Option<Self> {
        match long_double {
            LongDouble::Binary64 => Some(Self { exponent: 11, fraction: 52, leading: false }),
            LongDouble::X87In12 | LongDouble::X87In16 => {
                Some(Self { exponent: 15, fraction: 63, leading: true })
            }
            LongDouble::Binary128 => Some(Self { exponent: 15, fraction: 112, leading: false }),
            LongDouble::DoubleDouble => None,
        }
    }

    /// A format of IEEE 754 with this number of bytes.
    const fn of_bytes(size: usize) -> Option<Self> {
        let (exponent, fraction) = match size {
            2 => (5, 10),
            4 => (8, 23),
            8 => (11, 52),
            _ => return None,
        };
        Some(Self { exponent, fraction, leading: false })
    }

    /// Bits of the significand that are stored.
    const fn written(self) -> u32 {
        self.fraction + self.leading as u32
    }

    const fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// The exponent field of infinities and NaNs.
    const fn special(self) -> u32 {
        (1 << self.exponent) - 1
    }

    /// The sign and the number; `None` for the x87's bit patterns that are not numbers: those with a leading zero
    /// instead of a leading one.
    fn decode(self, bits: u128) -> Option<(bool, Number)> {
        let written = self.written();
        let negative = bits >> (written + self.exponent) & 1 == 1;
        #[expect(clippy::cast_possible_truncation, reason = "at most 15 bits are left")]
        let field = (bits >> written) as u32 & self.special();
        let stored = bits & ((1 << written) - 1);
        let fraction = stored & ((1 << self.fraction) - 1);
        let leading = if self.leading { stored >> self.fraction == 1 } else { field > 0 };
        if field > 0 && !leading {
            return None;
        }
        let number = if field == self.special() {
            if fraction == 0 {
                Number::Infinite
            } else {
                Number::Nan { payload: fraction << (129 - self.fraction) }
            }
        } else {
            let significand = fraction | u128::from(leading) << self.fraction;
            if significand == 0 {
                Number::Zero
            } else {
                let zeros = significand.leading_zeros();
                // The weight of the topmost of 128 bits, computed from the weight of the fraction's last bit.
                let exponent = field.max(1).cast_signed() - self.bias()
                    + 127_i32.wrapping_sub(self.fraction.cast_signed())
                    - zeros.cast_signed();
                Number::Finite { exponent, significand: significand << zeros }
            }
        };
        Some((negative, number))
    }

    fn encode(self, negative: bool, number: Number) -> Result<u128, OutOfRange> {
        let leading = u128::from(self.leading) << self.fraction;
        let magnitude = match number {
            Number::Zero => 0,
            Number::Infinite => self.compose(self.special(), leading),
            Number::Nan { payload } => {
                let quiet = 1 << (self.fraction - 1);
                let kept = payload >> (129 - self.fraction);
                self.compose(self.special(), leading | quiet | kept)
            }
            Number::Finite { exponent, significand } => {
                self.encode_finite(exponent, significand)?
            }
        };
        Ok(magnitude | u128::from(negative) << (self.written() + self.exponent))
    }

    fn compose(self, field: u32, stored: u128) -> u128 {
        u128::from(field) << self.written() | stored
    }

    /// Rounds to nearest, ties to even.
    fn encode_finite(self, exponent: i32, significand: u128) -> Result<u128, OutOfRange> {
        let least = 1 - self.bias();
        // A number below the least exponent has fewer bits.
        let missing = (least - exponent).max(0).cast_unsigned();
        let dropped = 127 - self.fraction + missing;
        let rounded = match dropped {
            0..128 => {
                let kept = significand >> dropped;
                let rest = significand << (128 - dropped).min(127);
                let rest = if dropped == 0 { 0 } else { rest };
                let half = 1 << 127;
                kept + u128::from(rest > half || rest == half && kept & 1 == 1)
            }
            // Half of the last bit's weight is the topmost bit.
            128 => u128::from(significand > 1 << 127),
            _ => 0,
        };
        // Rounding may have carried into one more bit.
        let carried = rounded >> (self.fraction + 1) == 1;
        let (stored, exponent) =
            if carried { (rounded >> 1, exponent + 1) } else { (rounded, exponent) };
        let normal = stored >> self.fraction == 1;
        let field = if normal { (exponent.max(least) + self.bias()).cast_unsigned() } else { 0 };
        if field >= self.special() {
            return Err(OutOfRange);
        }
        let fraction = stored & ((1 << self.fraction) - 1);
        let leading = u128::from(self.leading && normal) << self.fraction;
        Ok(self.compose(field, fraction | leading))
    }
}

/// Whether a number in one format can be converted to another.
pub(crate) fn convertible(from: LongDouble, to: LongDouble) -> bool {
    from == to || Format::new(from).is_some() && Format::new(to).is_some()
}

/// Converts the bits of a number from one format to another. Rounds to nearest if the other format has fewer
/// digits; a signalling NaN becomes a quiet one.
///
/// # Errors
///
/// When the number is too large for the format, or the bits are not a number: a bit pattern that the x87 refuses.
pub(crate) fn convert(bits: u128, from: LongDouble, to: LongDouble) -> Result<u128, OutOfRange> {
    let (Some(from), Some(to)) = (Format::new(from), Format::new(to)) else {
        return Err(OutOfRange);
    };
    let (negative, number) = from.decode(bits).ok_or(OutOfRange)?;
    to.encode(negative, number)
}

/// The bits of the same number in another binary format of IEEE 754. `from` and `to` are the formats' sizes: 2, 4 or 8 bytes.
/// `None` for another size, and if the other format does not have the number. A NaN becomes a quiet one, with the same sign and
/// as much of its payload as there is room for.
///
/// ```
/// use dtype_runtime::representation::same_float;
/// assert_eq!(same_float(0.5_f64.to_bits().into(), 8, 4), Some(0.5_f32.to_bits().into()));
/// assert_eq!(same_float(0.1_f64.to_bits().into(), 8, 4), None);
/// ```
pub fn same_float(bits: u128, from: usize, to: usize) -> Option<u128> {
    let (from, to) = (Format::of_bytes(from)?, Format::of_bytes(to)?);
    let (negative, number) = from.decode(bits)?;
    let converted = to.encode(negative, number).ok()?;
    let is_same =
        matches!(number, Number::Nan { .. }) || to.decode(converted) == Some((negative, number));
    is_same.then_some(converted)
}

#[cfg(test)]
mod tests {
    use super::LongDouble::{Binary64, Binary128, X87In16};
    use super::*;
    use dtype_test_support::numbers::Numbers;

    const ONE_X87: u128 = 0x3fff_8000_0000_0000_0000;
    const ONE_QUAD: u128 = 0x3fff << 112;

    #[test]
    fn numbers_of_all_three_formats() {
        // Value, binary64, x87, binary128.
        let table: [(f64, u128, u128); 6] = [
            (1.0, ONE_X87, ONE_QUAD),
            (-2.5, 0xc000_a000_0000_0000_0000, 0xc000_4000 << 96),
            (0.0, 0, 0),
            (-0.0, 1 << 79, 1 << 127),
            (f64::INFINITY, 0x7fff_8000_0000_0000_0000, 0x7fff << 112),
            // The least: a subnormal in binary64 only.
            (f64::from_bits(1), 0x3bcd_8000_0000_0000_0000, 0x3bcd << 112),
        ];
        for (value, x87, quad) in table {
            let double = u128::from(value.to_bits());
            let all = [(Binary64, double), (X87In16, x87), (Binary128, quad)];
            for (from, bits) in all {
                for (to, expected) in all {
                    assert_eq!(convert(bits, from, to), Ok(expected), "{value} {from} to {to}");
                }
            }
        }
    }

    #[test]
    fn every_double_survives_the_way_there_and_back() {
        let mut numbers = Numbers(1);
        for step in 0..200_000_u64 {
            let bits = numbers.next();
            // Subnormal ones, too.
            let bits = if step % 4 == 0 { bits >> 12 | bits & 1 << 63 } else { bits };
            let quiet = if f64::from_bits(bits).is_nan() { 1 << 51 } else { 0 };
            for through in [X87In16, Binary128] {
                let there = convert(bits.into(), Binary64, through).unwrap();
                assert_eq!(convert(there, through, Binary64), Ok((bits | quiet).into()));
            }
        }
    }

    /// Compared with the hardware's narrowing of a binary64 to a binary32, with binary32 as one more format.
    #[test]
    fn rounding_is_that_of_the_processor() {
        let single = Format::of_bytes(4).unwrap();
        let double = Format::new(Binary64).unwrap();
        let mut numbers = Numbers(2);
        for step in 0..500_000_u64 {
            let bits = numbers.next();
            // Around the range of binary32, and occasionally exactly halfway between two of its numbers.
            let exponent = 1023 - 160 + (bits >> 52) % 300;
            let mut number = bits & 0x800f_ffff_ffff_ffff | exponent << 52;
            if step % 3 == 0 {
                number = (number & !0x3fff_ffff) + 0x1000_0000 * (step % 4);
            }
            #[expect(clippy::cast_possible_truncation, reason = "what is compared")]
            let expected = f64::from_bits(number) as f32;
            let (negative, taken) = double.decode(number.into()).unwrap();
            let expected = if expected.is_infinite() {
                Err(OutOfRange)
            } else {
                Ok(expected.to_bits().into())
            };
            assert_eq!(single.encode(negative, taken), expected, "{number:#x}");
        }
    }

    #[test]
    fn what_is_too_large_or_no_number_is_refused() {
        let large = 0x7ffe_8000_0000_0000_0000;
        assert_eq!(convert(large, X87In16, Binary64), Err(OutOfRange));
        assert!(convert(large, X87In16, Binary128).is_ok());
        // The largest binary128 rounds up to more than the x87 has.
        assert_eq!(convert(!0 >> 1 & !(1 << 112), Binary128, X87In16), Err(OutOfRange));
        // A leading zero: an "unnormal", and an infinity and a NaN without their one.
        for bits in [0x3fff_0000_0000_0000_0001, 0x7fff_0000_0000_0000_0000, 0x7fff << 64 | 1] {
            assert_eq!(convert(bits, X87In16, Binary128), Err(OutOfRange));
        }
        // A denormal with its one written is the least normal number.
        assert_eq!(convert(1 << 63, X87In16, Binary128), Ok(1 << 112));
    }
}

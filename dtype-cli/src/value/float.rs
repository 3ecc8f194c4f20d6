//! Writes floating-point numbers so that they can be read back.
//!
//! A number that a binary64 can represent is written in decimal, with the fewest digits that identify it in its own format.
//! Other numbers, of a `long double` or a binary128, are written exactly, in the hexadecimal notation of C: `0x1.8p+3` is 1.5 ×
//! 2³. Any number is taken apart as sign, integer and power of two: the x87's 1.0 is 2⁶³ × 2⁻⁶³, from which trailing zeros are
//! removed, so 1 × 2⁰.

use dtype_runtime::basic::LongDouble;
use half::{bf16, f16};

use super::{Validity, ValueStyle, invalid, unsigned, write_to};

/// The formats of floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Binary16,
    Bf16,
    Binary32,
    Binary64,
    Binary128,
    LongDouble(LongDouble),
}

/// Appends a number.
pub(super) fn write(format: Format, bytes: &[u8], style: ValueStyle, out: &mut String) -> Validity {
    match (format, bytes) {
        (Format::Binary16, &[a, b]) => {
            let number = f16::from_ne_bytes([a, b]);
            let same = |decimal| f16::from_f64(decimal).to_bits() == number.to_bits();
            decimal(shortest(number.to_f64(), same), style, out);
        }
        (Format::Bf16, &[a, b]) => {
            let number = bf16::from_ne_bytes([a, b]);
            let same = |decimal| bf16::from_f64(decimal).to_bits() == number.to_bits();
            decimal(shortest(number.to_f64(), same), style, out);
        }
        (Format::Binary32, &[a, b, c, d]) => {
            let number = f32::from_ne_bytes([a, b, c, d]);
            if number.is_finite() {
                write_to(out, format_args!("{number:?}"));
            } else {
                decimal(number.into(), style, out);
            }
        }
        (Format::Binary64 | Format::LongDouble(LongDouble::Binary64), _) => {
            decimal(binary64(bytes), style, out);
        }
        (Format::LongDouble(LongDouble::DoubleDouble), _) => {
            let (high, low) = bytes.split_at(bytes.len() / 2);
            let (high, low) = (binary64(high), binary64(low));
            if low == 0.0 {
                decimal(high, style, out);
            } else {
                word(&format!("{high:?} + {low:?}"), style, out);
            }
        }
        (Format::Binary128 | Format::LongDouble(LongDouble::Binary128), _) => {
            let bits = unsigned(bytes);
            let (biased, fraction) = (exponent(bits >> 112), bits & ((1 << 112) - 1));
            let leading = if biased == 0 { 0 } else { 1 << 112 };
            exact(bits >> 127 == 1, biased, fraction | leading, 112, style, out);
        }
        // The x87's 80 bits, with two or six bytes of padding.
        _ => {
            let bits = unsigned(bytes);
            let (biased, significand) = (exponent(bits >> 64), bits & u128::from(u64::MAX));
            // The 387 and its successors refuse bit patterns whose leading bit contradicts the exponent.
            if biased != 0 && significand >> 63 == 0 {
                return invalid(&bytes[..bytes.len().min(10)], style, out);
            }
            exact((bits >> 79) & 1 == 1, biased, significand, 63, style, out);
        }
    }
    Validity::Valid
}

fn binary64(bytes: &[u8]) -> f64 {
    bytes.try_into().map_or(f64::NAN, f64::from_ne_bytes)
}

/// The number with the fewest decimal digits for which `same` holds in the narrower format that `number` comes from.
fn shortest(number: f64, same: impl Fn(f64) -> bool) -> f64 {
    if !number.is_finite() {
        return number;
    }
    let rounded = (0..6).filter_map(|digits| format!("{number:.digits$e}").parse().ok());
    rounded.into_iter().find(|decimal| same(*decimal)).unwrap_or(number)
}

/// Appends a number in decimal.
fn decimal(number: f64, style: ValueStyle, out: &mut String) {
    if number.is_finite() {
        write_to(out, format_args!("{number:?}"));
    } else if number.is_nan() {
        word("NaN", style, out);
    } else {
        word(if number > 0.0 { "Infinity" } else { "-Infinity" }, style, out);
    }
}

/// Appends a value that is not a number in JSON.
fn word(text: &str, style: ValueStyle, out: &mut String) {
    let quote = if style == ValueStyle::Json { "\"" } else { "" };
    write_to(out, format_args!("{quote}{text}{quote}"));
}

/// The lowest 15 bits, a biased exponent.
fn exponent(bits: u128) -> i32 {
    i32::try_from(bits & 0x7FFF).unwrap_or(0)
}

/// Appends a number exactly. `point` bits of `integer` are after the binary point. `biased` is the exponent plus 16383, or 0 if
/// the leading bit is not a one.
fn exact(
    is_negative: bool,
    biased: i32,
    integer: u128,
    point: i32,
    style: ValueStyle,
    out: &mut String,
) {
    let sign = if is_negative { -1.0 } else { 1.0 };
    match (biased, integer & ((1 << point) - 1)) {
        (0x7FFF, 0) => return decimal(sign * f64::INFINITY, style, out),
        (0x7FFF, _) => return decimal(f64::NAN, style, out),
        _ if integer == 0 => return decimal(sign * 0.0, style, out),
        _ => {}
    }
    // Numbers without a leading one have the least exponent of the others.
    let exponent = biased.max(1) - 16383 - point;
    let zeros = integer.trailing_zeros();
    let (integer, exponent) = (integer >> zeros, exponent + zeros.cast_signed());
    // The power of two of the leading bit.
    let width = integer.ilog2();
    let leading = exponent + width.cast_signed();
    if width < 53 && (-1022..=1023).contains(&leading) {
        // A normal binary64. The leading bit is implied.
        let fraction = u64::try_from(integer << (52 - width)).unwrap_or(0) & ((1 << 52) - 1);
        let biased = u64::from((leading + 1023).unsigned_abs());
        let bits = (u64::from(is_negative) << 63) | (biased << 52) | fraction;
        return decimal(f64::from_bits(bits), style, out);
    }
    let sign = if is_negative { "-" } else { "" };
    // The bits after the leading one, shifted to the top of 128 bits.
    let fraction = if width == 0 { 0 } else { integer << (128 - width) };
    let digits = format!("{fraction:032x}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    word(&format!("{sign}0x1{point}{digits}p{leading:+}"), style, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(format: Format, bytes: &[u8]) -> String {
        let mut out = String::new();
        write(format, bytes, ValueStyle::Plain, &mut out);
        out
    }

    #[test]
    fn numbers_are_short_and_come_back() {
        for number in [0.1, -0.0, 1e300, f64::MIN_POSITIVE, 5e-324, 12.5, 1e21] {
            let text = text(Format::Binary64, &number.to_ne_bytes());
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), number.to_bits(), "{text}");
        }
        assert_eq!(text(Format::Binary32, &0.1_f32.to_ne_bytes()), "0.1");
        assert_eq!(text(Format::Binary64, &f64::NAN.to_ne_bytes()), "NaN");
        assert_eq!(text(Format::Binary32, &f32::NEG_INFINITY.to_ne_bytes()), "-Infinity");
        assert_eq!(text(Format::Binary16, &f16::from_f32(0.1).to_ne_bytes()), "0.1");
        assert_eq!(text(Format::Bf16, &bf16::from_f32(3.1).to_ne_bytes()), "3.1");
        for bits in 0..=u16::MAX {
            let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
            if half.is_finite() {
                let number: f64 = text(Format::Binary16, &bits.to_ne_bytes()).parse().unwrap();
                assert_eq!(f16::from_f64(number).to_bits(), bits, "{number}");
            }
            if brain.is_finite() {
                let number: f64 = text(Format::Bf16, &bits.to_ne_bytes()).parse().unwrap();
                assert_eq!(bf16::from_f64(number).to_bits(), bits, "{number}");
            }
        }
    }

    #[test]
    fn wide_numbers_are_exact() {
        let x87 = |exponent: u16, significand: u64| {
            let bits = (u128::from(exponent) << 64) | u128::from(significand);
            text(Format::LongDouble(LongDouble::X87In16), &bits.to_ne_bytes())
        };
        assert_eq!(x87(0x3FFF, 1 << 63), "1.0");
        assert_eq!(x87(0xC000, 3 << 62), "-3.0");
        // The long double nearest to 0.1 has more bits than a double, and the least long double is smaller than any double.
        assert_eq!(x87(0x3FFB, 0xCCCC_CCCC_CCCC_CCCD), "0x1.999999999999999ap-4");
        assert_eq!(x87(0, 1), "0x1p-16445");
        assert_eq!(x87(0x7FFF, 1 << 63), "Infinity");
        assert_eq!(x87(0x7FFF, 3 << 62), "NaN");
        assert_eq!(x87(1, 1), "invalid 0x00010000000000000001");
        let quad = |bits: u128| text(Format::Binary128, &bits.to_ne_bytes());
        assert_eq!(quad(0x3FFF << 112), "1.0");
        assert_eq!(quad((0x3FFF << 112) | 1), "0x1.0000000000000000000000000001p+0");
        assert_eq!(quad(1), "0x1p-16494");
        assert_eq!(quad(0x8000 << 112), "-0.0");
    }
}

//! The conversion of one value between machines. It does not use the crate, but the number that the bytes represent.

use dtype_runtime::Basic;
use dtype_runtime::basic::Kind;
use dtype_runtime::representation::{Architecture, ByteOrder, LongDouble};

/// The representation of one value in memory or in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format {
    pub(super) size: usize,
    order: ByteOrder,
    kind: What,
}

/// The kind of a value, apart from its byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// Equal bits in all formats of one width.
    Bits,
    Integer {
        signed: bool,
    },
    LongDouble(LongDouble),
}

/// Why a value cannot be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    Integer(i128),
    Float(LongDouble),
}

/// An exact number, not rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    /// `mantissa` · 2^`exponent`.
    Finite {
        mantissa: u128,
        exponent: i32,
    },
    Infinite,
    /// The fraction after the quiet bit, with its first bit as the most significant one.
    Nan(u128),
}

/// Bits of the exponent and of the fraction, and whether the leading bit of the significand is stored.
fn widths(format: LongDouble) -> (u32, u32, bool) {
    match format {
        LongDouble::Binary64 => (11, 52, false),
        LongDouble::X87In12 | LongDouble::X87In16 => (15, 63, true),
        LongDouble::Binary128 => (15, 112, false),
        other => panic!("{other} is not converted"),
    }
}

impl Format {
    /// A machine's format of the values that a basic datatype consists of, and their number: two if it is complex.
    pub(super) fn of(basic: Basic, machine: Architecture) -> (Self, usize) {
        let parts = if basic.kind() == Kind::Complex { 2 } else { 1 };
        let kind = match basic {
            Basic::LongDouble | Basic::LongDoubleComplex | Basic::CxxLongDoubleComplex => {
                What::LongDouble(machine.widths().long_double)
            }
            Basic::Long | Basic::Aint | Basic::Logical => What::Integer { signed: true },
            Basic::UnsignedLong | Basic::WideChar => What::Integer { signed: false },
            _ => What::Bits,
        };
        let size = machine.size_of(basic) / parts;
        (Self { size, order: machine.byte_order(), kind }, parts)
    }

    /// Whether values are converted byte by byte, forwards or backwards.
    pub(super) fn is_bytewise(self, other: Self) -> bool {
        self.size == other.size && self.kind == other.kind
    }

    /// Whether a conversion exists.
    pub(super) fn converts(self, other: Self) -> bool {
        let sum = What::LongDouble(LongDouble::DoubleDouble);
        self.kind == other.kind || self.kind != sum && other.kind != sum
    }

    /// The index of this format's byte for byte `index` of another format.
    pub(super) fn byte(self, other: Self, index: usize) -> usize {
        if self.order == other.order { index } else { self.size - 1 - index }
    }

    /// The bits, as a number.
    fn load(self, bytes: &[u8]) -> u128 {
        assert_eq!(bytes.len(), self.size);
        let add = |bits, byte: &u8| bits << 8 | u128::from(*byte);
        match self.order {
            ByteOrder::Big => bytes.iter().fold(0, add),
            ByteOrder::Little => bytes.iter().rev().fold(0, add),
        }
    }

    fn store(self, bits: u128) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..self.size).map(|index| (bits >> (8 * index)) as u8).collect();
        if self.order == ByteOrder::Big {
            bytes.reverse();
        }
        bytes
    }

    /// The same value in another format.
    pub(super) fn convert(self, bytes: &[u8], to: Self) -> Result<Vec<u8>, Misfit> {
        let bits = self.load(bytes);
        let bits = match (self.kind, to.kind) {
            (What::LongDouble(from), What::LongDouble(there)) if from != there => {
                let (negative, number) = decode(bits, from).ok_or(Misfit::Float(there))?;
                encode(negative, number, there).ok_or(Misfit::Float(there))?
            }
            (What::Integer { signed }, _) if self.size != to.size => {
                let number = bits as i128;
                let least = |size: usize| if signed { -1_i128 << (8 * size - 1) } else { 0 };
                let behind = |size: usize| 1_i128 << (8 * size - usize::from(signed));
                let number = if number < behind(self.size) {
                    number
                } else {
                    number - (1 << (8 * self.size))
                };
                if number < least(to.size) || number >= behind(to.size) {
                    return Err(Misfit::Integer(number));
                }
                number as u128
            }
            _ => bits,
        };
        Ok(to.store(bits))
    }

    /// A value that both formats have. `bits` selects a value of the narrower one.
    pub(super) fn common(self, other: Self, bits: u128) -> Vec<u8> {
        let narrower = match (self.kind, other.kind) {
            (What::LongDouble(_), What::LongDouble(_)) => {
                // The wider formats have these values. Some get one digit too many.
                let double = LongDouble::Binary64;
                let kind = What::LongDouble(double);
                let double = Self { size: double.size(), order: self.order, kind };
                let (number, more) = (bits & u128::from(u64::MAX), bits >> 64);
                let special = 0x7ff << 52;
                let number = match more >> 60 {
                    // Numbers that are subnormal, or so large that rounding up gives infinity.
                    0 => number & !special,
                    1 => number & 1 << 63 | (special - 1),
                    _ => number,
                };
                let mut value = double.convert(&double.store(number), self).unwrap();
                let digits = match more >> 56 & 15 {
                    // Half a unit of some digit, slightly less than half, or any digits.
                    0..2 => 1 << (more & 63),
                    2 => (1 << (more & 63)) - 1,
                    3 => more & 0xffff_ffff,
                    _ => 0,
                };
                if self != double {
                    value = self.store(self.load(&value) | digits);
                }
                return value;
            }
            _ if self.size < other.size => self,
            _ => other,
        };
        let value = narrower.store(bits);
        narrower.convert(&value, self).unwrap()
    }

    /// A value with any bits.
    pub(super) fn any(self, bits: u128) -> Vec<u8> {
        self.store(bits)
    }
}

/// The sign and the number; `None` if the bits are not a number.
fn decode(bits: u128, format: LongDouble) -> Option<(bool, Number)> {
    let (exponent_bits, fraction_bits, writes_one) = widths(format);
    let stored = fraction_bits + u32::from(writes_one);
    let special = (1 << exponent_bits) - 1;
    let negative = bits >> (stored + exponent_bits) & 1 == 1;
    let field = (bits >> stored) as i32 & special;
    let fraction = bits & ((1 << fraction_bits) - 1);
    let one = if writes_one { bits >> fraction_bits & 1 } else { u128::from(field > 0) };
    if one == 0 && field > 0 {
        return None;
    }
    let number = if field < special {
        let exponent = field.max(1) - special / 2 - fraction_bits as i32;
        Number::Finite { mantissa: one << fraction_bits | fraction, exponent }
    } else if fraction == 0 {
        Number::Infinite
    } else {
        // The shift removes the quiet bit.
        Number::Nan(fraction << (128 - fraction_bits) << 1)
    };
    Some((negative, number))
}

/// The bits of the nearest number, with ties to even; `None` if that number is infinite.
fn encode(negative: bool, number: Number, format: LongDouble) -> Option<u128> {
    let (exponent_bits, fraction_bits, writes_one) = widths(format);
    let stored = fraction_bits + u32::from(writes_one);
    let special = (1 << exponent_bits) - 1;
    let one = u128::from(writes_one) << fraction_bits;
    let infinite = (special as u128) << stored | one;
    let magnitude = match number {
        Number::Infinite => infinite,
        Number::Finite { mantissa: 0, .. } => 0,
        Number::Nan(rest) => {
            infinite | 1 << (fraction_bits - 1) | rest >> (128 - fraction_bits) >> 1
        }
        Number::Finite { mantissa, exponent } => {
            // The weight of the fraction's last bit.
            let leading = exponent + 127 - mantissa.leading_zeros() as i32;
            let weight = leading.max(1 - special / 2) - fraction_bits as i32;
            let units = match weight - exponent {
                left if left <= 0 => mantissa << -left,
                // Less than half a unit, because no mantissa has so many bits.
                right if right > 120 => 0,
                right => {
                    let (units, rest) = (mantissa >> right, mantissa & ((1 << right) - 1));
                    let half = 1 << (right - 1);
                    units + u128::from(rest > half || rest == half && units % 2 == 1)
                }
            };
            let (units, weight) = if units >> (fraction_bits + 1) > 0 {
                (units / 2, weight + 1)
            } else {
                (units, weight)
            };
            let is_normal = units >> fraction_bits > 0;
            let field = if is_normal { weight + fraction_bits as i32 + special / 2 } else { 0 };
            if field >= special {
                return None;
            }
            let shown = if writes_one { units } else { units & ((1 << fraction_bits) - 1) };
            (field as u128) << stored | shown
        }
    };
    Some(u128::from(negative) << (stored + exponent_bits) | magnitude)
}

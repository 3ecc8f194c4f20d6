//! Integers of C with their types, for constant expressions: `1u - 2u` is a large number.

use dtype_runtime::Basic;
use dtype_runtime::basic::Kind;

/// What a computation comes to, or why it has no value.
pub(super) type Computed = Result<Number, &'static str>;

/// The message for a value that its type does not have.
const OVERFLOW: &str = "this value does not fit its type";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) value: i128,
    /// The width of its type: at least that of `int`, as operators convert smaller ones.
    bits: u32,
    is_unsigned: bool,
}

fn width(basic: Basic) -> u32 {
    u32::try_from(basic.size()).unwrap_or(0) * 8
}

/// The least and the greatest value of a type.
fn range(bits: u32, is_unsigned: bool) -> (i128, i128) {
    let all = 1_i128 << bits.min(126);
    if is_unsigned { (0, all - 1) } else { (-(all / 2), all / 2 - 1) }
}

/// Whether a type of integers has all values between these.
pub(super) fn fits(basic: Basic, least: i128, greatest: i128) -> bool {
    let (low, high) = range(width(basic), basic.kind() == Kind::Unsigned);
    low <= least && greatest <= high
}

impl Number {
    pub(super) fn int(value: i128) -> Self {
        Self { value, bits: width(Basic::Int), is_unsigned: false }
    }

    /// A value of the type of `sizeof`.
    pub(super) fn size(value: u64) -> Self {
        Self { value: value.into(), bits: usize::BITS, is_unsigned: true }
    }

    /// The value as one of this type; an unsigned type keeps its lowest bits.
    fn of(value: i128, bits: u32, is_unsigned: bool) -> Computed {
        let (least, greatest) = range(bits, is_unsigned);
        match (is_unsigned, (least..=greatest).contains(&value)) {
            (_, true) => Ok(Self { value, bits, is_unsigned }),
            (true, false) => Ok(Self { value: value & greatest, bits, is_unsigned }),
            (false, false) => Err(OVERFLOW),
        }
    }

    /// The first type of these widths that has the value.
    fn fitting(value: i128, widths: &[u32], signs: &[bool]) -> Option<Self> {
        let all = widths.iter().flat_map(|bits| signs.iter().map(|sign| (*bits, *sign)));
        let found = all.into_iter().find(|(bits, is_unsigned)| {
            let (least, greatest) = range(*bits, *is_unsigned);
            (least..=greatest).contains(&value)
        });
        found.map(|(bits, is_unsigned)| Self { value, bits, is_unsigned })
    }

    /// An integer constant.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let lower = text.to_ascii_lowercase();
        let (digits, radix) = match lower.as_bytes() {
            [b'0', b'x', ..] => (&lower[2..], 16),
            [b'0', b'b', ..] => (&lower[2..], 2),
            [b'0', b'0'..=b'9', ..] => (&lower[1..], 8),
            _ => (lower.as_str(), 10),
        };
        let end = digits.find(['u', 'l']).unwrap_or(digits.len());
        let (digits, suffix) = digits.split_at(end);
        // A sign would be accepted as well.
        let is_number = digits.starts_with(|c: char| c.is_ascii_hexdigit());
        let value = u64::from_str_radix(digits, radix).ok().filter(|_| is_number)?;
        let longs = match suffix.replacen('u', "", 1).as_str() {
            "" => 0,
            "l" => 1,
            "ll" => 2,
            _ => return None,
        };
        let widths = [Basic::Int, Basic::Long, Basic::LongLong].map(width);
        // A decimal constant is unsigned only if it says so.
        let signs: &[bool] = match (suffix.contains('u'), radix) {
            (true, _) => &[true],
            (false, 10) => &[false],
            (false, _) => &[false, true],
        };
        let found = Self::fitting(value.into(), &widths[longs..], signs);
        found.or(Self::fitting(value.into(), &widths[2..], &[true]))
    }

    /// A character constant with its quotes: one character, perhaps an escaped one.
    pub(super) fn character(text: &str) -> Option<Self> {
        let inside = text.strip_prefix('\'')?.strip_suffix('\'')?;
        let code = match inside.as_bytes() {
            [byte] if byte.is_ascii() => u32::from(*byte),
            [b'\\', b'x', ..] => u32::from_str_radix(&inside[2..], 16).ok()?,
            [b'\\', b'0'..=b'7', ..] if inside.len() <= 4 => {
                u32::from_str_radix(&inside[1..], 8).ok()?
            }
            [b'\\', escaped] => match escaped {
                b'n' => 10,
                b't' => 9,
                b'r' => 13,
                b'a' => 7,
                b'b' => 8,
                b'v' => 11,
                b'f' => 12,
                b'\'' | b'"' | b'\\' | b'?' => u32::from(*escaped),
                _ => return None,
            },
            _ => return None,
        };
        let code = u8::try_from(code).ok()?;
        let is_signed = std::ffi::c_char::MIN != 0;
        let value = if is_signed { i128::from(code.cast_signed()) } else { i128::from(code) };
        Some(Self::int(value))
    }

    /// The constant of an enum: an `int`, or of the enum's type if it does not fit one.
    pub(super) fn constant(value: i128, basic: Basic) -> Self {
        let widths = [width(Basic::Int)];
        Self::fitting(value, &widths, &[false])
            .or(Self::of(value, width(basic), basic.kind() == Kind::Unsigned).ok())
            .unwrap_or(Self { value, bits: width(Basic::LongLong), is_unsigned: value > 0 })
    }

    /// A cast to a type; `None` if that is no integer type.
    pub(super) fn cast(self, basic: Basic) -> Option<Self> {
        let bits = width(basic);
        if basic.canonical() == Basic::Bool {
            return Some(Self::int(i128::from(self.value != 0)));
        }
        let is_unsigned = match basic.kind() {
            Kind::Unsigned => true,
            Kind::Integer => false,
            Kind::Character if basic.size() == 1 => std::ffi::c_char::MIN == 0,
            _ => return None,
        };
        if bits > width(Basic::LongLong) {
            return None;
        }
        let (_, greatest) = range(bits, true);
        let low = self.value & greatest;
        let is_negative = !is_unsigned && low > greatest / 2;
        let value = if is_negative { low - greatest - 1 } else { low };
        // A type smaller than `int` becomes one in every expression.
        Some(if bits < width(Basic::Int) {
            Self::int(value)
        } else {
            Self { value, bits, is_unsigned }
        })
    }

    pub(super) fn prefixed(self, sign: &str) -> Computed {
        let Self { value, bits, is_unsigned } = self;
        match sign {
            "-" => Self::of(-value, bits, is_unsigned),
            "~" => Self::of(!value, bits, is_unsigned),
            "!" => Ok(Self::int(i128::from(value == 0))),
            _ => Ok(self),
        }
    }

    /// Both numbers in the type that an operator computes in.
    fn together(self, other: Self) -> Result<(i128, i128, u32, bool), &'static str> {
        let (bits, is_unsigned) = match self.bits.cmp(&other.bits) {
            std::cmp::Ordering::Less => (other.bits, other.is_unsigned),
            std::cmp::Ordering::Greater => (self.bits, self.is_unsigned),
            std::cmp::Ordering::Equal => (self.bits, self.is_unsigned || other.is_unsigned),
        };
        let value = |number: Self| Self::of(number.value, bits, is_unsigned).map(|one| one.value);
        Ok((value(self)?, value(other)?, bits, is_unsigned))
    }

    /// This number in the type of a conditional expression with another one.
    pub(super) fn beside(self, other: Self) -> Computed {
        let (value, _, bits, is_unsigned) = self.together(other)?;
        Self::of(value, bits, is_unsigned)
    }

    pub(super) fn binary(self, operator: &str, other: Self) -> Computed {
        if let "<<" | ">>" = operator {
            return self.shifted(operator == "<<", other.value);
        }
        let is = |condition: bool| Ok(Self::int(condition.into()));
        let (a, b, bits, is_unsigned) = self.together(other)?;
        let value = match operator {
            "||" => return is(self.value != 0 || other.value != 0),
            "&&" => return is(self.value != 0 && other.value != 0),
            "==" => return is(a == b),
            "!=" => return is(a != b),
            "<" => return is(a < b),
            ">" => return is(a > b),
            "<=" => return is(a <= b),
            ">=" => return is(a >= b),
            "/" | "%" if b == 0 => return Err("division by zero"),
            "/" => a / b,
            "%" => a % b,
            // The lowest bits are right, and those of a signed type are all there.
            "*" => a.wrapping_mul(b),
            "+" => a + b,
            "-" => a - b,
            "&" => a & b,
            "|" => a | b,
            _ => a ^ b,
        };
        Self::of(value, bits, is_unsigned)
    }

    fn shifted(self, is_left: bool, by: i128) -> Computed {
        let Self { value, bits, is_unsigned } = self;
        let by = u32::try_from(by).ok().filter(|by| *by < bits);
        let by = by.ok_or("a shift is from 0 to less than the width of the type")?;
        if !is_left {
            return Self::of(value >> by, bits, is_unsigned);
        }
        let shifted = value << by;
        let (_, greatest) = range(bits, true);
        // `1 << 31` is the sign bit, as compilers have it.
        let is_sign = !is_unsigned && shifted > greatest / 2 && shifted <= greatest;
        Self::of(if is_sign { shifted - greatest - 1 } else { shifted }, bits, is_unsigned)
    }
}

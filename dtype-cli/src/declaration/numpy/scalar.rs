//! Scalar formats: `<f8`, `i4`, `float64`.

use dtype_runtime::Basic;

/// A scalar format: a basic type, the number of them, and whether they are data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scalar {
    pub(super) basic: Basic,
    pub(super) count: u64,
    /// `V`: bytes without a meaning.
    pub(super) is_void: bool,
}

/// Why a format has no type here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Unknown,
    /// Values in the other byte order.
    ByteOrder,
    Object,
}

/// The names of NumPy's scalar types.
const NAMES: &[(&str, Basic)] = &[
    ("bool", Basic::Bool),
    ("bool_", Basic::Bool),
    ("bool8", Basic::Bool),
    ("int8", Basic::I8),
    ("int16", Basic::I16),
    ("int32", Basic::I32),
    ("int64", Basic::I64),
    ("uint8", Basic::U8),
    ("uint16", Basic::U16),
    ("uint32", Basic::U32),
    ("uint64", Basic::U64),
    ("int", Basic::I64),
    ("int_", Basic::I64),
    ("int0", Basic::I64),
    ("uint", Basic::U64),
    ("uint0", Basic::U64),
    ("intp", Basic::I64),
    ("uintp", Basic::U64),
    ("byte", Basic::I8),
    ("ubyte", Basic::U8),
    ("short", Basic::Short),
    ("ushort", Basic::UnsignedShort),
    ("intc", Basic::Int),
    ("uintc", Basic::Unsigned),
    ("long", Basic::Long),
    ("ulong", Basic::UnsignedLong),
    ("longlong", Basic::LongLong),
    ("ulonglong", Basic::UnsignedLongLong),
    ("float16", Basic::F16),
    ("half", Basic::F16),
    ("float32", Basic::F32),
    ("single", Basic::F32),
    ("float64", Basic::F64),
    ("double", Basic::F64),
    ("float", Basic::F64),
    ("float_", Basic::F64),
    ("longdouble", Basic::LongDouble),
    ("longfloat", Basic::LongDouble),
    ("float128", Basic::LongDouble),
    ("complex64", Basic::C32),
    ("csingle", Basic::C32),
    ("singlecomplex", Basic::C32),
    ("complex128", Basic::C64),
    ("cdouble", Basic::C64),
    ("complex", Basic::C64),
    ("complex_", Basic::C64),
    ("cfloat", Basic::C64),
    ("clongdouble", Basic::LongDoubleComplex),
    ("clongfloat", Basic::LongDoubleComplex),
    ("longcomplex", Basic::LongDoubleComplex),
    ("complex256", Basic::LongDoubleComplex),
    ("datetime64", Basic::I64),
    ("timedelta64", Basic::I64),
];

/// The names of text and of raw bytes without a length.
const OPEN: &[(&str, Basic)] = &[
    ("str", Basic::Char),
    ("str_", Basic::Char),
    ("str0", Basic::Char),
    ("unicode", Basic::Char),
    ("unicode_", Basic::Char),
    ("bytes", Basic::CChar),
    ("bytes_", Basic::CChar),
    ("bytes0", Basic::CChar),
    ("string_", Basic::CChar),
    ("void", Basic::Byte),
    ("void0", Basic::Byte),
    ("record", Basic::Byte),
];

/// The units of dates and of differences between them.
const UNITS: &[&str] =
    &["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "μs", "µs", "ns", "ps", "fs", "as", "generic"];

/// The signs for the order of the bytes.
const ORDERS: [char; 4] = ['<', '>', '=', '|'];

/// NumPy's letters for the types of C.
const LETTERS: &[(char, Basic)] = &[
    ('?', Basic::Bool),
    ('b', Basic::I8),
    ('B', Basic::U8),
    ('h', Basic::Short),
    ('H', Basic::UnsignedShort),
    ('i', Basic::Int),
    ('I', Basic::Unsigned),
    ('l', Basic::Long),
    ('L', Basic::UnsignedLong),
    ('q', Basic::LongLong),
    ('Q', Basic::UnsignedLongLong),
    ('p', Basic::I64),
    ('P', Basic::U64),
    ('e', Basic::F16),
    ('f', Basic::F32),
    ('d', Basic::F64),
    ('g', Basic::LongDouble),
    ('F', Basic::C32),
    ('D', Basic::C64),
    ('G', Basic::LongDoubleComplex),
    ('c', Basic::CChar),
];

/// All names.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|(name, _)| *name)
}

/// The type with a name, such as `float64`.
pub(super) fn named(name: &str) -> Result<Scalar, Refusal> {
    let of = |all: &[(&str, Basic)]| {
        all.iter().find(|(known, _)| *known == name).map(|(_, basic)| *basic)
    };
    match (of(NAMES), of(OPEN)) {
        (Some(basic), _) => Ok(Scalar { basic, count: 1, is_void: false }),
        (None, Some(basic)) => Ok(Scalar { basic, count: 0, is_void: basic == Basic::Byte }),
        (None, None) if ["object", "object_", "object0"].contains(&name) => Err(Refusal::Object),
        (None, None) => Err(Refusal::Unknown),
    }
}

/// A date or a difference between dates, `M8[ns]`, without its unit in brackets, which has to be one of NumPy's: `ns`,
/// `25s`, `D/10`.
fn without_unit(text: &str) -> Result<&str, Refusal> {
    let Some((before, unit)) = text.split_once('[') else { return Ok(text) };
    if !["M8", "m8", "datetime64", "timedelta64"].contains(&before.trim_start_matches(ORDERS)) {
        return Err(Refusal::Unknown);
    }
    let unit = unit.strip_suffix(']').ok_or(Refusal::Unknown)?;
    let is_number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    let (unit, divisor) = unit.split_once('/').unwrap_or((unit, "1"));
    let unit = unit.trim_start_matches(|c: char| c.is_ascii_digit());
    if !UNITS.contains(&unit) || divisor.is_empty() || !is_number(divisor) {
        return Err(Refusal::Unknown);
    }
    Ok(before)
}

/// The type of a format such as `<f8`.
pub(super) fn format(text: &str) -> Result<Scalar, Refusal> {
    let one = |basic| Scalar { basic, count: 1, is_void: false };
    let text = without_unit(text)?;
    match named(text) {
        Err(Refusal::Unknown) => {}
        known => return known,
    }
    let (order, rest) = match text.chars().next() {
        Some(c) if ORDERS.contains(&c) => (c, &text[1..]),
        _ => ('=', text),
    };
    let mut chars = rest.chars();
    let letter = chars.next().ok_or(Refusal::Unknown)?;
    let digits = chars.as_str();
    let scalar = if digits.is_empty() {
        match letter {
            'O' => return Err(Refusal::Object),
            'S' | 'a' => Scalar { count: 0, ..one(Basic::CChar) },
            'U' => Scalar { count: 0, ..one(Basic::Char) },
            'V' => Scalar { count: 0, is_void: true, ..one(Basic::Byte) },
            'M' | 'm' => one(Basic::I64),
            _ => {
                let found = LETTERS.iter().find(|(known, _)| *known == letter);
                one(found.ok_or(Refusal::Unknown)?.1)
            }
        }
    } else {
        let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
        let size = digits.parse::<u64>().ok().filter(|_| is_number).ok_or(Refusal::Unknown)?;
        match (letter, size) {
            ('b', 1) => one(Basic::Bool),
            ('i', 1) => one(Basic::I8),
            ('i', 2) => one(Basic::I16),
            ('i', 4) => one(Basic::I32),
            ('i' | 'M' | 'm', 8) => one(Basic::I64),
            ('u', 1) => one(Basic::U8),
            ('u', 2) => one(Basic::U16),
            ('u', 4) => one(Basic::U32),
            ('u', 8) => one(Basic::U64),
            ('f', 2) => one(Basic::F16),
            ('f', 4) => one(Basic::F32),
            ('f', 8) => one(Basic::F64),
            ('f', 12 | 16) if size == Basic::LongDouble.size() as u64 => one(Basic::LongDouble),
            ('c', 8) => one(Basic::C32),
            ('c', 16) => one(Basic::C64),
            ('c', 24 | 32) if size == Basic::LongDoubleComplex.size() as u64 => {
                one(Basic::LongDoubleComplex)
            }
            ('S' | 'a', count) => Scalar { count, ..one(Basic::CChar) },
            ('U', count) => Scalar { count, ..one(Basic::Char) },
            ('V', count) => Scalar { count, is_void: true, ..one(Basic::Byte) },
            ('O', _) => return Err(Refusal::Object),
            _ => return Err(Refusal::Unknown),
        }
    };
    let is_foreign = match order {
        '<' => cfg!(target_endian = "big"),
        '>' => cfg!(target_endian = "little"),
        _ => false,
    };
    if is_foreign && scalar.basic.size() > 1 {
        return Err(Refusal::ByteOrder);
    }
    Ok(scalar)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_endian = "little")]
    #[test]
    fn formats() {
        let basic = |text| format(text).map(|scalar| (scalar.basic, scalar.count));
        assert_eq!(basic("<f8"), Ok((Basic::F64, 1)));
        assert_eq!(basic("d"), Ok((Basic::F64, 1)));
        assert_eq!(basic("?"), Ok((Basic::Bool, 1)));
        assert_eq!(basic("|b1"), Ok((Basic::Bool, 1)));
        assert_eq!(basic("b"), Ok((Basic::I8, 1)));
        assert_eq!(basic(">u1"), Ok((Basic::U8, 1)));
        assert_eq!(basic("S10"), Ok((Basic::CChar, 10)));
        assert_eq!(basic("<U3"), Ok((Basic::Char, 3)));
        for date in ["<M8[ns]", "M8", "m8[25s]", "datetime64[D]", "M8[s/100]", "=m8[generic]"] {
            assert_eq!(basic(date), Ok((Basic::I64, 1)), "{date}");
        }
        assert_eq!(basic("void"), Ok((Basic::Byte, 0)));
        assert_eq!(basic("object"), Err(Refusal::Object));
        assert_eq!(basic(">f8"), Err(Refusal::ByteOrder));
        assert_eq!(basic("O"), Err(Refusal::Object));
        let wrong = "|<|f3|f+8|i99999999999999999999|é8|float46|?1|M8[]|M8[bogus]|M8[ns|M8[ns]x|M[ns]|f8[ns]|M8[s/]";
        for text in wrong.split('|') {
            assert_eq!(basic(text), Err(Refusal::Unknown), "{text}");
        }
    }
}

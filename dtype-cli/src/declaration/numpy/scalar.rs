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
    ("uint", Basic::U64),
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
    ("longdouble", Basic::LongDouble),
    ("float128", Basic::LongDouble),
    ("complex64", Basic::C32),
    ("csingle", Basic::C32),
    ("complex128", Basic::C64),
    ("cdouble", Basic::C64),
    ("complex", Basic::C64),
    ("clongdouble", Basic::LongDoubleComplex),
    ("complex256", Basic::LongDoubleComplex),
    ("datetime64", Basic::I64),
    ("timedelta64", Basic::I64),
];

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
pub(super) fn named(name: &str) -> Option<Basic> {
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, basic)| *basic)
}

/// The type of a format such as `<f8`.
pub(super) fn format(text: &str) -> Result<Scalar, Refusal> {
    let one = |basic| Scalar { basic, count: 1, is_void: false };
    if let Some(basic) = named(text) {
        return Ok(one(basic));
    }
    let (order, rest) = match text.chars().next() {
        Some(c @ ('<' | '>' | '=' | '|')) => (c, &text[1..]),
        _ => ('=', text),
    };
    let mut chars = rest.chars();
    let letter = chars.next().ok_or(Refusal::Unknown)?;
    // The unit of a date, `M8[ns]`.
    let digits = chars.as_str();
    let digits = match letter {
        'M' | 'm' => digits.split('[').next().unwrap_or(""),
        _ => digits,
    };
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
            ('b' | '?', 1) => one(Basic::Bool),
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
        assert_eq!(basic("<M8[ns]"), Ok((Basic::I64, 1)));
        assert_eq!(basic(">f8"), Err(Refusal::ByteOrder));
        assert_eq!(basic("O"), Err(Refusal::Object));
        for text in ["", "<", "f3", "f+8", "i99999999999999999999", "é8", "float46"] {
            assert_eq!(basic(text), Err(Refusal::Unknown), "{text}");
        }
    }
}

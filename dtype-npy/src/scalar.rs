//! Scalar formats: `<f8`, `i4`, `float64`, `M8[ns]`.

use dtype_runtime::Basic;
use dtype_runtime::representation::ByteOrder;

use crate::dtype::Dtype;
use crate::unit::DateUnit;

/// Why a format has no dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Unknown,
    /// The value has more bytes than memory can address.
    TooLarge,
}

/// The names of the scalar types of NumPy 2.
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

/// The names of text and of raw bytes without a length.
const OPEN: &[(&str, Basic)] = &[
    ("str", Basic::Char),
    ("str_", Basic::Char),
    ("unicode", Basic::Char),
    ("bytes", Basic::CChar),
    ("bytes_", Basic::CChar),
    ("void", Basic::Byte),
    ("record", Basic::Byte),
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
    // NumPy 2 has separate letters for `intp` and `uintp`.
    ('n', Basic::I64),
    ('N', Basic::U64),
    ('e', Basic::F16),
    ('f', Basic::F32),
    ('d', Basic::F64),
    ('g', Basic::LongDouble),
    ('F', Basic::C32),
    ('D', Basic::C64),
    ('G', Basic::LongDoubleComplex),
    ('c', Basic::CChar),
];

/// The names of NumPy's scalar types.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|(name, _)| *name)
}

/// The dtype with a name, such as `float64`.
pub(crate) fn named(name: &str) -> Option<Dtype> {
    let find = |table: &[(&str, Basic)]| {
        table.iter().find(|(known, _)| *known == name).map(|(_, basic)| *basic)
    };
    match name {
        "datetime64" => return Dtype::scalar('M', 8, ByteOrder::NATIVE),
        "timedelta64" => return Dtype::scalar('m', 8, ByteOrder::NATIVE),
        "object" | "object_" => return Dtype::scalar('O', 8, ByteOrder::NATIVE),
        _ => {}
    }
    match find(NAMES) {
        Some(basic) => Some(Dtype::of_c(basic, ByteOrder::NATIVE)),
        None => find(OPEN).and_then(|basic| match basic {
            Basic::CChar => Dtype::scalar('S', 0, ByteOrder::NATIVE),
            Basic::Char => Dtype::scalar('U', 0, ByteOrder::NATIVE),
            _ => Dtype::scalar('V', 0, ByteOrder::NATIVE),
        }),
    }
}

/// The dtype of a format such as `<f8`. Text and raw bytes without a length have 0 bytes.
pub(crate) fn format(text: &str) -> Result<Dtype, Refusal> {
    let (order, rest) = match text.chars().next() {
        Some('<') => (ByteOrder::Little, &text[1..]),
        Some('>') => (ByteOrder::Big, &text[1..]),
        Some('=' | '|') => (ByteOrder::NATIVE, &text[1..]),
        _ => (ByteOrder::NATIVE, text),
    };
    if let Some(dtype) = date(rest, order) {
        return dtype;
    }
    // The name of a type in NumPy, which is not a format.
    if let Some(dtype) = named(text).filter(|_| text != "record") {
        return Ok(dtype);
    }
    let mut chars = rest.chars();
    let letter = chars.next().ok_or(Refusal::Unknown)?;
    let digits = chars.as_str();
    if digits.is_empty() {
        let found = LETTERS.iter().find(|(known, _)| *known == letter);
        return match (letter, found) {
            ('S' | 'a', _) => Dtype::scalar('S', 0, order),
            ('U' | 'V', _) => Dtype::scalar(letter, 0, order),
            ('O', _) => Dtype::scalar('O', 8, order),
            (_, Some((_, basic))) => Some(Dtype::of_c(*basic, order)),
            _ => None,
        }
        .ok_or(Refusal::Unknown);
    }
    let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
    let number = digits.parse::<u64>().ok().filter(|_| is_number).ok_or(Refusal::Unknown)?;
    let (letter, bytes) = match letter {
        'a' => ('S', Some(number)),
        'U' => ('U', number.checked_mul(4)),
        // A file may come from a machine with pointers of any size.
        'O' => ('O', Some(8)),
        _ => (letter, Some(number)),
    };
    match bytes.filter(|bytes| *bytes <= Dtype::MAX_BYTES) {
        Some(bytes) => Dtype::scalar(letter, bytes, order).ok_or(Refusal::Unknown),
        None if matches!(letter, 'S' | 'U' | 'V') => Err(Refusal::TooLarge),
        None => Err(Refusal::Unknown),
    }
}

/// The dtype of a point or span of time, `M8[ns]`; `None` for every other format. Without a unit, the dtype is generic.
fn date(text: &str, order: ByteOrder) -> Option<Result<Dtype, Refusal>> {
    let (before, unit) = match text.split_once('[') {
        Some((before, unit)) => (before, Some(unit)),
        None => (text, None),
    };
    let letter = match before {
        "M8" | "datetime64" => 'M',
        "m8" | "timedelta64" => 'm',
        "M" | "m" if unit.is_none() => before.chars().next()?,
        _ => return None,
    };
    let dtype = Dtype::scalar(letter, 8, order)?;
    let unit = match unit.map(|unit| unit.strip_suffix(']')) {
        None | Some(Some("generic")) => return Some(Ok(dtype)),
        Some(unit) => unit.and_then(DateUnit::new),
    };
    Some(unit.map(|unit| dtype.with_unit(unit)).ok_or(Refusal::Unknown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_endian = "little")]
    #[test]
    fn formats() {
        for (text, expected, basic) in [
            ("<f8", "'<f8'", Some(Basic::F64)),
            ("d", "'<f8'", Some(Basic::F64)),
            ("?", "'|b1'", Some(Basic::Bool)),
            ("|b1", "'|b1'", Some(Basic::Bool)),
            ("b", "'|i1'", Some(Basic::I8)),
            ("l", "'<i8'", Some(Basic::Long)),
            ("n", "'<i8'", Some(Basic::I64)),
            (">N", "'>u8'", Some(Basic::U64)),
            ("i4", "'<i4'", Some(Basic::I32)),
            ("intc", "'<i4'", Some(Basic::Int)),
            (">u1", "'|u1'", Some(Basic::U8)),
            (">f8", "'>f8'", Some(Basic::F64)),
            ("S10", "'|S10'", Some(Basic::CChar)),
            ("a10", "'|S10'", Some(Basic::CChar)),
            ("<U3", "'<U3'", Some(Basic::Char)),
            ("void", "'|V0'", Some(Basic::Byte)),
            ("<M8[ns]", "'<M8[ns]'", Some(Basic::I64)),
            ("M8", "'<M8'", Some(Basic::I64)),
            ("m8[25s]", "'<m8[25s]'", Some(Basic::I64)),
            ("<datetime64[D]", "'<M8[D]'", Some(Basic::I64)),
            ("M8[s/100]", "'<M8[10ms]'", Some(Basic::I64)),
            ("M8[μs]", "'<M8[us]'", Some(Basic::I64)),
            ("M8[µs]", "'<M8[us]'", Some(Basic::I64)),
            ("=m8[generic]", "'<m8'", Some(Basic::I64)),
            ("object", "'|O'", None),
            ("O", "'|O'", None),
        ] {
            let dtype = format(text).unwrap();
            assert_eq!((&*dtype.to_string(), dtype.basic()), (expected, basic), "{text}");
        }
        let wrong = "|<|f3|f+8|i99999999999999999999|é8|float46|?1|M8[]|M8[bogus]|M8[ns|M8[ns]x|M[ns]|f8[ns]|M8[s/]|M8[s/7]";
        for text in wrong.split('|') {
            assert_eq!(format(text).err(), Some(Refusal::Unknown), "{text}");
        }
        assert_eq!(format("U4611686018427387904").err(), Some(Refusal::TooLarge));
    }
}

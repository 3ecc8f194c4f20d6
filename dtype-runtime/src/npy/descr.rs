//! The dtype in a header: what `dtype.descr` returns, as NumPy writes it.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::dtype::{Dtype, DtypeField, Kind, MOST_BYTES};
use super::error::NpyError;
use super::literal::Value;
use crate::representation::ByteOrder;

/// The dtype of a value: `'<f8'`, `[('x', '<f8'), …]`, `('<f8', (3,))`.
pub(super) fn read(value: &Value) -> Result<Dtype, NpyError> {
    dtype(value, &Path::Whole)
}

/// Which dtype it is. The names become a text only in an error: they can be long, and the fields many.
#[derive(Clone, Copy)]
enum Path<'a> {
    /// That of the items.
    Whole,
    /// That of a field.
    Field { of: &'a Path<'a>, name: &'a str },
}

impl Path<'_> {
    /// The names, separated by dots.
    fn text(&self) -> String {
        let Self::Field { of, name } = self else { return String::new() };
        let mut text = of.text();
        if !text.is_empty() {
            text.push('.');
        }
        text.push_str(name);
        text
    }
}

fn dtype(value: &Value, path: &Path<'_>) -> Result<Dtype, NpyError> {
    match value {
        Value::Text(text) => scalar(text, path),
        Value::List(fields) => structure(fields, path),
        Value::Tuple(parts) => match &**parts {
            [element, shape] => array(dtype(element, path)?, shape, path),
            _ => Err(wrong(path, "a format and a shape", value)),
        },
        other => Err(wrong(path, "a format or a list of fields", other)),
    }
}

fn place(path: &Path<'_>) -> String {
    let path = path.text();
    if path.is_empty() { "`descr`".to_string() } else { format!("field `{path}`") }
}

fn wrong(path: &Path<'_>, expected: &'static str, value: &Value) -> NpyError {
    NpyError::Value { place: place(path), expected, found: value.describe().to_string() }
}

fn too_large(path: &Path<'_>) -> NpyError {
    let found = "larger than memory can address".to_string();
    NpyError::Value { place: place(path), expected: "a size of at most 63 bits", found }
}

fn scalar(text: &str, path: &Path<'_>) -> Result<Dtype, NpyError> {
    let unknown = || NpyError::Value {
        place: place(path),
        expected: "a format such as `<f8`, `|b1` or `|V16`",
        found: format!("`{}`", text.escape_debug()),
    };
    let (order, rest) = match text.strip_prefix(['<', '>', '=', '|']) {
        Some(rest) if text.starts_with('<') => (ByteOrder::Little, rest),
        Some(rest) if text.starts_with('>') => (ByteOrder::Big, rest),
        Some(rest) => (ByteOrder::NATIVE, rest),
        None => (ByteOrder::NATIVE, text),
    };
    let mut chars = rest.chars();
    let letter = chars.next().ok_or_else(unknown)?;
    // The unit of a date, `M8[ns]`.
    let digits = match letter {
        'M' | 'm' => chars.as_str().split('[').next().unwrap_or(""),
        _ => chars.as_str(),
    };
    let number = match (letter, digits) {
        ('?', "") => return Dtype::scalar('b', 1, order).ok_or_else(unknown),
        ('O', "") => 8,
        _ if digits.bytes().all(|digit| digit.is_ascii_digit()) => {
            digits.parse::<u64>().map_err(|_| unknown())?
        }
        _ => return Err(unknown()),
    };
    let bytes = match (letter, number) {
        ('b', 1)
        | ('i' | 'u', 1 | 2 | 4 | 8)
        | ('f', 2 | 4 | 8 | 12 | 16)
        | ('c', 8 | 16 | 24 | 32)
        | ('m' | 'M' | 'O', 8)
        | ('S' | 'V', _) => number,
        ('a', _) => return Dtype::scalar('S', number, order).ok_or_else(|| too_large(path)),
        ('U', _) => number.checked_mul(4).ok_or_else(|| too_large(path))?,
        _ => return Err(unknown()),
    };
    Dtype::scalar(letter, bytes, order).ok_or_else(|| too_large(path))
}

fn array(element: Dtype, shape: &Value, path: &Path<'_>) -> Result<Dtype, NpyError> {
    let length = |value: &Value| match value {
        Value::Number(length) => Ok(*length),
        other => Err(wrong(path, "a shape of numbers", other)),
    };
    let lengths = match shape {
        Value::Number(length) => Vec::from([*length]),
        Value::Tuple(lengths) => lengths.iter().map(length).collect::<Result<_, _>>()?,
        other => return Err(wrong(path, "a shape of numbers", other)),
    };
    Dtype::array(&lengths, element).ok_or_else(|| too_large(path))
}

fn structure(values: &[Value], path: &Path<'_>) -> Result<Dtype, NpyError> {
    let (mut fields, mut offset, mut names) = (Vec::new(), 0_u64, BTreeSet::new());
    for value in values {
        let expected = "a name, a format and perhaps a shape";
        let Value::Tuple(parts) = value else { return Err(wrong(path, expected, value)) };
        let (name, format, shape) = match &**parts {
            [name, format] => (name, format, None),
            [name, format, shape] => (name, format, Some(shape)),
            _ => return Err(wrong(path, expected, value)),
        };
        let name = match name {
            Value::Text(name) => name,
            // A title before the name.
            Value::Tuple(pair) => match &**pair {
                [Value::Text(_), Value::Text(name)] => name,
                _ => return Err(wrong(path, "a title and a name", value)),
            },
            other => return Err(wrong(path, "a name", other)),
        };
        let inner = Path::Field { of: path, name };
        let mut dtype = dtype(format, &inner)?;
        if let Some(shape) = shape {
            dtype = array(dtype, shape, &inner)?;
        }
        let end = offset.checked_add(dtype.itemsize()).filter(|end| *end <= MOST_BYTES);
        let end = end.ok_or_else(|| too_large(&inner))?;
        let is_void = matches!(dtype.axes().1.kind(), Kind::Scalar { letter: 'V', .. });
        // Raw bytes without a name are a gap.
        if !(name.is_empty() && is_void) {
            if name.is_empty() || !names.insert(name) {
                let found = if name.is_empty() { "without a name" } else { "there twice" };
                let expected = "a name of its own";
                return Err(NpyError::Value {
                    place: place(&inner),
                    expected,
                    found: found.to_string(),
                });
            }
            fields.push(DtypeField { name: name.clone(), offset, dtype });
        }
        offset = end;
    }
    Dtype::structure(fields, offset).ok_or_else(|| too_large(path))
}

//! The dtype in a header, read and written: what `dtype.descr` returns in NumPy.

use std::collections::BTreeSet;

use crate::dtype::{Dtype, DtypeField, Kind, MOST_BYTES, in_order};
use crate::error::NpyError;
use crate::literal::Value;
use crate::unit::DateUnit;
use dtype_runtime::representation::ByteOrder;

/// The dtype of a value: `'<f8'`, `[('x', '<f8'), …]`, `('<f8', (3,))`.
pub(crate) fn read(value: &Value) -> Result<Dtype, NpyError> {
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
    // The names come from a file, and the message may go to a terminal.
    if path.is_empty() { "`descr`".to_string() } else { format!("field `{}`", path.escape_debug()) }
}

fn wrong(path: &Path<'_>, expected: &'static str, value: &Value) -> NpyError {
    NpyError::Value { place: place(path), expected, found: value.describe().to_string() }
}

fn too_large(path: &Path<'_>) -> NpyError {
    let found = "larger than memory can address".to_string();
    NpyError::Value { place: place(path), expected: "a size of at most 63 bits", found }
}

fn unnamed(name: &str, path: &Path<'_>) -> NpyError {
    let found = if name.is_empty() { "without a name" } else { "there twice" };
    NpyError::Value { place: place(path), expected: "a name of its own", found: found.to_string() }
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
    let (digits, unit) = match letter {
        'M' | 'm' => date(chars.as_str()).ok_or_else(unknown)?,
        _ => (chars.as_str(), None),
    };
    let (letter, bytes) = match (letter, digits) {
        ('?', "") => ('b', 1),
        ('O', "") => ('O', 8),
        _ if digits.bytes().all(|digit| digit.is_ascii_digit()) => {
            let number = digits.parse::<u64>().map_err(|_| unknown())?;
            match letter {
                'a' => ('S', number),
                'U' => ('U', number.checked_mul(4).ok_or_else(|| too_large(path))?),
                _ => (letter, number),
            }
        }
        _ => return Err(unknown()),
    };
    if bytes > MOST_BYTES && matches!(letter, 'S' | 'U' | 'V') {
        return Err(too_large(path));
    }
    let scalar = Dtype::scalar(letter, bytes, order).ok_or_else(unknown)?;
    Ok(match unit {
        Some(unit) => scalar.with_unit(unit),
        None => scalar,
    })
}

/// The digits and the unit of a date, `8[ns]`. The generic unit is none.
fn date(text: &str) -> Option<(&str, Option<DateUnit>)> {
    let Some((digits, rest)) = text.split_once('[') else { return Some((text, None)) };
    match rest.strip_suffix(']')? {
        "generic" => Some((digits, None)),
        unit => Some((digits, Some(DateUnit::new(unit)?))),
    }
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
                return Err(unnamed(name, &inner));
            }
            fields.push(DtypeField { name: name.clone(), offset, dtype });
        }
        offset = end;
    }
    Dtype::structure(fields, offset).ok_or_else(|| too_large(path))
}

/// Whether the text of a dtype is read as the same dtype, except for the order of the fields.
pub(crate) fn check(dtype: &Dtype) -> Result<(), NpyError> {
    check_inside(dtype, &Path::Whole)
}

fn check_inside(dtype: &Dtype, path: &Path<'_>) -> Result<(), NpyError> {
    let Kind::Structure { fields } = dtype.axes().1.kind() else { return Ok(()) };
    let (mut end, mut names) = (0, BTreeSet::new());
    for field in in_order(fields) {
        let inner = Path::Field { of: path, name: &field.name };
        if field.name.is_empty() || !names.insert(&field.name) {
            return Err(unnamed(&field.name, &inner));
        }
        if field.offset < end {
            let (expected, actual) = (end, field.offset);
            return Err(NpyError::Overlap { field: inner.text(), expected, actual });
        }
        check_inside(&field.dtype, &inner)?;
        // In a structure, no field ends after the item.
        end = field.offset + field.dtype.itemsize();
    }
    Ok(())
}

//! Reads and writes the dtype in a header, in the form that `dtype.descr` has in NumPy.

use std::collections::BTreeSet;

use crate::dtype::{Dtype, DtypeField, Kind, in_order};
use crate::error::NpyError;
use crate::literal::{self, Value};
use crate::scalar::{self, Refusal};

/// The dtype of a value: `'<f8'`, `[('x', '<f8'), …]`, `('<f8', (3,))`.
pub(crate) fn read(value: &Value) -> Result<Dtype, NpyError> {
    dtype(value, &Path::Whole)
}

/// The place of a dtype. The names become a text only for an error, because they can be long, and there can be many fields.
#[derive(Clone, Copy)]
enum Path<'a> {
    /// The path of the items, which is empty.
    Whole,
    /// The path of a field.
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
    match &value.kind {
        literal::Kind::Text(text) => scalar(text, path),
        literal::Kind::List(fields) => structure(fields, path),
        literal::Kind::Tuple(parts) => match &**parts {
            [element, shape] => array(dtype(element, path)?, shape, path),
            _ => Err(wrong(path, "a format and a shape", value)),
        },
        _ => Err(wrong(path, "a format or a list of fields", value)),
    }
}

fn place(path: &Path<'_>) -> String {
    let path = path.text();
    // Escaped, because the names come from a file, and the message may go to a terminal.
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
    scalar::format(text).map_err(|refusal| match refusal {
        Refusal::TooLarge => too_large(path),
        Refusal::Unknown => NpyError::Value {
            place: place(path),
            expected: "a format such as `<f8`, `|b1` or `|V16`",
            found: format!("`{}`", text.escape_debug()),
        },
    })
}

fn array(element: Dtype, shape: &Value, path: &Path<'_>) -> Result<Dtype, NpyError> {
    let length = |value: &Value| match &value.kind {
        literal::Kind::Number(length) => u64::try_from(*length).map_err(|_| too_large(path)),
        _ => Err(wrong(path, "a shape of numbers", value)),
    };
    let lengths: Vec<u64> = match &shape.kind {
        literal::Kind::Tuple(lengths) => lengths.iter().map(length).collect::<Result<_, _>>()?,
        _ => Vec::from([length(shape)?]),
    };
    Dtype::array(&lengths, element).ok_or_else(|| too_large(path))
}

fn structure(values: &[Value], path: &Path<'_>) -> Result<Dtype, NpyError> {
    let (mut fields, mut offset, mut names) = (Vec::new(), 0_u64, BTreeSet::new());
    for value in values {
        let expected = "a name, a format and perhaps a shape";
        let literal::Kind::Tuple(parts) = &value.kind else {
            return Err(wrong(path, expected, value));
        };
        let (name, format, shape) = match &**parts {
            [name, format] => (name, format, None),
            [name, format, shape] => (name, format, Some(shape)),
            _ => return Err(wrong(path, expected, value)),
        };
        let name = match &name.kind {
            literal::Kind::Text(name) => name,
            // A title before the name.
            literal::Kind::Tuple(pair) => {
                match pair.iter().map(|part| &part.kind).collect::<Vec<_>>()[..] {
                    [literal::Kind::Text(_), literal::Kind::Text(name)] => name,
                    _ => return Err(wrong(path, "a title and a name", value)),
                }
            }
            _ => return Err(wrong(path, "a name", name)),
        };
        let inner = Path::Field { of: path, name };
        let mut dtype = dtype(format, &inner)?;
        if let Some(shape) = shape {
            dtype = array(dtype, shape, &inner)?;
        }
        let end = offset.checked_add(dtype.itemsize()).filter(|end| *end <= Dtype::MAX_BYTES);
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

/// Checks that the text of a dtype is read as the same dtype, except for the order of the fields.
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

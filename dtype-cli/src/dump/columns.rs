//! The columns of records: the leaves of their shape.

use std::fmt::Write;
use std::rc::Rc;

use super::meant::Meant;
use crate::failure::Failure;
use crate::field_paths::MAX_NAME_BYTES;
use crate::shape::Shape;
use crate::value::{self, Validity, ValueStyle};

/// The maximum number of columns.
const MAX_COLUMNS: usize = 1 << 14;

/// A column: one value, or an array of values.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// The path: `cells[1].mass`; `value` if the type is not a structure.
    pub(super) name: String,
    pub(super) shape: Rc<Shape>,
}

/// The columns of a shape. With `arrays`, an array of values is one column, otherwise each of its elements is one;
/// text is always one.
pub(super) fn of(shape: &Rc<Shape>, arrays: bool) -> Result<Vec<Column>, Failure> {
    let mut columns = Vec::new();
    add(&mut columns, &mut 0, shape, "", arrays)?;
    for column in &mut columns {
        if column.name.is_empty() {
            column.name.push_str("value");
        }
    }
    Ok(columns)
}

/// Adds the columns of a shape; `name_bytes` counts the bytes of all names, which repeat those of the structs around.
fn add(
    columns: &mut Vec<Column>,
    name_bytes: &mut usize,
    shape: &Rc<Shape>,
    path: &str,
    arrays: bool,
) -> Result<(), Failure> {
    match &**shape {
        Shape::Nothing => {}
        Shape::Structure(members) => {
            let dot = if path.is_empty() { "" } else { "." };
            for member in members {
                let path = format!("{path}{dot}{}", member.name);
                add(columns, name_bytes, &member.shape, &path, arrays)?;
            }
        }
        Shape::Repeated(count, inner)
            if !(arrays && shape.element().is_some() || is_text(inner)) =>
        {
            for index in 0..*count {
                add(columns, name_bytes, inner, &format!("{path}[{index}]"), arrays)?;
            }
        }
        Shape::Value(_) | Shape::Repeated(..) | Shape::Meant(..) => {
            if columns.len() >= MAX_COLUMNS {
                return Err(Failure::Usage(format!(
                    "a record has more than {MAX_COLUMNS} columns; `--as json` has no such limit"
                )));
            }
            *name_bytes += path.len();
            if *name_bytes > MAX_NAME_BYTES {
                return Err(Failure::Usage(format!(
                    "the columns' names have more than {MAX_NAME_BYTES} bytes; `--as json` has no such limit"
                )));
            }
            columns.push(Column { name: path.to_owned(), shape: Rc::clone(shape) });
        }
    }
    Ok(())
}

/// Whether an array of these is text.
pub(super) fn is_text(shape: &Shape) -> bool {
    matches!(shape, Shape::Value(basic) if value::is_text(*basic))
}

/// Takes the bytes of the next values from the front of `values`.
pub(super) fn take<'a>(values: &mut &'a [u8], size: usize) -> &'a [u8] {
    // A record has the bytes of its shape.
    let (bytes, rest) = values.split_at(size.min(values.len()));
    *values = rest;
    bytes
}

/// Appends the next value of a column. At most `most` elements of an array are written, and the others counted.
pub(super) fn write(shape: &Shape, values: &mut &[u8], most: u64, out: &mut String) -> Validity {
    match shape {
        Shape::Value(basic) => {
            value::write(*basic, take(values, basic.size()), ValueStyle::Plain, out)
        }
        Shape::Repeated(count, inner) if is_text(inner) => {
            let text = take(values, usize::try_from(*count).unwrap_or(usize::MAX));
            value::write_text(text, ValueStyle::Plain, out);
            Validity::Valid
        }
        Shape::Repeated(count, inner) => items(*count, inner, values, most, out),
        Shape::Meant(meaning, fields) => {
            match Meant::of(*meaning, fields, take(values, fields.size())) {
                Meant::Present(shape, mut bytes) => write(shape, &mut bytes, most, out),
                Meant::Items(count, item, mut bytes) => items(count, item, &mut bytes, most, out),
                other => other.write(ValueStyle::Plain, out),
            }
        }
        // In a list or an optional value, a struct is no columns of its own.
        Shape::Structure(members) => {
            let mut validity = Validity::Valid;
            out.push('{');
            for (index, member) in members.iter().enumerate() {
                let comma = if index > 0 { ", " } else { "" };
                // Writing to a string does not fail.
                let _ = write!(out, "{comma}{}: ", value::printable(&member.name));
                validity = validity.and(self::write(&member.shape, values, most, out));
            }
            out.push('}');
            validity
        }
        Shape::Nothing => Validity::Valid,
    }
}

/// Appends values of one shape in brackets.
fn items(count: u64, item: &Shape, values: &mut &[u8], most: u64, out: &mut String) -> Validity {
    let mut validity = Validity::Valid;
    let mut unseen = String::new();
    out.push('[');
    for index in 0..count {
        let out = if index < most {
            out.push_str(if index > 0 { ", " } else { "" });
            &mut *out
        } else {
            unseen.clear();
            &mut unseen
        };
        validity = validity.and(write(item, values, most, out));
    }
    if count > most {
        // Writing to a string does not fail.
        let _ = write!(out, ", … {} more", count - most);
    }
    out.push(']');
    validity
}

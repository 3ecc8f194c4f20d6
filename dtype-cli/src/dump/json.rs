//! Records as JSON, one on each line.

use std::io::Write;
use std::rc::Rc;

use super::columns::{is_text, take};
use super::meant::Meant;
use crate::failure::Failure;
use crate::shape::Shape;
use crate::value::{self, ValueStyle};

/// Bytes of text that are collected before they are written.
const PIECE: usize = 1 << 16;

/// Writes lines of JSON.
pub(super) struct Lines {
    shape: Rc<Shape>,
    text: String,
}

impl Lines {
    pub(super) fn new(shape: &Rc<Shape>) -> Self {
        Self { shape: Rc::clone(shape), text: String::new() }
    }

    pub(super) fn record(&mut self, values: &[u8], out: &mut impl Write) -> Result<(), Failure> {
        self.text.clear();
        write_value(&self.shape, &mut { values }, &mut self.text, out)?;
        self.text.push('\n');
        Ok(out.write_all(self.text.as_bytes())?)
    }
}

/// Appends a value to `text`, and writes the text out where it gets long.
pub(crate) fn write_value(
    shape: &Shape,
    values: &mut &[u8],
    text: &mut String,
    out: &mut impl Write,
) -> Result<(), Failure> {
    if text.len() >= PIECE {
        out.write_all(text.as_bytes())?;
        text.clear();
    }
    match shape {
        Shape::Nothing => text.push_str("null"),
        Shape::Value(basic) => {
            // An invalid value says so itself.
            let _ = value::write(*basic, take(values, basic.size()), ValueStyle::Json, text);
        }
        Shape::Repeated(count, inner) if is_text(inner) => {
            let bytes = take(values, usize::try_from(*count).unwrap_or(usize::MAX));
            value::write_text(bytes, ValueStyle::Json, text);
        }
        Shape::Repeated(count, inner) => items(*count, inner, values, text, out)?,
        Shape::Meant(meaning, fields) => {
            match Meant::of(*meaning, fields, take(values, fields.size())) {
                Meant::Present(shape, mut bytes) => write_value(shape, &mut bytes, text, out)?,
                Meant::Items(count, item, mut bytes) => items(count, item, &mut bytes, text, out)?,
                // An invalid value says so itself.
                other => drop(other.write(ValueStyle::Json, text)),
            }
        }
        Shape::Structure(members) => {
            text.push('{');
            for (index, member) in members.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                value::json_string(&member.name, text);
                text.push(':');
                write_value(&member.shape, values, text, out)?;
            }
            text.push('}');
        }
    }
    Ok(())
}

/// Appends values of one shape in brackets.
fn items(
    count: u64,
    item: &Shape,
    values: &mut &[u8],
    text: &mut String,
    out: &mut impl Write,
) -> Result<(), Failure> {
    text.push('[');
    for index in 0..count {
        text.push_str(if index > 0 { "," } else { "" });
        write_value(item, values, text, out)?;
    }
    text.push(']');
    Ok(())
}

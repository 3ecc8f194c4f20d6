//! Writes the values of a shape as text or as JSON.

use std::fmt::Write as _;
use std::io::Write;

use super::meant::Meant;
use crate::failure::Failure;
use crate::shape::{Kind, Shape};
use crate::value::{self, Validity, ValueStyle, json_string};
use dtype_text::printable::printable;

/// Bytes of JSON that are collected before they are written.
const PIECE: usize = 1 << 16;

/// Appends values to a text.
pub(crate) struct ValueWriter<'a> {
    style: ValueStyle,
    /// The maximum number of elements of an array to write; the others are counted.
    most: u64,
    text: &'a mut String,
    /// The output for the text, once it gets long.
    out: Option<&'a mut dyn Write>,
}

impl<'a> ValueWriter<'a> {
    /// Values for a table or a list.
    pub(super) fn plain(most: u64, text: &'a mut String) -> Self {
        Self { style: ValueStyle::Plain, most, text, out: None }
    }

    pub(crate) fn json(text: &'a mut String, out: &'a mut dyn Write) -> Self {
        Self { style: ValueStyle::Json, most: u64::MAX, text, out: Some(out) }
    }

    fn push(&mut self, plain: &str, json: &str) {
        self.text.push_str(if self.style == ValueStyle::Json { json } else { plain });
    }

    /// Appends the next value, and takes its bytes from the front of `values`.
    pub(crate) fn write(&mut self, shape: &Shape, values: &mut &[u8]) -> Result<Validity, Failure> {
        if let Some(out) = &mut self.out
            && self.text.len() >= PIECE
        {
            out.write_all(self.text.as_bytes())?;
            self.text.clear();
        }
        match &shape.kind {
            Kind::Nothing => self.push("", "null"),
            Kind::Value(basic, restriction) => {
                let bytes = take(values, basic.size());
                if restriction
                    .as_ref()
                    .is_some_and(|values| !values.accepts(value::unsigned(bytes)))
                {
                    return Ok(value::invalid(bytes, self.style, self.text));
                }
                return Ok(value::write(*basic, bytes, self.style, self.text));
            }
            Kind::Repeated(count, inner) if is_text(inner) => {
                let bytes = take(values, usize::try_from(*count).unwrap_or(usize::MAX));
                value::write_text(bytes, self.style, self.text);
            }
            Kind::Repeated(count, inner) => return self.items(*count, inner, values),
            Kind::Meant(meaning, fields) => {
                return match Meant::of(*meaning, fields, take(values, fields.size)) {
                    Meant::Present(shape, mut bytes) => self.write(shape, &mut bytes),
                    Meant::Items(count, item, mut bytes) => self.items(count, item, &mut bytes),
                    other => Ok(other.write(self.style, self.text)),
                };
            }
            Kind::Structure(members, _) => {
                let mut validity = Validity::Valid;
                self.text.push('{');
                for (index, member) in members.iter().enumerate() {
                    self.separate(index > 0);
                    match self.style {
                        ValueStyle::Plain => self.text.push_str(&printable(&member.name)),
                        ValueStyle::Json => json_string(&member.name, self.text),
                    }
                    self.push(": ", ":");
                    validity = validity.and(self.write(&member.shape, values)?);
                }
                self.text.push('}');
                return Ok(validity);
            }
        }
        Ok(Validity::Valid)
    }

    /// Appends values of one shape in brackets.
    fn items(&mut self, count: u64, item: &Shape, values: &mut &[u8]) -> Result<Validity, Failure> {
        let mut validity = Validity::Valid;
        self.text.push('[');
        for index in 0..count.min(self.most) {
            self.separate(index > 0);
            validity = validity.and(self.write(item, values)?);
        }
        // Elements that are not shown may be invalid.
        let shown = self.text.len();
        for _ in self.most..count {
            validity = validity.and(self.write(item, values)?);
            self.text.truncate(shown);
        }
        if count > self.most {
            // Writing to a string does not fail.
            let _ = write!(self.text, ", … {} more", count - self.most);
        }
        self.text.push(']');
        Ok(validity)
    }

    fn separate(&mut self, has_previous: bool) {
        if has_previous {
            self.push(", ", ",");
        }
    }
}

/// Whether an array of this shape is text.
pub(super) fn is_text(shape: &Shape) -> bool {
    matches!(&shape.kind, Kind::Value(basic, _) if value::is_text(*basic))
}

/// Takes the bytes of the next values from the front of `values`.
fn take<'a>(values: &mut &'a [u8], size: usize) -> &'a [u8] {
    // A record has the bytes of its shape.
    let (bytes, rest) = values.split_at(size.min(values.len()));
    *values = rest;
    bytes
}

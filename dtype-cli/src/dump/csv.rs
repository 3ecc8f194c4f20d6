//! Records as comma-separated values (RFC 4180): a line of names, and a line for each record.

use std::io::Write;
use std::rc::Rc;

use super::columns::{self, Column};
use super::values::ValueWriter;
use super::{Printer, Record};
use crate::failure::Failure;
use crate::shape::Shape;
use dtype_text::printable::printable;

/// Writes lines of comma-separated values.
pub(super) struct Lines {
    columns: Vec<Column>,
    line: String,
    field: String,
}

impl Lines {
    pub(super) fn new(shape: &Rc<Shape>) -> Result<Self, Failure> {
        let columns = columns::of(shape, false)?;
        Ok(Self { columns, line: String::new(), field: String::new() })
    }
}

impl Printer for Lines {
    fn begin(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        self.line.clear();
        for (index, column) in self.columns.iter().enumerate() {
            push(&printable(&column.name), index, &mut self.line);
        }
        self.line.push('\n');
        Ok(out.write_all(self.line.as_bytes())?)
    }

    fn record(&mut self, record: &Record<'_>, out: &mut dyn Write) -> Result<(), Failure> {
        let mut values = record.values;
        self.line.clear();
        for (index, column) in self.columns.iter().enumerate() {
            self.field.clear();
            // An invalid value is marked in its text.
            let _ =
                ValueWriter::plain(u64::MAX, &mut self.field).write(&column.shape, &mut values)?;
            push(&self.field, index, &mut self.line);
        }
        self.line.push('\n');
        Ok(out.write_all(self.line.as_bytes())?)
    }
}

/// Appends a field, in quotes if it needs them.
fn push(field: &str, index: usize, line: &mut String) {
    line.push_str(if index > 0 { "," } else { "" });
    if field.contains([',', '"', '\n', '\r']) {
        line.push('"');
        line.push_str(&field.replace('"', "\"\""));
        line.push('"');
    } else {
        line.push_str(field);
    }
}

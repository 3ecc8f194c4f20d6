//! Records as JSON, one on each line.

use std::io::Write;
use std::rc::Rc;

use super::values::ValueWriter;
use super::{Printer, Record};
use crate::failure::Failure;
use crate::shape::Shape;

/// Writes lines of JSON.
pub(super) struct Lines {
    shape: Rc<Shape>,
    text: String,
}

impl Lines {
    pub(super) fn new(shape: &Rc<Shape>) -> Self {
        Self { shape: Rc::clone(shape), text: String::new() }
    }
}

impl Printer for Lines {
    fn record(&mut self, record: &Record<'_>, out: &mut dyn Write) -> Result<(), Failure> {
        self.text.clear();
        // An invalid value is marked in its text.
        let _ =
            ValueWriter::json(&mut self.text, out).write(&self.shape, &mut { record.values })?;
        self.text.push('\n');
        Ok(out.write_all(self.text.as_bytes())?)
    }
}

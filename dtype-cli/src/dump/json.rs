//! Records as JSON, one on each line.

use std::io::Write;
use std::rc::Rc;

use super::values::ValueWriter;
use super::{Printer, Record};
use crate::failure::Failure;
use crate::shape::Shape;

/// Writes lines of JSON.
pub(crate) struct Lines {
    shape: Rc<Shape>,
    /// The number of the frame that holds the records, if a frame does. Each line repeats it.
    frame: Option<u64>,
    is_head: bool,
    text: String,
}

impl Lines {
    pub(crate) fn new(shape: &Rc<Shape>, frame: Option<u64>) -> Self {
        Self { shape: Rc::clone(shape), frame, is_head: false, text: String::new() }
    }

    /// The same for the record before the others of a frame.
    pub(crate) fn of_head(self) -> Self {
        Self { is_head: true, ..self }
    }
}

impl Printer for Lines {
    fn record(&mut self, record: &Record<'_>, out: &mut dyn Write) -> Result<(), Failure> {
        let Record { number, mut values, .. } = *record;
        self.text.clear();
        if let Some(frame) = self.frame {
            self.text = if self.is_head {
                format!("{{\"frame\":{frame},\"head\":")
            } else {
                format!("{{\"frame\":{frame},\"record\":{number},\"value\":")
            };
        }
        // An invalid value is marked in its text.
        let _ = ValueWriter::json(&mut self.text, out).write(&self.shape, &mut values)?;
        self.text.push_str(if self.frame.is_some() { "}\n" } else { "\n" });
        Ok(out.write_all(self.text.as_bytes())?)
    }
}

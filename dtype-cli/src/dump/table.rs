//! Prints records as a table.

use std::io::Write;
use std::rc::Rc;

use super::columns::{self, Column};
use super::values::ValueWriter;
use super::{Printer, Record};
use crate::failure::Failure;
use crate::shape::{Kind, Shape};
use crate::value::{self, Validity};
use dtype_text::printable::printable;

/// The number of records, and of bytes of their text, from which the widths of the columns are computed. A wider value that
/// comes later widens its column.
const SAMPLE_ROWS: usize = 1000;
const SAMPLE_BYTES: usize = 1 << 20;

/// The maximum number of elements of an array to print; the others are counted.
const MAX_ELEMENTS: u64 = 16;

/// The space between columns.
const GAP: &str = "  ";

/// A table under construction. It holds the first rows until it knows how wide the columns are.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    /// The width of the record numbers, and of each column.
    widths: Vec<usize>,
    rows: Vec<Row>,
    /// Bytes of text in the rows.
    bytes: usize,
    has_begun: bool,
    colour: bool,
    indent: &'static str,
    /// Whether its only row is the record before the others of a message, which has no number.
    is_head: bool,
}

/// The texts of a row, and whether they are values.
type Row = Vec<(String, Validity)>;

impl Printer for Table {
    fn record(&mut self, record: &Record<'_>, out: &mut dyn Write) -> Result<(), Failure> {
        let Record { number, mut values, .. } = *record;
        let number = if self.is_head { String::new() } else { number.to_string() };
        let mut cells = vec![(number, Validity::Valid)];
        for column in &self.columns {
            let mut text = String::new();
            let mut writer = ValueWriter::plain(MAX_ELEMENTS, &mut text);
            let validity = writer.write(&column.shape, &mut values)?;
            cells.push((text, validity));
        }
        for (width, (text, _)) in self.widths.iter_mut().zip(&cells) {
            *width = text.chars().count().max(*width);
        }
        self.bytes += cells.iter().map(|(text, _)| text.len()).sum::<usize>();
        self.rows.push(cells);
        if self.has_begun || self.rows.len() >= SAMPLE_ROWS || self.bytes >= SAMPLE_BYTES {
            self.finish(out)?;
        }
        Ok(())
    }

    /// Prints the rows that were held back.
    fn finish(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        if !self.has_begun {
            self.has_begun = true;
            let names = self.columns.iter().map(|column| column.name.clone());
            let names = std::iter::once(self.title().to_owned()).chain(names);
            let head: Row = names.map(|name| (name, Validity::Valid)).collect();
            self.line(&head, "\x1b[1m", out)?;
        }
        for row in std::mem::take(&mut self.rows) {
            self.line(&row, "", out)?;
        }
        self.bytes = 0;
        Ok(())
    }
}

impl Table {
    pub(crate) fn new(shape: &Rc<Shape>, colour: bool) -> Result<Self, Failure> {
        let mut columns = columns::of(shape, true)?;
        for column in &mut columns {
            column.name = printable(&column.name);
        }
        let names = columns.iter().map(|column| column.name.chars().count());
        let widths = std::iter::once("record".len()).chain(names).collect();
        Ok(Self {
            columns,
            widths,
            rows: Vec::new(),
            bytes: 0,
            has_begun: false,
            colour,
            indent: "",
            is_head: false,
        })
    }

    /// The same table for the record before the others of a message.
    pub(crate) fn of_head(self) -> Self {
        Self { is_head: true, ..self }
    }

    /// The title of the first column.
    fn title(&self) -> &'static str {
        if self.is_head { "head" } else { "record" }
    }

    /// The same table with two spaces before each line.
    pub(crate) fn indented(self) -> Self {
        Self { indent: "  ", ..self }
    }

    fn line(
        &self,
        row: &[(String, Validity)],
        style: &str,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let mut line = self.indent.to_owned();
        let last = row.len().saturating_sub(1);
        for (index, (text, validity)) in row.iter().enumerate() {
            line.push_str(if index > 0 { GAP } else { "" });
            let pad = self.widths[index] - text.chars().count();
            let at_right = match index.checked_sub(1).and_then(|index| self.columns.get(index)) {
                None => true,
                Some(column) => {
                    matches!(&column.shape.kind, Kind::Value(basic, _) if value::is_number(*basic))
                }
            };
            let style = if *validity == Validity::Invalid { "\x1b[31m" } else { style };
            let (on, off) =
                if self.colour && !style.is_empty() { (style, "\x1b[0m") } else { ("", "") };
            let (before, after) = if at_right { (pad, 0) } else { (0, pad) };
            line.extend(std::iter::repeat_n(' ', before));
            line.push_str(on);
            line.push_str(text);
            line.push_str(off);
            if index < last {
                line.extend(std::iter::repeat_n(' ', after));
            }
        }
        line.push('\n');
        Ok(out.write_all(line.as_bytes())?)
    }
}

//! Prints records as hexadecimal bytes, with the field that each byte belongs to.
//!
//! A record starts a new row. To the right of the bytes are the letters of their fields, a dot for padding, and the
//! bytes as ASCII:
//!
//! ```text
//! record    offset  bytes                                             fields            text
//!      0  00000000  00 00 00 00 00 00 f0 3f  07 00 00 00 00 00 00 00  aaaaaaaab·······  .......?........
//! ```

use std::fmt::Write as _;
use std::io::Write;

use dtype_runtime::{Basic, Representation};

use super::{Printer, Record};
use crate::failure::Failure;
use crate::field_paths::MAX_NAME_BYTES;
use crate::records::Places;
use crate::shape::{Kind, Shape};
use crate::value::date;
use dtype_text::notation::{Meaning, Parsed};
use dtype_text::printable::printable;

/// Bytes in a row.
const ROW: usize = 16;

/// The greatest number of bytes of a record, and of its data (which overlap if they are more).
const MAX_BYTES: usize = 1 << 24;

/// The widest path for which the types in the key are aligned. After a longer path, its type follows directly.
const MAX_WIDTH: usize = 100;

/// The greatest number of fields with a letter and an entry in the key. Further fields are marked with a star, as are fields
/// after too many bytes of names.
const MAX_FIELDS: usize = 1024;

/// The letters of fields, as in pictures.
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// The colours of fields, as in pictures.
const COLOURS: [u8; 8] = [32, 172, 35, 169, 74, 166, 142, 99];

/// A byte that belongs to no field.
const PADDING: u16 = u16::MAX;

/// A byte of a field beyond the limit.
const OTHER: u16 = u16::MAX - 1;

/// Writes rows of bytes.
pub(super) struct View {
    fields: Vec<Field>,
    /// The field of each byte of a whole record.
    marks: Vec<u16>,
    /// The displacement of the first of these bytes.
    start: i128,
    colour: bool,
    row: String,
}

/// An entry of the key.
struct Field {
    path: String,
    /// The type of a value.
    what: String,
    /// The number of values in a record.
    count: u64,
}

impl View {
    /// A view of records in memory, or of records that are packed in a representation.
    pub(super) fn new(
        parsed: &Parsed,
        shape: &Shape,
        places: &Places,
        packed: Option<Representation>,
        colour: bool,
    ) -> Result<Self, Failure> {
        let (start, end) = places.whole();
        let actual = (end - start).max(parsed.ty.size().into());
        let len = usize::try_from(end - start).ok().filter(|_| actual <= MAX_BYTES as i128);
        let Some(len) = len else {
            return Err(Failure::Usage(format!(
                "a record of {actual} bytes is too long for the hexadecimal view, which takes at most {MAX_BYTES}"
            )));
        };
        let mut fields = Fields { all: Vec::new(), name_bytes: 0 };
        fields.add(shape, String::new(), 1);
        let mut marks = vec![PADDING; len];
        let (mut at, mut entries) = (0, parsed.ty.type_map());
        each_value(shape, 0, &mut |number, basic| {
            let (start, width) = match packed {
                Some(Representation::External32) => (at, basic.external32_size()),
                Some(_) => (at, basic.size()),
                None => {
                    // The type map has an entry for each value.
                    let displacement = entries.next().map_or(0, |entry| entry.displacement);
                    let here = usize::try_from(i128::from(displacement) - start);
                    (here.unwrap_or(usize::MAX), basic.size())
                }
            };
            at += width;
            let end = start.saturating_add(width).min(len);
            if let Some(marks) = marks.get_mut(start..end) {
                let is_listed = number < fields.all.len();
                marks.fill(u16::try_from(number).ok().filter(|_| is_listed).unwrap_or(OTHER));
            }
        });
        Ok(Self { fields: fields.all, marks, start, colour, row: String::new() })
    }

    /// Writes the positions of a row, with the style of their marks.
    fn styled(&self, marks: &[u16], row: &mut String, mut one: impl FnMut(usize, &mut String)) {
        let mut current = None;
        for position in 0..ROW {
            let mark = marks.get(position).copied();
            if self.colour && mark != current {
                row.push_str(current.map_or("", |mark| self.style(mark).1));
                row.push_str(&mark.map_or(String::new(), |mark| self.style(mark).0));
                current = mark;
            }
            one(position, row);
        }
        if self.colour {
            row.push_str(current.map_or("", |mark| self.style(mark).1));
        }
    }

    /// The escape sequences around a mark's bytes.
    fn style(&self, mark: u16) -> (String, &'static str) {
        let on = match mark {
            _ if !self.colour => return (String::new(), ""),
            PADDING => "\x1b[2m".to_owned(),
            OTHER => "\x1b[1m".to_owned(),
            _ => format!("\x1b[38;5;{}m", COLOURS[usize::from(mark) % COLOURS.len()]),
        };
        (on, "\x1b[0m")
    }
}

impl Printer for View {
    fn begin(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        let width = |field: &Field| field.path.chars().count();
        let widest = self.fields.iter().map(width).filter(|width| *width <= MAX_WIDTH).max();
        let widest = widest.unwrap_or(0);
        for (index, field) in self.fields.iter().enumerate() {
            let Field { path, what, count } = field;
            let mark = u16::try_from(index).unwrap_or(OTHER);
            let (on, off) = self.style(mark);
            let times = if *count > 1 { format!(" × {count}") } else { String::new() };
            let pad = " ".repeat(widest.saturating_sub(width(field)));
            writeln!(out, "{on}{}  {path}{pad}{off}  {what}{times}", letter(mark))?;
        }
        if self.marks.contains(&OTHER) {
            writeln!(out, "{}  further fields", letter(OTHER))?;
        }
        if self.marks.contains(&PADDING) {
            let (on, off) = self.style(PADDING);
            writeln!(out, "{on}{}  padding{off}", letter(PADDING))?;
        }
        let pad = 3 * ROW;
        writeln!(out, "\nrecord    offset  {:pad$} {:ROW$}  text", "bytes", "fields")?;
        Ok(())
    }

    fn record(&mut self, record: &Record<'_>, out: &mut dyn Write) -> Result<(), Failure> {
        // The mark of the first byte that was read. Bytes before the start of the input are missing.
        let first = i128::from(record.from) - record.place.base - self.start;
        let first = usize::try_from(first).unwrap_or(0).min(self.marks.len());
        let marks = &self.marks[first..];
        for (index, bytes) in record.bytes.chunks(ROW).enumerate() {
            let from = (index * ROW).min(marks.len());
            let marks = &marks[from..(from + ROW).min(marks.len())];
            let mut row = std::mem::take(&mut self.row);
            row.clear();
            let number = if index == 0 { record.number.to_string() } else { String::new() };
            // Writing to a string does not fail.
            let _ = write!(row, "{number:>6}  {:08x} ", record.from + from as u64);
            self.styled(marks, &mut row, |position, row| match bytes.get(position) {
                Some(byte) => {
                    let gap = if position == ROW / 2 { "  " } else { " " };
                    let _ = write!(row, "{gap}{byte:02x}");
                }
                None => row.push_str(if position == ROW / 2 { "    " } else { "   " }),
            });
            row.push_str("  ");
            self.styled(marks, &mut row, |position, row| {
                let mark = marks.get(position).filter(|_| position < bytes.len());
                row.push(mark.map_or(' ', |mark| letter(*mark)));
            });
            row.push_str("  ");
            self.styled(marks, &mut row, |position, row| {
                if let Some(byte) = bytes.get(position) {
                    let is_shown = byte.is_ascii_graphic() || *byte == b' ';
                    row.push(if is_shown { char::from(*byte) } else { '.' });
                }
            });
            row.push('\n');
            out.write_all(row.as_bytes())?;
            self.row = row;
        }
        Ok(())
    }
}

fn letter(mark: u16) -> char {
    match mark {
        PADDING => '·',
        _ => LETTERS.get(usize::from(mark)).map_or('*', |letter| char::from(*letter)),
    }
}

/// The fields of a shape.
struct Fields {
    all: Vec<Field>,
    /// Bytes of their paths.
    name_bytes: usize,
}

impl Fields {
    fn is_full(&self) -> bool {
        self.all.len() >= MAX_FIELDS || self.name_bytes >= MAX_NAME_BYTES
    }

    fn push(&mut self, path: &str, what: String, count: u64) {
        let path = if path.is_empty() { "value".to_owned() } else { printable(path) };
        self.name_bytes += path.len();
        self.all.push(Field { path, what, count });
    }

    /// Collects the fields of a shape, up to the limit. A shared part has one field for each path to it.
    fn add(&mut self, shape: &Shape, path: String, times: u64) {
        match &shape.kind {
            _ if self.is_full() => {}
            Kind::Nothing => {}
            Kind::Value(basic, _) => {
                self.push(&path, basic.to_string(), times);
            }
            Kind::Meant(Meaning::Time(unit), _) => self.push(&path, date::name('M', *unit), times),
            Kind::Meant(Meaning::Span(unit), _) => self.push(&path, date::name('m', *unit), times),
            Kind::Repeated(count, inner) => {
                let brackets = if shape.is_value() { "" } else { "[]" };
                self.add(inner, path + brackets, times.saturating_mul(*count));
            }
            Kind::Structure(members, _) => {
                let dot = if path.is_empty() { "" } else { "." };
                for member in members {
                    if self.is_full() {
                        break;
                    }
                    self.add(&member.shape, format!("{path}{dot}{}", member.name), times);
                }
            }
            Kind::Meant(_, fields) => self.add(fields, path, times),
        }
    }
}

/// Calls `visit` for each value, in the order of the type map, with the number of its field. `first` is the number of the
/// shape's first field. Returns the number of the field after its last one.
fn each_value(shape: &Shape, first: usize, visit: &mut dyn FnMut(usize, Basic)) -> usize {
    match &shape.kind {
        Kind::Nothing => first,
        Kind::Value(basic, _) => {
            visit(first, *basic);
            first + 1
        }
        Kind::Repeated(count, inner) => {
            (0..*count).map(|_| each_value(inner, first, visit)).last().unwrap_or(first)
        }
        Kind::Structure(members, _) => {
            members.iter().fold(first, |first, member| each_value(&member.shape, first, visit))
        }
        Kind::Meant(_, fields) => each_value(fields, first, visit),
    }
}

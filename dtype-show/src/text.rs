//! A picture as text.

mod legend;
mod marks;

use core::fmt::{self, Write};

use crate::diagram::{Cell, Diagram, Line, Row, Sign};
pub(crate) use legend::{Legend, rest};

/// How to write a picture as text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is there or not, whatever the others")]
pub struct TextStyle {
    /// The first line: the name, the size and the bounds.
    pub title: bool,
    /// Use only ASCII: `#` for data, `.` for a gap, `@` for bytes named more than once, `+` for cells that are partly
    /// data.
    pub ascii: bool,
    /// Colour each field with terminal escape sequences. The caller decides whether the output is a terminal.
    pub colour: bool,
    /// Rulers with displacements in bytes: beside each row for its first cell, and above the rows for the cells.
    pub rulers: bool,
    /// Brackets for the extent and the true extent.
    pub ranges: bool,
    /// Below each cell where a field starts, the field's letter, and a dot where it continues. Omitted if there is only
    /// one field.
    pub letters: bool,
    /// The maximum number of fields in the legend; 0 for no legend.
    pub legend: usize,
}

impl Default for TextStyle {
    /// Everything, without colours, with a legend of up to 40 fields.
    fn default() -> Self {
        Self {
            title: true,
            ascii: false,
            colour: false,
            rulers: true,
            ranges: true,
            letters: true,
            legend: 40,
        }
    }
}

impl TextStyle {
    fn dots(&self) -> &'static str {
        if self.ascii { "..." } else { "…" }
    }

    setters! {
        with_title, title: bool;
        with_ascii, ascii: bool;
        with_colour, colour: bool;
        with_rulers, rulers: bool;
        with_ranges, ranges: bool;
        with_letters, letters: bool;
        with_legend, legend: usize;
    }
}

/// A picture as text: its `Display`. [`Diagram::text`] makes it.
#[derive(Clone, Debug)]
pub struct Text<'a> {
    diagram: &'a Diagram,
    style: &'a TextStyle,
}

/// The letters of the first fields. Further fields have a star.
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Colours of a 256-colour terminal that colour-blind readers can tell apart on dark and light backgrounds.
const COLOURS: [u8; 8] = [32, 172, 35, 169, 74, 166, 142, 99];

/// The letter of a field.
pub(crate) fn letter(field: Option<u16>) -> char {
    let letter = field.and_then(|field| LETTERS.get(usize::from(field)));
    letter.map_or('*', |letter| char::from(*letter))
}

impl Diagram {
    /// The picture as text, drawn as `style` says.
    pub fn text<'a>(&'a self, style: &'a TextStyle) -> Text<'a> {
        Text::new(self, style)
    }
}

impl<'a> Text<'a> {
    fn new(diagram: &'a Diagram, style: &'a TextStyle) -> Self {
        Self { diagram, style }
    }

    /// The number of digits of the greatest number beside a row.
    fn gutter(&self) -> usize {
        if !self.style.rulers {
            return 0;
        }
        let widths = self.diagram.rows().map(|row| format!("{}", row.start).len());
        widths.max().unwrap_or(1)
    }

    fn ruler(&self, f: &mut fmt::Formatter<'_>, gutter: usize) -> fmt::Result {
        let labels = self.diagram.ruler();
        if labels.is_empty() {
            return Ok(());
        }
        let mut line = String::new();
        for (cell, label) in labels {
            if line.is_empty() || line.len() < cell {
                let pad = cell - line.len();
                write!(line, "{:pad$}{label}", "")?;
            }
        }
        writeln!(f, "{:gutter$} {line}", "")
    }

    fn row(&self, f: &mut fmt::Formatter<'_>, row: &Row, gutter: usize) -> fmt::Result {
        if self.style.rulers {
            write!(f, "{:>gutter$} ", row.start)?;
        }
        self.signs(
            f,
            row,
            |cell| {
                if self.style.ascii { cell.sign.ascii() } else { cell.sign.square() }
            },
        )?;
        if self.has_letters() && row.cells.iter().any(|cell| cell.data_bytes() > 0) {
            if self.style.rulers {
                write!(f, "{:gutter$} ", "")?;
            }
            self.signs(f, row, |cell| match cell {
                Cell { sign: Sign::Gap | Sign::Unknown, .. } => ' ',
                Cell { starts: true, field, .. } => letter(*field),
                _ if self.style.ascii => '-',
                _ => '·',
            })?;
        }
        Ok(())
    }

    fn has_letters(&self) -> bool {
        let fields = self.diagram.fields().iter().filter(|field| field.is_drawn).count();
        self.style.letters && fields > 1
    }

    /// Writes a line with one character for each cell, coloured by field.
    fn signs(
        &self,
        f: &mut fmt::Formatter<'_>,
        row: &Row,
        sign: impl Fn(&Cell) -> char,
    ) -> fmt::Result {
        let mut colour = None;
        let mut line = String::new();
        for cell in &row.cells {
            let next = cell.field.filter(|_| self.style.colour);
            if next != colour {
                self.switch(&mut line, next)?;
                colour = next;
            }
            line.push(sign(cell));
        }
        if colour.is_some() {
            self.switch(&mut line, None)?;
        }
        writeln!(f, "{}", line.trim_end_matches(' '))
    }

    /// Switches to the colour of a field, if colours are enabled.
    fn switch(&self, out: &mut impl Write, field: Option<u16>) -> fmt::Result {
        match field {
            _ if !self.style.colour => Ok(()),
            None => out.write_str("\x1b[0m"),
            Some(field) => {
                // When the colours repeat, every second repetition is underlined.
                let (round, colour) =
                    (usize::from(field) / COLOURS.len(), usize::from(field) % COLOURS.len());
                let line = if round % 2 == 1 { "\x1b[4m" } else { "" };
                write!(out, "\x1b[0m{line}\x1b[38;5;{}m", COLOURS[colour])
            }
        }
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gutter = self.gutter();
        let indent = if self.style.rulers { gutter + 1 } else { 0 };
        let dots = self.style.dots();
        if self.style.title {
            writeln!(f, "{}\n", self.diagram.title())?;
        }
        if self.style.rulers {
            self.ruler(f, gutter)?;
        }
        for line in self.diagram.lines() {
            match line {
                Line::Row(row) => {
                    self.row(f, row, gutter)?;
                    if self.style.ranges {
                        marks::write(f, self.diagram, row, self.style.ascii, indent)?;
                    }
                }
                Line::Heading(name) => writeln!(f, "{:indent$}{}", "", legend::in_line(name))?,
                Line::LeftOut(bytes) => {
                    writeln!(f, "{:indent$}{dots} {bytes} bytes left out {dots}", "")?;
                }
                Line::Gap { rows, .. } => writeln!(f, "{:indent$}{dots} {rows} rows of gap", "")?,
            }
        }
        let more = self.diagram.more_extents();
        if self.style.ranges && more > 0 {
            writeln!(
                f,
                "{:indent$}{dots} the extents of {more} more instances left out {dots}",
                ""
            )?;
        }
        self.meanings(f)?;
        if self.style.legend > 0 && !self.diagram.fields().is_empty() {
            f.write_str("\n")?;
            legend::write(f, self)?;
        }
        Ok(())
    }
}

impl Text<'_> {
    /// Writes the meanings of the rarer signs, if there are any.
    fn meanings(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut is_first = true;
        for sign in [Sign::Other, Sign::Part, Sign::Overlap, Sign::Unknown] {
            if self.diagram.has(sign) {
                let square = if self.style.ascii { sign.ascii() } else { sign.square() };
                f.write_str(if is_first { "\n" } else { ", " })?;
                write!(f, "{square} {}", sign.meaning())?;
                is_first = false;
            }
        }
        f.write_str(if is_first { "" } else { "\n" })
    }
}

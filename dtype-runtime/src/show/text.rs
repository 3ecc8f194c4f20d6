//! A picture as text.

mod legend;
mod marks;

use alloc::format;
use alloc::string::String;
use core::fmt::{self, Write};

use super::diagram::{Cell, Diagram, Line, Row, Sign};
pub(super) use legend::Legend;

/// How a picture is written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is there or not, whatever the others")]
pub struct TextStyle {
    /// The first line: the name, the size and the bounds.
    pub title: bool,
    /// Only ASCII: `#` for data, `.` for a gap, `@` for what is named more than once, `+` for cells that are partly
    /// data.
    pub ascii: bool,
    /// With the escape sequences of a terminal, a colour for each field. Whether there is a terminal, the caller
    /// knows.
    pub colour: bool,
    /// The numbers along the rows: displacements in bytes, beside each row of its first cell, above the rows of the
    /// cells in it.
    pub rulers: bool,
    /// Brackets for the extent and the true extent.
    pub ranges: bool,
    /// The letter of a field below each cell where one starts, a dot where it goes on; left out where there is one
    /// field only.
    pub letters: bool,
    /// How many fields the legend lists; 0 for no legend.
    pub legend: usize,
}

impl Default for TextStyle {
    /// All of it, without colours, with a legend of 40 fields.
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

/// A picture as text: its `Display`. Made by [`Diagram::text`].
#[derive(Clone, Debug)]
pub struct Text<'a> {
    diagram: &'a Diagram,
    style: &'a TextStyle,
}

/// Every how many cells the ruler has a number.
const TICK: usize = 8;

/// The letters of fields; those beyond have a star.
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Colours of a terminal with 256, which are told apart on dark and light, and by people who see few colours.
const COLOURS: [u8; 8] = [32, 172, 35, 169, 74, 166, 142, 99];

/// The letter of a field.
pub(super) fn letter(field: Option<u16>) -> char {
    let letter = field.and_then(|field| LETTERS.get(usize::from(field)));
    letter.map_or('*', |letter| char::from(*letter))
}

impl<'a> Text<'a> {
    pub(super) fn new(diagram: &'a Diagram, style: &'a TextStyle) -> Self {
        Self { diagram, style }
    }

    /// Digits of the greatest number beside a row.
    fn gutter(&self) -> usize {
        if !self.style.rulers {
            return 0;
        }
        let widths = self.diagram.rows().map(|row| format!("{}", row.start).len());
        widths.max().unwrap_or(1)
    }

    /// The numbers above the rows: displacements where there is one row, and otherwise those from the start of each.
    fn ruler(&self, f: &mut fmt::Formatter<'_>, gutter: usize) -> fmt::Result {
        let mut rows = self.diagram.rows();
        let (Some(first), second) = (rows.next(), rows.next()) else { return Ok(()) };
        let cells = first.cells.len();
        let mut line = String::new();
        for tick in (0..cells).step_by(TICK) {
            let bytes = tick as i128 * i128::from(self.diagram.unit());
            let label = match second {
                None => format!("{}", first.start + bytes),
                Some(_) => format!("+{bytes}"),
            };
            if line.is_empty() || line.len() < tick {
                let pad = tick - line.len();
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
        let fields = self.diagram.fields().iter().filter(|field| field.basic.is_some()).count();
        self.style.letters && fields > 1
    }

    /// A line of a character for each cell, coloured by field.
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

    /// Goes over to the colour of a field, if there are to be colours.
    fn switch(&self, out: &mut impl Write, field: Option<u16>) -> fmt::Result {
        match field {
            _ if !self.style.colour => Ok(()),
            None => out.write_str("\x1b[0m"),
            Some(field) => {
                write!(out, "\x1b[38;5;{}m", COLOURS[usize::from(field) % COLOURS.len()])
            }
        }
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gutter = self.gutter();
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
                        let indent = if self.style.rulers { gutter + 1 } else { 0 };
                        marks::write(f, self.diagram, row, self.style.ascii, indent)?;
                    }
                }
                Line::LeftOut(bytes) => {
                    let dots = if self.style.ascii { "..." } else { "…" };
                    let pad = if self.style.rulers { gutter + 1 } else { 0 };
                    writeln!(f, "{:pad$}{dots} {bytes} bytes left out {dots}", "")?;
                }
            }
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
    /// What the rarer signs mean, if there are any.
    fn meanings(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut is_first = true;
        for sign in [Sign::Part, Sign::Overlap, Sign::Unknown] {
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

//! Writes rows of text in columns.

use core::fmt::{self, Write};

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Rows of text below a header, with two spaces between columns. A column that is empty in all rows is omitted.
#[derive(Clone, Debug)]
pub(crate) struct Table<const N: usize> {
    header: [(&'static str, Align); N],
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(header: &[(&'static str, Align); N]) -> Self {
        Self { header: *header, rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, row: [String; N]) {
        self.rows.push(row);
    }

    /// The widths of the columns; `None` for a column without text.
    fn widths(&self) -> [Option<usize>; N] {
        core::array::from_fn(|column| {
            let widths = self.rows.iter().map(|row| row[column].chars().count());
            let widest = widths.max().filter(|width| *width > 0)?;
            Some(widest.max(self.header[column].0.chars().count()))
        })
    }

    /// Writes the table. With colours, the escape sequence of each row colours its first text.
    pub(crate) fn write(
        &self,
        f: &mut fmt::Formatter<'_>,
        colours: Option<&[String]>,
    ) -> fmt::Result {
        let widths = self.widths();
        line(f, &self.header, &widths, &self.header.map(|(title, _)| title), "")?;
        for (i, row) in self.rows.iter().enumerate() {
            let colour = colours.and_then(|colours| colours.get(i)).map_or("", String::as_str);
            let cells = core::array::from_fn(|column| row[column].as_str());
            line(f, &self.header, &widths, &cells, colour)?;
        }
        Ok(())
    }
}

/// Writes spaces one by one, because the width of a format is at most 65 535.
fn spaces(f: &mut fmt::Formatter<'_>, number: usize) -> fmt::Result {
    (0..number).try_for_each(|_| f.write_char(' '))
}

fn line<const N: usize>(
    f: &mut fmt::Formatter<'_>,
    header: &[(&'static str, Align); N],
    widths: &[Option<usize>; N],
    cells: &[&str; N],
    colour: &str,
) -> fmt::Result {
    // Spaces are written only before text, so that no line ends with one.
    let mut pad = 0;
    for (column, cell) in cells.iter().enumerate() {
        let Some(width) = widths[column] else { continue };
        let space = width - cell.chars().count();
        let (before, after) = match header[column].1 {
            Align::Left => (0, space),
            Align::Right => (space, 0),
        };
        if cell.is_empty() {
            pad += width + 2;
            continue;
        }
        spaces(f, pad + before)?;
        if column == 0 && !colour.is_empty() {
            write!(f, "{colour}{cell}\x1b[0m")?;
        } else {
            f.write_str(cell)?;
        }
        pad = after + 2;
    }
    f.write_str("\n")
}

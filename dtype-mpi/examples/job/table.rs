//! The table that rank 0 prints at the end.

use std::fmt;
use std::time::Duration;

/// Lines of cells in aligned columns: the first left-aligned, the others right-aligned.
pub(crate) struct Table {
    lines: Vec<Vec<String>>,
}

impl Table {
    /// A table with a heading.
    pub(crate) fn new<const N: usize>(heading: [&str; N]) -> Self {
        Self { lines: vec![heading.map(str::to_owned).into()] }
    }

    pub(crate) fn line<const N: usize>(&mut self, cells: [String; N]) {
        self.lines.push(cells.into());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.lines.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let lengths = self
                .lines
                .iter()
                .map(|line| line.get(column).map_or(0, |cell| cell.chars().count()));
            lengths.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for line in &self.lines {
            let cells: Vec<String> = line
                .iter()
                .zip(&widths)
                .enumerate()
                .map(|(column, (cell, &width))| match column {
                    0 => format!("{cell:<width$}"),
                    _ => format!("{cell:>width$}"),
                })
                .collect();
            writeln!(f, "{}", cells.join("  ").trim_end())?;
        }
        Ok(())
    }
}

/// A number of bytes with its unit, for people.
#[allow(clippy::cast_precision_loss, reason = "three digits are shown")]
pub(crate) fn bytes(number: u64) -> String {
    match number as f64 {
        number if number < 1e4 => format!("{number} B"),
        number if number < 1e7 => format!("{:.1} kB", number / 1e3),
        number if number < 1e10 => format!("{:.1} MB", number / 1e6),
        number => format!("{:.1} GB", number / 1e9),
    }
}

/// The number of things per second.
#[allow(clippy::cast_precision_loss, reason = "three digits are shown")]
pub(crate) fn rate(number: u64, time: Duration, unit: &str) -> String {
    match number as f64 / time.as_secs_f64() {
        rate if !rate.is_finite() => "-".to_owned(),
        rate if rate < 1e6 => format!("{:.1} k{unit}/s", rate / 1e3),
        rate if rate < 1e9 => format!("{:.1} M{unit}/s", rate / 1e6),
        rate => format!("{:.2} G{unit}/s", rate / 1e9),
    }
}

/// A time with its unit, for people.
pub(crate) fn seconds(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        format!("{:.2} ms", time.as_secs_f64() * 1e3)
    } else {
        format!("{:.2} s", time.as_secs_f64())
    }
}

//! Brackets below a row for the ranges that start or end in it.

use core::fmt;

use crate::diagram::{Bracket, BracketPart, Diagram, Row};

/// A text below a row, and the column in which it starts.
struct Mark {
    column: usize,
    text: String,
}

/// Writes the brackets. Brackets that do not overlap share a line.
pub(super) fn write(
    f: &mut fmt::Formatter<'_>,
    diagram: &Diagram,
    row: &Row,
    ascii: bool,
    indent: usize,
) -> fmt::Result {
    let mut lines: Vec<Vec<Mark>> = Vec::new();
    let marks = diagram.ranges().iter();
    for mark in marks.filter_map(|range| mark(range, row, diagram.unit(), ascii)) {
        let fits = |line: &Vec<Mark>| {
            line.last().is_none_or(|last| last.column + last.text.chars().count() <= mark.column)
        };
        // No bracket is above an earlier one, so brackets of one kind stay together.
        match lines.last_mut() {
            Some(last) if fits(last) => last.push(mark),
            _ => lines.push([mark].into()),
        }
    }
    for line in lines {
        let mut column = 0;
        write!(f, "{:indent$}", "")?;
        for Mark { column: start, text } in line {
            write!(f, "{:1$}{text}", "", start - column)?;
            column = start + text.chars().count();
        }
        f.write_str("\n")?;
    }
    Ok(())
}

/// The mark below a row for the part of a range, if the range starts or ends there.
fn mark(range: &Bracket, row: &Row, unit: u32, ascii: bool) -> Option<Mark> {
    let (left, line, right, point) =
        if ascii { ('[', '-', ']', '^') } else { ('└', '─', '┘', '↑') };
    let BracketPart { cells: (first, last), starts, ends } = range.part_of(row, unit)?;
    let label = &range.label;
    if range.is_empty() {
        return Some(Mark { column: first, text: format!("{point} {label}") });
    }
    let width = last + 1 - first;
    let mut bracket: Vec<char> = [line].repeat(width);
    // One cell has room for one end only.
    if starts {
        bracket[0] = left;
    }
    if ends {
        bracket[width - 1] = right;
    }
    let room = width.saturating_sub(4);
    let length = label.chars().count();
    let mut text: String;
    if length <= room && starts {
        let from = (width - length) / 2;
        let label = label.chars().enumerate();
        bracket[from - 1] = ' ';
        bracket[from + length] = ' ';
        for (i, c) in label {
            bracket[from + i] = c;
        }
        text = bracket.into_iter().collect();
    } else {
        text = bracket.into_iter().collect();
        text.push(' ');
        text.push_str(label);
    }
    Some(Mark { column: first, text })
}

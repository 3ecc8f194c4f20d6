//! The brackets of a picture: extents.

use std::ops::Range;

use super::Row;
use super::rows::Rows;
use dtype_runtime::Type;

/// A bracket: a range of bytes that a picture marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bracket {
    /// The range's name and length in bytes.
    pub label: String,
    /// The displacement of its first byte.
    pub start: i128,
    /// The displacement after its last byte; equal to `start` for an empty range.
    pub end: i128,
}

/// The part of a [`Bracket`] that is in one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BracketPart {
    /// The first and last cell of the range, both included.
    pub cells: (usize, usize),
    /// Whether the bracket starts in this row.
    pub starts: bool,
    /// Whether the bracket ends in this row.
    pub ends: bool,
}

impl Bracket {
    /// Returns the part in a row of cells of `unit` bytes, if the bracket starts or ends there.
    pub fn part_of(&self, row: &Row, unit: u32) -> Option<BracketPart> {
        let inside = row.start..row.end;
        // An empty bracket is drawn at its start.
        let last = (self.end - 1).max(self.start);
        let (starts, ends) = (inside.contains(&self.start), inside.contains(&last));
        if !starts && !ends {
            return None;
        }
        let cell = |byte: i128| usize::try_from((byte - row.start) / i128::from(unit.max(1))).ok();
        let first = if starts { cell(self.start)? } else { 0 };
        let last = if ends { cell(last)? } else { row.cells.len().checked_sub(1)? };
        Some(BracketPart { cells: (first, last), starts, ends })
    }

    /// Whether the range is empty.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }
}

/// The maximum number of instances whose extents get a bracket.
const MAX_EXTENTS: usize = 256;

/// The brackets of a picture.
pub(super) struct Ranges {
    /// The extents of the first instances that are drawn and of the last one, and the true extent of the first.
    pub(super) all: Vec<Bracket>,
    /// The number of instances that are drawn and have no bracket.
    pub(super) left_out: u64,
}

impl Ranges {
    /// The brackets; that of the true extent only with `with_true`.
    pub(super) fn new(ty: &Type, rows: &Rows, with_true: bool) -> Self {
        let mut ranges = Self { all: Vec::new(), left_out: 0 };
        if rows.instances == 0 {
            return ranges;
        }
        ranges.extents(ty, rows);
        if ty.size() > 0 && with_true {
            let (start, end) = (i128::from(ty.true_lb()), i128::from(ty.true_ub()));
            let label = format!("true extent {}", end - start);
            ranges.all.push(Bracket { label, start, end });
        }
        ranges
    }

    fn extents(&mut self, ty: &Type, rows: &Rows) {
        let (lb, extent) = (i128::from(ty.lb()), i128::from(ty.extent()));
        if extent <= 0 {
            let label = match extent {
                0 => "extent 0".to_string(),
                _ => format!("extent {extent}, ub before lb"),
            };
            self.all.push(Bracket { label, start: lb + extent, end: lb });
            return;
        }
        let bracket = |number: i128| {
            let start = lb + number * extent;
            Bracket { label: format!("extent {extent}"), start, end: start + extent }
        };
        // The first instance that is not counted yet, and the number of counted instances.
        let (mut next, mut drawn) = (0, 0);
        for row in &rows.drawn {
            let Range { start: from, end: to } = rows.bytes_of(*row);
            // The instances with a byte in this row.
            let first = (from - lb).div_euclid(extent).max(next);
            let end = ((to - 1 - lb).div_euclid(extent) + 1).min(rows.instances.into());
            if first >= end {
                continue;
            }
            let room = MAX_EXTENTS.saturating_sub(self.all.len());
            self.all.extend((first..end).take(room).map(bracket));
            drawn += end - first;
            next = end;
        }
        // A picture has few cells, so the number fits.
        self.left_out = u64::try_from(drawn).unwrap_or(u64::MAX) - self.all.len() as u64;
        if self.left_out > 0 {
            self.all.pop();
            self.all.push(bracket(next - 1));
        }
    }
}

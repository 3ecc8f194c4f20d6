//! The brackets of a picture: extents.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Row;
use super::rows::Rows;
use crate::types::Type;

/// A bracket: a range of bytes that a picture marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bracket {
    /// Its name and its length in bytes.
    pub label: String,
    /// The displacement of its first byte.
    pub start: i128,
    /// The displacement after its last byte; equal to `start` for an empty range.
    pub end: i128,
}

/// The part of a [`Bracket`] in one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BracketPart {
    /// Its first and last cell, both included.
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

/// The extents of the instances that are drawn, and the true extent of the first.
pub(super) fn ranges(ty: &Type, rows: &Rows) -> Vec<Bracket> {
    let mut ranges = Vec::new();
    if rows.instances == 0 {
        return ranges;
    }
    let (lb, extent) = (i128::from(ty.lb()), i128::from(ty.extent()));
    let number = i128::from(rows.instances);
    if extent > 0 {
        for row in &rows.drawn {
            let from = rows.start + row * i128::from(rows.pitch);
            let to = from + i128::from(rows.pitch);
            // The instances with a byte in the row.
            let first = (from - lb).div_euclid(extent).max(0);
            let mut k = first;
            while k < number && lb + k * extent < to {
                let start = lb + k * extent;
                let is_new = ranges.last().is_none_or(|last: &Bracket| last.start < start);
                if is_new {
                    ranges.push(Bracket {
                        label: format!("extent {extent}"),
                        start,
                        end: start + extent,
                    });
                }
                k += 1;
            }
        }
    } else {
        let label = match extent {
            0 => "extent 0".to_string(),
            _ => format!("extent {extent}, ub before lb"),
        };
        ranges.push(Bracket { label, start: lb + extent, end: lb });
    }
    if ty.size() > 0 {
        let (start, end) = (i128::from(ty.true_lb()), i128::from(ty.true_ub()));
        ranges.push(Bracket { label: format!("true extent {}", end - start), start, end });
    }
    ranges
}

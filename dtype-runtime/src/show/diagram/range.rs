//! The ranges that are marked in a picture: extents.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Row;
use super::rows::Rows;
use crate::types::Type;

/// A range that is marked in a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// What it is, with its length in bytes.
    pub label: String,
    /// The displacements in bytes of its ends, the lower first.
    pub start: i128,
    /// One past its last byte; the same as `start` for an empty one.
    pub end: i128,
}

/// The part of a [`Range`] that is in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The cells that it reaches from and to, both included.
    pub cells: (usize, usize),
    /// Whether the range starts here.
    pub starts: bool,
    /// Whether it ends here.
    pub ends: bool,
}

impl Range {
    /// The part of it in a row of cells of so many bytes, if it starts or ends there.
    pub fn part_of(&self, row: &Row, unit: u32) -> Option<Part> {
        let inside = row.start..row.end;
        // The byte behind an empty one is where it is.
        let last = (self.end - 1).max(self.start);
        let (starts, ends) = (inside.contains(&self.start), inside.contains(&last));
        if !starts && !ends {
            return None;
        }
        let cell = |byte: i128| usize::try_from((byte - row.start) / i128::from(unit.max(1))).ok();
        let first = if starts { cell(self.start)? } else { 0 };
        let last = if ends { cell(last)? } else { row.cells.len().checked_sub(1)? };
        Some(Part { cells: (first, last), starts, ends })
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }
}

/// The extents of the instances that are drawn, and the true extent of the first.
pub(super) fn ranges(ty: &Type, rows: &Rows) -> Vec<Range> {
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
            // Those that have a byte in the row.
            let first = (from - lb).div_euclid(extent).max(0);
            let mut k = first;
            while k < number && lb + k * extent < to {
                let start = lb + k * extent;
                let is_new = ranges.last().is_none_or(|last: &Range| last.start < start);
                if is_new {
                    ranges.push(Range {
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
        ranges.push(Range { label, start: lb + extent, end: lb });
    }
    if ty.size() > 0 {
        let (start, end) = (i128::from(ty.true_lb()), i128::from(ty.true_ub()));
        ranges.push(Range { label: format!("true extent {}", end - start), start, end });
    }
    ranges
}

//! A layout as a row of squares.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use crate::types::Type;

/// How many bytes are drawn before the picture is cut short.
const MAX_BYTES: usize = 1024;

/// How many basic datatypes are looked at.
const MAX_ENTRIES: usize = 1 << 16;

/// How many bytes go on a line.
const BYTES_PER_LINE: usize = 64;

/// A picture of one instance: `■` for a byte of data, `□` for a byte between the bounds that is not,
/// a space where a basic datatype begins. Its `Display` is the picture.
#[derive(Clone, Debug)]
pub struct Diagram {
    cells: Vec<Cell>,
    /// Whether there is more than what is drawn.
    cut: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    Gap,
    Data,
    First,
}

impl Type {
    /// A picture of one instance, in the order of addresses, from the least bound to the greatest.
    /// Long layouts are cut short.
    ///
    /// ```
    /// use dtype_runtime::Type;
    /// let picture = Type::of::<(u32, u16, u8)>().diagram().to_string();
    /// assert_eq!(picture, "■■■■ ■■ ■□");
    /// ```
    pub fn diagram(&self) -> Diagram {
        let (lb, ub) = (self.lb(), self.ub());
        let (data_start, data_end) = self.data().map_or((lb, ub), |data| (data.start, data.end));
        let start = lb.min(ub).min(data_start);
        let end = lb.max(ub).max(data_end);
        let all = (i128::from(end) - i128::from(start)).max(0);
        let len = usize::try_from(all).unwrap_or(usize::MAX);
        let mut cells = vec![Cell::Gap; len.min(MAX_BYTES)];
        let mut entries = self.type_map();
        for entry in entries.by_ref().take(MAX_ENTRIES) {
            // All data lie from `start` on.
            let offset = i128::from(entry.displacement) - i128::from(start);
            let first = usize::try_from(offset).unwrap_or(usize::MAX);
            let cells = cells.iter_mut().skip(first).take(entry.basic.size());
            for (i, cell) in cells.enumerate() {
                *cell = if i == 0 { Cell::First } else { Cell::Data };
            }
        }
        Diagram { cut: len > cells.len() || entries.next().is_some(), cells }
    }
}

impl fmt::Display for Diagram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, cell) in self.cells.iter().enumerate() {
            if i > 0 && i % BYTES_PER_LINE == 0 {
                f.write_str("\n")?;
            } else if i > 0 && *cell == Cell::First {
                f.write_str(" ")?;
            }
            f.write_str(if *cell == Cell::Gap { "□" } else { "■" })?;
        }
        if self.cut { f.write_str(" …") } else { Ok(()) }
    }
}

//! Descriptions as tables.

use core::fmt;

use crate::table::{Align, Table};
use dtype_runtime::types::{Description, Elem, EndLoop, Entry, Loop};

/// The entries of a description as a table: its `Display`. [`new`](Self::new) makes it.
#[derive(Clone, Debug)]
pub struct DescriptionTable<'a> {
    description: &'a Description,
    /// The maximum number of entries to write.
    most: usize,
}

impl<'a> DescriptionTable<'a> {
    /// The first `most` entries as a table, one line each, with the columns of Open MPI's `ddt_elem_desc_t`,
    /// `ddt_loop_desc_t` and `ddt_endloop_desc_t`. Displacements and extents are in bytes. The body of a loop is indented.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// use dtype_show::DescriptionTable;
    /// let rows = Type::vector(4, 5, 6, &Type::basic(Basic::U16))?;
    /// assert_eq!(
    ///     DescriptionTable::new(&rows.description(), 100).to_string(),
    ///     "\
    /// entry  what     type  count  disp  extent  items  size
    ///     0  loop               4            12      2
    ///     1    elem   u16       5     0       2           10
    ///     2  endloop                  0              2    10
    ///     3  endloop                  0              3    40
    /// "
    /// );
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub const fn new(description: &'a Description, most: usize) -> Self {
        Self { description, most }
    }
}

impl fmt::Display for DescriptionTable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new(&[
            ("entry", Align::Right),
            ("what", Align::Left),
            ("type", Align::Left),
            ("count", Align::Right),
            ("disp", Align::Right),
            ("extent", Align::Right),
            ("items", Align::Right),
            ("size", Align::Right),
        ]);
        let entries = self.description.entries();
        let mut depth = 0_usize;
        let none = String::new;
        for (i, entry) in entries.iter().enumerate().take(self.most) {
            if matches!(entry, Entry::EndLoop(_)) {
                depth = depth.saturating_sub(1);
            }
            let what = |name| format!("{:1$}{name}", "", 2 * depth);
            table.push(match entry {
                Entry::Elem(elem) => {
                    let Elem { basic, count, disp, extent } = elem;
                    [
                        i.to_string(),
                        what("elem"),
                        basic.to_string(),
                        count.to_string(),
                        disp.to_string(),
                        extent.to_string(),
                        none(),
                        elem.size().to_string(),
                    ]
                }
                Entry::Loop(Loop { loops, items, extent, .. }) => [
                    i.to_string(),
                    what("loop"),
                    none(),
                    loops.to_string(),
                    none(),
                    extent.to_string(),
                    items.to_string(),
                    none(),
                ],
                Entry::EndLoop(EndLoop { items, size, first_elem_disp, .. }) => [
                    i.to_string(),
                    what("endloop"),
                    none(),
                    none(),
                    first_elem_disp.to_string(),
                    none(),
                    items.to_string(),
                    size.to_string(),
                ],
            });
            if matches!(entry, Entry::Loop(_)) {
                depth += 1;
            }
        }
        table.write(f, None)?;
        match entries.len().saturating_sub(self.most) {
            0 => Ok(()),
            left => writeln!(f, "… and {left} more entries"),
        }
    }
}

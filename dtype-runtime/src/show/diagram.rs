//! What a picture of a layout shows: rows of cells, the ranges that the bounds are, and the fields.
//!
//! Text and SVG are drawn from this one model, and anyone can draw it otherwise.

mod cell;
mod paint;
mod range;
mod rows;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use super::fields::{Field, Fields};
use super::source::{Repetition, Source};
use super::text::{Text, TextStyle};
use crate::datatype::Datatype;
use crate::typemap::TypeMap;
use crate::types::Type;
pub use cell::{Cell, Sign};
use paint::{Painter, Stretch};
use range::ranges;
pub use range::{Part, Range};
use rows::Rows;

/// So many parts of a type are looked at, beyond those that the cells have room for. What has not been looked at then
/// is [unknown](Sign::Unknown): the picture is there at once, whatever the type.
const MOST_PARTS: u64 = 1 << 19;

/// What of a layout is drawn, and how it is cut into rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// How many instances, each an extent further than the one before; at most 2⁴⁸ are drawn.
    pub instances: u64,
    /// The most cells of a row, unless [`row`](Self::row) says how long one is; at least 1 and at most 1024.
    pub columns: usize,
    /// Bytes of a row: the pitch of the array that the type is a part of, say, so that what is one column there is
    /// one column in the picture, and a wrong stride a slant. The origin is the start of a row then. It is rounded up to whole cells, of which a row has at
    /// least 1 and at most 1024. `None`: what fits one row is one; else the extent of an instance where several are
    /// drawn, or the rows of a subarray or the stride of a vector, or a multiple of it; else as many cells as fit.
    pub row: Option<u64>,
    /// The most rows; the others are left out, and the picture says how many bytes they are. Those where the bounds
    /// and the data start and end are drawn first. At least 1 and at most 1024.
    pub rows: usize,
    /// Bytes for a cell, at least 1 and at most 64: 8, say, to see the elements of an array of `f64`.
    pub unit: u32,
}

impl Default for View {
    /// One instance, up to 64 cells of a byte in a row, 24 rows.
    fn default() -> Self {
        Self { instances: 1, columns: 64, row: None, rows: 24, unit: 1 }
    }
}

/// A line of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// Memory.
    Row(Row),
    /// So many bytes are not drawn.
    LeftOut(u128),
}

/// A row of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Displacement in bytes of the first cell from the origin of the first instance.
    pub start: i128,
    /// One past the last byte.
    pub end: i128,
    /// In the order of the addresses.
    pub cells: Vec<Cell>,
}

/// A picture of instances of a type: rows of cells in the order of addresses, the extent and the true extent
/// (MPI-4.1 sections 5.1.7 and 5.1.8), the fields.
///
/// Its `Display` is the row of squares: `■` for a byte of data, `□` for a byte between the bounds that is not, `▣`
/// for one that is named more than once, and a space where a basic datatype begins. [`text`](Self::text) draws it
/// with rulers, brackets and a legend, [`svg`](Self::svg) in vectors.
///
/// It takes the time of what is drawn, not that of the type: a type of a billion elements is drawn at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagram {
    name: String,
    numbers: Numbers,
    instances: u64,
    unit: u32,
    pitch: u64,
    lines: Vec<Line>,
    ranges: Vec<Range>,
    fields: Vec<Field>,
    more_fields: bool,
    complete: bool,
}

/// What a title says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Numbers {
    size: u64,
    lb: i64,
    extent: i64,
    true_lb: i64,
    true_extent: i64,
}

impl Type {
    /// A picture of one instance, in the order of addresses, from the least bound to the greatest.
    /// Long layouts are shortened.
    ///
    /// ```
    /// use dtype_runtime::Type;
    /// let picture = Type::of::<(u32, u16, u8)>().diagram().to_string();
    /// assert_eq!(picture, "■■■■ ■■ ■□");
    /// ```
    pub fn diagram(&self) -> Diagram {
        self.diagram_of(&View::default())
    }

    /// A picture of instances.
    ///
    /// ```
    /// use dtype_runtime::show::{TextStyle, View};
    /// use dtype_runtime::{Basic, Type};
    /// // The second column of a 4 × 6 matrix, a sign for each element, row below row.
    /// let column = Type::vector(4, 1, 6, &Type::basic(Basic::F64))?;
    /// let column = Type::hindexed_block(1, &[8], &column)?;
    /// let column = Type::resized(&column, 0, 4 * 6 * 8)?;
    /// let view = View { unit: 8, row: Some(6 * 8), ..View::default() };
    /// let picture = column.diagram_of(&view).text(&TextStyle::default()).to_string();
    /// assert_eq!(
    ///     picture,
    ///     "\
    /// size 32, lb 0, extent 192, true lb 8, true extent 152; a cell is 8 bytes
    ///
    ///     +0
    ///   0 □■□□□□
    ///     └───── extent 192
    ///      └──── true extent 152
    ///  48 □■□□□□
    ///  96 □■□□□□
    /// 144 □■□□□□
    ///     ─────┘ extent 192
    ///     ─┘ true extent 152
    ///
    ///    field  type  offset  bytes  repeated
    /// a  data   f64        8     32  4 every 48
    /// "
    /// );
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn diagram_of(&self, view: &View) -> Diagram {
        Diagram::new(self, Source::Type(self), String::new(), view)
    }
}

impl Diagram {
    /// A picture of a Rust type, with the names of its fields. Instances are the extent of [`Type::of`] apart, which
    /// attributes may have set to other than Rust's stride.
    ///
    /// ```
    /// use dtype_runtime::Datatype;
    /// use dtype_runtime::show::{Diagram, TextStyle, View};
    ///
    /// #[derive(Datatype)]
    /// #[repr(C)]
    /// struct Particle {
    ///     position: [f64; 3],
    ///     charge: i8,
    ///     fixed: bool,
    /// }
    ///
    /// let picture = Diagram::of::<Particle>(&View::default()).text(&TextStyle::default()).to_string();
    /// assert_eq!(
    ///     picture,
    ///     "\
    /// Particle: size 26, lb 0, extent 32, true lb 0, true extent 26
    ///
    ///   0       8       16      24
    /// 0 ■■■■■■■■■■■■■■■■■■■■■■■■■■□□□□□□
    ///   a·······a·······a·······bc
    ///   └───────── extent 32 ──────────┘
    ///   └──── true extent 26 ────┘
    ///
    ///    field     type     offset  bytes
    /// a  position  f64 × 3       0     24
    /// b  charge    i8           24      1
    /// c  fixed     bool         25      1
    /// "
    /// );
    /// ```
    pub fn of<T: Datatype>(view: &View) -> Self {
        let map: &'static TypeMap = T::TYPE_MAP;
        Self::new(&Type::of::<T>(), Source::Map(map), map.to_string(), view)
    }

    fn new(ty: &Type, source: Source<'_>, name: String, view: &View) -> Self {
        let rows = Rows::of(ty, source, view);
        let Fields { all: fields, more: more_fields, slot } = Fields::of(source);
        let mut stretches = stretches(&rows);
        // Each byte that is drawn may be an element of its own, some levels deep.
        let bytes: i128 = stretches.iter().map(|stretch| stretch.end - stretch.start).sum();
        let mut left = MOST_PARTS + 16 * u64::try_from(bytes).unwrap_or(0);
        for stretch in &mut stretches {
            // Where a stretch takes all, others get something still.
            let share = left / 2 + 1;
            let mut painter = Painter::new(stretch, rows.unit, share);
            let all = Repetition { count: rows.instances, stride: ty.extent() };
            if source.size() > 0 {
                painter.block(source, 0, all, &slot);
            }
            let unused = painter.left;
            stretch.complete = unused > 0;
            left -= share - unused;
            stretch.finish(rows.unit);
        }
        Self {
            name,
            numbers: Numbers {
                size: ty.size(),
                lb: ty.lb(),
                extent: ty.extent(),
                true_lb: ty.true_lb(),
                true_extent: ty.true_extent(),
            },
            instances: rows.instances,
            unit: rows.unit,
            pitch: rows.pitch,
            complete: stretches.iter().all(|stretch| stretch.complete),
            lines: lines(&rows, stretches),
            ranges: ranges(ty, &rows),
            fields,
            more_fields,
        }
    }

    /// The name of the Rust type; empty for a type that was made at run time.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the picture is of, in a line.
    pub fn title(&self) -> String {
        let numbers = self.numbers_in_words();
        if self.name.is_empty() { numbers } else { format!("{}: {numbers}", self.name) }
    }

    /// The title without the name.
    pub(super) fn numbers_in_words(&self) -> String {
        let Numbers { size, lb, extent, true_lb, true_extent } = self.numbers;
        let mut title = format!(
            "size {size}, lb {lb}, extent {extent}, true lb {true_lb}, true extent {true_extent}"
        );
        if self.instances != 1 {
            let _ = write!(title, "; {} instances", self.instances);
        }
        if self.unit > 1 {
            let _ = write!(title, "; a cell is {} bytes", self.unit);
        }
        title
    }

    /// The rows, and what is left out between them.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The ranges to be marked: the extents of the instances, the true extent of the first one.
    pub fn ranges(&self) -> &[Range] {
        &self.ranges
    }

    /// The fields in the order of packing, the first [`MOST_FIELDS`](super::MOST_FIELDS) of them, and behind them those that are
    /// skipped.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Gives the fields other paths: a type that was made at run time has numbers for names, and whoever made it may
    /// know better.
    ///
    /// ```
    /// use dtype_runtime::show::View;
    /// use dtype_runtime::{Basic, Type};
    /// let [f64, u8] = [Basic::F64, Basic::U8].map(Type::basic);
    /// let mut picture =
    ///     Type::structure(&[1, 1], &[0, 8], &[f64, u8])?.diagram_of(&View::default());
    /// let names = ["mass", "kind"];
    /// picture.rename_fields(|field| names[field.path.parse::<usize>().unwrap()].into());
    /// assert_eq!(picture.fields()[1].path, "kind");
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn rename_fields(&mut self, mut path: impl FnMut(&Field) -> String) {
        for field in &mut self.fields {
            field.path = path(field);
        }
    }

    /// Whether there are more fields than [`fields`](Self::fields).
    pub fn has_more_fields(&self) -> bool {
        self.more_fields
    }

    /// Whether all of the type has been looked at that could have data where something is drawn. If not, the type has
    /// so many irregular blocks, or so many on the same bytes, that it would take long: cells where no data were found
    /// are [unknown](Sign::Unknown), and others may have more data than they show.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Bytes in a cell.
    pub fn unit(&self) -> u32 {
        self.unit
    }

    /// Bytes from one row to the next.
    pub fn pitch(&self) -> u64 {
        self.pitch
    }

    /// The picture as text, with what this asks for.
    pub fn text<'a>(&'a self, style: &'a TextStyle) -> Text<'a> {
        Text::new(self, style)
    }

    /// Whether there is a cell with this sign.
    pub(super) fn has(&self, sign: Sign) -> bool {
        self.rows().any(|row| row.cells.iter().any(|cell| cell.sign == sign))
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.lines.iter().filter_map(|line| match line {
            Line::Row(row) => Some(row),
            Line::LeftOut(_) => None,
        })
    }
}

/// The rows that are neighbours, together.
fn stretches(rows: &Rows) -> Vec<Stretch> {
    let mut all: Vec<Stretch> = Vec::new();
    for number in &rows.drawn {
        let start = rows.start + number * i128::from(rows.pitch);
        let end = (start + i128::from(rows.pitch)).min(rows.end);
        match all.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => all.push(Stretch { start, end, cells: Vec::new(), complete: true }),
        }
    }
    for stretch in &mut all {
        let bytes = (stretch.end - stretch.start).unsigned_abs();
        // No more than the most rows of the most cells.
        let cells = usize::try_from(bytes.div_ceil(rows.unit.into())).unwrap_or(0);
        stretch.cells = vec![Cell::EMPTY; cells];
    }
    all
}

/// The rows one by one, and what is left out between them.
fn lines(rows: &Rows, stretches: Vec<Stretch>) -> Vec<Line> {
    let mut lines = Vec::new();
    let (mut end, pitch) = (rows.start, i128::from(rows.pitch));
    let in_row = usize::try_from(rows.pitch / u64::from(rows.unit)).unwrap_or(1).max(1);
    let left_out = |lines: &mut Vec<Line>, bytes: i128| {
        if bytes > 0 {
            lines.push(Line::LeftOut(bytes.unsigned_abs()));
        }
    };
    for stretch in stretches {
        left_out(&mut lines, stretch.start - end);
        let mut start = stretch.start;
        for cells in stretch.cells.chunks(in_row) {
            let end = (start + pitch).min(stretch.end);
            lines.push(Line::Row(Row { start, end, cells: cells.to_vec() }));
            start = end;
        }
        end = stretch.end;
    }
    left_out(&mut lines, rows.end - end);
    lines
}

impl fmt::Display for Diagram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut is_first = true;
        for line in &self.lines {
            match line {
                Line::LeftOut(_) => f.write_str(" …")?,
                Line::Row(row) => {
                    for (i, cell) in row.cells.iter().enumerate() {
                        if i == 0 && !is_first {
                            f.write_str("\n")?;
                        } else if i > 0 && cell.starts {
                            f.write_str(" ")?;
                        }
                        is_first = false;
                        write!(f, "{}", cell.sign.square())?;
                    }
                }
            }
        }
        Ok(())
    }
}

//! The model of a picture: rows of cells, brackets for the bounds, and the fields.
//!
//! Text and SVG are drawn from this model, and a program can draw the model in other ways.

mod cell;
mod paint;
mod range;
mod rows;

use core::fmt::{self, Write};
use core::ops::Range;

use crate::fields::{DiagramField, Fields, MAX_FIELDS};
pub use cell::{Cell, Sign};
use dtype_runtime::Datatype;
use dtype_runtime::Type;
use dtype_runtime::TypeMap;
use dtype_runtime::outline::{Outline, Repetition};
use paint::{Painter, Stretch};
use range::Ranges;
pub use range::{Bracket, BracketPart};
use rows::Rows;

/// The maximum number of a type's parts to visit, besides 16 for each drawn byte. The remaining cells are
/// [unknown](Sign::Unknown), so any type is drawn in a short time.
const MAX_PARTS: u64 = 1 << 19;

/// Cells between the numbers of a ruler.
const TICK: usize = 8;

/// Which part of a layout to draw, and how to cut it into rows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct View {
    /// The number of instances, each one extent after the previous one; at most 2⁴⁸.
    pub instances: u64,
    /// The maximum number of cells in a row, unless [`row`](Self::row) sets its length; 1 to 1024.
    pub columns: usize,
    /// Bytes in a row, rounded up to 1 to 1024 whole cells. Set it to the row size of the enclosing array: a column of the
    /// array is then a column of the picture, and a wrong stride shows as a slant. The origin is then the start of a row.
    ///
    /// `None` draws a layout that fits one row in one row. Otherwise a row is the extent of an instance if there are
    /// several instances, or a multiple of the row of a subarray or the stride of a vector, or else as many cells as
    /// fit. If [`unit`](Self::unit) makes each element one cell, a row is exactly the row of the subarray or the stride of
    /// the vector. Such a row may have an eighth more cells than `columns`; a longer one is drawn as up to 16 rows of about
    /// equal length, so that a column of the array stays upright.
    pub row: Option<u64>,
    /// The maximum number of rows, 1 to 1024, of at most 65 536 cells together. The picture replaces further rows by their
    /// number of bytes. Rows in which a bound or the data start or end take precedence. Three or more rows that are only gap
    /// become one line.
    pub rows: usize,
    /// Bytes per cell, 1 to 64. With 8, an element of an array of `f64` is one cell.
    ///
    /// `None` is the size of an element, if the layout does not fit one row of bytes, all elements have one size, and
    /// all displacements, strides and bounds are multiples of it; otherwise a byte.
    pub unit: Option<u32>,
}

impl Default for View {
    /// One instance, in up to 24 rows of up to 64 cells.
    fn default() -> Self {
        Self { instances: 1, columns: 64, row: None, rows: 24, unit: None }
    }
}

impl View {
    setters! {
        with_instances, instances: u64;
        with_columns, columns: usize;
        with_rows, rows: usize;
    }

    /// Sets [`row`](Self::row), in bytes.
    #[must_use]
    pub const fn with_row(mut self, row: u64) -> Self {
        self.row = Some(row);
        self
    }

    /// Sets [`unit`](Self::unit), in bytes.
    #[must_use]
    pub const fn with_unit(mut self, unit: u32) -> Self {
        self.unit = Some(unit);
        self
    }
}

/// A line of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// Memory.
    Row(Row),
    /// The name of the variant or of the member of a union that is drawn below it.
    Heading(String),
    /// Memory that is left out: the number of its bytes.
    LeftOut(u128),
    /// Rows without data, in which nothing starts or ends.
    Gap {
        /// The number of rows.
        rows: usize,
        /// The bytes in them.
        bytes: u128,
    },
}

/// A row of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Displacement in bytes of the first cell from the origin of the first instance.
    pub start: i128,
    /// One past the last byte.
    pub end: i128,
    /// The cells in address order.
    pub cells: Vec<Cell>,
}

/// The members of a struct that its datatype does not have, such as pointers and bit-fields. The members of a union and the
/// variants of an enum are drawn one below the other, each with its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Others {
    /// The name of the struct.
    pub name: String,
    /// Its numbers in words, in place of those of the datatype.
    pub caption: String,
    /// The variants and their fields, or one without a name for a struct. A field's offset, levels and bytes are those in an
    /// instance; it has a `basic` if its values would be data elsewhere, such as in a union.
    pub variants: Vec<(Option<String>, Vec<DiagramField>)>,
    /// Whether there are more.
    pub more: bool,
}

/// A picture of instances of a type: rows of cells in the order of addresses, the extent and the true extent
/// (MPI-4.1 sections 5.1.7 and 5.1.8), the fields.
///
/// Its `Display` is the row of squares: `■` for a byte of data, `□` for any other byte between the bounds, `▣` for a byte
/// that is named more than once, and a space where a basic datatype begins. [`text`](Self::text) draws it
/// with rulers, brackets and a legend, [`svg`](Self::svg) in vectors.
///
/// Drawing takes time proportional to the picture, not to the type: a type of a billion elements is drawn at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagram {
    name: String,
    /// In place of the numbers.
    caption: Option<String>,
    numbers: Numbers,
    instances: u64,
    unit: u32,
    pitch: u64,
    lines: Vec<Line>,
    ranges: Vec<Bracket>,
    more_extents: u64,
    fields: Vec<DiagramField>,
    /// How many of them, from the first on, the datatype has.
    in_datatype: usize,
    more_fields: bool,
    complete: bool,
}

/// The numbers of a title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Numbers {
    size: u64,
    lb: i64,
    extent: i64,
    true_lb: i64,
    true_extent: i64,
}

impl Diagram {
    /// A picture of a Rust type, with the names of its fields. The stride of the instances is the extent of
    /// [`Type::of`], which attributes can set to a value other than Rust's stride.
    ///
    /// ```
    /// use dtype_runtime::Datatype;
    /// use dtype_show::{Diagram, TextStyle, View};
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
        Self::new(&Type::of::<T>(), Outline::Map(map), map.to_string(), view)
    }

    /// A picture of instances of a type, in address order, from the least bound to the greatest. Long layouts are shortened.
    ///
    /// ```
    /// use dtype_show::{Diagram, TextStyle, View};
    /// use dtype_runtime::{Basic, Type};
    /// // The second column of a 4 × 6 matrix, one character for each element, one line for each row.
    /// let column = Type::vector(4, 1, 6, &Type::basic(Basic::F64))?;
    /// let column = Type::hindexed_block(1, &[8], &column)?;
    /// let column = Type::resized(&column, 0, 4 * 6 * 8)?;
    /// let view = View::default().with_unit(8).with_row(6 * 8);
    /// let picture = Diagram::of_type(&column, &view).text(&TextStyle::default()).to_string();
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
    pub fn of_type(ty: &Type, view: &View) -> Self {
        Self::new(ty, Outline::Type(ty), String::new(), view)
    }

    /// As [`of_type`](Self::of_type), for a struct with members that are no data.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// use dtype_show::{Diagram, DiagramField, Others, TextStyle, View};
    /// // struct node { double mass; struct node *next; unsigned kind : 3; };
    /// let data = Type::structure(&[1], &[0], &[Type::basic(Basic::F64)])?;
    /// let data = Type::resized(&data, 0, 24)?;
    /// let field = |path: &str, type_name: &str, offset, bytes, bits| DiagramField {
    ///     path: path.into(),
    ///     basic: None,
    ///     is_drawn: true,
    ///     bits,
    ///     type_name: type_name.into(),
    ///     offset,
    ///     levels: vec![],
    ///     bytes,
    /// };
    /// let fields = vec![
    ///     field("next", "struct node *", 8, 8, None),
    ///     field("kind", "unsigned int", 16, 1, Some((0, 3))),
    /// ];
    /// let others = Others {
    ///     name: "node".into(),
    ///     caption: "24 bytes".into(),
    ///     variants: vec![(None, fields)],
    ///     more: false,
    /// };
    /// let mut picture = Diagram::with_others(&data, &others, &View::default());
    /// picture.rename_fields(|field| field.path.replace('0', "mass"));
    /// assert_eq!(
    ///     picture.text(&TextStyle::default()).to_string(),
    ///     "\
    /// node: 24 bytes
    ///
    ///   0       8       16
    /// 0 ■■■■■■■■▦▦▦▦▦▦▦▦▦□□□□□□□
    ///   a·······b·······c
    ///   └───── extent 24 ──────┘
    ///
    /// ▦ no datatype
    ///
    ///    field  type                       offset  bytes
    /// a  mass   f64                             0      8
    /// b  next   struct node *                   8      8
    /// c  kind   unsigned int, bits 0 to 2      16      1
    /// "
    /// );
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn with_others(ty: &Type, others: &Others, view: &View) -> Self {
        let name = others.name.clone();
        let whole = Self::drawn(ty, Outline::Type(ty), name, Some(others), view);
        Self { caption: Some(others.caption.clone()), ..whole }
    }

    fn new(ty: &Type, outline: Outline<'_>, name: String, view: &View) -> Self {
        Self::drawn(ty, outline, name, None, view)
    }

    fn drawn(
        ty: &Type,
        outline: Outline<'_>,
        name: String,
        others: Option<&Others>,
        view: &View,
    ) -> Self {
        let Fields { all: mut fields, more: mut more_fields, slot } = Fields::new(outline);
        // If some fields are unknown, their elements may have another size.
        let known = if more_fields || others.is_some() { &[] } else { &*fields };
        let rows = Rows::new(ty, outline, known, view);
        let in_datatype = fields.len();
        let nothing = [(None, Vec::new())];
        let variants = others.map_or(&nothing[..], |others| &others.variants);
        let mut all = Vec::new();
        let mut complete = true;
        for (heading, others) in variants {
            all.extend(heading.clone().map(Line::Heading));
            let start = fields.len();
            let mut stretches = stretches(&rows);
            // Each drawn byte may be an element of its own, several levels of types deep, and each level is visited.
            let bytes: i128 = stretches.iter().map(|stretch| stretch.end - stretch.start).sum();
            let mut left = MAX_PARTS + 16 * u64::try_from(bytes).unwrap_or(0);
            for stretch in &mut stretches {
                // One stretch uses at most half of the rest, so the other stretches have some left.
                let share = left / 2 + 1;
                let mut painter = Painter::new(stretch, rows.unit, share);
                let instances = Repetition { count: rows.instances, stride: ty.extent() };
                if outline.size() > 0 {
                    painter.block(outline, 0, instances, &slot);
                }
                for (number, other) in others.iter().enumerate() {
                    painter.other(other, start + number, instances);
                }
                let unused = painter.left;
                stretch.complete = unused > 0;
                left -= share - unused;
                stretch.finish(rows.unit);
            }
            complete &= stretches.iter().all(|stretch| stretch.complete);
            all.append(&mut lines(&rows, stretches));
            let room = MAX_FIELDS.saturating_sub(fields.len());
            more_fields |= others.len() > room;
            fields.extend(others.iter().take(room).cloned());
        }
        let Ranges { all: mut ranges, left_out: more_extents } =
            Ranges::new(ty, &rows, others.is_none());
        // Those of each variant would be the same.
        if variants.iter().any(|(heading, _)| heading.is_some()) {
            ranges.clear();
        }
        Self {
            name,
            caption: None,
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
            complete,
            lines: without_gaps(&all, &ranges, rows.unit),
            ranges,
            more_extents,
            fields,
            in_datatype,
            more_fields: more_fields || others.is_some_and(|others| others.more),
        }
    }

    /// The same picture with the fields in the order of their places, and not with those of the datatype first.
    #[must_use]
    pub fn in_order_of_places(mut self) -> Self {
        let mut order: Vec<usize> = (0..self.fields.len()).collect();
        order.sort_by_key(|number| {
            let field = &self.fields[*number];
            (field.offset, field.bits.map(|(first, _)| first))
        });
        let mut places = vec![0; order.len()];
        for (place, number) in order.iter().enumerate() {
            places[*number] = u16::try_from(place).unwrap_or(u16::MAX);
        }
        for line in &mut self.lines {
            let Line::Row(row) = line else { continue };
            for cell in &mut row.cells {
                cell.field = cell.field.and_then(|field| places.get(usize::from(field)).copied());
            }
        }
        self.fields = order.into_iter().map(|number| self.fields[number].clone()).collect();
        self.in_datatype = 0;
        self
    }

    /// The same picture with the name of the type.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// The name of the type; empty for a datatype that was made at run time and was not [named](Self::named).
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A one-line title: the name, the size and the bounds.
    pub fn title(&self) -> String {
        let numbers = self.numbers_in_words();
        if self.name.is_empty() { numbers } else { format!("{}: {numbers}", self.name) }
    }

    /// The size and the bounds in words.
    pub(crate) fn numbers_in_words(&self) -> String {
        let Numbers { size, lb, extent, true_lb, true_extent } = self.numbers;
        let mut title = self.caption.clone().unwrap_or_else(|| {
            format!(
                "size {size}, lb {lb}, extent {extent}, true lb {true_lb}, true extent {true_extent}"
            )
        });
        if self.instances != 1 {
            let _ = write!(title, "; {} instances", self.instances);
        }
        if self.unit > 1 {
            let _ = write!(title, "; a cell is {} bytes", self.unit);
        }
        title
    }

    /// The rows, and the bytes left out between them.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The brackets: the extents of the instances, at most 256 of those that are drawn, and the true extent of the
    /// first instance.
    pub fn ranges(&self) -> &[Bracket] {
        &self.ranges
    }

    /// The number of further instances that are drawn, whose extents [`ranges`](Self::ranges) leaves out.
    pub fn more_extents(&self) -> u64 {
        self.more_extents
    }

    /// The first [`MAX_FIELDS`](crate::MAX_FIELDS) fields in packing order, followed by the skipped fields.
    pub fn fields(&self) -> &[DiagramField] {
        &self.fields
    }

    /// The fields without those of [`Others`].
    pub fn fields_of_datatype(&self) -> &[DiagramField] {
        &self.fields[..self.in_datatype]
    }

    /// The numbers above the rows, each with the index of its cell: displacements if there is one row, and otherwise offsets
    /// from the start of each row.
    pub(crate) fn ruler(&self) -> Vec<(usize, String)> {
        let mut rows = self.rows();
        let (Some(first), second) = (rows.next(), rows.next()) else { return Vec::new() };
        let label = |cell: usize| {
            let bytes = cell as i128 * i128::from(self.unit);
            match second {
                None => format!("{}", first.start + bytes),
                Some(_) => format!("+{bytes}"),
            }
        };
        (0..first.cells.len()).step_by(TICK).map(|cell| (cell, label(cell))).collect()
    }

    /// Renames the fields of the datatype. A type made at run time has numbers for names; this gives its fields better ones.
    ///
    /// ```
    /// use dtype_show::{Diagram, View};
    /// use dtype_runtime::{Basic, Type};
    /// let [f64, u8] = [Basic::F64, Basic::U8].map(Type::basic);
    /// let pair = Type::structure(&[1, 1], &[0, 8], &[f64, u8])?;
    /// let mut picture = Diagram::of_type(&pair, &View::default());
    /// let names = ["mass", "kind"];
    /// picture.rename_fields(|field| names[field.path.parse::<usize>().unwrap()].into());
    /// assert_eq!(picture.fields()[1].path, "kind");
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn rename_fields(&mut self, mut path: impl FnMut(&DiagramField) -> String) {
        for field in &mut self.fields[..self.in_datatype] {
            field.path = path(field);
        }
    }

    /// Whether the type has fields that [`fields`](Self::fields) leaves out.
    pub fn has_more_fields(&self) -> bool {
        self.more_fields
    }

    /// Whether the picture is complete. It is not if the type has too many irregular blocks, or too many on the
    /// same bytes, to visit them all quickly: cells without known data are then [unknown](Sign::Unknown), and
    /// other cells can have more data than they show.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Bytes per cell.
    pub fn unit(&self) -> u32 {
        self.unit
    }

    /// Bytes from one row to the next.
    pub fn pitch(&self) -> u64 {
        self.pitch
    }

    /// Whether there is a cell with this sign.
    pub(crate) fn has(&self, sign: Sign) -> bool {
        self.rows().any(|row| row.cells.iter().any(|cell| cell.sign == sign))
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.lines.iter().filter_map(|line| match line {
            Line::Row(row) => Some(row),
            Line::LeftOut(_) | Line::Gap { .. } | Line::Heading(_) => None,
        })
    }
}

/// Joins adjacent rows.
fn stretches(rows: &Rows) -> Vec<Stretch> {
    let mut all: Vec<Stretch> = Vec::new();
    for number in &rows.drawn {
        let Range { start, end } = rows.bytes_of(*number);
        match all.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => all.push(Stretch { start, end, cells: Vec::new(), complete: true }),
        }
    }
    for stretch in &mut all {
        let bytes = (stretch.end - stretch.start).unsigned_abs();
        // The rows have at most the maximum number of cells, so their bytes fit.
        let cells = usize::try_from(bytes.div_ceil(rows.unit.into())).unwrap_or(0);
        stretch.cells = vec![Cell::EMPTY; cells];
    }
    all
}

/// The rows one by one, and the bytes left out between them.
fn lines(rows: &Rows, stretches: Vec<Stretch>) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut end = rows.start;
    let mut drawn = rows.drawn.iter().map(|number| rows.bytes_of(*number)).peekable();
    let left_out = |lines: &mut Vec<Line>, bytes: i128| {
        if bytes > 0 {
            lines.push(Line::LeftOut(bytes.unsigned_abs()));
        }
    };
    for stretch in stretches {
        left_out(&mut lines, stretch.start - end);
        let mut cells = &stretch.cells[..];
        while let Some(Range { start, end }) = drawn.next_if(|row| row.start < stretch.end) {
            let number = (end - start).unsigned_abs().div_ceil(rows.unit.into());
            let number = usize::try_from(number).unwrap_or(cells.len()).min(cells.len());
            let (row, rest) = cells.split_at(number);
            lines.push(Line::Row(Row { start, end, cells: row.to_vec() }));
            cells = rest;
        }
        end = stretch.end;
    }
    left_out(&mut lines, rows.end - end);
    lines
}

/// The minimum number of rows without data that one line replaces.
const GAP_ROWS: usize = 3;

/// Replaces each stretch of rows without data in which no bracket starts or ends by one line. The first row stays, because it
/// says where the picture starts.
fn without_gaps(lines: &[Line], ranges: &[Bracket], unit: u32) -> Vec<Line> {
    let first = lines.first();
    let is_gap = |line: &Line| match line {
        Line::Row(row) => {
            first.is_some_and(|first| !core::ptr::eq(first, line))
                && row.cells.iter().all(|cell| cell.sign == Sign::Gap)
                && ranges.iter().all(|range| range.part_of(row, unit).is_none())
        }
        _ => false,
    };
    let mut out = Vec::new();
    for group in lines.chunk_by(|a, b| is_gap(a) && is_gap(b)) {
        let bytes = group.iter().map(|line| match line {
            Line::Row(row) => (row.end - row.start).unsigned_abs(),
            _ => 0,
        });
        match group {
            [first, ..] if group.len() >= GAP_ROWS && is_gap(first) => {
                out.push(Line::Gap { rows: group.len(), bytes: bytes.sum() });
            }
            _ => out.extend_from_slice(group),
        }
    }
    out
}

impl fmt::Display for Diagram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut is_first = true;
        for line in &self.lines {
            match line {
                Line::Heading(_) => {}
                Line::LeftOut(_) | Line::Gap { .. } => f.write_str(" …")?,
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

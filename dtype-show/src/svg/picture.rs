//! The positions of everything in an SVG picture.

use super::SvgStyle;
use super::paper::{Anchor, CHARACTER, Paper, Rect, SMALL, colour};
use crate::diagram::{BracketPart, Cell, Diagram, Line, Row, Sign};
use crate::fields::DiagramField;
use crate::text::{Legend, letter, rest};

/// Pixels around the picture.
const MARGIN: usize = 16;
/// Height of a row's boxes.
const BOX: usize = 26;
/// Height of a line of text.
const LINE: usize = 20;
/// Height of a line with the name of a range.
const LANE: usize = 18;
/// Between rows.
const SPACE: usize = 8;
/// Width of a box that has room for a key.
const KEY: usize = 14;
/// Width of the key and the colour before a line of the legend.
const LEGEND: usize = 42;
/// Height of the marks where a value starts.
const TICKS: usize = 5;
/// The minimum number of characters in a line of a broken title.
const TITLE: usize = 60;

pub(super) fn draw(diagram: &Diagram, style: &SvgStyle) -> String {
    let labels = diagram.rows().map(|row| row.start.to_string().len()).max().unwrap_or(0);
    let gutter = if style.rulers { labels * SMALL + 8 } else { 0 };
    let cell = style.cell.clamp(4, 64) as usize;
    let mut picture = Picture {
        diagram,
        style,
        paper: Paper::new(),
        left: MARGIN + gutter,
        cell,
        y: MARGIN,
        is_only: diagram.fields().len() == 1,
    };
    picture.title();
    if style.rulers {
        picture.ruler();
    }
    for line in diagram.lines() {
        match line {
            Line::Row(row) => picture.row(row),
            Line::Heading(name) => picture.heading(name),
            Line::LeftOut(bytes) => picture.left_out(&format!("⋮ {bytes} bytes left out")),
            Line::Gap { rows, bytes } => {
                picture.left_out(&format!("⋮ {rows} rows of gap, {bytes} bytes"));
            }
        }
    }
    let more = diagram.more_extents();
    if style.ranges && more > 0 {
        picture.left_out(&format!("⋮ the extents of {more} more instances left out"));
    }
    if style.legend > 0 {
        picture.legend();
        picture.meanings();
    }
    let height = picture.y + MARGIN;
    let name = if diagram.name().is_empty() { "Layout of a datatype" } else { diagram.name() };
    picture.paper.finish(height, MARGIN, style.theme, [name, &diagram.title()])
}

struct Picture<'a> {
    diagram: &'a Diagram,
    style: &'a SvgStyle,
    paper: Paper,
    /// The left end of the rows.
    left: usize,
    /// Width of a cell.
    cell: usize,
    /// The top of the next element.
    y: usize,
    /// Whether there is only one field.
    is_only: bool,
}

impl Picture<'_> {
    fn title(&mut self) {
        let name = self.diagram.name();
        if !name.is_empty() {
            self.paper.text("dt-text dt-name", MARGIN, self.y + 14, Anchor::Start, name);
            self.y += LINE + 4;
        }
        // As wide as the picture, but wide enough to read.
        let cells = self.diagram.rows().map(|row| row.cells.len()).max().unwrap_or(0);
        let room = ((self.left + cells * self.cell) / CHARACTER).max(TITLE);
        let title = self.diagram.numbers_in_words();
        let mut line = String::new();
        for word in title.split_inclusive([',', ';']) {
            if !line.is_empty() && line.chars().count() + word.chars().count() > room {
                self.text_line("dt-faint", line.trim());
                line.clear();
            }
            line.push_str(word);
        }
        self.text_line("dt-faint", line.trim());
        self.y += SPACE;
    }

    fn text_line(&mut self, class: &str, text: &str) {
        self.paper.text(class, MARGIN, self.y + 14, Anchor::Start, text);
        self.y += LINE;
    }

    fn heading(&mut self, name: &str) {
        self.paper.text("dt-text", self.left, self.y + 14, Anchor::Start, name);
        self.y += LINE;
    }

    fn ruler(&mut self) {
        let labels = self.diagram.ruler();
        if labels.is_empty() {
            return;
        }
        let mut end = 0;
        for (cell, label) in labels {
            let x = self.left + cell * self.cell;
            self.paper.line("dt-thin", (x, self.y + 14), (x, self.y + LINE));
            if x >= end {
                self.paper.text("dt-faint dt-small", x, self.y + 11, Anchor::Start, &label);
                end = x + (label.len() + 1) * SMALL;
            }
        }
        self.y += LINE + 2;
    }

    fn row(&mut self, row: &Row) {
        if self.style.rulers {
            let (x, y) = (self.left - 6, self.y + BOX / 2 + 4);
            self.paper.text("dt-faint dt-small", x, y, Anchor::End, &row.start.to_string());
        }
        let mut from = 0;
        while let Some(first) = row.cells.get(from) {
            // Adjacent values of one field share a box.
            let same = |cell: &&Cell| (cell.sign, cell.field) == (first.sign, first.field);
            let number = 1 + row.cells[from + 1..].iter().take_while(same).count();
            self.cells(row, from, number);
            from += number;
        }
        self.y += BOX + 2;
        if self.style.ranges {
            self.ranges(row);
        }
        self.y += SPACE;
    }

    /// Draws the box of these cells.
    fn cells(&mut self, row: &Row, from: usize, number: usize) {
        let cell = row.cells[from];
        let number_of_cells = number;
        let rect = Rect {
            x: self.left + from * self.cell,
            y: self.y,
            width: number * self.cell,
            height: BOX,
        };
        let unit = i128::from(self.diagram.unit());
        let first = row.start + from as i128 * unit;
        let end = (first + number as i128 * unit).min(row.end);
        let field = cell.field.and_then(|index| self.diagram.fields().get(usize::from(index)));
        let what = match (cell.sign, field) {
            (Sign::Gap | Sign::Unknown, _) => cell.sign.meaning().to_string(),
            (sign, None) => sign.meaning().to_string(),
            (sign, Some(field)) => {
                let Legend { path, ty, .. } = Legend::new(field, "×");
                let more = match sign {
                    Sign::Data | Sign::Other => String::new(),
                    sign => format!(", {}", sign.meaning()),
                };
                format!("{path}: {ty}{more}")
            }
        };
        let tip = match end - first {
            1 => format!("{what}; byte {first}"),
            _ => format!("{what}; bytes {first} to {}", end - 1),
        };
        let number = colour(cell.field.unwrap_or(u16::MAX));
        let fill = format!("dt-box dt-f{number}");
        match cell.sign {
            Sign::Gap | Sign::Unknown => self.paper.rect("dt-gap", rect, Some(&tip)),
            Sign::Part => {
                self.paper.rect("dt-gap", rect, None);
                let half = Rect { y: rect.y + BOX / 2, height: BOX / 2, ..rect };
                self.paper.rect(&fill, half, Some(&tip));
            }
            Sign::Data => self.paper.field(cell.field, rect, Some(&tip)),
            Sign::Other => {
                self.paper.field(cell.field, rect, None);
                self.paper.rect("dt-other", rect, Some(&tip));
            }
            Sign::Overlap => {
                self.paper.rect(&fill, rect, None);
                self.paper.rect("dt-overlap", rect, Some(&tip));
            }
        }
        let (label, class) = match cell.sign {
            Sign::Overlap | Sign::Part => return,
            Sign::Gap => (vec!["gap".to_string()], "dt-faint".to_string()),
            Sign::Unknown => (vec!["?".to_string()], "dt-faint".to_string()),
            Sign::Data | Sign::Other => (labels(field, self.is_only), format!("dt-t{number}")),
        };
        let is_member = matches!(cell.sign, Sign::Data | Sign::Other);
        if is_member {
            self.ticks(&row.cells[from..from + number_of_cells], field, rect, &class);
        }
        let room = (rect.width - 2) / SMALL;
        let (x, y) = (rect.x + rect.width / 2, rect.y + BOX / 2);
        match label.iter().find(|label| label.chars().count() <= room) {
            Some(label) => {
                self.paper.text(&format!("{class} dt-small"), x, y + 4, Anchor::Middle, label);
            }
            None if is_member && !self.is_only && rect.width >= KEY => {
                self.paper.key((x, y), letter(cell.field));
            }
            None => {}
        }
    }

    /// Marks the starts of the values in a box. The bytes in an array of bytes get no marks. Adjacent single bytes do, because
    /// they belong to different instances or blocks.
    fn ticks(&mut self, cells: &[Cell], field: Option<&DiagramField>, rect: Rect, class: &str) {
        let is_array = field.is_none_or(|field| field.contiguous().0 > 1);
        if is_array && self.diagram.unit() == 1 && cells.iter().all(|cell| cell.starts) {
            return;
        }
        let class = class.replace("dt-t", "dt-s");
        for (i, _) in cells.iter().enumerate().skip(1).filter(|(_, cell)| cell.starts) {
            let x = rect.x + i * self.cell;
            self.paper.line(&class, (x, rect.y), (x, rect.y + TICKS));
            self.paper.line(&class, (x, rect.y + BOX - TICKS), (x, rect.y + BOX));
        }
    }

    /// Draws lines for the ranges that start or end in the row, on as few lines as possible.
    fn ranges(&mut self, row: &Row) {
        // The end of the last line.
        let mut end = None;
        for range in self.diagram.ranges() {
            let Some(part) = range.part_of(row, self.diagram.unit()) else { continue };
            let BracketPart { cells: (first, last), starts, ends } = part;
            let x = self.left + first * self.cell;
            let to = if range.is_empty() { x } else { self.left + (last + 1) * self.cell };
            let text = range.label.chars().count() * SMALL;
            let inside = to - x >= text + 24;
            let reach = if inside { to } else { to + 8 + text };
            if end.is_some_and(|end| x < end) {
                self.y += LANE;
            }
            end = Some(reach);
            let y = self.y + LANE / 2;
            let middle = usize::midpoint(x, to);
            if inside {
                self.paper.line("dt-line", (x, y), (middle - text / 2 - 5, y));
                self.paper.line("dt-line", (middle + text / 2 + 5, y), (to, y));
            } else {
                self.paper.line("dt-line", (x, y), (to, y));
            }
            for (at, is_end) in [(x + 1, starts), (to.saturating_sub(1), ends)] {
                if is_end {
                    self.paper.line("dt-line", (at, y - 5), (at, y + 5));
                }
            }
            let (at, anchor) =
                if inside { (middle, Anchor::Middle) } else { (to + 6, Anchor::Start) };
            self.paper.text("dt-text dt-small", at, y + 4, anchor, &range.label);
        }
        if end.is_some() {
            self.y += LANE;
        }
    }

    fn left_out(&mut self, text: &str) {
        self.paper.text("dt-faint", self.left, self.y + 14, Anchor::Start, text);
        self.y += LINE + SPACE;
    }

    fn legend(&mut self) {
        let fields = self.diagram.fields();
        let shown = fields.len().min(self.style.legend);
        let rows: Vec<_> =
            fields.iter().take(shown).map(|field| Legend::columns(field, "×")).collect();
        if rows.is_empty() {
            return;
        }
        let header = ["field", "type", "offset", "bytes", "repeated"];
        let widths: [usize; 5] = core::array::from_fn(|i| {
            let widest = rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0);
            if widest == 0 { 0 } else { widest.max(header[i].len()) }
        });
        self.y += SPACE;
        self.legend_line("dt-faint dt-small", &widths, &header.map(String::from));
        for (i, row) in rows.iter().enumerate() {
            let swatch = Rect { x: MARGIN + KEY + 4, y: self.y + 2, width: 16, height: 16 };
            if fields[i].is_drawn {
                let field = u16::try_from(i).unwrap_or(u16::MAX);
                self.paper.field(Some(field), swatch, None);
                if !self.is_only {
                    self.paper.key((MARGIN + KEY / 2, self.y + 10), letter(Some(field)));
                }
            } else {
                self.paper.rect("dt-gap", swatch, None);
            }
            self.legend_line("dt-text", &widths, row);
        }
        if let Some(rest) = rest(self.diagram, shown) {
            self.text_line("dt-faint", &rest);
        }
    }

    /// Draws the meanings of the rarer boxes, if there are any.
    fn meanings(&mut self) {
        for sign in [Sign::Other, Sign::Part, Sign::Overlap, Sign::Unknown] {
            if !self.diagram.has(sign) {
                continue;
            }
            let swatch = Rect { x: MARGIN + KEY + 4, y: self.y + 2, width: 16, height: 16 };
            let fill = format!("dt-box dt-f{}", colour(0));
            let (x, y) = (swatch.x + 8, self.y + 14);
            match sign {
                Sign::Part => {
                    self.paper.rect("dt-gap", swatch, None);
                    let half = Rect { y: swatch.y + 8, height: 8, ..swatch };
                    self.paper.rect(&fill, half, None);
                }
                Sign::Overlap | Sign::Other => {
                    self.paper.rect(&fill, swatch, None);
                    let class = if sign == Sign::Other { "dt-other" } else { "dt-overlap" };
                    self.paper.rect(class, swatch, None);
                }
                _ => {
                    self.paper.rect("dt-gap", swatch, None);
                    self.paper.text("dt-faint dt-small", x, y, Anchor::Middle, "?");
                }
            }
            self.paper.text("dt-text", MARGIN + LEGEND, y, Anchor::Start, sign.meaning());
            self.y += LINE;
        }
    }

    fn legend_line(&mut self, class: &str, widths: &[usize; 5], cells: &[String; 5]) {
        let mut x = MARGIN + LEGEND;
        for (i, (cell, width)) in cells.iter().zip(widths).enumerate() {
            if *width == 0 {
                continue;
            }
            // Numbers are aligned at the right.
            let (at, anchor) = match i {
                2 | 3 => (x + width * CHARACTER, Anchor::End),
                _ => (x, Anchor::Start),
            };
            self.paper.text(class, at, self.y + 14, anchor, cell);
            x += (width + 2) * CHARACTER;
        }
        self.y += LINE;
    }
}

/// Labels for a field's box, the longest first. A single field has no letter. If it has no name either, its label is its type.
fn labels(field: Option<&DiagramField>, is_only: bool) -> Vec<String> {
    let Some(field) = field else { return Vec::new() };
    // A bare number could be the name of a member, or a displacement.
    let is_name = |name: &&str| {
        let is_letter = |c: char| !c.is_ascii_digit() && !"[].".contains(c);
        name.contains(is_letter) && !name.starts_with(|c: char| c.is_ascii_digit())
    };
    let last = field.path.rsplit('.').next().unwrap_or("");
    let names = [field.path.as_str(), last].into_iter().filter(is_name).map(String::from);
    let mut labels: Vec<String> = names.collect();
    if is_only || field.path.is_empty() {
        labels.extend([Legend::new(field, "×").ty, field.type_name.clone()]);
    }
    labels
}

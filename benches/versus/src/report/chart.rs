//! The chart: the time of this engine divided by the time of others, by kind of work, on a logarithmic axis.

use std::error::Error;
use std::path::Path;

use dtype_benches::figures::geometric_mean;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::bench::who;
use crate::structs::COUNTS;

use super::row::{Group, Row};

const WIDTH: i32 = 900;
const LEFT: i32 = 190;
const RIGHT: i32 = 30;
const TOP: i32 = 124;
const LINE: i32 = 24;
/// How far the packing mark is above the middle of its line, and the unpacking mark below.
const APART: i32 = 5;
const BOTTOM: i32 = 84;

/// The colours of a chart.
struct Colours {
    paper: RGBColor,
    ink: RGBColor,
    pale: RGBColor,
    grid: RGBColor,
    band: RGBColor,
    /// The colours of [`SHOWN`], in its order, which colour-blind readers can tell apart.
    shown: [RGBColor; 3],
}

const LIGHT: Colours = Colours {
    paper: WHITE,
    ink: RGBColor(0x24, 0x29, 0x2f),
    pale: RGBColor(0x57, 0x60, 0x6a),
    grid: RGBColor(0xd8, 0xde, 0xe4),
    band: RGBColor(0xf6, 0xf8, 0xfa),
    shown: [RGBColor(0x57, 0x60, 0x6a), RGBColor(0xd5, 0x5e, 0x00), RGBColor(0x00, 0x72, 0xb2)],
};

const DARK: Colours = Colours {
    paper: RGBColor(0x0d, 0x11, 0x17),
    ink: RGBColor(0xe6, 0xed, 0xf3),
    pale: RGBColor(0x9d, 0xa7, 0xb3),
    grid: RGBColor(0x30, 0x36, 0x3d),
    band: RGBColor(0x16, 0x1b, 0x22),
    shown: [RGBColor(0x9d, 0xa7, 0xb3), RGBColor(0xff, 0x9a, 0x3c), RGBColor(0x56, 0xb4, 0xe9)],
};

/// The contestants that the chart shows.
const SHOWN: [(&str, Mark); 3] =
    [(who::LOOP, Mark::Circle), (who::OPEN_MPI, Mark::Triangle), (who::MPICH, Mark::Square)];

#[derive(Clone, Copy, Debug)]
enum Mark {
    Circle,
    Triangle,
    Square,
}

/// A line of the chart: this engine's time divided by the time of each of [`SHOWN`].
struct Line {
    label: String,
    /// Packing, or work without a direction.
    pack: [Option<f64>; 3],
    unpack: [Option<f64>; 3],
}

/// A heading, and the lines below it.
struct Section {
    title: &'static str,
    lines: Vec<Line>,
}

/// Draws the chart twice: on white at `path`, and for dark pages in a file beside it, with `-dark` after the name.
pub(crate) fn draw(path: &Path, machine: &[String], rows: &[Row]) -> Drawn {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let dark = path.with_file_name(format!("{stem}-dark.svg"));
    draw_in(&LIGHT, path, machine, rows)?;
    draw_in(&DARK, &dark, machine, rows)
}

fn draw_in(colours: &'static Colours, path: &Path, machine: &[String], rows: &[Row]) -> Drawn {
    let sections = sections(rows);
    let lines: usize = sections.iter().map(|section| section.lines.len() + 1).sum();
    let bottom = TOP + LINE * i32::try_from(lines)?;
    let height = bottom + BOTTOM;
    let size = (WIDTH.unsigned_abs(), height.unsigned_abs());
    let root = SVGBackend::new(path, size).into_drawing_area();
    root.fill(&colours.paper)?;
    let picture = Picture { root: &root, colours, axis: Axis::of(&sections) };
    picture.heading()?;
    let mut y = TOP;
    for section in &sections {
        picture.section(section, y)?;
        y += LINE * (1 + i32::try_from(section.lines.len())?);
    }
    picture.axis(bottom)?;
    let mut y = TOP;
    for section in &sections {
        for line in &section.lines {
            y += LINE;
            picture.marks(line, y + LINE / 2)?;
        }
        y += LINE;
    }
    let mut y = bottom + 44;
    for line in machine {
        if !line.is_empty() && y < height {
            picture.text(line, (12, y), 11, colours.pale, HPos::Left, false)?;
            y += 14;
        }
    }
    root.present()?;
    Ok(())
}

fn sections(rows: &[Row]) -> Vec<Section> {
    let line = |label: String, kind: &dyn Fn(&Row) -> bool| {
        let of = |works: &[&str]| {
            SHOWN.map(|(other, _)| {
                let chosen = rows.iter().filter(|row| kind(row) && works.contains(&&*row.work));
                geometric_mean(chosen.filter_map(|row| row.ratio(who::DTYPE, other)))
            })
        };
        let (pack, unpack) = (of(&["pack", "create"]), of(&["unpack"]));
        let any = pack.iter().chain(&unpack).any(Option::is_some);
        any.then_some(Line { label, pack, unpack })
    };
    let structs = COUNTS.iter().filter_map(|count| {
        let parameters = format!("× {count}");
        let records =
            if *count == 1 { "1 record".into() } else { format!("{} records", grouped(*count)) };
        line(records, &|row| row.group == Group::Structs && row.parameters == parameters)
    });
    let mut families: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| row.group == Group::Ddtbench) {
        if !families.contains(&row.family.as_str()) {
            families.push(&row.family);
        }
    }
    let layouts = families.iter().filter_map(|family| {
        line((*family).into(), &|row| row.group == Group::Ddtbench && row.family == *family)
    });
    let creation = line("all constructors".into(), &|row| row.group == Group::Creation);
    [
        Section { title: "Arrays of structs", lines: structs.collect() },
        Section { title: "DDTBench", lines: layouts.collect() },
        Section { title: "Create and commit", lines: creation.into_iter().collect() },
    ]
    .into_iter()
    .filter(|section| !section.lines.is_empty())
    .collect()
}

/// The number with a space between thousands.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('\u{a0}');
        }
        text.push(digit);
    }
    text
}

/// A logarithmic axis.
struct Axis {
    first: f64,
    last: f64,
}

impl Axis {
    /// The axis that has room for all ratios.
    fn of(sections: &[Section]) -> Self {
        let all = || {
            let lines = sections.iter().flat_map(|section| &section.lines);
            lines.flat_map(|line| line.pack.iter().chain(&line.unpack)).flatten().copied()
        };
        let first = all().fold(0.5, f64::min) / 1.2;
        let last = all().fold(2.0, f64::max) * 1.1;
        Self { first, last }
    }

    fn x(&self, ratio: f64) -> i32 {
        let part = (ratio / self.first).ln() / (self.last / self.first).ln();
        // The position lies within the picture.
        LEFT + (part * f64::from(WIDTH - LEFT - RIGHT)).round() as i32
    }

    /// The positions of the axis's marks.
    fn marks(&self) -> Vec<f64> {
        let all = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0];
        all.into_iter().filter(|mark| (self.first..=self.last).contains(mark)).collect()
    }
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Drawn = Result<(), Box<dyn Error>>;

struct Picture<'a, 'b> {
    root: &'a Area<'b>,
    colours: &'static Colours,
    axis: Axis,
}

impl Picture<'_, '_> {
    fn text(
        &self,
        text: &str,
        at: (i32, i32),
        size: i32,
        ink: RGBColor,
        h: HPos,
        bold: bool,
    ) -> Drawn {
        let style = if bold { FontStyle::Bold } else { FontStyle::Normal };
        let font = FontDesc::new(FontFamily::SansSerif, f64::from(size), style);
        let style = TextStyle::from(font).color(&ink).pos(Pos::new(h, VPos::Center));
        self.root.draw(&Text::new(text, at, style))?;
        Ok(())
    }

    fn heading(&self) -> Drawn {
        let title = "Time of dtype over the time of others for the same work";
        self.text(title, (12, 22), 18, self.colours.ink, HPos::Left, true)?;
        let what = "geometric means; to the left of the line at 1, dtype is faster: at 0.5 it takes half the time";
        self.text(what, (12, 46), 13, self.colours.pale, HPos::Left, false)?;
        let mut x = 18;
        for ((name, mark), ink) in SHOWN.into_iter().zip(self.colours.shown) {
            self.mark(mark, (x, 70), ink, true)?;
            self.text(name, (x + 12, 70), 13, self.colours.ink, HPos::Left, false)?;
            x += 110;
        }
        // Words, because any mark would look like a contestant's.
        self.text(
            "filled: pack or create, empty: unpack",
            (x + 20, 70),
            13,
            self.colours.ink,
            HPos::Left,
            false,
        )
    }

    fn axis(&self, bottom: i32) -> Drawn {
        for mark in self.axis.marks() {
            let x = self.axis.x(mark);
            let line = PathElement::new(vec![(x, TOP), (x, bottom + 4)], self.colours.grid);
            self.root.draw(&line)?;
            for y in [TOP - 12, bottom + 16] {
                self.text(&mark.to_string(), (x, y), 12, self.colours.pale, HPos::Center, false)?;
            }
        }
        // The line where both are equally fast.
        let x = self.axis.x(1.0);
        let line =
            PathElement::new(vec![(x, TOP - 4), (x, bottom + 4)], self.colours.ink.stroke_width(2));
        self.root.draw(&line)?;
        self.text("dtype faster ←", (x - 12, TOP - 30), 12, self.colours.ink, HPos::Right, true)?;
        self.text("→ slower", (x + 12, TOP - 30), 12, self.colours.ink, HPos::Left, true)
    }

    /// Draws what does not depend on figures: the title, the labels, and bands that lead to them.
    fn section(&self, section: &Section, mut top: i32) -> Drawn {
        self.text(section.title, (12, top + LINE / 2), 14, self.colours.ink, HPos::Left, true)?;
        for (number, line) in section.lines.iter().enumerate() {
            top += LINE;
            if number % 2 == 0 {
                let band = [(LEFT, top), (WIDTH - RIGHT, top + LINE)];
                self.root.draw(&Rectangle::new(band, self.colours.band.filled()))?;
            }
            self.text(
                &line.label,
                (LEFT - 10, top + LINE / 2),
                13,
                self.colours.ink,
                HPos::Right,
                false,
            )?;
        }
        Ok(())
    }

    fn marks(&self, line: &Line, middle: i32) -> Drawn {
        let both = [(&line.pack, middle - APART, true), (&line.unpack, middle + APART, false)];
        for (ratios, y, filled) in both {
            for ((ratio, (_, mark)), ink) in ratios.iter().zip(SHOWN).zip(self.colours.shown) {
                if let Some(ratio) = ratio {
                    self.mark(mark, (self.axis.x(*ratio), y), ink, filled)?;
                }
            }
        }
        Ok(())
    }

    fn mark(&self, mark: Mark, (x, y): (i32, i32), ink: RGBColor, filled: bool) -> Drawn {
        let corners = match mark {
            Mark::Circle => {
                let style = if filled { ink.filled() } else { self.colours.paper.filled() };
                self.root.draw(&Circle::new((x, y), 4, style))?;
                self.root.draw(&Circle::new((x, y), 4, ink.stroke_width(1)))?;
                return Ok(());
            }
            Mark::Triangle => vec![(x, y - 5), (x + 5, y + 4), (x - 5, y + 4), (x, y - 5)],
            Mark::Square => {
                vec![(x - 4, y - 4), (x + 4, y - 4), (x + 4, y + 4), (x - 4, y + 4), (x - 4, y - 4)]
            }
        };
        let inside = if filled { ink } else { self.colours.paper };
        self.root.draw(&Polygon::new(corners.clone(), inside.filled()))?;
        self.root.draw(&PathElement::new(corners, ink.stroke_width(1)))?;
        Ok(())
    }
}

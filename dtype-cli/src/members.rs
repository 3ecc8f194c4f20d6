//! The members of a structure, those that are not data among them: for a picture, as a table and as JSON.

use std::io::Write;

use dtype_show::{DiagramField, MAX_FIELDS, Others, Repeat};
use dtype_text::printable::printable;
use dtype_text::structure::{Form, Inside, Kind, Leaf, Member, Structure, Tag, What};
use serde::Serialize;

use crate::failure::Failure;
use crate::value::bytes;

/// Bytes of a cache line.
pub(crate) const LINE: u64 = 64;

/// The maximum number of members to print as text.
const MAX_ROWS: usize = 256;

/// The maximum number of variants to draw.
const MAX_VARIANTS: usize = 32;

/// The members that the datatype of a structure does not have; `None` if it has all.
pub(crate) fn others(structure: &Structure) -> Option<Others> {
    if structure.is_data() {
        return None;
    }
    let mut more = false;
    let variants = match &structure.form {
        Form::Struct => {
            let (leaves, is_complete) = structure.leaves(Inside::All, true, MAX_FIELDS);
            more |= !is_complete;
            vec![(None, leaves.iter().filter_map(drawn).collect())]
        }
        form => {
            let all = structure.declared.iter().take(MAX_VARIANTS);
            more |= structure.members.len() > MAX_VARIANTS;
            let variant = |(place, number): (usize, &usize)| {
                let member = &structure.members[*number];
                let (leaves, is_complete) = structure.leaves_of(member, MAX_FIELDS);
                more |= !is_complete;
                let mut fields: Vec<DiagramField> = leaves.iter().filter_map(drawn).collect();
                fields.extend(tag_of(member));
                fields.sort_by_key(|field| field.offset);
                let heading = match form {
                    Form::Enum(tag) => format!("{}{}", member.label(), number_of(tag, place)),
                    _ => member.label(),
                };
                (Some(printable(&heading)), fields)
            };
            all.enumerate().map(variant).collect()
        }
    };
    let name = structure.name.as_deref().map(printable).unwrap_or_default();
    Some(Others { name, caption: caption(structure), variants, more })
}

/// The numbers of a structure in one line.
fn caption(structure: &Structure) -> String {
    let size = structure.size.map_or("of unknown size".into(), |size| bytes(size.into()));
    let align = structure.align.map(|align| format!(", alignment {align}"));
    let padding = structure.padding().filter(|_| structure.form == Form::Struct);
    let padding = padding.map(|padding| format!(", padding {padding}"));
    let apart = structure.members.iter().filter(|member| member.offset.is_none());
    let apart = apart.take(MAX_VARIANTS).map(|member| {
        let what = if member.is_virtual() { "virtual base class " } else { "" };
        printable(&format!("; the place of the {what}`{}` is not fixed", member.label()))
    });
    [Some(size), align, padding].into_iter().flatten().chain(apart).collect()
}

/// The number that stands for a variant, in parentheses.
fn number_of(tag: &Tag, place: usize) -> String {
    match (&tag.bytes, tag.numbers.get(place)) {
        (Some(_), Some(Some(number))) => format!(" ({number})"),
        (Some(_), Some(None)) => " (any other number)".into(),
        _ => String::new(),
    }
}

/// A part in a picture; `None` if its place is not fixed.
fn drawn(leaf: &Leaf<'_>) -> Option<DiagramField> {
    let levels = leaf.levels.iter().filter(|level| level.count > 1);
    let basic = match leaf.of.what {
        What::Basic(basic) if leaf.bits.is_none() => Some(basic),
        _ => None,
    };
    Some(DiagramField {
        path: printable(&leaf.path),
        basic,
        is_drawn: true,
        bits: leaf.bits,
        type_name: basic.map_or_else(|| printable(&leaf.of.shown()), |basic| basic.name().into()),
        offset: leaf.offset?.into(),
        levels: levels
            .map(|level| Repeat { count: level.count, stride: i64::try_from(level.stride).ok() })
            .collect(),
        bytes: leaf.bytes().unwrap_or(0),
    })
}

/// The number beside the fields of a variant.
fn tag_of(variant: &Member) -> Option<DiagramField> {
    let inside = variant.of.structure()?;
    let tag = inside.members.iter().find(|field| field.kind == Kind::Tag)?;
    let (leaves, _) = inside.leaves_of(tag, 1);
    let field = leaves.first().and_then(drawn)?;
    Some(DiagramField { offset: field.offset + i128::from(variant.offset?), ..field })
}

/// A member as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    /// The name; null if it has none.
    name: Option<String>,
    /// The name of its type.
    #[serde(rename = "type")]
    type_name: String,
    /// What it is, if it is no data.
    #[serde(skip_serializing_if = "Option::is_none")]
    what: Option<String>,
    /// The first byte; null if it is not fixed.
    offset: Option<u64>,
    /// Its size; null if it is not known.
    bytes: Option<u64>,
    align: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bits: Option<Bits>,
    /// Bytes of padding inside it.
    inner_padding: u64,
    /// The first and the last cache line that it has bytes in.
    cache_lines: Option<[u64; 2]>,
    /// The line of its declaration.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    /// The number that stands for a variant of an enum.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<i128>,
    /// The fields of a variant, or of a member of a union.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    members: Vec<Row>,
    /// Bytes of a variant that neither its fields nor the number use.
    #[serde(skip_serializing_if = "Option::is_none")]
    padding: Option<u64>,
}

/// The bits of a bit-field.
#[derive(Debug, Serialize)]
struct Bits {
    /// The first one in the first byte.
    first: u8,
    width: u64,
}

/// The members of a structure in the order of their places; of a union and an enum, in that of their declaration.
pub(crate) fn rows(structure: &Structure) -> Vec<Row> {
    let order: Vec<usize> = match structure.form {
        Form::Struct => (0..structure.members.len()).collect(),
        _ => structure.declared.clone(),
    };
    let row = |(place, number): (usize, usize)| {
        let member = &structure.members[number];
        let row = Row::of(member);
        let Form::Enum(tag) = &structure.form else { return row };
        let inside = member.of.structure();
        Row {
            number: tag.numbers.get(place).copied().flatten(),
            members: inside
                .map(|inside| inside.members.iter().map(Row::of).collect())
                .unwrap_or_default(),
            padding: inside.and_then(|inside| inside.padding()),
            ..row
        }
    };
    order.into_iter().enumerate().map(row).collect()
}

impl Row {
    fn of(member: &Member) -> Self {
        let bits = match member.kind {
            Kind::Bits { first, width, .. } => Some(Bits { first, width }),
            _ => None,
        };
        let what = match member.kind {
            Kind::Bits { .. } => "a bit-field",
            _ if member.is_virtual() => "a virtual base class",
            _ => member.of.noun(),
        };
        let is_data = member.of.is_data() && bits.is_none();
        let bytes = member.bytes().filter(|bytes| !bytes.is_empty());
        Self {
            name: member.name.clone(),
            type_name: match member.kind {
                Kind::Base { is_class: true, .. } if member.is_virtual() => {
                    format!("virtual base class {}", member.of.shown())
                }
                Kind::Base { is_class: true, .. } => {
                    format!("base class {}", member.of.shown())
                }
                _ => member.of.shown(),
            },
            what: (!is_data).then(|| what.to_owned()),
            offset: member.offset,
            bytes: member.size.or(member.of.size),
            align: member.align,
            bits,
            inner_padding: member.padding(),
            cache_lines: bytes.map(|bytes| [bytes.start / LINE, (bytes.end - 1) / LINE]),
            line: member.line,
            number: None,
            members: Vec::new(),
            padding: None,
        }
    }

    /// The columns of a table.
    fn columns(&self) -> [String; 6] {
        let number = |number: Option<u64>| number.map_or("–".into(), |number| number.to_string());
        let line = match self.cache_lines {
            Some([first, last]) if first == last => first.to_string(),
            Some([first, last]) => format!("{first}–{last}"),
            None => String::new(),
        };
        let bits = match self.bits {
            Some(Bits { first, width: 1 }) => format!(", bit {first}"),
            Some(Bits { first, width }) => {
                let last = u64::from(first).saturating_add(width).saturating_sub(1);
                format!(", bits {first} to {last}")
            }
            None => String::new(),
        };
        let inside = match self.inner_padding {
            0 => String::new(),
            inside => format!(", {inside} of padding inside"),
        };
        let text = format!("{}{bits}{inside}", self.type_name);
        let name = self.name.clone().unwrap_or_default();
        [
            number(self.offset),
            number(self.bytes),
            number(self.align),
            line,
            printable(&name),
            printable(&text),
        ]
    }
}

/// Prints a table of the members.
pub(crate) fn print(structure: &Structure, out: &mut impl Write) -> Result<(), Failure> {
    let rows = rows(structure);
    if rows.is_empty() {
        return Ok(());
    }
    let header = ["offset", "bytes", "align", "cache", "member", "type"].map(str::to_owned);
    let mut table = vec![header];
    let mut left = MAX_ROWS;
    let mut more = 0;
    for row in &rows {
        let all = std::iter::once(row.columns());
        let inside = row.members.iter().map(|inner| {
            let mut columns = inner.columns();
            columns[4] = format!("  {}", columns[4]);
            columns
        });
        for columns in all.chain(inside) {
            match left.checked_sub(1) {
                Some(less) => {
                    left = less;
                    table.push(columns);
                }
                None => more += 1,
            }
        }
    }
    let width =
        |column: usize| table.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 6] = std::array::from_fn(width);
    writeln!(out)?;
    for row in &table {
        for (column, (text, width)) in row.iter().zip(widths).enumerate() {
            match column {
                // Numbers end below one another.
                0..4 => write!(out, "{text:>width$}  ")?,
                4 => write!(out, "{text:<width$}  ")?,
                _ => writeln!(out, "{text}")?,
            }
        }
    }
    if more > 0 {
        writeln!(out, "… {more} more")?;
    }
    Ok(())
}

/// Lines about the variants of an enum, with their names.
pub(crate) fn variants(structure: &Structure) -> Vec<(&'static str, String)> {
    let Form::Enum(tag) = &structure.form else { return Vec::new() };
    let place = tag.bytes.as_ref().map(|bytes| {
        format!("{} at byte {}", crate::value::bytes((bytes.end - bytes.start).into()), bytes.start)
    });
    let which = match (place, &tag.niche) {
        (None, _) => "none: there is only one variant".into(),
        (Some(place), Some(field)) => {
            format!("{place}, in values that `{}` does not use", printable(field))
        }
        (Some(place), None) if tag.type_name.is_empty() => place,
        (Some(place), None) => format!("{place}: {}", printable(&*tag.type_name)),
    };
    let mut lines = vec![("tag", which)];
    for (place, number) in structure.declared.iter().take(MAX_ROWS).enumerate() {
        let member = &structure.members[*number];
        let name = printable(&member.label());
        let number = number_of(tag, place);
        let inside = member.of.structure();
        let waste = inside.and_then(|inside| inside.padding());
        let used = structure.size.zip(waste).map(|(size, waste)| size.saturating_sub(waste));
        lines.push(match used.zip(waste) {
            Some((used, waste)) => {
                ("variant", format!("{name}{number}: uses {}, {waste} lost", bytes(used.into())))
            }
            None => ("variant", format!("{name}{number}")),
        });
    }
    lines
}

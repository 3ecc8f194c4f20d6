//! The list of fields below a picture.

use core::fmt;

use super::{Text, letter};
use crate::diagram::Diagram;
use crate::fields::{DiagramField, Repeat};
use crate::table::{Align, Table};

/// The entry of a field in a legend.
pub(crate) struct Legend {
    pub(crate) path: String,
    /// The type, and the number of contiguous values.
    pub(crate) ty: String,
    /// The repetitions, if they have gaps between.
    pub(crate) repeated: String,
}

impl Legend {
    pub(crate) fn new(field: &DiagramField, times: &str) -> Self {
        let (count, levels) = field.contiguous();
        let mut ty = field.type_name.clone();
        if let Some(basic) = field.basic
            && ty != basic.name()
        {
            // This applies to enums, for example.
            ty = format!("{ty}: {basic}");
        }
        match field.bits {
            Some((first, 1)) => ty = format!("{ty}, bit {first}"),
            Some((first, bits)) => {
                let last = u64::from(first).saturating_add(bits).saturating_sub(1);
                ty = format!("{ty}, bits {first} to {last}");
            }
            None => {}
        }
        if count > 1 {
            ty = format!("{ty} {times} {count}");
        }
        let levels = levels.iter().map(|Repeat { count, stride }| match stride {
            Some(stride) => format!("{count} every {stride}"),
            None => format!("{count} in a list"),
        });
        let path = if field.path.is_empty() { "data" } else { &field.path };
        let repeated = levels.collect::<Vec<_>>().join(", ");
        Self { path: in_line(path), ty: in_line(&ty), repeated }
    }

    /// The columns of a field's entry.
    pub(crate) fn columns(field: &DiagramField, times: &str) -> [String; 5] {
        let Self { path, ty, repeated } = Self::new(field, times);
        [path, ty, field.offset.to_string(), field.bytes.to_string(), repeated]
    }
}

/// The line after a legend that shows at most `shown` fields; `None` if the legend has all fields.
pub(crate) fn rest(diagram: &Diagram, shown: usize) -> Option<String> {
    match (diagram.fields().len().saturating_sub(shown), diagram.has_more_fields()) {
        (0, false) => None,
        (0, true) => Some("and more fields".into()),
        (left, false) => Some(format!("and {left} more fields")),
        (left, true) => Some(format!("and at least {left} more fields")),
    }
}

/// The text without characters that end a line or move the cursor.
pub(super) fn in_line(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

pub(super) fn write(f: &mut fmt::Formatter<'_>, text: &Text<'_>) -> fmt::Result {
    let (style, fields) = (text.style, text.diagram.fields());
    let times = if style.ascii { "x" } else { "×" };
    let mut table = Table::new(&[
        ("", Align::Left),
        ("field", Align::Left),
        ("type", Align::Left),
        ("offset", Align::Right),
        ("bytes", Align::Right),
        ("repeated", Align::Left),
    ]);
    for (i, field) in fields.iter().enumerate().take(style.legend) {
        let [path, ty, offset, bytes, repeated] = Legend::columns(field, times);
        let mark = if field.is_drawn { letter(u16::try_from(i).ok()) } else { ' ' };
        table.push([mark.to_string(), path, ty, offset, bytes, repeated]);
    }
    let colours = (0..fields.len().min(style.legend)).map(|i| {
        let mut colour = String::new();
        let field = u16::try_from(i).ok().filter(|_| fields[i].is_drawn);
        let _ = field.map(|field| text.switch(&mut colour, Some(field)));
        colour
    });
    table.write(f, Some(&colours.collect::<Vec<_>>()))?;
    match rest(text.diagram, style.legend) {
        None => Ok(()),
        Some(rest) => writeln!(f, "{} {rest}", style.dots()),
    }
}

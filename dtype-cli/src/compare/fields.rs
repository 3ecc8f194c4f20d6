//! The fields that two types do not have in common.

use std::collections::HashMap;
use std::io::Write;

use dtype_show::DiagramField;
use dtype_text::notation::Parsed;
use dtype_text::printable::printable;
use dtype_text::structure::{Kind, Structure};
use serde::Serialize;

use crate::failure::Failure;
use crate::field_paths;

/// The maximum number of changes to print as text.
const MAX_PRINTED: usize = 40;

/// A field that was added, removed, moved, renamed or given another type.
#[derive(Debug, Serialize)]
pub(crate) struct Change {
    what: Changed,
    /// The path of the field, that of A if it was renamed.
    field: String,
    /// What the first type has there; null if the field was added.
    a: Option<Place>,
    /// What the second type has there; null if the field was removed.
    b: Option<Place>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Changed {
    Added,
    Removed,
    Moved,
    Retyped,
    Renamed,
}

/// A field's place and its type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Place {
    /// The name in this type.
    field: String,
    #[serde(rename = "type")]
    type_name: String,
    /// The first byte; null if it is not fixed.
    offset: Option<i128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_bit: Option<u8>,
}

impl Place {
    fn is_there(&self, other: &Self) -> bool {
        (self.offset, self.first_bit) == (other.offset, other.first_bit)
    }

    fn words(&self) -> String {
        match (self.offset, self.first_bit) {
            (None, _) => "a place that is not fixed".into(),
            (Some(offset), None) => format!("byte {offset}"),
            (Some(offset), Some(bit)) => format!("byte {offset}, bit {bit}"),
        }
    }
}

/// The changes between two types; `None` if one of them has no named fields, or too many.
pub(super) fn of_types(a: &Parsed, b: &Parsed) -> Option<Vec<Change>> {
    let is_named = |one: &Parsed| !one.fields.is_empty() || one.fields.layout().is_some();
    if !is_named(a) || !is_named(b) {
        return None;
    }
    Some(changes(fields(a)?, fields(b)?))
}

fn fields(parsed: &Parsed) -> Option<Vec<Place>> {
    let picture = field_paths::picture(parsed, &dtype_show::View::default(), str::to_owned).ok()?;
    let place = |field: &DiagramField| {
        let type_name = match field.basic {
            Some(basic) => basic.canonical().name(),
            None => &field.type_name,
        };
        let width = field.bits.map(|(_, width)| format!(" : {width}"));
        let levels = field.levels.iter().map(|level| format!(" × {}", level.count));
        let type_name = std::iter::once(type_name.to_owned()).chain(levels).chain(width).collect();
        Place {
            field: field.path.clone(),
            type_name,
            offset: Some(field.offset),
            first_bit: field.bits.map(|(first, _)| first),
        }
    };
    (!picture.has_more_fields()).then(|| picture.fields().iter().map(place).collect())
}

/// The greatest number of members of a type that are compared.
const MAX_MEMBERS: usize = 1 << 12;

/// The changes between the members of two structures. What is inside them is compared only if its type has no name of its own.
pub(super) fn of_structures(a: &Structure, b: &Structure) -> Vec<Change> {
    let all = |one: &Structure| {
        let mut all = Vec::new();
        add(one, "", 0, &mut all);
        all
    };
    changes(all(a), all(b))
}

fn add(of: &Structure, prefix: &str, base: u64, all: &mut Vec<Place>) {
    for member in of.declared.iter().map(|number| &of.members[*number]) {
        if all.len() >= MAX_MEMBERS {
            return;
        }
        let (first_bit, width) = match member.kind {
            Kind::Bits { first, width, .. } => (Some(first), format!(" : {width}")),
            _ => (None, String::new()),
        };
        let field = format!("{prefix}{}", member.label());
        let offset = member.offset.map(|offset| offset.saturating_add(base));
        let inside = member.of.structure().filter(|inside| inside.name.is_none());
        all.push(Place {
            type_name: member.of.shown() + &width,
            offset: offset.map(i128::from),
            first_bit,
            field: field.clone(),
        });
        if let (Some(inside), Some(offset)) = (inside, offset) {
            let prefix = if member.name.is_some() { format!("{field}.") } else { prefix.into() };
            add(inside, &prefix, offset, all);
        }
    }
}

/// The changes in the order of A, and then what B has beside that.
fn changes(a: Vec<Place>, b: Vec<Place>) -> Vec<Change> {
    // Fields may have no names, or the same one.
    let keyed = |all: Vec<Place>| {
        let mut times: HashMap<String, usize> = HashMap::new();
        let key = |place: Place| {
            let number = times.entry(place.field.clone()).or_default();
            *number += 1;
            ((place.field.clone(), *number), place)
        };
        all.into_iter().map(key).collect::<Vec<_>>()
    };
    let (a, b) = (keyed(a), keyed(b));
    let in_b: HashMap<_, _> = b.iter().map(|(key, place)| (key, place)).collect();
    let in_a: HashMap<_, _> = a.iter().map(|(key, place)| (key, place)).collect();
    // Fields of one place and type on both sides, whose names are new.
    let mut renamed: HashMap<(Option<i128>, Option<u8>, &str), &Place> = HashMap::new();
    for (key, place) in &b {
        if !in_a.contains_key(key) {
            renamed.insert((place.offset, place.first_bit, &*place.type_name), place);
        }
    }
    let mut all = Vec::new();
    let mut taken = Vec::new();
    for (key, old) in &a {
        let field = old.field.clone();
        let change = |what, new: Option<&Place>| {
            let (a, b) = (Some(old.clone()), new.cloned());
            Change { what, field: field.clone(), a, b }
        };
        let same = (old.offset, old.first_bit, &*old.type_name);
        match in_b.get(key) {
            Some(new) if new.type_name != old.type_name => {
                all.push(change(Changed::Retyped, Some(new)));
            }
            Some(new) if !new.is_there(old) => all.push(change(Changed::Moved, Some(new))),
            Some(_) => {}
            None => match renamed.remove(&same) {
                Some(new) => {
                    taken.push(new);
                    all.push(change(Changed::Renamed, Some(new)));
                }
                None => all.push(change(Changed::Removed, None)),
            },
        }
    }
    for (key, new) in &b {
        let is_taken = taken.iter().any(|other| std::ptr::eq(*other, new));
        if !in_a.contains_key(key) && !is_taken {
            let (field, b) = (new.field.clone(), Some(new.clone()));
            all.push(Change { what: Changed::Added, field, a: None, b });
        }
    }
    all
}

/// Prints changes, one a line.
pub(super) fn print(all: &[Change], indent: &str, out: &mut impl Write) -> Result<(), Failure> {
    for Change { what, field, a, b } in all.iter().take(MAX_PRINTED) {
        let text = match (what, a, b) {
            (Changed::Renamed, _, Some(b)) => format!("renamed  `{field}` is `{}` in B", b.field),
            (Changed::Moved, Some(a), Some(b)) => {
                format!("moved    `{field}` from {} to {}", a.words(), b.words())
            }
            (Changed::Retyped, Some(a), Some(b)) => {
                let place = if a.is_there(b) {
                    String::new()
                } else {
                    format!(", moved from {} to {}", a.words(), b.words())
                };
                format!("retyped  `{field}` from {} to {}{place}", a.type_name, b.type_name)
            }
            (Changed::Added, _, Some(b)) => {
                format!("added    `{field}`: {} at {}", b.type_name, b.words())
            }
            (_, Some(a), _) => format!("removed  `{field}`: {} at {}", a.type_name, a.words()),
            _ => continue,
        };
        writeln!(out, "{indent}{}", printable(&text))?;
    }
    match all.len().saturating_sub(MAX_PRINTED) {
        0 => Ok(()),
        more => Ok(writeln!(out, "{indent}… {more} more")?),
    }
}

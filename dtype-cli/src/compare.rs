//! `dtype compare`: the differences between two types.

mod fields;
mod memory;
mod programs;

use std::io::Write;

use dtype_runtime::types::MapEntry;
use dtype_runtime::{Basic, Type};
use serde::Serialize;

use crate::failure::Failure;
use crate::field_paths;
use crate::{info, json};
use dtype_text::notation::Parsed;
use dtype_text::printable::printable;
use fields::Change;
pub(crate) use programs::Programs;

/// The maximum number of type map elements to compare.
const MAX_ELEMENTS: u64 = 1 << 24;

/// The result of a comparison.
#[derive(Debug, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the JSON")]
pub(crate) struct Comparison {
    /// Whether a message sent as one can be received as the other.
    pub(crate) same_signature: bool,
    /// Whether the two types were made by the same calls with the same arguments.
    same_type: bool,
    same_size: bool,
    same_bounds: bool,
    same_type_map: Option<bool>,
    /// Whether the memory is the same; `None` if this was not requested, or if the types are too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) same_memory: Option<bool>,
    /// Whether the fields have the same names; `None` if one of the types has no names, or fields of other types.
    same_names: Option<bool>,
    /// The fields with different names.
    names: Vec<Names>,
    /// The fields that were added, removed, moved, renamed or given another type; `None` if one of the types has no named fields,
    /// or too many.
    changes: Option<Vec<Change>>,
    /// Whether members that are no data are compared, too.
    #[serde(skip)]
    is_layout: bool,
    /// The first difference between their type maps, or in memory, if that is compared.
    first_difference: Option<Difference>,
    a: json::Numbers,
    b: json::Numbers,
}

/// The first element that differs between two type maps.
#[derive(Debug, Serialize)]
struct Difference {
    /// The index of the element, from 0.
    element: u64,
    /// The first type's element, if its type map is this long.
    a: Option<Place>,
    /// The second type's element, if its type map is this long.
    b: Option<Place>,
}

/// An element of a type map.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Place {
    basic: &'static str,
    displacement: i64,
}

/// The names of a field in both types.
#[derive(Debug, Serialize)]
struct Names {
    /// The number of the field, from 0.
    field: usize,
    a: String,
    b: String,
}

/// The maximum number of names to print.
const MAX_NAMES: usize = 8;

impl Place {
    fn of(entry: MapEntry) -> Self {
        Self { basic: entry.basic.name(), displacement: entry.displacement }
    }
}

impl Comparison {
    /// Compares two types, and also their memory if `in_memory`.
    pub(crate) fn of(a_parsed: &Parsed, b_parsed: &Parsed, in_memory: bool) -> Self {
        let (a, b) = (&a_parsed.ty, &b_parsed.ty);
        let names = names(a_parsed, b_parsed);
        let (same_type_map, mut first_difference) = type_maps(a, b).verdict();
        let same_bounds = (a.lb(), a.ub()) == (b.lb(), b.ub());
        let mut same_memory = None;
        if in_memory {
            (same_memory, first_difference) = memory::compare(a, b).verdict();
            // For types that are too long, different bounds or sizes are enough.
            let may_be_same = same_bounds && a.size() == b.size();
            same_memory = if may_be_same { same_memory } else { Some(false) };
        }
        Self {
            same_signature: a.signature() == b.signature(),
            same_type: a == b,
            same_size: a.size() == b.size(),
            same_bounds,
            same_type_map,
            same_memory,
            changes: fields::of_types(a_parsed, b_parsed),
            is_layout: is_layout(a_parsed) || is_layout(b_parsed),
            same_names: names.as_ref().map(Vec::is_empty),
            names: names.unwrap_or_default(),
            first_difference,
            a: json::Numbers::of(a_parsed),
            b: json::Numbers::of(b_parsed),
        }
    }

    /// Whether all members of two structs are the same, if some of them are no data.
    pub(crate) fn same_layout(&self) -> Option<bool> {
        let is_same = self.changes.as_ref().is_some_and(Vec::is_empty);
        self.is_layout.then_some(is_same && self.same_bounds)
    }

    /// Prints the result as text.
    pub(crate) fn print(
        &self,
        a: &Parsed,
        b: &Parsed,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        let numbers =
            |one| if self.is_layout { info::layout(one) } else { info::lines(one).into() };
        let lines = numbers(a).into_iter().zip(numbers(b));
        let lines: Vec<_> = lines.map(|((name, a), (_, b))| (name, a, b)).collect();
        let width = lines.iter().map(|(_, a, _)| a.chars().count()).max().unwrap_or(0);
        for (name, a, b) in &lines {
            let (sign, pad) = (if a == b { ' ' } else { '≠' }, width - a.chars().count());
            writeln!(out, "{sign} {name:<10} {a}{:pad$}   {b}", "")?;
        }
        writeln!(out)?;
        let verdict = match (self.same_type, self.same_type_map, self.same_signature) {
            _ if self.same_layout() == Some(true) => {
                "the same layout: all members have the same names, places and types"
            }
            _ if self.is_layout => "different layouts",
            _ if self.same_memory == Some(true) => {
                "the same memory: values of the same sizes and kinds at the same places"
            }
            _ if self.same_memory == Some(false) => {
                "different memory: one cannot be read as the other where it lies"
            }
            (true, ..) => "the same type, made by the same calls",
            (_, Some(true), _) if self.same_bounds => {
                "the same type map and bounds, made by different calls"
            }
            (_, Some(true), _) => "the same type map, different bounds",
            (_, None, true) => "the same signature; the type maps are too long to compare",
            (.., true) => "the same signature: a message sent as one can be received as the other",
            (.., false) => {
                "different signatures: a message sent as one cannot be received as the other"
            }
        };
        writeln!(out, "{verdict}")?;
        // Fields that have other names and nothing else are on one line.
        if self.same_names == Some(false) && !self.is_layout {
            self.print_names(out)?;
        } else if self.same_memory.is_none() {
            fields::print(self.changes.as_deref().unwrap_or_default(), "", out)?;
        }
        if self.is_layout {
            return Ok(());
        }
        let Some(Difference { element, a, b }) = &self.first_difference else { return Ok(()) };
        let place = |place: &Option<Place>| match place {
            Some(Place { basic, displacement }) => format!("{basic} at {displacement}"),
            None => "its end".into(),
        };
        let what = match self.same_memory {
            Some(_) => "memory first differs",
            None => "type maps first differ",
        };
        writeln!(out, "the {what} at element {element}: {} and {}", place(a), place(b))?;
        Ok(())
    }

    /// Prints the fields with different names.
    fn print_names(&self, out: &mut impl Write) -> Result<(), Failure> {
        if self.names.is_empty() {
            return Ok(());
        }
        let mut sorted = [
            self.names.iter().map(|names| &names.a).collect::<Vec<_>>(),
            self.names.iter().map(|names| &names.b).collect::<Vec<_>>(),
        ];
        for names in &mut sorted {
            names.sort_unstable();
        }
        let what = if sorted[0] == sorted[1] { "are swapped" } else { "have other names" };
        write!(out, "fields {what}: ")?;
        for (index, Names { a, b, .. }) in self.names.iter().take(MAX_NAMES).enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(out, "{comma}`{}` is `{}` in B", printable(a), printable(b))?;
        }
        match self.names.len().saturating_sub(MAX_NAMES) {
            0 => writeln!(out)?,
            more => writeln!(out, ", … {more} more")?,
        }
        Ok(())
    }
}

/// Whether a type has members that are no data.
fn is_layout(parsed: &Parsed) -> bool {
    parsed.fields.layout().is_some_and(|layout| !layout.is_data())
}

/// The names of fields that both types have at the same position, where they differ.
fn names(a: &Parsed, b: &Parsed) -> Option<Vec<Names>> {
    if a.fields.is_empty() || b.fields.is_empty() {
        return None;
    }
    let (a, b) = (fields(a)?, fields(b)?);
    let is_alike = a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a.1 == b.1);
    is_alike.then(|| {
        let pairs = a.into_iter().zip(b).enumerate();
        let pairs = pairs.filter(|(_, ((a, _), (b, _)))| a != b);
        pairs.map(|(field, ((a, _), (b, _)))| Names { field, a, b }).collect()
    })
}

/// The fields of a type with their paths; `None` if there are too many, or their names are too long.
fn fields(parsed: &Parsed) -> Option<Vec<(String, Basic)>> {
    let view = dtype_show::View::default();
    let picture = field_paths::picture(parsed, &view, str::to_owned).ok()?;
    if picture.has_more_fields() {
        return None;
    }
    let fields = picture.fields_of_datatype().iter();
    Some(fields.filter_map(|one| Some((one.path.clone(), one.basic?.canonical()))).collect())
}

/// The result of comparing two type maps.
enum Maps {
    Same,
    DifferAt(Difference),
    /// The types are equal up to the limit.
    TooLong,
}

impl Maps {
    /// Whether the types are the same, if that is known, and where they first differ.
    fn verdict(self) -> (Option<bool>, Option<Difference>) {
        match self {
            Self::Same => (Some(true), None),
            Self::DifferAt(difference) => (Some(false), Some(difference)),
            Self::TooLong => (None, None),
        }
    }
}

fn type_maps(a: &Type, b: &Type) -> Maps {
    if a.description().entries() == b.description().entries() {
        return Maps::Same;
    }
    // Different names for one kind of value are not a difference, as in a signature.
    first_difference(a.type_map(), b.type_map(), Basic::canonical)
}

/// The first difference between two maps. `kind` maps a basic datatype to the one that is compared.
fn first_difference(
    mut left: impl Iterator<Item = MapEntry>,
    mut right: impl Iterator<Item = MapEntry>,
    kind: fn(Basic) -> Basic,
) -> Maps {
    for element in 0..MAX_ELEMENTS {
        let (a, b) = (left.next(), right.next());
        let known = |entry: MapEntry| (kind(entry.basic), entry.displacement);
        if a.map(known) != b.map(known) {
            let (a, b) = (a.map(Place::of), b.map(Place::of));
            return Maps::DifferAt(Difference { element, a, b });
        }
        if a.is_none() {
            return Maps::Same;
        }
    }
    Maps::TooLong
}

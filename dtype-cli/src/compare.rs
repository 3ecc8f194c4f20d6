//! `dtype compare`: the differences between two types.

use std::io::Write;

use dtype_runtime::Type;
use dtype_runtime::types::MapEntry;
use serde::Serialize;

use crate::failure::Failure;
use crate::{info, json};

/// The maximum number of type map elements to compare.
const MOST_ELEMENTS: u64 = 1 << 26;

/// The result of a comparison.
#[derive(Debug, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the JSON")]
pub(crate) struct Comparison {
    /// Whether a message sent as one can be received as the other.
    pub(crate) same_signature: bool,
    /// Whether the same calls with the same arguments made them.
    same_type: bool,
    same_size: bool,
    same_bounds: bool,
    same_type_map: Option<bool>,
    /// The first difference between their type maps.
    first_difference: Option<Difference>,
    a: json::Numbers,
    b: json::Numbers,
}

/// The first element that differs between two type maps.
#[derive(Debug, Serialize)]
struct Difference {
    /// Its index, from 0.
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

impl Place {
    fn of(entry: MapEntry) -> Self {
        Self { basic: entry.basic.name(), displacement: entry.displacement }
    }
}

impl Comparison {
    pub(crate) fn of(a: &Type, b: &Type) -> Self {
        let (same_type_map, first_difference) = match type_maps(a, b) {
            TypeMaps::Same => (Some(true), None),
            TypeMaps::DifferAt(difference) => (Some(false), Some(difference)),
            TypeMaps::TooLong => (None, None),
        };
        Self {
            same_signature: a.signature() == b.signature(),
            same_type: a == b,
            same_size: a.size() == b.size(),
            same_bounds: (a.lb(), a.ub()) == (b.lb(), b.ub()),
            same_type_map,
            first_difference,
            a: json::Numbers::of(a),
            b: json::Numbers::of(b),
        }
    }

    /// Prints it for people.
    pub(crate) fn print(&self, a: &Type, b: &Type, out: &mut impl Write) -> Result<(), Failure> {
        let lines = info::lines(a).into_iter().zip(info::lines(b));
        let lines: Vec<_> = lines.map(|((name, a), (_, b))| (name, a, b)).collect();
        let width = lines.iter().map(|(_, a, _)| a.chars().count()).max().unwrap_or(0);
        for (name, a, b) in &lines {
            let (sign, pad) = (if a == b { ' ' } else { '≠' }, width - a.chars().count());
            writeln!(out, "{sign} {name:<10} {a}{:pad$}   {b}", "")?;
        }
        writeln!(out)?;
        let verdict = match (self.same_type, self.same_type_map, self.same_signature) {
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
        let Some(Difference { element, a, b }) = &self.first_difference else { return Ok(()) };
        let place = |place: &Option<Place>| match place {
            Some(Place { basic, displacement }) => format!("{basic} at {displacement}"),
            None => "its end".into(),
        };
        writeln!(
            out,
            "the type maps first differ at element {element}: {} and {}",
            place(a),
            place(b)
        )?;
        Ok(())
    }
}

/// The result of comparing two type maps.
enum TypeMaps {
    Same,
    DifferAt(Difference),
    /// They are equal up to the limit.
    TooLong,
}

fn type_maps(a: &Type, b: &Type) -> TypeMaps {
    if a.description().entries() == b.description().entries() {
        return TypeMaps::Same;
    }
    let (mut left, mut right) = (a.type_map(), b.type_map());
    for element in 0..MOST_ELEMENTS {
        let (a, b) = (left.next(), right.next());
        // Different names for one kind of value are not a difference, as in a signature.
        let known = |entry: MapEntry| (entry.basic.canonical(), entry.displacement);
        if a.map(known) != b.map(known) {
            let (a, b) = (a.map(Place::of), b.map(Place::of));
            return TypeMaps::DifferAt(Difference { element, a, b });
        }
        if a.is_none() {
            return TypeMaps::Same;
        }
    }
    TypeMaps::TooLong
}

//! Compares two types as descriptions of memory.

use dtype_runtime::basic::Kind;
use dtype_runtime::types::{Elem, Entry, MapEntry};
use dtype_runtime::{Basic, Type};

use super::{Maps, first_difference};
use crate::value::of_size;

/// The maximum number of elements of a type to sort.
const MAX_SORTED: u64 = 1 << 22;

/// Compares the values of two types in the order of memory. Two values are the same if they have the same displacement, size
/// and kind. The kinds are integers (with or without a sign, and characters), floating-point numbers, and truth values. A
/// complex number is two floating-point numbers.
pub(super) fn compare(a: &Type, b: &Type) -> Maps {
    if entries(a) == entries(b) {
        return Maps::Same;
    }
    if let (Some(a), Some(b)) = (sorted(a), sorted(b)) {
        return first_difference(a.into_iter(), b.into_iter(), stored);
    }
    match first_difference(values(a), values(b), stored) {
        // They may be the same values in another order.
        Maps::DifferAt(_) if a.size() == b.size() => Maps::TooLong,
        other => other,
    }
}

/// The basic datatype that represents all of its size and kind.
fn stored(basic: Basic) -> Basic {
    match basic.kind() {
        Kind::Integer | Kind::Unsigned | Kind::Character | Kind::Bytes => {
            of_size(Kind::Unsigned, basic.size() as u64).unwrap_or(basic)
        }
        _ => basic.canonical(),
    }
}

/// The type of the two parts of a complex number.
fn part(basic: Basic) -> Option<Basic> {
    match (basic.kind(), basic.canonical()) {
        (Kind::Complex, Basic::Complex32) => Some(Basic::Real16),
        (Kind::Complex, _) => of_size(Kind::Float, basic.size() as u64 / 2),
        _ => None,
    }
}

/// The description, with each basic datatype replaced by its representative.
fn entries(ty: &Type) -> Vec<Entry> {
    let stand_for = |entry: &Entry| match *entry {
        Entry::Elem(elem) => Entry::Elem(Elem { basic: stored(elem.basic), ..elem }),
        other => other,
    };
    ty.description().entries().iter().map(stand_for).collect()
}

/// The values in the order of the type map.
fn values(ty: &Type) -> impl Iterator<Item = MapEntry> {
    ty.type_map().flat_map(|MapEntry { basic, displacement }| {
        let (basic, count) = part(basic).map_or((basic, 1), |part| (part, 2));
        (0..count).map(move |number| {
            // Both parts lie inside the type.
            let displacement = displacement + number * basic.size() as i64;
            MapEntry { basic, displacement }
        })
    })
}

/// The values in the order of memory; `None` if there are too many.
fn sorted(ty: &Type) -> Option<Vec<MapEntry>> {
    (ty.elements() <= MAX_SORTED).then(|| {
        let mut all: Vec<MapEntry> = values(ty).collect();
        all.sort_unstable_by_key(|entry| (entry.displacement, stored(entry.basic)));
        all
    })
}

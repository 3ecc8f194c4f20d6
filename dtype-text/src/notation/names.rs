//! The names of the predefined datatypes in the notation.

use dtype_runtime::types::{Named, Pair};
use dtype_runtime::{Basic, Type};

use crate::names::{ISIZE, USIZE, usual_in_c};

/// The names of a pointer's width.
const POINTERS: &[(&str, Basic)] =
    &[("size_t", USIZE), ("ptrdiff_t", ISIZE), ("usize", USIZE), ("isize", ISIZE)];

/// The names of the markers, in addition to the MPI names.
const MARKERS: &[(&str, Named)] = &[
    ("lb", Named::LbMarker),
    ("ub", Named::UbMarker),
    ("lb_marker", Named::LbMarker),
    ("ub_marker", Named::UbMarker),
];

/// Words that are arguments, and not types.
pub(super) const ARGUMENTS: &[&str] = &["C", "fortran", "none", "block", "cyclic", "undefined"];

/// The datatype with a name: a Rust, C or MPI name, or a marker.
pub(super) fn find(name: &str) -> Option<Type> {
    let marker = MARKERS.iter().find(|(known, _)| *known == name).map(|(_, marker)| *marker);
    // The words of C names may be separated by any number of spaces.
    let in_c = || {
        let joined = name.split_whitespace().collect::<Vec<_>>().join(" ");
        c_names().find(|(known, _)| *known == joined).map(|(_, basic)| basic)
    };
    let basic = Basic::ALL.iter().copied().find(|basic| basic.name() == name).or_else(in_c);
    let pair = || Pair::ALL.iter().copied().find(|pair| pair.name() == name).map(Named::Pair);
    let named = marker.or_else(|| basic.map(Named::Basic)).or_else(pair);
    named.or_else(|| Named::from_mpi_name(name)).map(Named::datatype)
}

/// The C names, and those of a pointer's width.
fn c_names() -> impl Iterator<Item = (&'static str, Basic)> {
    usual_in_c().chain(POINTERS.iter().copied())
}

/// Every name of a predefined datatype.
pub fn all() -> impl Iterator<Item = &'static str> {
    let rust = Basic::ALL.iter().map(|basic| basic.name());
    let c = c_names().map(|(name, _)| name);
    let mpi = Basic::ALL.iter().filter_map(|basic| basic.mpi_name());
    let pairs = Pair::ALL.iter().flat_map(|pair| [pair.name(), pair.mpi_name()]);
    let markers = MARKERS.iter().map(|(name, _)| *name);
    rust.chain(c).chain(mpi).chain(pairs).chain(markers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::nearest;

    #[test]
    fn every_name_is_found_and_is_what_it_says() {
        for name in all() {
            let ty = find(name).unwrap_or_else(|| panic!("{name}"));
            assert!(ty.named().is_some(), "{name}");
            assert!(!ARGUMENTS.contains(&name), "{name}");
        }
        for &basic in Basic::ALL {
            assert_eq!(find(basic.name()), Some(Type::basic(basic)));
        }
        assert_eq!(find("unsigned  long\nint"), Some(Type::basic(Basic::UnsignedLong)));
        assert_eq!(find("MPI_LONG_LONG_INT"), Some(Type::basic(Basic::LongLong)));
        assert_eq!(find("F64"), None);
    }

    #[test]
    fn near_names() {
        assert_eq!(nearest("u46", all()), Some("u64"));
        assert_eq!(nearest("f46", all()), Some("f64"));
        assert_eq!(nearest("f65", all()), Some("f64"));
        assert_eq!(nearest("duoble", all()), Some("double"));
        assert_eq!(nearest("MPI_DUBLE", all()), Some("MPI_DOUBLE"));
        assert_eq!(nearest(&"x".repeat(1_000_000), all()), None);
    }
}

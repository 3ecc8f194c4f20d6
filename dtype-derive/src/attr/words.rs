//! The words that `#[dtype(…)]` knows, and what to say of one in the wrong place.

use proc_macro2::Ident;

use super::Place;

/// The words of a struct as its author would write them.
pub(super) const LB: &str = "lb = <displacement in bytes>";
pub(super) const UB: &str = "ub = <displacement in bytes>";
pub(super) const RESIZE: &str = "resize(lb = <bytes>, extent = <bytes>)";
pub(super) const RESIZE_LB: &str = "lb = <bytes>";
pub(super) const RESIZE_EXTENT: &str = "extent = <bytes>";
pub(super) const REMOTE: &str = "remote = path::to::Type";
pub(super) const CRATE: &str = "crate = path::to::dtype_runtime";
pub(super) const BOUND: &str = "bound = \"T: Trait\"";
pub(super) const NAME: &str = "name = \"Name\"";
/// Those of a field.
pub(super) const WITH: &str = "with = path::to::Description";

const ON_STRUCT: &[&str] = &[BOUND, CRATE, LB, NAME, REMOTE, RESIZE, UB];
const ON_ENUM: &[&str] = &[BOUND, CRATE, NAME, REMOTE];
const ON_FIELD: &[&str] = &["lb", "skip", "ub", WITH];

/// The mistake of finding `word` at `place`, where it means nothing.
pub(super) fn misplaced(word: &Ident, place: Place) -> syn::Error {
    let here = match place {
        Place::Struct => "a struct",
        Place::Enum => "an enum",
        Place::Field => "a field",
    };
    let name = word.to_string();
    let message = match (name.as_str(), place) {
        ("lb" | "ub" | "resize", Place::Enum) => format!(
            "an enum has the bounds of its integer: to set others, wrap the enum in a struct and \
             put `{name}` there"
        ),
        ("skip" | "with", Place::Struct | Place::Enum) => {
            format!("`{name}` belongs on a field, not on {here}")
        }
        ("bound" | "crate" | "name" | "remote" | "resize", Place::Field) => {
            format!("`{name}` belongs on the struct, not on {here}")
        }
        ("extent", Place::Struct) => format!("`extent` belongs inside `{RESIZE}`"),
        _ => format!("unknown word `{name}`; {here} can have {}", list(place)),
    };
    syn::Error::new_spanned(word, message)
}

fn list(place: Place) -> String {
    let words = match place {
        Place::Struct => ON_STRUCT,
        Place::Enum => ON_ENUM,
        Place::Field => ON_FIELD,
    };
    let quoted: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    quoted.join(", ")
}

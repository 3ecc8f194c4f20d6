//! Names that a language accepts.

use std::collections::HashSet;

/// The names in a scope, all different.
#[derive(Debug, Default)]
pub(super) struct Scope {
    taken: HashSet<String>,
}

impl Scope {
    /// A name similar to `wanted` that nothing else in the scope has.
    pub(super) fn unique(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let mut number = 2_u64;
        while !self.taken.insert(name.clone()) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        name
    }

    /// Reserves names, so that they are never generated.
    pub(super) fn reserve(&mut self, names: impl Iterator<Item = String>) {
        self.taken.extend(names);
    }
}

/// A name with only the characters that C and Rust allow. It never looks like the name of a gap.
pub(super) fn field(name: &str) -> String {
    let mut out: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if super::super::layout::is_gap(&out) {
        out = out.trim_start_matches('_').to_owned();
    }
    // A single underscore is not a name in Rust.
    if out.is_empty()
        || out.starts_with(|c: char| c.is_ascii_digit())
        || out.chars().all(|c| c == '_')
    {
        out.insert(0, 'f');
    }
    out
}

/// The greatest length of a type's name in characters. It is written for each field of the type.
const MAX_LEN: usize = 255;

/// The name of a type as its declaration writes it.
pub(super) fn declared(name: &str) -> String {
    let mut out = field(name);
    out.truncate(MAX_LEN);
    out
}

/// The name of a type for the field called `name`: `my_cells` has elements of `MyCells`.
pub(super) fn of_type(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut out = String::new();
    for word in words {
        let mut letters = word.chars();
        out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        out.push_str(letters.as_str());
    }
    if !out.starts_with(|c: char| c.is_ascii_alphabetic()) {
        out.insert_str(0, "Part");
    }
    out.truncate(MAX_LEN);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_a_name() {
        assert_eq!(field("x"), "x");
        assert_eq!(field("größe"), "gr__e");
        assert_eq!(field("_pad"), "pad");
        assert_eq!(field("__"), "f__");
        assert_eq!(field("2int"), "f2int");
        assert_eq!(of_type("my_cells"), "MyCells");
        assert_eq!(of_type("0"), "Part0");
        assert_eq!(of_type("é"), "Part");
        let long = "x".repeat(10_000);
        assert_eq!((of_type(&long).len(), declared(&long).len()), (MAX_LEN, MAX_LEN));
        let mut scope = Scope::default();
        assert_eq!(
            ["a", "a", "a_2", "a"].map(|name| scope.unique(name)),
            ["a", "a_2", "a_2_2", "a_3"]
        );
    }
}

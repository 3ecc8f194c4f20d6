//! `dtype compare` of two programs or libraries: the types that one of them has in another way.

use std::collections::HashMap;
use std::io::Write;

use dtype_text::printable::printable;
use serde::Serialize;

use super::fields::{self, Change};
use crate::debug_info::Listed;
use crate::failure::Failure;

/// The maximum number of names of types that only one of them has to print as text.
const MAX_NAMES: usize = 20;

/// The differences between the types of two files.
#[derive(Debug, Serialize)]
pub(crate) struct Programs {
    /// The number of types that are the same in both.
    same: usize,
    changed: Vec<Type>,
    /// Types that only the first file has.
    removed: Vec<String>,
    /// Types that only the second file has.
    added: Vec<String>,
}

/// A type that differs.
#[derive(Debug, Serialize)]
struct Type {
    #[serde(rename = "type")]
    name: String,
    a: Numbers,
    b: Numbers,
    changes: Vec<Change>,
}

/// The size and the alignment of a type in one of the files.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Numbers {
    size: Option<u64>,
    align: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
}

impl Programs {
    /// Compares the types of the same names. Of several with one name in a file, the first one is compared.
    pub(crate) fn of(a: &[Listed], b: &[Listed]) -> Self {
        let named = |all| {
            let mut names: HashMap<&str, &Listed> = HashMap::new();
            for one in all {
                let one: &Listed = one;
                names.entry(&one.name).or_insert(one);
            }
            names
        };
        let (in_a, in_b): (HashMap<_, _>, HashMap<_, _>) = (named(a), named(b));
        let missing = |from: &HashMap<&str, &Listed>, other: &HashMap<&str, &Listed>| {
            let names = from.keys().filter(|name| !other.contains_key(*name));
            let mut names: Vec<String> = names.map(|name| (*name).to_owned()).collect();
            names.sort_unstable();
            names
        };
        let mut changed = Vec::new();
        let mut same = 0;
        for (name, one) in &in_a {
            let Some(other) = in_b.get(name) else { continue };
            let changes = match (one.described.structure(), other.described.structure()) {
                (Some(one), Some(other)) => fields::of_structures(one, other),
                _ => Vec::new(),
            };
            let numbers = |one: &Listed| Numbers {
                size: one.described.size,
                align: one.described.structure().and_then(|structure| structure.align),
                source: one.source().map(ToString::to_string),
            };
            let (a, b) = (numbers(one), numbers(other));
            if changes.is_empty() && (a.size, a.align) == (b.size, b.align) {
                same += 1;
            } else {
                changed.push(Type { name: (*name).to_owned(), a, b, changes });
            }
        }
        changed.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        Self { same, changed, removed: missing(&in_a, &in_b), added: missing(&in_b, &in_a) }
    }

    /// Whether the second file has all types of the first one as they were.
    pub(crate) fn is_same(&self) -> bool {
        self.changed.is_empty() && self.removed.is_empty()
    }

    /// Prints the differences as text.
    pub(crate) fn print(&self, out: &mut impl Write) -> Result<(), Failure> {
        for Type { name, a, b, changes } in &self.changed {
            let number =
                |number: Option<u64>| number.map_or("–".into(), |number| number.to_string());
            write!(out, "{}", printable(name))?;
            for (what, a, b) in [("size", a.size, b.size), ("alignment", a.align, b.align)] {
                if a != b {
                    write!(out, ", {what} {} → {}", number(a), number(b))?;
                }
            }
            let source = b.source.as_ref().map(|source| format!(" ({})", printable(source)));
            writeln!(out, "{}", source.unwrap_or_default())?;
            fields::print(changes, "  ", out)?;
        }
        for (what, names) in [("removed", &self.removed), ("added", &self.added)] {
            for name in names.iter().take(MAX_NAMES) {
                writeln!(out, "{what}  {}", printable(name))?;
            }
            if let more @ 1.. = names.len().saturating_sub(MAX_NAMES) {
                writeln!(out, "{what}  … {more} more")?;
            }
        }
        let [changed, removed, added] = [self.changed.len(), self.removed.len(), self.added.len()];
        let same = self.same;
        writeln!(
            out,
            "{same} types are the same, {changed} changed, {removed} removed, {added} added"
        )?;
        Ok(())
    }
}

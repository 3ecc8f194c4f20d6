//! Lists the structs in an object file.

use std::cmp::Reverse;
use std::io::{self, Write};

use crate::arguments::{Listing, SortBy};
use crate::debug_info::{Listed, Summary, last_part};
use crate::failure::Failure;
use crate::json;
use dtype_text::printable::printable;
use dtype_text::structure::{Described, Structure, What};

/// Scopes of the standard libraries of C++ and Rust.
const LIBRARIES: [&str; 8] =
    ["std", "core", "alloc", "__gnu_cxx", "__cxxabiv1", "__pstl", "compiler_builtins", "hashbrown"];

/// Folders of the sources of libraries that come with a system or a compiler.
const FOLDERS: [&str; 5] =
    ["/usr/include/", "/usr/lib/", "/usr/local/include/", "/rustc/", "/usr/src/"];

/// The types that the options ask for, in the order that they ask for, and how many were left out because nobody asked.
pub(crate) fn chosen(all: Vec<Listed>, listing: &Listing) -> (Vec<Summary>, usize) {
    let contains = |text: &str, part: &Option<String>| {
        part.as_ref().is_none_or(|part| text.contains(part.as_str()))
    };
    let is_in = |name: &str, scope: &Option<String>| {
        let is_scope = |scope: &String| {
            let inside = name.strip_prefix(scope.trim_end_matches("::"));
            inside.is_some_and(|inside| inside.starts_with("::"))
                || name.contains(&format!("::{}::", scope.trim_end_matches("::")))
        };
        scope.as_ref().is_none_or(is_scope)
    };
    let mut chosen = Vec::new();
    let mut left_out = 0;
    for one in all {
        let summary = Summary::of(&one);
        let file = one.source().map(|source| source.file.to_string()).unwrap_or_default();
        let lost = if listing.reorder { summary.saves() } else { summary.padding };
        let least =
            if listing.reorder { listing.least.unwrap_or(1) } else { listing.least.unwrap_or(0) };
        let is_enough = least == 0 || lost.is_some_and(|lost| lost >= least);
        let is_asked =
            listing.name.is_some() || listing.namespace.is_some() || listing.file.is_some();
        if !contains(&one.name, &listing.name)
            || !is_in(&one.name, &listing.namespace)
            || !contains(&file, &listing.file)
            || !is_enough
        {
            continue;
        }
        if !listing.all && !is_asked && is_foreign(&one.name, &file) {
            left_out += 1;
            continue;
        }
        chosen.push(summary);
    }
    let otherwise = if listing.reorder { SortBy::Saves } else { SortBy::Padding };
    match listing.sort.unwrap_or(otherwise) {
        SortBy::Padding => chosen.sort_by_key(|one| Reverse(one.padding)),
        SortBy::Saves => chosen.sort_by_key(|one| Reverse(one.saves())),
        SortBy::Size => chosen.sort_by_key(|one| Reverse(one.size)),
        SortBy::Name => chosen.sort_by(|one, other| one.name.cmp(&other.name)),
    }
    (chosen, left_out)
}

/// Whether a type is of a standard library, or made by the compiler.
fn is_foreign(name: &str, file: &str) -> bool {
    // GCC calls the struct behind `va_list` `typedef __va_list_tag __va_list_tag`.
    let first = name.trim_start_matches("typedef ").split("::").next().unwrap_or_default();
    let is_reserved = || {
        let mut rest = first.chars().skip_while(|c| *c == '_');
        let underscores = first.len() - first.trim_start_matches('_').len();
        underscores > 1 || underscores == 1 && rest.next().is_some_and(char::is_uppercase)
    };
    LIBRARIES.contains(&first)
        || FOLDERS.iter().any(|folder| file.starts_with(folder))
        || file.contains("/rustlib/src/")
        // Slices, tuples, closures, the states of functions, and tables of functions in Rust.
        || name.starts_with(['&', '(', '*', '<', '['])
        || ["{closure_env", "{async_", "{vtable", "{gen_", "{coroutine"].iter().any(|part| name.contains(part))
        || name.starts_with("dyn ")
        || is_reserved()
}

/// The types that have one of a type among their members, also in arrays.
pub(crate) fn users(all: Vec<Listed>, of: &Structure) -> Vec<Listed> {
    let own = of.name.as_deref().map(last_part);
    let is_it = |described: &Described| {
        let mut at = described;
        while let What::Array(array) = &at.what {
            at = &array.element;
        }
        let Some(found) = at.structure().filter(|found| found.size == of.size) else {
            return false;
        };
        let name = found.name.as_deref().or(Some(&*at.name));
        name.map(last_part) == own
    };
    let uses = |one: &Listed| {
        one.described
            .structure()
            .is_some_and(|one| one.members.iter().any(|member| is_it(&member.of)))
    };
    all.into_iter().filter(uses).collect()
}

/// Prints the sizes of structs, and how many bytes their padding takes; with `reorder`, how many another order of their fields
/// saves.
pub(crate) fn print(
    all: Vec<Listed>,
    listing: &Listing,
    as_json: bool,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let (types, left_out) = chosen(all, listing);
    if left_out > 0 {
        let plural = if left_out == 1 { "type" } else { "types" };
        let note = format!(
            "note: {left_out} {plural} of the standard library and of the compiler left out; `dtype info FILE --all` lists them"
        );
        // If the note cannot be written, nothing else changes.
        let _ = writeln!(io::stderr(), "{note}");
    }
    if as_json {
        return json::print(&types, out);
    }
    if listing.reorder {
        writeln!(out, "{:>10}  {:>9}  {:>10}  type", "size", "reordered", "saves")?;
    } else {
        writeln!(out, "{:>10}  {:>10}  type", "size", "padding")?;
    }
    let number = |number: Option<u64>| number.map_or("–".into(), |number| number.to_string());
    for one in &types {
        let part = one.part.as_ref().map(|part| format!(" ({part})")).unwrap_or_default();
        let name = printable(&format!("{}{part}", one.name));
        let [size, padding, reordered, saves] =
            [one.size, one.padding, one.reordered, one.saves()].map(number);
        if listing.reorder {
            writeln!(out, "{size:>10}  {reordered:>9}  {saves:>10}  {name}")?;
        } else {
            writeln!(out, "{size:>10}  {padding:>10}  {name}")?;
        }
    }
    Ok(())
}

//! Finds types by their names. Entries that declare no type are skipped by their lengths alone, and the units are divided among
//! the processors, so that a large program takes a fraction of a second.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use dtype_runtime::stored::Exceeded;
use gimli::{DwTag, constants as dw};

use super::unit::{Entry, Headers, Place};

/// The greatest number of threads that search.
const MAX_THREADS: usize = 16;

/// The memory that a found type takes, beside its name, in a vector that grows.
const FOUND: usize = 3 * size_of::<Found>();

/// A type with a name.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) place: Place,
    /// The name with the namespaces around it, as in `geo::Cell<double>`.
    pub(super) name: String,
    pub(super) tag: DwTag,
    /// The size; 0 if the type does not have it.
    pub(super) size: u64,
    /// The line of its declaration.
    pub(super) line: u64,
    /// Whether the type is declared without its members.
    pub(super) is_declaration: bool,
}

/// Whether an entry declares a type that can have members.
pub(super) fn is_structure(tag: DwTag) -> bool {
    matches!(tag, dw::DW_TAG_structure_type | dw::DW_TAG_class_type)
}

fn is_type(tag: DwTag) -> bool {
    let others =
        matches!(tag, dw::DW_TAG_typedef | dw::DW_TAG_enumeration_type | dw::DW_TAG_union_type);
    is_structure(tag) || others
}

/// Whether names are declared below an entry.
fn is_scope(tag: DwTag) -> bool {
    matches!(tag, dw::DW_TAG_namespace | dw::DW_TAG_module)
}

/// The result of a search.
#[derive(Debug, Default)]
pub(super) struct Search {
    pub(super) found: Vec<Found>,
    /// Whether any type was found, even with another name.
    pub(super) has_types: bool,
    /// The file to which the compiler wrote the types of a unit.
    pub(super) split: Option<String>,
    /// The first unit that cannot be read.
    pub(super) damage: Option<gimli::Error>,
}

/// Searches all units for the types with a name, which may start with the namespaces around it, or for all types with a name.
pub(super) fn search(headers: &Headers<'_>, wanted: Option<&str>) -> Result<Search, Exceeded> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    let next = AtomicUsize::new(0);
    let result = Mutex::new(Search::default());
    let work = || {
        let mut own = Search::default();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= headers.len() || headers.budget().check().is_err() {
                break;
            }
            if let Err(error) = search_unit(headers, number, wanted, &mut own) {
                own.damage = own.damage.or(Some(error));
            }
        }
        // No code that holds the lock panics.
        if let Ok(mut all) = result.lock() {
            all.found.append(&mut own.found);
            all.has_types |= own.has_types;
            all.split = all.split.take().or(own.split);
            all.damage = all.damage.or(own.damage);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(headers.len()) {
            scope.spawn(work);
        }
        work();
    });
    let mut search = result.into_inner().unwrap_or_default();
    headers.budget().check()?;
    search.found.sort_by_key(|found| found.place);
    Ok(search)
}

fn search_unit(
    headers: &Headers<'_>,
    number: usize,
    wanted: Option<&str>,
    search: &mut Search,
) -> Result<(), gimli::Error> {
    let unit = headers.unit(number)?;
    if let Some(file) = unit.split() {
        search.split.get_or_insert_with(|| file.into_owned());
    }
    // The names around an entry, each with its depth.
    let mut scopes: Vec<(isize, &[u8])> = Vec::new();
    let last = wanted.map(last_part);
    // The depth of structs that are variants of an enum in Rust. They are not types by themselves.
    let mut variants = None;
    unit.entries(
        None,
        |tag| is_type(tag) || is_scope(tag) || tag == dw::DW_TAG_variant_part,
        |depth, entry| {
            if entry.tag == dw::DW_TAG_variant_part {
                variants = Some(depth);
                return ControlFlow::Continue(());
            }
            if variants.is_some_and(|level| depth < level) {
                variants = None;
            }
            while scopes.last().is_some_and(|(outer, _)| *outer >= depth) {
                scopes.pop();
            }
            let name = unit.name(entry);
            if is_type(entry.tag) {
                search.has_types = true;
                let is_wanted = |name: &[u8]| last.is_none_or(|last| is_same(name, last));
                if let Some(own) = name.filter(|name| is_wanted(name)) {
                    let outer = scopes.iter().map(|(_, name)| *name);
                    // In a damaged file, each scope may be inside another one.
                    let bytes = own.len() + outer.clone().map(<[u8]>::len).sum::<usize>();
                    let taken = headers.budget().work(scopes.len());
                    if taken.and_then(|()| headers.budget().hold(FOUND + bytes)).is_err() {
                        return ControlFlow::Break(());
                    }
                    let parts: Vec<_> = outer.chain([own]).map(String::from_utf8_lossy).collect();
                    let name = parts.join("::");
                    let is_match = match wanted {
                        Some(wanted) => ends_with(&name, wanted),
                        None => variants != Some(depth),
                    };
                    if is_match {
                        search.found.push(found(number, entry, name));
                    }
                }
            }
            if let Some(name) = name {
                scopes.push((depth, name));
            }
            ControlFlow::Continue(())
        },
    )
}

fn found(number: usize, entry: &Entry<'_>, name: String) -> Found {
    Found {
        place: Place { unit: number, offset: entry.offset },
        name,
        tag: entry.tag,
        size: entry.number(dw::DW_AT_byte_size).unwrap_or(0),
        line: entry.number(dw::DW_AT_decl_line).unwrap_or(0),
        is_declaration: entry.is(dw::DW_AT_declaration),
    }
}

/// The part of a name after the last `::` that is not between the angle brackets of a template.
pub(super) fn last_part(name: &str) -> &str {
    let (mut depth, mut start) = (0_usize, 0);
    for (at, c) in name.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => start = at + 1,
            _ => {}
        }
    }
    &name[start..]
}

/// Whether two names are the same, except for spaces between the arguments of a template.
fn is_same(name: &[u8], wanted: &str) -> bool {
    let wanted = wanted.as_bytes();
    let letters =
        |text: &'_ [u8]| text.iter().filter(|byte| **byte != b' ').copied().collect::<Vec<_>>();
    name == wanted || wanted.contains(&b'<') && letters(name) == letters(wanted)
}

/// Whether a whole name ends with the parts that are wanted.
fn ends_with(name: &str, wanted: &str) -> bool {
    let letters = |text: &str| text.replace(' ', "");
    let (name, wanted) = (letters(name), letters(wanted));
    name.strip_suffix(&*wanted).is_some_and(|rest| rest.is_empty() || rest.ends_with("::"))
}

//! Finds types by their names. Entries that declare no type are skipped by their lengths alone, and the units are divided among
//! the processors, so that a large program takes a fraction of a second.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use dtype_stored::Exceeded;
use gimli::{DwLang, DwTag, constants as dw};

use super::scopes::{self, Scopes, is_same};
use super::unit::{Entry, Headers, Place};

/// The greatest number of threads that search.
const MAX_THREADS: usize = 16;

/// The memory that a found type takes, beside its name, in a vector that grows.
const FOUND: usize = 3 * size_of::<Found>();

/// A type with a name.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) place: Place,
    /// The name with the scopes around it, as in `geo::Cell<double>` and `area()::Cell`.
    pub(super) name: String,
    pub(super) tag: DwTag,
    /// The size; `None` if the type does not have it.
    pub(super) size: Option<u64>,
    /// The line of its declaration.
    pub(super) line: u64,
    pub(super) is_rust: bool,
    /// Whether the type is declared without its members.
    pub(super) is_declaration: bool,
}

/// The result of a search.
#[derive(Debug, Default)]
pub(super) struct Search {
    pub(super) found: Vec<Found>,
    /// Types whose names start with those of entries in other units.
    parts: Vec<(Place, Found)>,
    /// Whether any type was found, even with another name.
    pub(super) has_types: bool,
    /// The file to which the compiler wrote the types of a unit.
    pub(super) split: Option<PathBuf>,
    /// The first unit that cannot be read.
    pub(super) damage: Option<gimli::Error>,
}

/// Searches all units for the types with a name, which may start with the scopes around it, or for all types with a name.
pub(super) fn search(headers: &Headers<'_>, wanted: Option<&str>) -> Result<Search, Exceeded> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    let next = AtomicUsize::new(0);
    let result = Mutex::new(Search::default());
    let wanted = wanted.map(scopes::parts);
    let work = || {
        let mut own = Search::default();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= headers.len() || headers.budget().check().is_err() {
                break;
            }
            if let Err(error) = search_unit(headers, number, wanted.as_deref(), &mut own) {
                own.damage = own.damage.or(Some(error));
            }
        }
        // No code that holds the lock panics.
        if let Ok(mut all) = result.lock() {
            all.found.append(&mut own.found);
            all.parts.append(&mut own.parts);
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
    complete(headers, wanted.as_deref(), &mut search);
    headers.budget().check()?;
    search.found.sort_by_key(|found| found.place);
    Ok(search)
}

fn search_unit(
    headers: &Headers<'_>,
    number: usize,
    wanted: Option<&[&str]>,
    search: &mut Search,
) -> Result<(), gimli::Error> {
    let unit = headers.unit(number)?;
    if let Some(file) = unit.split() {
        search.split.get_or_insert(file);
    }
    let last = wanted.and_then(|parts| parts.first());
    let mut types = Vec::new();
    let mut scopes = Scopes::read(&unit, |index, entry, is_variant| {
        search.has_types = true;
        let name = unit.name(entry);
        let is_wanted = match (name, last) {
            (Some(name), Some(last)) => is_same(name, last),
            // A variant is found by its name, and not listed.
            (Some(_), None) => !is_variant,
            (None, _) => entry.origin().is_some(),
        };
        if is_wanted && headers.budget().hold(FOUND).is_ok() {
            types.push((index, found(number, unit.language, entry)));
        }
    })?;
    for (index, mut found) in types {
        let path = scopes.path(index);
        // In a damaged file, each scope may be inside another one.
        let taken = headers.budget().work(path.parts.len());
        if taken.and_then(|()| headers.budget().hold(path.len())).is_err() {
            break;
        }
        found.name = path.text();
        if let Some(before) = path.before {
            let place = headers.target(number, before);
            search.parts.extend(place.map(|place| (place, found)));
        } else if wanted.is_none_or(|wanted| path.ends_with(wanted)) && !path.parts.is_empty() {
            search.found.push(found);
        }
    }
    Ok(())
}

/// Puts the names of entries in other units before those that start with them. Each of these units is read once.
fn complete(headers: &Headers<'_>, wanted: Option<&[&str]>, search: &mut Search) {
    search.parts.sort_by_key(|(before, found)| (*before, found.place));
    let parts = std::mem::take(&mut search.parts);
    for same in parts.chunk_by(|(one, _), (next, _)| one.unit == next.unit) {
        let Ok(unit) = headers.unit(same[0].0.unit) else { continue };
        let Ok(mut scopes) = Scopes::read(&unit, |_, _, _| {}) else { continue };
        for (before, found) in same {
            let Some(index) = scopes.index_of(before.offset) else { continue };
            let mut path = scopes.path(index);
            path.push(&found.name);
            let taken = headers.budget().work(path.parts.len());
            if taken.and_then(|()| headers.budget().hold(FOUND + path.len())).is_err() {
                return;
            }
            let name = path.text();
            if wanted.is_none_or(|wanted| path.ends_with(wanted)) && !path.parts.is_empty() {
                search.found.push(Found { name, ..found.clone() });
            }
        }
    }
}

fn found(number: usize, language: Option<DwLang>, entry: &Entry<'_>) -> Found {
    Found {
        place: Place { unit: number, offset: entry.offset },
        name: String::new(),
        tag: entry.tag,
        size: entry.number(dw::DW_AT_byte_size),
        is_rust: language == Some(dw::DW_LANG_Rust),
        line: entry.number(dw::DW_AT_decl_line).unwrap_or(0),
        is_declaration: entry.is_declaration(),
    }
}

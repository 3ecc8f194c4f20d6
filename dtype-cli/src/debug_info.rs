//! Layouts of types from the debug information that compilers write (DWARF).
//!
//! The compiler's description of a struct is exact, whatever `#include`s, options and packing it depends on. It covers C, C++
//! with base classes, namespaces and templates, the derived types of Fortran, and Rust, even without `repr(C)`. Every member is
//! described; the datatype of a struct has those that are data, and not pointers or unions.
//!
//! The file may be damaged or malicious. Each type and each table is read once, and a [`Budget`] in proportion to the length of
//! the file limits all memory and work together.

mod abbreviations;
mod basic;
mod counted;
mod definitions;
mod different;
mod error;
mod layout;
mod package;
mod part;
mod place;
mod scopes;
mod search;
mod sections;
mod summary;
mod type_names;
mod unit;
mod variants;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use dtype_stored::Budget;
use gimli::constants as dw;
use object::read::ReadRef;

use crate::value::bytes;
use dtype_text::datatype;
use dtype_text::notation::{Parsed, nearest};
use dtype_text::structure::What;
pub use error::Error;
use layout::Layouts;
use part::{Part, labels};
pub(crate) use scopes::last_part;
use search::{Found, Search, search};
use sections::Sections;
pub use summary::{Listed, Summary};
use unit::Headers;

/// The greatest number of types with one name whose members are compared.
const MAX_SAME: usize = 1 << 16;

/// Whether a file is an object file, an archive of them, a library or a program.
pub fn is_object<'a>(data: impl ReadRef<'a>) -> bool {
    sections::is_object(data)
}

/// The debug information of a file.
#[derive(Debug)]
pub struct DebugInfo<'a> {
    objects: Vec<Sections<'a>>,
    /// What is left after the sections were read. Each search takes a copy.
    budget: Budget,
    part: Option<Part>,
}

impl<'a> DebugInfo<'a> {
    /// Reads the sections that describe types.
    ///
    /// # Errors
    ///
    /// The file has no debug information, is for another machine, or is damaged. [`Error::Exceeded`] if its sections take more
    /// than [`Budget::for_input`] allows for a file of this length.
    pub fn read(data: impl ReadRef<'a>) -> Result<Self, Error> {
        let budget = Budget::for_input(data.len().unwrap_or(0));
        let objects = sections::read(data, &budget)?;
        Ok(Self { objects, budget, part: None })
    }

    /// Only the types of a part of the file: of a member of an archive (`shape.o`), or of a source file, with the line of the
    /// declaration if several types there have one name (`shape.c`, `src/shape.c`, `shape.c:12`, `:12`).
    #[must_use]
    pub fn within(self, part: &str) -> Self {
        Self { part: Some(Part::new(part)), ..self }
    }

    /// The types with a name, or all, of the part that is wanted.
    fn search(&self, headers: &Headers<'_>, name: Option<&str>) -> Result<Search, Error> {
        let mut search = search(headers, name)?;
        let Some(part) = &self.part else { return Ok(search) };
        if !part.keep(&mut search.found, headers) && name.is_none() {
            return Err(Error::NoPart { part: part.to_string() });
        }
        Ok(search)
    }

    /// The type with a name: its datatype, and its layout with all members. The name may start with the namespaces, modules or
    /// classes around the type: `Cell<double>` and `geo::Cell<double>` are the same type unless there are two with the first name.
    ///
    /// # Errors
    ///
    /// No type has the name, several have it, or the type has no layout, such as a pointer. [`Error::Exceeded`] as for
    /// [`read`](Self::read).
    ///
    /// ```no_run
    /// use dtype_cli::debug_info::DebugInfo;
    /// let program = std::fs::read("./program").unwrap();
    /// let info = DebugInfo::read(&*program)?;
    /// let particle = info.find("Particle")?;
    /// println!("{} bytes of data, every {}", particle.ty.size(), particle.ty.extent());
    /// for member in particle.fields.layout().iter().flat_map(|layout| &layout.members) {
    ///     println!("{} is {}", member.label(), member.of.name);
    /// }
    /// # Ok::<(), dtype_cli::debug_info::Error>(())
    /// ```
    pub fn find(&self, name: &str) -> Result<Parsed, Error> {
        let budget = self.budget.clone();
        let headers = Headers::read(&self.objects, &budget)?;
        let search = self.search(&headers, Some(name))?;
        let mut layouts = Layouts::new(&headers, true);
        let found = choose(&search, name, &mut layouts);
        budget.check()?;
        let Some(found) = found? else { return Err(not_found(name, &search, &headers)) };
        let mut resolved = layouts.resolve(found.place);
        budget.check()?;
        if let What::Structure(structure) = &mut resolved.what {
            Arc::make_mut(structure).name = Some(found.name.as_str().into());
        }
        let no_data =
            |what: &str| Error::NoData { name: found.name.clone(), what: what.to_owned() };
        match datatype::of(&resolved) {
            Ok(Some(parsed)) => Ok(parsed),
            Ok(None) => Err(no_data(resolved.noun())),
            Err(error) => Err(no_data(&error.to_string())),
        }
    }

    /// The sizes of all structs, and what padding costs them: the largest loss first.
    ///
    /// # Errors
    ///
    /// There are no types. [`Error::Exceeded`] as for [`read`](Self::read).
    pub fn types(&self) -> Result<Vec<Summary>, Error> {
        let mut all: Vec<Summary> = self.structures(false)?.iter().map(Summary::of).collect();
        all.sort_by_key(|one| Reverse(one.padding));
        Ok(all)
    }

    /// All structs, with the names of the types of their members if these are wanted, by name.
    ///
    /// # Errors
    ///
    /// As for [`types`](Self::types).
    pub fn structures(&self, with_names: bool) -> Result<Vec<Listed>, Error> {
        let budget = self.budget.clone();
        let headers = Headers::read(&self.objects, &budget)?;
        let search = self.search(&headers, None)?;
        let mut layouts = Layouts::new(&headers, with_names);
        let mut names: HashMap<&str, Vec<&Found>> = HashMap::new();
        for found in &search.found {
            let is_struct = scopes::is_structure(found.tag) && !found.is_declaration
                || found.tag == dw::DW_TAG_typedef && layouts.is_of_nameless(found.place);
            if is_struct {
                names.entry(&found.name).or_default().push(found);
            }
        }
        let mut all = Vec::new();
        for (name, same) in names {
            let different = layouts.different(same.into_iter());
            let parts = labels(&different, &headers);
            for (found, part) in different.into_iter().zip(parts) {
                let described = layouts.resolve(found.place);
                all.push(Listed { name: name.to_owned(), part, described });
            }
        }
        budget.check()?;
        if all.is_empty() {
            return Err(nothing(&search).unwrap_or(Error::NoTypes));
        }
        all.sort_by(|a, b| (&a.name, &a.part).cmp(&(&b.name, &b.part)));
        Ok(all)
    }
}

/// Why no type with a name was found.
fn not_found(name: &str, search: &Search, headers: &Headers<'_>) -> Error {
    if let Some(error) = nothing(search) {
        return error;
    }
    let is_declared = !search.found.is_empty();
    let all = match search::search(headers, None) {
        Ok(all) => all.found,
        Err(error) => return error.into(),
    };
    let last = |name: &'_ str| scopes::last_part(name).to_owned();
    let mut names: Vec<String> = all.iter().map(|found| last(&found.name)).collect();
    names.sort_unstable();
    names.dedup();
    let near = nearest(&last(name), names.iter().map(String::as_str)).map(str::to_owned);
    Error::Unknown { name: name.to_owned(), near, is_declared }
}

/// Why a search has found nothing, unless the name is the reason.
fn nothing(search: &Search) -> Option<Error> {
    if let Some(file) = &search.split {
        let is_here = file.is_file();
        return Some(Error::Split { file: file.to_string_lossy().into_owned(), is_here });
    }
    match search.damage {
        Some(error) => Some(error.into()),
        None => (!search.has_types).then_some(Error::NoTypes),
    }
}

/// The type that a name refers to. A type with members is preferred to a typedef, and one with exactly this name to one in a
/// namespace. A program often has a copy of the type in each unit.
fn choose<'s>(
    search: &'s Search,
    name: &str,
    layouts: &mut Layouts<'_, '_>,
) -> Result<Option<&'s Found>, Error> {
    let mut found: Vec<&Found> =
        search.found.iter().filter(|found| !found.is_declaration).take(MAX_SAME).collect();
    let prefer = |found: &mut Vec<&'s Found>, is_better: &dyn Fn(&Found) -> bool| {
        if found.iter().any(|one| is_better(one)) {
            found.retain(|one| is_better(one));
        }
    };
    prefer(&mut found, &|one| one.name == name);
    prefer(&mut found, &|one| one.tag != dw::DW_TAG_typedef);
    let different = layouts.different(found.into_iter());
    match &*different {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ => {
            let parts = labels(&different, layouts.headers);
            let mut types = Vec::new();
            for (one, part) in different.iter().zip(&parts) {
                let size = layouts.resolve(one.place).size;
                let size = size.map_or("of unknown size".into(), |size| bytes(size.into()));
                let part = part.as_ref().map(|part| format!(", in `{part}`")).unwrap_or_default();
                types.push(format!("`{}`, {size}{part}", one.name));
            }
            let part = parts.into_iter().flatten().next();
            Err(Error::Several { name: name.to_owned(), types, part })
        }
    }
}

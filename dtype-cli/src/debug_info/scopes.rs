//! What is around each type: namespaces, modules, other types and functions. A type or a function that completes a declaration
//! is where the declaration is.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::ControlFlow;

use gimli::{AttributeValue, DwTag, UnitOffset, constants as dw};

use super::unit::{Entry, Reading, Unit, Value};

/// The greatest number of scopes around a type. In a damaged file, a type may be inside itself.
const MAX_PARTS: usize = 1 << 12;

/// The memory that a scope takes in vectors that grow. It counts until the scopes of the unit are dropped.
const SCOPE: usize = 3 * size_of::<Scope<'_>>();

/// The name of a namespace without one, as compilers print it.
const ANONYMOUS: &str = "(anonymous namespace)";

/// Whether an entry declares a type that can have members.
pub(super) fn is_structure(tag: DwTag) -> bool {
    matches!(tag, dw::DW_TAG_structure_type | dw::DW_TAG_class_type)
}

pub(super) fn is_type(tag: DwTag) -> bool {
    let others =
        matches!(tag, dw::DW_TAG_typedef | dw::DW_TAG_enumeration_type | dw::DW_TAG_union_type);
    is_structure(tag) || others
}

/// A part of a name between two `::`.
#[derive(Clone, Debug)]
pub(super) struct Part<'a> {
    pub(super) name: Cow<'a, str>,
    /// Whether the source may leave it out: an inline namespace, or one without a name.
    is_optional: bool,
}

/// The name of a type.
#[derive(Clone, Debug, Default)]
pub(super) struct Path<'a> {
    /// The innermost part first.
    pub(super) parts: Vec<Part<'a>>,
    /// The entry of another unit whose name comes before these parts.
    pub(super) before: Option<Value<'a>>,
}

impl Path<'_> {
    /// Adds the inner parts of a name.
    pub(super) fn push(&mut self, inner: &str) {
        let own = parts(inner).into_iter().filter(|part| !part.is_empty()).map(str::to_owned);
        let part = |name: String| Part { is_optional: name == ANONYMOUS, name: name.into() };
        self.parts.splice(0..0, own.map(part));
    }

    /// The bytes of the text.
    pub(super) fn len(&self) -> usize {
        self.parts.iter().map(|part| part.name.len() + "::".len()).sum()
    }

    pub(super) fn text(&self) -> String {
        let parts: Vec<&str> = self.parts.iter().rev().map(|part| &*part.name).collect();
        parts.join("::")
    }

    /// Whether the name ends with these parts, the innermost first.
    pub(super) fn ends_with(&self, wanted: &[&str]) -> bool {
        let mut parts = self.parts.iter();
        wanted.iter().all(|wanted| {
            let is_wanted = |part: &Part<'_>| {
                let name = &*part.name;
                is_same(name.as_bytes(), wanted)
                    || name.strip_suffix("()").is_some_and(|name| is_same(name.as_bytes(), wanted))
            };
            let found = parts.by_ref().find(|part| is_wanted(part) || !part.is_optional);
            found.is_some_and(is_wanted)
        })
    }
}

/// The parts of a name that is wanted, the innermost first.
pub(super) fn parts(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = name;
    loop {
        let last = last_part(rest);
        parts.push(last);
        let before = &rest[..rest.len() - last.len()];
        match before.strip_suffix("::") {
            Some(before) => rest = before,
            None => return parts,
        }
    }
}

/// The part of a name after the last `::` that is not between the angle brackets of a template.
pub(crate) fn last_part(name: &str) -> &str {
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
pub(super) fn is_same(name: &[u8], wanted: &str) -> bool {
    let wanted = wanted.trim().as_bytes();
    let letters =
        |text: &'_ [u8]| text.iter().filter(|byte| **byte != b' ').copied().collect::<Vec<_>>();
    name == wanted || wanted.contains(&b'<') && letters(name) == letters(wanted)
}

#[derive(Debug)]
struct Scope<'a> {
    offset: usize,
    /// The index of the next scope around it that has a name.
    outer: Option<usize>,
    tag: DwTag,
    /// Not read for a function.
    name: Option<Cow<'a, str>>,
    is_optional: bool,
    origin: Option<Value<'a>>,
}

/// The scopes of a unit. The names of functions are read only if a type is in them.
#[derive(Debug)]
pub(super) struct Scopes<'u, 'a> {
    unit: &'u Unit<'a>,
    /// In the order of their places.
    all: Vec<Scope<'a>>,
    functions: HashMap<usize, (Option<Part<'a>>, Option<Value<'a>>)>,
}

impl Drop for Scopes<'_, '_> {
    fn drop(&mut self) {
        self.unit.budget().release(SCOPE * self.all.len());
    }
}

impl<'u, 'a> Scopes<'u, 'a> {
    /// Reads the scopes of a unit, and calls `visit` with the index and the entry of each type. What Rust calls a variant is no
    /// type by itself.
    pub(super) fn read(
        unit: &'u Unit<'a>,
        mut visit: impl FnMut(usize, &Entry<'a>, bool),
    ) -> Result<Self, gimli::Error> {
        let mut all: Vec<Scope<'a>> = Vec::new();
        // The scopes around an entry, each with its depth.
        let mut around: Vec<(isize, Option<usize>)> = Vec::new();
        // The depth of structs that are variants of an enum in Rust.
        let mut variants = None;
        let reading = |tag| match tag {
            dw::DW_TAG_namespace | dw::DW_TAG_module => Reading::Whole,
            dw::DW_TAG_subprogram | dw::DW_TAG_variant_part => Reading::Tag,
            tag if is_type(tag) => Reading::Whole,
            _ => Reading::Nothing,
        };
        unit.entries(None, reading, |depth, entry| {
            if entry.tag == dw::DW_TAG_variant_part {
                variants = Some(depth);
                return ControlFlow::Continue(());
            }
            if variants.is_some_and(|level| depth < level) {
                variants = None;
            }
            while around.last().is_some_and(|(outer, _)| *outer >= depth) {
                around.pop();
            }
            let outer = around.last().and_then(|(_, index)| *index);
            let (tag, offset, index) = (entry.tag, entry.offset, all.len());
            let mut scope =
                Scope { offset, outer, tag, name: None, is_optional: false, origin: None };
            let mut has_name = true;
            if tag != dw::DW_TAG_subprogram {
                let name = unit.name(entry).map(String::from_utf8_lossy);
                // A declaration may have its name in the unit of its type.
                let signature = || entry.value(dw::DW_AT_signature).filter(|_| name.is_none());
                scope.origin = entry.origin().or_else(signature);
                scope.is_optional = tag == dw::DW_TAG_namespace
                    && (name.is_none() || entry.is(dw::DW_AT_export_symbols));
                scope.name = name.or_else(|| scope.is_optional.then_some(ANONYMOUS.into()));
                has_name = scope.name.is_some() || scope.origin.is_some();
            }
            if unit.budget().hold(SCOPE).is_err() {
                return ControlFlow::Break(());
            }
            all.push(scope);
            around.push((depth, if has_name { Some(index) } else { outer }));
            if is_type(tag) {
                visit(index, entry, variants == Some(depth));
            }
            ControlFlow::Continue(())
        })?;
        Ok(Self { unit, all, functions: HashMap::new() })
    }

    pub(super) fn index_of(&self, offset: usize) -> Option<usize> {
        self.all.binary_search_by_key(&offset, |scope| scope.offset).ok()
    }

    /// The name of a scope; empty if it has none.
    pub(super) fn path(&mut self, index: usize) -> Path<'a> {
        let mut path = Path::default();
        let mut next = Some(index);
        while let Some(index) = next
            && path.parts.len() < MAX_PARTS
        {
            let scope = &self.all[index];
            let outer = scope.outer;
            let (part, origin) = if scope.tag == dw::DW_TAG_subprogram {
                self.function(index)
            } else {
                let Scope { name, is_optional, origin, .. } = scope;
                let part =
                    |name: &Cow<'a, str>| Part { name: name.clone(), is_optional: *is_optional };
                (name.as_ref().map(part), *origin)
            };
            match origin {
                Some(AttributeValue::UnitRef(UnitOffset(offset))) => {
                    path.parts.extend(part);
                    next = self.index_of(offset).and_then(|index| self.all[index].outer);
                }
                // Its name is there, too.
                Some(elsewhere) => {
                    path.before = Some(elsewhere);
                    break;
                }
                None => {
                    path.parts.extend(part);
                    next = outer;
                }
            }
        }
        path
    }

    fn function(&mut self, index: usize) -> (Option<Part<'a>>, Option<Value<'a>>) {
        let Self { unit, all, functions } = self;
        let read = || {
            let Ok(entry) = unit.entry(all[index].offset) else { return (None, None) };
            let name = unit.name(&entry).map(String::from_utf8_lossy);
            let part = |name| Part { name: format!("{name}()").into(), is_optional: false };
            (name.map(part), entry.origin())
        };
        functions.entry(index).or_insert_with(read).clone()
    }
}

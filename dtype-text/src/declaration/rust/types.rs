//! The types of fields in Rust.

use std::ops::Range;

use dtype_runtime::basic::Validity;
use syn::spanned::Spanned;
use syn::{GenericArgument, PathArguments, Type, TypePath};

use super::super::layout::{Base, Layout, NoData, foreign, wrong};
use super::super::{Form, MAX_NESTING};
use super::items::Kind;
use super::{Reader, name_of, pointer_of, range, refused};
use crate::names;
use crate::notation::Restriction;
use crate::problem::{Problem, quoted};

impl Reader<'_> {
    /// The type of a field.
    pub(super) fn ty(&mut self, ty: &Type) -> Base {
        if self.depth >= MAX_NESTING {
            let message = format!("types nest deeper than {MAX_NESTING} levels");
            return wrong(Problem::new(message, range(ty.span()), "one more level"));
        }
        self.depth += 1;
        let base = self.inner_type(ty);
        self.depth -= 1;
        base
    }

    fn inner_type(&mut self, ty: &Type) -> Base {
        match ty {
            Type::Paren(inner) => self.ty(&inner.elem),
            Type::Group(inner) => self.ty(&inner.elem),
            Type::Path(path) => self.path(path),
            Type::Array(array) => {
                let length = self.length(&array.len)?;
                let element = self.ty(&array.elem).map_err(|base| base.array(length))?;
                element.array(&[length]).map_err(|error| refused(&error, range(ty.span())))
            }
            Type::Tuple(tuple) if tuple.elems.is_empty() => {
                Layout::nothing().map_err(|error| refused(&error, 0..0))
            }
            Type::Tuple(tuple) if self.form == Form::Packed => self.tuple(tuple.elems.iter()),
            Type::Tuple(_) => foreign(
                "a tuple, whose fields have no fixed places",
                "write a struct with `#[repr(C)]`",
            ),
            Type::Reference(_) => self.elsewhere(
                ty,
                "a reference",
                "what it refers to is not part of the struct: write that type itself",
            ),
            Type::Ptr(_) => self.elsewhere(
                ty,
                "a pointer",
                "what it points to is not part of the struct: describe that by a type of its own, or \
                 write `usize` to treat the address as a number",
            ),
            Type::Slice(_) => {
                foreign("a slice, which has no fixed size", "write an array, such as `[f64; 3]`")
            }
            Type::FnPtr(_) => self.elsewhere(ty, "a function pointer", "a function cannot be sent"),
            Type::TraitObject(_) | Type::ImplTrait(_) => {
                foreign("not of a fixed type", "write the type that is meant")
            }
            other => wrong(Problem::new("expected a type", range(other.span()), "not a type")),
        }
    }

    /// `path::to::Name<arguments>`; only the last part matters.
    pub(super) fn path(&mut self, ty: &TypePath) -> Base {
        let span = range(ty.span());
        let last = ty.path.segments.last().filter(|_| ty.qself.is_none());
        let Some(last) = last else {
            return wrong(Problem::new("expected a type", span, "not a type"));
        };
        let arguments: Vec<&GenericArgument> = match &last.arguments {
            PathArguments::AngleBracketed(all) => all.args.iter().collect(),
            _ => Vec::new(),
        };
        let path = self.resolved(ty.path.segments.iter().map(|one| name_of(&one.ident)).collect());
        let Some(name) = path.last().cloned() else {
            return wrong(Problem::new("expected a type", span, "not a type"));
        };
        // Names in the text come first, as in Rust.
        if let Some(base) = self.named(&name) {
            if self.items.get(&name).is_some_and(|item| matches!(item.kind, Kind::Struct { .. })) {
                self.parts.insert(name);
            }
            return base;
        }
        if let Some(basic) = names::of_rust(&name) {
            return Ok(match name.strip_prefix("NonZero") {
                Some(_) => {
                    let of = format!("NonZero<{}>", basic.name());
                    Layout::restricted(basic, Restriction::new(of, Validity::NonZero))
                }
                None => Layout::basic(basic),
            });
        }
        if let Some(known) = self.accepted(&path, &arguments) {
            return known;
        }
        match elsewhere(&name) {
            Some((what, help)) => self.elsewhere(&Type::Path(ty.clone()), what, help),
            None => self.unknown(&name, span),
        }
    }

    /// A type whose data are elsewhere in memory. In a struct in memory, it has the place of a pointer to them, if that is known.
    fn elsewhere(&self, ty: &Type, what: &'static str, help: &'static str) -> Base {
        let pointer = pointer_of(ty).filter(|_| self.form == Form::Memory);
        let place = pointer.and_then(|pointer| Layout::foreign(pointer).ok()).map(Box::new);
        Err(NoData::Foreign { what, help, place })
    }

    /// The path that a `use` of the text gives a name.
    fn resolved(&self, path: Vec<String>) -> Vec<String> {
        let Some((first, rest)) = path.split_first() else { return path };
        match self.uses.get(first) {
            Some(used) if !self.items.contains_key(first) => {
                used.iter().chain(rest).cloned().collect()
            }
            _ => path,
        }
    }

    fn unknown(&mut self, name: &str, span: Range<usize>) -> Base {
        let problem = Problem::new(format!("unknown type {}", quoted(name)), span, "unknown name");
        let declared = self.items.keys().map(String::as_str);
        let near = self.hints.nearest(
            name,
            declared,
            names::all_in_rust().map(|(name, _)| name).filter(|name| !name.contains('<')),
        );
        wrong(match near {
            Some(near) => problem.help(format!("did you mean `{near}`?")).instead(near),
            None => problem.help("add its declaration to the text"),
        })
    }
}

/// Types that keep their data elsewhere, or whose layout is not fixed: a description of each, and what to write instead.
fn elsewhere(name: &str) -> Option<(&'static str, &'static str)> {
    Some(match name {
        "Vec" | "VecDeque" | "SmallVec" => (
            "a `Vec`, whose elements are elsewhere in memory",
            "write `FixedVec` or an array, or describe the elements by a type of their own",
        ),
        "String" | "str" | "CString" | "OsString" | "PathBuf" => (
            "a string, whose bytes are elsewhere in memory",
            "write `FixedStr<32>`, or an array of bytes, such as `[u8; 32]`",
        ),
        "Box" | "Rc" | "Arc" | "Cow" | "NonNull" => {
            ("a pointer", "what it points to is not part of the struct: write that type itself")
        }
        "HashMap" | "BTreeMap" | "HashSet" | "BTreeSet" => (
            "a collection, whose elements are elsewhere in memory",
            "describe its entries by a type of their own",
        ),
        "Option" | "Result" => (
            "an enum whose layout is not fixed",
            "write `Maybe`, or the value and beside it a `bool` that says whether there is one",
        ),
        _ => return None,
    })
}

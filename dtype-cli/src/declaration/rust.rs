//! Reads declarations of structs in Rust.
//!
//! Only `#[repr(C)]` says where the fields are: a struct without it is a mistake, since the compiler may put its
//! fields in any order. Items are looked up by name, in any order, also in inline modules; paths to them are not
//! checked. Functions, traits and macros are passed over.

mod attributes;
mod constants;
mod enums;
mod items;
mod names;
mod representation;
mod tokens;
mod types;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use dtype_runtime::Error;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::hints::Hints;
use super::layout::{Base, Layout, Placement, is_gap};
use super::{Declared, MAX_NESTING, MOST_PROBLEMS};
use crate::notation::FieldNames;
use crate::problem::{Problem, quoted};
use attributes::Derived;
use items::{Field, Item, Kind};

/// The structs that a text declares.
pub(super) fn read(source: &str, fields: &mut FieldNames) -> Result<Vec<Declared>, Vec<Problem>> {
    let result = read_tokens(source, fields);
    // The tokens' source is kept by the thread until then.
    proc_macro2::extra::invalidate_current_thread_spans();
    result
}

fn read_tokens(source: &str, fields: &mut FieldNames) -> Result<Vec<Declared>, Vec<Problem>> {
    let tokens: TokenStream = match source.parse() {
        Ok(tokens) => tokens,
        Err(error) => {
            let error: proc_macro2::LexError = error;
            let at = clamped(error.span().byte_range(), source);
            let problem = Problem::new("this is not a Rust token", at, "");
            return Err(vec![problem.help("brackets and quotes have to be closed")]);
        }
    };
    let mut reader = Reader {
        source,
        items: HashMap::new(),
        order: Vec::new(),
        done: HashMap::new(),
        parts: HashSet::new(),
        values: HashMap::new(),
        conditions: Vec::new(),
        fields,
        depth: 0,
        hints: Hints::default(),
    };
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    reader.items(&trees).map_err(|problem| vec![*problem])?;
    let structs: Vec<String> = reader.order.clone();
    let mut declared = Vec::new();
    for name in structs {
        let base = reader.named(&name).unwrap_or(Base::Wrong(Vec::new()));
        let span = reader.items.get(&name).map_or(0..0, |item| item.span.clone());
        declared.push(Declared { name, span, base, is_part: false });
    }
    for one in &mut declared {
        one.is_part = reader.parts.contains(&one.name);
    }
    Ok(declared)
}

/// A range of bytes that is surely in the text, at the boundaries of characters.
fn clamped(range: Range<usize>, source: &str) -> Range<usize> {
    let floor = |at: usize| {
        let places = (0..=at.min(source.len())).rev();
        places.into_iter().find(|at| source.is_char_boundary(*at)).unwrap_or(0)
    };
    let start = floor(range.start);
    start..floor(range.end).max(start)
}

struct Reader<'s, 'f> {
    source: &'s str,
    items: HashMap<String, Item>,
    /// The names of the structs, in the order of the text.
    order: Vec<String>,
    /// The items that were evaluated; `None` while one is.
    done: HashMap<String, Option<Base>>,
    /// The names of the structs that are fields of others.
    parts: HashSet<String>,
    /// The values of constants that were evaluated.
    values: HashMap<String, Option<i128>>,
    /// The conditions of the modules around the current item.
    conditions: Vec<Group>,
    fields: &'f mut FieldNames,
    /// Levels of nested types and structs.
    depth: usize,
    hints: Hints,
}

impl Reader<'_, '_> {
    /// The position of some tokens.
    fn span(&self, tokens: &[TokenTree]) -> Range<usize> {
        let ends = tokens.first().zip(tokens.last());
        ends.map_or(0..0, |(first, last)| {
            let (first, last) = (first.span().byte_range(), last.span().byte_range());
            clamped(first.start..last.end, self.source)
        })
    }

    /// The meaning of a name that the text declares.
    fn named(&mut self, name: &str) -> Option<Base> {
        match self.done.get(name) {
            Some(Some(base)) => return Some(base.clone()),
            Some(None) => {
                let span = self.items.get(name).map_or(0..0, |item| item.span.clone());
                let message = format!("{} contains itself", quoted(name));
                return Some(wrong(Problem::new(message, span, "")));
            }
            None => {}
        }
        let item = self.items.get(name)?.clone();
        if self.depth >= MAX_NESTING {
            let message = format!("types nest deeper than {MAX_NESTING} levels");
            return Some(wrong(Problem::new(message, item.span, "one more level")));
        }
        self.done.insert(name.to_owned(), None);
        self.depth += 1;
        let base = self.item(name, &item);
        self.depth -= 1;
        self.done.insert(name.to_owned(), Some(base.clone()));
        Some(base)
    }

    /// Checks that an item is there, and only once.
    fn check(&self, name: &str, item: &Item) -> Result<(), Box<Problem>> {
        self.condition(&item.attributes)?;
        let Some(again) = &item.again else { return Ok(()) };
        let message = format!("{} is declared twice", quoted(name));
        let problem = Problem::new(message, again.clone(), "again");
        Err(Box::new(problem.and(item.span.clone(), "declared here first")))
    }

    fn item(&mut self, name: &str, item: &Item) -> Base {
        let checked = self.check(name, item);
        let checked = checked.and_then(|()| self.derived(&item.attributes));
        let representation = match checked.and_then(|_| self.representation(&item.attributes)) {
            Ok(representation) => representation,
            Err(problem) => return wrong(*problem),
        };
        match &item.kind {
            Kind::Alias(ty) => self.ty(ty),
            Kind::Union => Base::Foreign {
                what: "a union",
                help: "which of its members is meant is not known: write the one that is in use",
            },
            Kind::Enum { has_data, values } => {
                match representation.of_enum(*has_data, name, &item.span) {
                    Base::Known(layout) => match self.values_of_int(&representation, values) {
                        Ok(()) => Base::Known(layout),
                        Err(problem) => wrong(*problem),
                    },
                    other => other,
                }
            }
            Kind::Constant(_) => Base::Foreign { what: "a constant", help: "expected a type" },
            Kind::Struct { generics, fields, .. } => {
                if let Some(generics) = generics {
                    let message = format!("{} has parameters", quoted(name));
                    let problem = Problem::new(message, generics.clone(), "not supported");
                    return wrong(problem.help("write the struct with the types that are meant"));
                }
                if !representation.is_c && !representation.is_transparent {
                    return no_places(name, &item.span);
                }
                self.structure(name, fields, &representation, &item.span)
            }
        }
    }

    fn structure(
        &mut self,
        name: &str,
        fields: &[Field],
        representation: &representation::Representation,
        span: &Range<usize>,
    ) -> Base {
        let mut placement = Placement::default();
        let mut problems: Vec<Problem> = Vec::new();
        let mut names = HashMap::new();
        // Fields with bytes, of which a transparent struct has one.
        let mut filled = 0;
        for field in fields {
            let shown = field.name.clone().unwrap_or_default();
            let attributes = &field.attributes;
            let read = self.condition(attributes).and_then(|()| self.derived(attributes));
            let Derived { is_skipped, rename } = match read {
                Ok(derived) => derived,
                Err(problem) => {
                    problems.push(*problem);
                    continue;
                }
            };
            match self.field_type(&field.ty) {
                Ok((element, lengths)) => {
                    let align = element.align.min(representation.packed.unwrap_or(u64::MAX));
                    filled += usize::from(element.size > 0 && !lengths.contains(&0));
                    let is_gap = is_skipped || rename.is_none() && is_gap(&shown);
                    let name = rename.or_else(|| field.name.clone());
                    let data = name.as_ref().filter(|_| !is_gap);
                    let before = data.and_then(|name| names.insert(name.clone(), &field.ty));
                    if let Some((before, name)) = before.zip(data) {
                        let message = format!("two fields are called {}", quoted(name));
                        let problem = Problem::new(message, self.span(&field.ty), "again");
                        problems.push(problem.and(self.span(before), "the first one"));
                    }
                    let added = placement.add(name, &element, &lengths, align, is_gap);
                    if let Err(error) = added {
                        let span = self.span(&field.ty);
                        problems.push(Problem::new(error.to_string(), span, "too large"));
                    }
                }
                Err(Base::Foreign { what, help }) => {
                    let message = format!("field {} is {what}", quoted(&shown));
                    let problem = Problem::new(message, self.span(&field.ty), what);
                    problems.push(problem.help(help));
                }
                Err(Base::Wrong(more)) => problems.extend(more),
                Err(Base::Known(_)) => {}
            }
            if problems.len() >= MOST_PROBLEMS {
                break;
            }
        }
        problems.truncate(MOST_PROBLEMS);
        if !problems.is_empty() {
            return Base::Wrong(problems);
        }
        if representation.is_transparent && filled > 1 {
            return no_places(name, span);
        }
        match placement.finish(representation.align.unwrap_or(1), self.fields) {
            Ok(layout) => Base::Known(layout),
            Err(error) => wrong(Problem::new(error.to_string(), span.clone(), "in this struct")),
        }
    }

    /// The element type of a field and the lengths of its array, the outermost first.
    fn field_type(&mut self, ty: &[TokenTree]) -> Result<(Layout, Vec<u64>), Base> {
        let mut lengths = Vec::new();
        let mut inner = ty.to_vec();
        while let [TokenTree::Group(group)] = &*inner
            && group.delimiter() == Delimiter::Bracket
            && lengths.len() < MAX_NESTING
        {
            let (element, length) = self.array_parts(group)?;
            lengths.push(length);
            inner = element;
        }
        match self.ty(&inner) {
            Base::Known(layout) => Ok((layout, lengths)),
            other => Err(other),
        }
    }
}

/// The mistake of a struct whose fields may be in any order.
fn no_places(name: &str, span: &Range<usize>) -> Base {
    let message = format!("the fields of {} have no fixed places", quoted(name));
    let problem = Problem::new(message, span.clone(), "expected `#[repr(C)]`");
    wrong(problem.help(
        "without `#[repr(C)]`, the compiler may reorder the fields; the derive of dtype-runtime reads \
         the order from the compiler",
    ))
}

/// A type with one mistake.
fn wrong(problem: Problem) -> Base {
    Base::Wrong(vec![problem])
}

/// A type that a constructor refuses.
fn refused(error: &Error, span: Range<usize>) -> Base {
    wrong(Problem::new(error.to_string(), span, "too large"))
}

//! Reads declarations of structs in Rust.
//!
//! In memory, only `#[repr(C)]` fixes the offsets of fields, so a struct without it is a mistake. Packed bytes do not need it:
//! they have the fields in the order of their declaration. Items are found by name, in any order, even in inline modules; paths
//! to them are not checked. Functions, traits and macros are skipped.

mod attributes;
mod constants;
mod items;
mod messages;
mod nesting;
mod ours;
mod types;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
#[cfg(not(target_family = "wasm"))]
use std::thread;

use dtype_attributes::{FieldAttrs, Place};
use dtype_runtime::Error;
use proc_macro2::{Span, TokenStream};
use syn::spanned::Spanned;
use syn::{Attribute, Fields, GenericArgument, Path, PathArguments, Type, TypePath};

use super::hints::Hints;
use super::layout::{Base, Layout, NoData, Placement, foreign, is_gap, placed, pointer, wrong};
use super::{Declared, Form, MAX_NESTING, MAX_PROBLEMS};
use crate::notation::{FieldNames, Restriction};
use crate::problem::{Problem, quoted};
use crate::structure::Described;
use attributes::{Representation, check_item, condition, derives, of_field, representation};
use items::{Item, Kind};
pub(super) use messages::messages;

/// The result of reading something, or a mistake in it.
type Read<T> = Result<T, Box<Problem>>;

/// The structs that a text declares.
pub(super) fn read(
    source: &str,
    form: Form,
    fields: &mut FieldNames,
) -> Result<Vec<Declared>, Vec<Problem>> {
    with_items(source, form, fields, |reader| Ok(reader.structs()))
}

/// Reads something from the items of a text.
fn with_items<T: Send>(
    source: &str,
    form: Form,
    fields: &mut FieldNames,
    read: impl FnOnce(&mut Reader<'_>) -> Result<T, Vec<Problem>> + Send,
) -> Result<T, Vec<Problem>> {
    let all = || Reader::new(source, form, fields).and_then(|mut reader| read(&mut reader));
    on_large_stack(all).map_err(|mut problems| {
        for problem in &mut problems {
            problem.span = clamped(problem.span.clone(), source);
            for (span, _) in &mut problem.others {
                *span = clamped(span.clone(), source);
            }
        }
        problems
    })
}

/// Runs a function on a thread of its own: syntax trees need more stack than a thread usually has. Positions are stored per
/// thread, and end with it.
#[cfg(not(target_family = "wasm"))]
fn on_large_stack<T: Send>(
    read: impl FnOnce() -> Result<T, Vec<Problem>> + Send,
) -> Result<T, Vec<Problem>> {
    thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(nesting::STACK);
        let reader = builder.spawn_scoped(scope, read);
        reader.ok().and_then(|reader| reader.join().ok()).unwrap_or_else(|| {
            let message = "the text cannot be read: there is no memory for another thread";
            Err(vec![Problem::new(message, 0..0, "")])
        })
    })
}

/// Runs a function on the caller's stack, because there are no threads.
#[cfg(target_family = "wasm")]
fn on_large_stack<T>(read: impl FnOnce() -> Result<T, Vec<Problem>>) -> Result<T, Vec<Problem>> {
    read()
}

/// The mistake of a text that is not Rust.
fn grammar(error: &syn::Error) -> Problem {
    let (message, span) = (error.to_string(), range(error.span()));
    if message == "expected `:`" {
        let problem = Problem::new("expected `name: type`", span, "expected `:` and a type");
        return problem.help("fields are separated by commas: `x: f64, y: u8`");
    }
    Problem::new(message, span, "")
}

/// A name, without the `r#` of a raw one.
fn name_of(ident: &syn::Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").map_or(name.clone(), str::to_owned)
}

/// The bytes of a span in the text.
fn range(span: Span) -> Range<usize> {
    span.byte_range()
}

/// A range of bytes that lies in the text, and starts and ends between characters.
fn clamped(range: Range<usize>, source: &str) -> Range<usize> {
    let floor = |at: usize| {
        let places = (0..=at.min(source.len())).rev();
        places.into_iter().find(|at| source.is_char_boundary(*at)).unwrap_or(0)
    };
    let start = floor(range.start);
    start..floor(range.end).max(start)
}

struct Reader<'f> {
    form: Form,
    items: HashMap<String, Item>,
    /// The ends of the paths of the names that the text imports.
    uses: HashMap<String, Vec<String>>,
    /// The names of the structs, in the order of the text.
    order: Vec<String>,
    /// The items that were evaluated; `None` while an item is being evaluated.
    done: HashMap<String, Option<Base>>,
    /// The names of the structs that are fields of others.
    parts: HashSet<String>,
    /// The values of constants that were evaluated.
    values: HashMap<String, Option<i128>>,
    /// The conditions of the modules around the current item.
    conditions: Vec<Attribute>,
    fields: &'f mut FieldNames,
    /// Levels of nested types and structs.
    depth: usize,
    hints: Hints,
}

impl<'f> Reader<'f> {
    fn new(source: &str, form: Form, fields: &'f mut FieldNames) -> Result<Self, Vec<Problem>> {
        let tokens: TokenStream = match source.parse() {
            Ok(tokens) => tokens,
            Err(error) => {
                let error: proc_macro2::LexError = error;
                let problem = Problem::new("this is not a Rust token", range(error.span()), "");
                return Err(vec![problem.help("brackets and quotes have to be closed")]);
            }
        };
        nesting::check(tokens.clone()).map_err(|problem| vec![*problem])?;
        let file: syn::File = syn::parse2(tokens).map_err(|error| vec![grammar(&error)])?;
        let mut reader = Self {
            form,
            items: HashMap::new(),
            uses: HashMap::new(),
            order: Vec::new(),
            done: HashMap::new(),
            parts: HashSet::new(),
            values: HashMap::new(),
            conditions: Vec::new(),
            fields,
            depth: 0,
            hints: Hints::default(),
        };
        reader.items(file.items);
        Ok(reader)
    }

    /// The structs of the text.
    fn structs(&mut self) -> Vec<Declared> {
        let mut declared = Vec::new();
        for name in self.order.clone() {
            let base = self.named(&name).unwrap_or(Err(NoData::Wrong(Vec::new())));
            let span = self.items.get(&name).map_or(0..0, |item| item.span.clone());
            declared.push(Declared { name, span, base, is_part: false });
        }
        for one in &mut declared {
            one.is_part = self.parts.contains(&one.name);
        }
        declared
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

    fn item(&mut self, name: &str, item: &Item) -> Base {
        check(name, item)?;
        let place = match &item.kind {
            Kind::Enum(_) => Some(Place::Enum),
            Kind::Struct { .. } => Some(Place::Struct),
            Kind::Union(_) | Kind::Alias(_) | Kind::Constant(_) => None,
        };
        if let Some(place) = place {
            check_item(&item.attributes, place, self.form).map_err(NoData::Wrong)?;
        }
        let layout = representation(&item.attributes)?;
        match &item.kind {
            Kind::Alias(ty) => self.ty(ty),
            Kind::Union(fields) => {
                let mut union = foreign(
                    "a union",
                    "which of its members is meant is not known: write the one that is in use",
                );
                if let Err(NoData::Foreign { place, .. }) = &mut union
                    && self.form == Form::Memory
                    && (layout.is_c || layout.is_transparent)
                {
                    *place = Some(Box::new(self.structure(name, fields, &layout, item)?));
                }
                union
            }
            Kind::Enum(variants)
                if variants.iter().any(|one| !matches!(one.fields, Fields::Unit)) =>
            {
                foreign(
                    "an enum whose variants hold data",
                    "which variant is meant is not known: write a struct for the one in use",
                )
            }
            Kind::Enum(variants) => {
                let integer = layout.integer.or(layout.is_c.then_some(dtype_runtime::Basic::Int));
                let Some(basic) = integer else {
                    let message = format!("the size of the enum {} is not fixed", quoted(name));
                    let problem = Problem::new(message, item.span.clone(), "expected `#[repr(…)]`");
                    return wrong(
                        problem.help("add the integer that it is, for example `#[repr(u8)]`"),
                    );
                };
                let variants = self.variants(basic, layout.integer.is_none(), variants)?;
                Ok(match variants {
                    Some(all) => Layout::restricted(basic, Restriction::variants(name, all)),
                    None => Layout::basic(basic),
                })
            }
            Kind::Constant(_) => foreign("a constant", "expected a type"),
            Kind::Struct { generics: Some(generics), .. } => {
                let message = format!("{} has parameters", quoted(name));
                let problem = Problem::new(message, generics.clone(), "not supported");
                wrong(problem.help("write the struct with the types that are meant"))
            }
            Kind::Struct { fields, .. }
                if layout.is_c || layout.is_transparent || self.form == Form::Packed =>
            {
                self.structure(name, fields, &layout, item)
            }
            Kind::Struct { .. } => no_places(name, &item.span),
        }
    }

    fn structure(
        &mut self,
        name: &str,
        fields: &Fields,
        layout: &Representation,
        item: &Item,
    ) -> Base {
        let rules =
            Rules { packed: layout.packed, is_derived: derives(&item.attributes, "Datatype") };
        let is_union = matches!(item.kind, Kind::Union(_));
        let mut placement = Placement::default();
        let mut problems: Vec<Problem> = Vec::new();
        let mut names = HashMap::new();
        // Fields with bytes. A transparent struct has one.
        let mut filled = 0;
        for field in fields {
            if is_union {
                placement.restart();
            }
            match self.field(field, rules, &mut names, &mut placement) {
                Ok(has_bytes) => filled += usize::from(has_bytes),
                Err(more) => problems.extend(more),
            }
            if problems.len() >= MAX_PROBLEMS {
                break;
            }
        }
        problems.truncate(MAX_PROBLEMS);
        if !problems.is_empty() {
            return Err(NoData::Wrong(problems));
        }
        if layout.is_transparent && filled > 1 && !is_union && self.form == Form::Memory {
            return no_places(name, &item.span);
        }
        let finish = if is_union { Placement::finish_union } else { Placement::finish };
        let layout = finish(placement, layout.align.unwrap_or(1), self.fields);
        let layout = layout
            .map_err(|error| Problem::new(error.to_string(), item.span.clone(), "in this type"))?;
        self.fields.add_type(&layout.ty, name);
        Ok(layout.named(name))
    }

    /// Places a field. Returns whether it has bytes.
    fn field(
        &mut self,
        field: &syn::Field,
        rules: Rules,
        names: &mut HashMap<String, Range<usize>>,
        placement: &mut Placement,
    ) -> Result<bool, Vec<Problem>> {
        let own = field.ident.as_ref().map(name_of);
        let shown = own.clone().unwrap_or_default();
        condition(&field.attrs).map_err(|problem| vec![*problem])?;
        let FieldAttrs { skip, rename, with, .. } = of_field(&field.attrs, self.form)?;
        let is_skipped = skip.is_some();
        if is_skipped && self.form == Form::Packed {
            return Ok(false);
        }
        let rename = rename.map(|name| name.value());
        let at = range(field.ty.span());
        let found = self.field_type(&field.ty, with);
        let (element, lengths) = found.map_err(|base| base.of_field(&shown, at.clone()))?;
        let (element, others) = placed(element, &shown, at.clone())?;
        placement.report(others);
        // The derive packs every field that is not skipped.
        let is_gap = is_skipped || !rules.is_derived && rename.is_none() && is_gap(&shown);
        let name = rename.or(own);
        let named = field.ident.as_ref().map_or(at.clone(), |ident| range(ident.span()));
        if let Some(name) = name.as_ref().filter(|_| !is_gap)
            && let Some(before) = names.insert(name.clone(), named.clone())
        {
            let message = format!("two fields are called {}", quoted(name));
            return Err(vec![Problem::new(message, named, "again").and(before, "the first one")]);
        }
        let align = element.align.min(rules.packed.unwrap_or(u64::MAX));
        let added = placement.add(name, &element, &lengths, align, is_gap);
        added.map_err(|error| vec![Problem::new(error.to_string(), at, "too large")])?;
        Ok(element.size > 0 && !lengths.contains(&0))
    }

    /// The element type of a field, or the type that describes it, and the lengths of its array, the outermost first.
    fn field_type(&mut self, ty: &Type, with: Option<Path>) -> Result<(Base, Vec<u64>), NoData> {
        let mut lengths = Vec::new();
        let mut inner = ty;
        while let Type::Array(array) = inner {
            lengths.push(self.length(&array.len)?);
            inner = &array.elem;
        }
        let element = match with {
            Some(path) => self.path(&TypePath { attrs: Vec::new(), qself: None, path }),
            None => self.ty(inner),
        };
        Ok((element, lengths))
    }
}

/// Facts that apply to all fields of a struct.
#[derive(Clone, Copy)]
struct Rules {
    /// The greatest alignment.
    packed: Option<u64>,
    /// Whether the struct has `#[derive(Datatype)]`.
    is_derived: bool,
}

/// Checks that an item may be used: its conditions, and that it is declared only once.
fn check(name: &str, item: &Item) -> Read<()> {
    condition(&item.attributes)?;
    let Some(again) = &item.again else { return Ok(()) };
    let message = format!("{} is declared twice", quoted(name));
    let problem = Problem::new(message, again.clone(), "again");
    Err(Box::new(problem.and(item.span.clone(), "declared here first")))
}

/// The mistake for a struct whose fields may be in any order.
fn no_places(name: &str, span: &Range<usize>) -> Base {
    let message = format!("the fields of {} have no fixed places", quoted(name));
    let problem = Problem::new(message, span.clone(), "expected `#[repr(C)]`");
    wrong(problem.help(
        "without `#[repr(C)]`, only the compiler knows the layout: give a program with debug \
         information, `PROGRAM:NAME`; packed bytes follow the declaration: `show`, `info`, `compare` and `dump` \
         take `--packed`",
    ))
}

/// A type that a constructor refuses.
fn refused(error: &Error, span: Range<usize>) -> NoData {
    Problem::new(error.to_string(), span, "too large").into()
}

/// A pointer, a reference or a type of the standard library that has one, if its size is known.
fn pointer_of(ty: &Type) -> Option<Described> {
    let (what, to) = match ty {
        Type::Ptr(pointer) => ("a pointer", &*pointer.elem),
        Type::Reference(reference) => ("a reference", &*reference.elem),
        Type::FnPtr(_) => return Some(pointer("a function pointer", &text_of(ty), 1)),
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            let of = match &last.arguments {
                PathArguments::AngleBracketed(all) => all.args.iter().find_map(|one| match one {
                    GenericArgument::Type(of) => Some(of),
                    _ => None,
                }),
                _ => None,
            };
            match (name_of(&last.ident).as_str(), of) {
                ("Vec", Some(_)) => return Some(pointer("a `Vec`", &text_of(ty), 3)),
                ("String", None) => return Some(pointer("a string", "String", 3)),
                // A pointer that is not null leaves one value for `None`.
                ("Option", Some(of)) if !matches!(of, Type::Ptr(_)) && !is_option(of) => {
                    return pointer_of(of).map(|of| Described { name: text_of(ty).into(), ..of });
                }
                ("Box" | "Rc" | "Arc" | "NonNull", Some(of)) => ("a pointer", of),
                _ => return None,
            }
        }
        _ => return None,
    };
    // Those to types without a fixed size have a length or a table beside the address.
    let words = match to {
        Type::Slice(_) | Type::TraitObject(_) => 2,
        Type::Path(path) if path.path.is_ident("str") => 2,
        _ => 1,
    };
    Some(pointer(what, &text_of(ty), words))
}

fn is_option(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Option"))
}

/// A type as it is usually written.
fn text_of(ty: &Type) -> String {
    let text = quote::ToTokens::to_token_stream(ty).to_string();
    text.replace("& ", "&")
        .replace("* ", "*")
        .replace("' ", "'")
        .replace(" < ", "<")
        .replace(" >", ">")
        .replace(" :: ", "::")
}

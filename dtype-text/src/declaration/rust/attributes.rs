//! Attributes that decide which fields and items exist, that change a layout, or that belong to the derive of dtype-runtime.

use std::ops::Range;

use dtype_runtime::Basic;
use proc_macro2::{TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, LitInt, LitStr, Meta, Path, Token, TypePath, parenthesized, token};

use super::super::layout::MAX_ALIGN;
use super::{Form, Read, name_of, names, range};
use crate::problem::{Problem, quoted};

/// The words of `#[dtype(…)]` that do not change the layout.
const HARMLESS: &[&str] = &["bound", "check", "crate", "name"];

/// The effect of an item's attributes on its layout.
#[derive(Clone, Debug, Default)]
pub(super) struct Representation {
    pub(super) is_c: bool,
    pub(super) is_transparent: bool,
    /// The greatest alignment of a field.
    pub(super) packed: Option<u64>,
    /// The least alignment of the struct.
    pub(super) align: Option<u64>,
    /// The integer of an enum.
    pub(super) integer: Option<Basic>,
}

/// The effect of the derive's attributes on a field.
#[derive(Default)]
pub(super) struct Derived {
    /// Whether the field is not data.
    pub(super) is_skipped: bool,
    /// The name that replaces the field's own.
    pub(super) rename: Option<String>,
    /// The type that describes the field instead of its own.
    pub(super) with: Option<TypePath>,
    /// The tag of a variant's message.
    pub(super) tag: Option<u32>,
}

/// Whether `#[derive(…)]` has a name.
pub(super) fn derives(attributes: &[Attribute], name: &str) -> bool {
    let ours = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
    ours.into_iter().any(|attribute| {
        let paths = attribute.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated);
        let mut paths = paths.into_iter().flatten();
        paths.any(|path| path.segments.last().is_some_and(|last| last.ident == name))
    })
}

/// Whether an item exists only in tests.
pub(super) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        is_condition(attribute)
            && attribute.parse_args::<syn::Ident>().is_ok_and(|word| word == "test")
    })
}

/// Whether an attribute is a condition of the item below it.
pub(super) fn is_condition(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
}

/// A word of an attribute with its arguments.
struct Word {
    name: String,
    span: Range<usize>,
    /// The tokens after it, up to the next comma.
    arguments: TokenStream,
}

/// The words in the brackets of an attribute. Anything else is ignored.
fn words(attribute: &Attribute) -> Vec<Word> {
    let mut all = Vec::new();
    // The compiler reports attributes that are something else.
    let _ = attribute.parse_nested_meta(|meta| {
        let mut arguments = TokenStream::new();
        while !meta.input.is_empty() && !meta.input.peek(Token![,]) {
            arguments.extend([meta.input.parse::<TokenTree>()?]);
        }
        let start = range(meta.path.span());
        let end = if arguments.is_empty() { start.end } else { range(arguments.span()).end };
        let name = meta.path.get_ident().map(name_of).unwrap_or_default();
        all.push(Word { name, span: start.start..end, arguments });
        Ok(())
    });
    all
}

/// The first condition on which an item or a field, or its layout, depends.
pub(super) fn condition(attributes: &[Attribute]) -> Read<()> {
    for attribute in attributes {
        let is_layout =
            || words(attribute).iter().any(|word| matches!(&*word.name, "repr" | "dtype" | "cfg"));
        let help = if is_condition(attribute) {
            "remove the attribute if the program has what follows it, and both if it does not"
        } else if attribute.path().is_ident("cfg_attr") && is_layout() {
            "write the attribute without the condition, or remove it"
        } else {
            continue;
        };
        let span = range(attribute.bracket_token.span.join());
        let message = "conditions of compilation are not evaluated";
        return Err(Box::new(Problem::new(message, span, "a condition").help(help)));
    }
    Ok(())
}

/// Reads the attributes of the derive, on fields and on items. For [`Form::Memory`], layout-changing attributes other than
/// `#[dtype(skip)]` are errors.
pub(super) fn derived(attributes: &[Attribute], form: Form) -> Read<Derived> {
    let mut derived = Derived::default();
    let ours = attributes.iter().filter(|attribute| attribute.path().is_ident("dtype"));
    for word in ours.flat_map(words) {
        match &*word.name {
            "skip" if word.arguments.is_empty() => derived.is_skipped = true,
            "rename" => derived.rename = Some(renamed(&word)?),
            "with" if form == Form::Packed => {
                derived.with = Some(argument(&word, TypePath::parse, "with = Path", "a path")?);
            }
            "tag" => {
                let tag = argument(&word, LitInt::parse, "tag = number", "a number")?;
                derived.tag = tag.base10_parse().ok();
            }
            // Packed bytes have no bounds.
            _ if form == Form::Packed => {}
            name if HARMLESS.contains(&name) => {}
            name => {
                let message = format!("the attribute {} is not supported", quoted(name));
                let problem = Problem::new(message, word.span, "changes the layout");
                return Err(Box::new(problem.help(match name {
                    "with" | "remote" => "the fields are those of another type: describe that one",
                    _ => {
                        "the layout that it asks for is written in the notation, for example \
                         `resized(type, lb, extent)`; `dtype help notation` explains it"
                    }
                })));
            }
        }
    }
    Ok(derived)
}

/// The name in `rename = "…"`.
fn renamed(word: &Word) -> Read<String> {
    let name = |input: ParseStream<'_>| {
        let name: LitStr = input.parse()?;
        let is_name = !name.value().is_empty() && !name.value().contains('\0');
        if is_name { Ok(name.value()) } else { Err(syn::Error::new(name.span(), "no name")) }
    };
    argument(word, name, "rename = \"name\"", "a name")
}

/// The part after the `=` of a word.
fn argument<T>(
    word: &Word,
    parse: impl FnOnce(ParseStream<'_>) -> syn::Result<T>,
    form: &str,
    expected: &str,
) -> Read<T> {
    let parse = |input: ParseStream<'_>| {
        input.parse::<Token![=]>()?;
        parse(input)
    };
    parse.parse2(word.arguments.clone()).map_err(|_| {
        let message = format!("expected `{form}`");
        Box::new(Problem::new(message, word.span.clone(), format!("expected {expected}")))
    })
}

/// The effect of `#[repr(…)]`.
pub(super) fn representation(attributes: &[Attribute]) -> Read<Representation> {
    let mut all = Representation::default();
    let is_list = |attribute: &&Attribute| matches!(attribute.meta, Meta::List(_));
    let ours = attributes.iter().filter(|attribute| attribute.path().is_ident("repr"));
    for word in ours.filter(is_list).flat_map(words) {
        let number = alignment(&word)?;
        match (&*word.name, number) {
            ("C", _) => all.is_c = true,
            ("transparent", _) => all.is_transparent = true,
            ("packed", number) => all.packed = Some(number.unwrap_or(1)),
            ("align", Some(number)) => all.align = all.align.max(Some(number)),
            ("Rust", _) => {}
            (name, _) if names::primitive(name).is_some() => all.integer = names::primitive(name),
            (name, _) => {
                let message = format!("unknown representation {}", quoted(name));
                let problem = Problem::new(message, word.span, "unknown name");
                return Err(Box::new(
                    problem
                        .help("expected `C`, `packed`, `packed(n)`, `align(n)` or `transparent`"),
                ));
            }
        }
    }
    Ok(all)
}

/// The number in brackets after a word.
fn alignment(word: &Word) -> Read<Option<u64>> {
    let parse = |input: ParseStream<'_>| {
        if !input.peek(token::Paren) {
            return Ok(None);
        }
        let inside;
        parenthesized!(inside in input);
        inside.parse::<LitInt>()?.base10_parse::<u64>().map(Some)
    };
    let number = parse.parse2(word.arguments.clone()).unwrap_or(Some(0));
    match number {
        Some(number) if !number.is_power_of_two() || number > MAX_ALIGN => {
            let message = "an alignment is a power of two, at most 2^28";
            Err(Box::new(Problem::new(message, word.span.clone(), "not an alignment")))
        }
        number => Ok(number),
    }
}

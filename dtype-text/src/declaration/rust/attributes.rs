//! Attributes that decide which fields and items exist, that change a layout, or that belong to the derives.

use dtype_attributes::{Errors, FieldAttrs, ItemAttrs, Place};
use dtype_runtime::Basic;
use proc_macro2::{Ident, Span, TokenTree};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, LitInt, Meta, Path, Token, parenthesized, token};

use super::super::layout::MAX_ALIGN;
use super::{Form, Read, name_of, range};
use crate::names;
use crate::problem::{Problem, quoted};

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
        is_condition(attribute) && attribute.parse_args::<Ident>().is_ok_and(|word| word == "test")
    })
}

/// Whether an attribute is a condition of the item below it.
pub(super) fn is_condition(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
}

/// The first condition on which an item or a field, or its layout, depends.
pub(super) fn condition(attributes: &[Attribute]) -> Read<()> {
    for attribute in attributes {
        let is_layout = |token| matches!(token, TokenTree::Ident(word) if word == "repr" || word == "dtype" || word == "cfg");
        let help = match &attribute.meta {
            _ if is_condition(attribute) => {
                "remove the attribute if the program has what follows it, and both if it does not"
            }
            Meta::List(list)
                if list.path.is_ident("cfg_attr")
                    && list.tokens.clone().into_iter().any(is_layout) =>
            {
                "write the attribute without the condition, or remove it"
            }
            _ => continue,
        };
        let span = range(attribute.bracket_token.span.join());
        let message = "conditions of compilation are not evaluated";
        return Err(Box::new(Problem::new(message, span, "a condition").help(help)));
    }
    Ok(())
}

/// The attributes of the derive on a field.
pub(super) fn of_field(attributes: &[Attribute], form: Form) -> Result<FieldAttrs, Vec<Problem>> {
    let mut errors = Errors::default();
    let attrs = FieldAttrs::read(attributes, &mut errors);
    checked(errors)?;
    let span = |word: &Ident| word.span();
    unchanged(form, "lb", attrs.lb.as_ref().map(span))?;
    unchanged(form, "ub", attrs.ub.as_ref().map(span))?;
    unchanged(form, "with", attrs.with.as_ref().map(Spanned::span))?;
    Ok(attrs)
}

/// Checks the attributes of the derive on a struct or an enum.
pub(super) fn check_item(
    attributes: &[Attribute],
    place: Place,
    form: Form,
) -> Result<(), Vec<Problem>> {
    let mut errors = Errors::default();
    let attrs = ItemAttrs::read(attributes, place, &mut errors);
    checked(errors)?;
    unchanged(form, "lb", attrs.lb.map(|lb| lb.word.span()))?;
    unchanged(form, "ub", attrs.ub.map(|ub| ub.word.span()))?;
    unchanged(form, "resize", attrs.resize.map(|resize| resize.word.span()))?;
    unchanged(form, "remote", attrs.remote.map(|path| path.span()))
}

/// The mistakes that the derive reports.
pub(super) fn checked(errors: Errors) -> Result<(), Vec<Problem>> {
    let Some(errors) = errors.into_error() else { return Ok(()) };
    let problem = |error: syn::Error| Problem::new(error.to_string(), range(error.span()), "");
    Err(errors.into_iter().map(problem).collect())
}

/// Refuses a word that changes the layout in memory. Packed bytes have no bounds.
fn unchanged(form: Form, word: &str, span: Option<Span>) -> Result<(), Vec<Problem>> {
    let Some(span) = span.filter(|_| form == Form::Memory) else { return Ok(()) };
    let message = format!("the attribute `{word}` is not supported");
    let problem = Problem::new(message, range(span), "changes the layout");
    Err(vec![problem.help(if word == "with" || word == "remote" {
        "the fields are those of another type: describe that one"
    } else {
        "the layout that it asks for is written in the notation, for example `resized(type, lb, extent)`; `dtype help \
         notation` explains it"
    })])
}

/// The effect of `#[repr(…)]`.
pub(super) fn representation(attributes: &[Attribute]) -> Read<Representation> {
    let mut all = Representation::default();
    let mut problem = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        let read = attribute.parse_nested_meta(|word| {
            let mut span = range(word.path.span());
            let mut number = None;
            if word.input.peek(token::Paren) {
                let inside;
                span.end = range(parenthesized!(inside in word.input).span.close()).end;
                // Anything else than a number is no alignment.
                number =
                    Some(inside.parse::<LitInt>().map_or(0, |n| n.base10_parse().unwrap_or(0)));
                while inside.parse::<TokenTree>().is_ok() {}
            }
            let name = word.path.get_ident().map(name_of).unwrap_or_default();
            if number.is_some_and(|number: u64| !number.is_power_of_two() || number > MAX_ALIGN) {
                let message = "an alignment is a power of two, at most 2^28";
                problem.get_or_insert(Problem::new(message, span, "not an alignment"));
                return Ok(());
            }
            match (&*name, number) {
                ("C", _) => all.is_c = true,
                ("transparent", _) => all.is_transparent = true,
                ("packed", number) => all.packed = Some(number.unwrap_or(1)),
                ("align", Some(number)) => all.align = all.align.max(Some(number)),
                ("Rust", _) => {}
                (name, _) if names::of_rust(name).is_some() => {
                    all.integer = names::of_rust(name);
                }
                (name, _) => {
                    let message = format!("unknown representation {}", quoted(name));
                    let help = "expected `C`, `packed`, `packed(n)`, `align(n)` or `transparent`";
                    problem.get_or_insert(Problem::new(message, span, "unknown name").help(help));
                }
            }
            Ok(())
        });
        if let Err(error) = read {
            problem.get_or_insert(Problem::new(error.to_string(), range(error.span()), ""));
        }
    }
    problem.map_or(Ok(all), |problem| Err(Box::new(problem)))
}

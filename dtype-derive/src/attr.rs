//! Reading `#[dtype(…)]`.
//!
//! The words of an attribute are read one at a time, and a mistake in one ends that word, not the
//! attribute: reading goes on behind the next comma, so that the author sees all of them at once.

mod field;
mod item;
mod words;

use proc_macro2::{Ident, TokenTree};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{
    Attribute, Expr, ExprLit, GenericParam, Generics, Lit, LitStr, MacroDelimiter, Meta, Path,
    Token,
};

pub(crate) use self::field::FieldAttrs;
pub(crate) use self::item::{ItemAttrs, Resize};
use crate::errors::Errors;

/// Where an attribute stands, which decides the words that it may hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Struct,
    Enum,
    Field,
}

/// Notes a mistake for every `#[dtype(…)]` on the parameters of an item.
pub(crate) fn refuse_on_parameters(generics: &Generics, errors: &mut Errors) {
    let attributes = generics.params.iter().flat_map(|parameter| match parameter {
        GenericParam::Lifetime(parameter) => &parameter.attrs,
        GenericParam::Type(parameter) => &parameter.attrs,
        GenericParam::Const(parameter) => &parameter.attrs,
    });
    for attribute in attributes.filter(|a| is_ours(a)) {
        errors.at(
            &attribute.meta,
            "a parameter takes no `dtype` attribute: for a bound write `#[dtype(bound = \"…\")]` on \
             the item",
        );
    }
}

/// Notes a mistake for every `#[dtype(…)]` on the variants of an enum.
pub(crate) fn refuse_on_variants<'a>(
    variants: impl Iterator<Item = &'a syn::Variant>,
    errors: &mut Errors,
) {
    for attribute in variants.flat_map(|variant| &variant.attrs).filter(|a| is_ours(a)) {
        errors.at(
            &attribute.meta,
            "a variant takes no `dtype` attribute: every variant is a legal value of the enum, and \
             none can be left out",
        );
    }
}

fn is_ours(attribute: &Attribute) -> bool {
    attribute.path().is_ident("dtype")
}

/// Calls `read` for each word in all the `#[dtype(…)]` among `attributes`, the input standing behind
/// the word.
fn each_word(
    attributes: &[Attribute],
    errors: &mut Errors,
    mut read: impl FnMut(&Ident, ParseStream<'_>, &mut Errors) -> syn::Result<()>,
) {
    for attribute in attributes.iter().filter(|a| is_ours(a)) {
        match &attribute.meta {
            Meta::List(list) if matches!(list.delimiter, MacroDelimiter::Paren(_)) => {
                let words = list.parse_args_with(|input: ParseStream<'_>| {
                    words_of(input, errors, &mut read);
                    Ok(())
                });
                if let Err(error) = words {
                    errors.push(error);
                }
            }
            other => errors.at(other, "write the words in parentheses: `#[dtype(…)]`"),
        }
    }
}

/// The words of one comma-separated list; reads `input` to its end.
fn words_of(
    input: ParseStream<'_>,
    errors: &mut Errors,
    read: &mut impl FnMut(&Ident, ParseStream<'_>, &mut Errors) -> syn::Result<()>,
) {
    while !input.is_empty() {
        let result = match input.call(Ident::parse_any) {
            Ok(word) => read(&word, input, errors),
            Err(_) => Err(input.error("expected a word such as `skip` or `lb`")),
        };
        match result {
            Ok(()) if input.is_empty() || input.peek(Token![,]) => {}
            Ok(()) => errors.push(input.error("expected `,` or the end of the attribute")),
            Err(error) => errors.push(error),
        }
        skip_past_comma(input);
    }
}

/// Leaves the rest of a word unread. Consumes token by token, which ends at the end of the input:
/// neither call can fail before it.
fn skip_past_comma(input: ParseStream<'_>) {
    while !input.is_empty() {
        let at_comma = input.peek(Token![,]);
        if input.parse::<TokenTree>().is_err() || at_comma {
            return;
        }
    }
}

/// Fills `slot`, or notes that the word has been there before.
fn once<T>(slot: &mut Option<T>, word: &Ident, value: T, errors: &mut Errors) {
    if slot.is_some() {
        errors.at(word, format_args!("`{word}` is given twice"));
    } else {
        *slot = Some(value);
    }
}

/// Reads the `=` behind a word, and sees that something follows. `shape` is how the whole should have
/// been written.
fn equals(word: &Ident, input: ParseStream<'_>, shape: &str) -> syn::Result<()> {
    let equals: Option<Token![=]> = input.parse()?;
    if equals.is_none() || input.is_empty() || input.peek(Token![,]) {
        return Err(syn::Error::new_spanned(word, format_args!("expected `{shape}`")));
    }
    Ok(())
}

/// `word = E`
fn expression(word: &Ident, input: ParseStream<'_>, shape: &str) -> syn::Result<Expr> {
    equals(word, input, shape)?;
    input.parse()
}

/// `word = "…"`
fn string(word: &Ident, input: ParseStream<'_>, shape: &str) -> syn::Result<LitStr> {
    let mut value = expression(word, input, shape)?;
    // A `$name:literal` of a macro.
    while let Expr::Group(group) = value {
        value = *group.expr;
    }
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(string), .. }) => Ok(string),
        other => Err(syn::Error::new_spanned(other, format_args!("expected `{shape}`"))),
    }
}

/// `word = path`. Whoever comes from a derive that wants its paths in quotes is told that this one
/// does not.
fn path(
    word: &Ident,
    input: ParseStream<'_>,
    shape: &str,
    parse: fn(ParseStream<'_>) -> syn::Result<Path>,
) -> syn::Result<Path> {
    equals(word, input, shape)?;
    if input.peek(LitStr) {
        return Err(input.error(format_args!("expected `{shape}`, without quotes")));
    }
    parse(input)
}

/// A word that is there or is not.
fn bare(word: &Ident, input: ParseStream<'_>, why: &str) -> syn::Result<Ident> {
    if input.is_empty() || input.peek(Token![,]) {
        Ok(word.clone())
    } else {
        Err(input.error(format_args!("`{word}` takes no value here{why}")))
    }
}

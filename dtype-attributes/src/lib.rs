//! Reads `#[dtype(…)]`, the attributes of the derives of `dtype-runtime` and `dtype-message`.
//!
//! The words of an attribute are read one at a time. After a mistake, reading continues after the next comma, so that
//! [`Errors`] holds all mistakes of an item.
//!
//! ```
//! use dtype_attributes::{Errors, FieldAttrs};
//! use syn::parse_quote;
//!
//! let mut errors = Errors::default();
//! let field: syn::Field = parse_quote!(#[dtype(rename = "type", skip = 3)] kind: u8);
//! let attrs = FieldAttrs::read(&field.attrs, &mut errors);
//! assert_eq!(attrs.rename.map(|name| name.value()), Some("type".to_owned()));
//! assert_eq!(errors.into_error().unwrap().to_string(), "`skip` takes no value here");
//! ```

#![forbid(unsafe_code)]
#![allow(
    missing_debug_implementations,
    reason = "syn's trees have it only with a feature that no build needs"
)]

mod errors;
mod field;
mod fragments;
mod item;
mod message;
mod variant;
mod words;

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream};
use syn::{
    Attribute, Expr, ExprLit, GenericParam, Generics, Lit, LitStr, MacroDelimiter, Meta, MetaList,
    Token,
};

pub use errors::Errors;
pub use field::FieldAttrs;
pub use fragments::parenthesised;
pub use item::{Check, Displacement, ItemAttrs, Resize};
pub use message::{MessageAttrs, message_crate, refuse_on_value};
pub use variant::rename;
use words::Shape;

/// The item that an attribute is on, which decides the words that it may hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A struct.
    Struct,
    /// An enum that is data.
    Enum,
    /// A field of a struct.
    Field,
    /// A variant of an enum.
    Variant,
    /// An enum of messages.
    Messages,
    /// A variant of an enum of messages.
    Message,
}

/// Records a mistake for every `#[dtype(…)]` on the parameters of an item.
pub fn refuse_on_parameters(generics: &Generics, errors: &mut Errors) {
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

fn is_ours(attribute: &Attribute) -> bool {
    attribute.path().is_ident("dtype")
}

/// Calls `read` for each word in all `#[dtype(…)]` among `attributes`, with the input after the word.
fn each_word(
    attributes: &[Attribute],
    place: Place,
    errors: &mut Errors,
    mut read: impl FnMut(&Ident, ParseStream<'_>, &mut Errors) -> syn::Result<()>,
) {
    for attribute in attributes.iter().filter(|a| is_ours(a)) {
        match &attribute.meta {
            Meta::List(list) if matches!(list.delimiter, MacroDelimiter::Paren(_)) => {
                let tokens = parenthesised(list.tokens.clone());
                let list = MetaList { tokens, ..list.clone() };
                let words = list.parse_args_with(|input: ParseStream<'_>| {
                    words_of(input, words::example(place), errors, &mut read);
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

/// Reads the words of one comma-separated list, to the end of `input`. `expected` describes what is missing if there is no
/// word.
fn words_of(
    input: ParseStream<'_>,
    expected: &str,
    errors: &mut Errors,
    read: &mut impl FnMut(&Ident, ParseStream<'_>, &mut Errors) -> syn::Result<()>,
) {
    while !input.is_empty() {
        let result = match input.call(Ident::parse_any) {
            Ok(word) => read(&word, input, errors),
            Err(_) => Err(input.error(format_args!("expected {expected}"))),
        };
        match result {
            Ok(()) if input.is_empty() || input.peek(Token![,]) => {}
            Ok(()) => errors.push(input.error("expected `,` or the end of the attribute")),
            Err(error) => errors.push(error),
        }
        skip_past_comma(input);
    }
}

/// Skips the rest of a word and the comma after it. No call can fail before the end of the input.
fn skip_past_comma(input: ParseStream<'_>) {
    while !input.is_empty() {
        let at_comma = input.peek(Token![,]);
        if input.parse::<TokenTree>().is_err() || at_comma {
            return;
        }
    }
}

/// Fills `slot`, or records that the word is given twice.
fn once<T>(slot: &mut Option<T>, word: &Ident, value: T, errors: &mut Errors) {
    if slot.is_some() {
        errors.at(word, format_args!("`{word}` is given twice"));
    } else {
        *slot = Some(value);
    }
}

/// Reads the `=` after a word, and checks that something follows.
fn equals(word: &Ident, input: ParseStream<'_>, shape: Shape) -> syn::Result<()> {
    let equals: Option<Token![=]> = input.parse()?;
    if equals.is_none() || input.is_empty() || input.peek(Token![,]) {
        return Err(syn::Error::new_spanned(word, format_args!("expected {shape}")));
    }
    Ok(())
}

/// `word = value`. A value that does not parse is underlined as a whole, because the parser's own message names a token instead
/// of what the word requires.
fn value<T>(
    word: &Ident,
    input: ParseStream<'_>,
    shape: Shape,
    parse: fn(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<T> {
    equals(word, input, shape)?;
    // Parsed from a copy of the input, because a group that was only partly read is a mistake of its own.
    let attempt = input.fork();
    if let Ok(value) = parse(&attempt) {
        input.advance_to(&attempt);
        return Ok(value);
    }
    let found = up_to_comma(input);
    Err(syn::Error::new_spanned(found, format_args!("expected {shape}")))
}

/// The tokens before the next comma. Cannot fail before the end of the input, where it stops.
fn up_to_comma(input: ParseStream<'_>) -> TokenStream {
    let mut tokens = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        let Ok(token) = input.parse::<TokenTree>() else { break };
        tokens.extend([token]);
    }
    tokens
}

/// `word = E`
fn expression(word: &Ident, input: ParseStream<'_>, shape: Shape) -> syn::Result<Expr> {
    value(word, input, shape, Expr::parse)
}

/// `word = "…"`
fn string(word: &Ident, input: ParseStream<'_>, shape: Shape) -> syn::Result<LitStr> {
    let mut value = expression(word, input, shape)?;
    // A `$name:literal` of a macro.
    while let Expr::Group(group) = value {
        value = *group.expr;
    }
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(string), .. }) => Ok(string),
        other => Err(syn::Error::new_spanned(other, format_args!("expected {shape}"))),
    }
}

/// `rename = "…"`
fn name(word: &Ident, input: ParseStream<'_>) -> syn::Result<LitStr> {
    let name = string(word, input, words::RENAME)?;
    if name.value().is_empty() || name.value().contains('\0') {
        return Err(syn::Error::new_spanned(name, format_args!("expected {}", words::RENAME)));
    }
    Ok(name)
}

/// A word without a value.
fn bare(word: &Ident, input: ParseStream<'_>, why: &str) -> syn::Result<Ident> {
    if input.is_empty() || input.peek(Token![,]) {
        Ok(word.clone())
    } else {
        Err(input.error(format_args!("`{word}` takes no value here{why}")))
    }
}

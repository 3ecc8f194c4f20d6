//! The attributes of a struct or an enum.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, LitStr, Path, Token, WherePredicate, parenthesized, token};

use super::words::{self, misplaced};
use super::{Place, each_word, expression, once, path, string, words_of};
use crate::errors::Errors;

/// What the attributes of an item said.
#[derive(Default)]
pub(crate) struct ItemAttrs {
    pub(crate) resize: Option<Resize>,
    pub(crate) lb: Option<Displacement>,
    pub(crate) ub: Option<Displacement>,
    /// The foreign type that is described in the place of this one.
    pub(crate) remote: Option<Path>,
    /// Where the runtime is to be found.
    pub(crate) krate: Option<Path>,
    /// The where predicates that replace the inferred ones.
    pub(crate) bound: Option<Vec<WherePredicate>>,
    pub(crate) name: Option<LitStr>,
}

/// `lb = E` or `ub = E`.
pub(crate) struct Displacement {
    pub(crate) word: Ident,
    pub(crate) value: Expr,
}

/// `resize(lb = E, extent = E)`.
pub(crate) struct Resize {
    pub(crate) lb: Expr,
    pub(crate) extent: Expr,
}

impl ItemAttrs {
    /// Reads the attributes of an item; mistakes go to `errors` and leave their word out.
    pub(crate) fn read(attributes: &[Attribute], place: Place, errors: &mut Errors) -> Self {
        let mut attrs = Self::default();
        each_word(attributes, errors, |word, input, errors| attrs.word(word, input, place, errors));
        attrs
    }

    fn word(
        &mut self,
        word: &Ident,
        input: ParseStream<'_>,
        place: Place,
        errors: &mut Errors,
    ) -> syn::Result<()> {
        let on_struct = place == Place::Struct;
        match word.to_string().as_str() {
            "bound" => {
                let predicates = bound(&string(word, input, words::BOUND)?)?;
                once(&mut self.bound, word, predicates, errors);
            }
            "crate" => {
                let path = path(word, input, words::CRATE, Path::parse_mod_style)?;
                once(&mut self.krate, word, path, errors);
            }
            "name" => once(&mut self.name, word, string(word, input, words::NAME)?, errors),
            "remote" => {
                let path = path(word, input, words::REMOTE, Path::parse)?;
                if may_be_fickle(path.to_token_stream()) {
                    return Err(syn::Error::new_spanned(
                        path,
                        "the path is written into the output more than once, and a macro in it may \
                         expand differently each time: give the type a name with `type` and write \
                         that name here",
                    ));
                }
                once(&mut self.remote, word, path, errors);
            }
            "lb" if on_struct => {
                let value = expression(word, input, words::LB)?;
                once(&mut self.lb, word, Displacement { word: word.clone(), value }, errors);
            }
            "ub" if on_struct => {
                let value = expression(word, input, words::UB)?;
                once(&mut self.ub, word, Displacement { word: word.clone(), value }, errors);
            }
            "resize" if on_struct => {
                if let Some(resize) = resize(word, input, errors)? {
                    once(&mut self.resize, word, resize, errors);
                }
            }
            _ => return Err(misplaced(word, place)),
        }
        Ok(())
    }
}

/// Whether a macro or an attribute may be among the tokens.
fn may_be_fickle(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => may_be_fickle(group.stream()),
        TokenTree::Punct(punct) => matches!(punct.as_char(), '!' | '#'),
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    })
}

/// The predicates in the string of `bound = "…"`, which may be none.
fn bound(string: &LitStr) -> syn::Result<Vec<WherePredicate>> {
    let parser = Punctuated::<WherePredicate, Token![,]>::parse_terminated;
    let predicates = string.parse_with(|input: ParseStream<'_>| parser(input));
    Ok(predicates?.into_iter().collect())
}

/// The two values of `resize(…)`; `None` where a mistake in them has been noted already.
fn resize(
    word: &Ident,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<Option<Resize>> {
    if !input.peek(token::Paren) {
        return Err(syn::Error::new_spanned(word, format_args!("expected `{}`", words::RESIZE)));
    }
    let content;
    parenthesized!(content in input);
    let (mut lb, mut extent) = (None, None);
    // A value with a mistake in it is not missing.
    let (mut lb_seen, mut extent_seen) = (false, false);
    words_of(&content, errors, &mut |inner, input, errors| {
        match inner.to_string().as_str() {
            "lb" => {
                lb_seen = true;
                once(&mut lb, inner, expression(inner, input, words::RESIZE_LB)?, errors);
            }
            "extent" => {
                extent_seen = true;
                once(&mut extent, inner, expression(inner, input, words::RESIZE_EXTENT)?, errors);
            }
            _ => {
                return Err(syn::Error::new_spanned(
                    inner,
                    format_args!("unknown word `{inner}`; expected `{}`", words::RESIZE),
                ));
            }
        }
        Ok(())
    });
    for (seen, missing) in [(lb_seen, "lb"), (extent_seen, "extent")] {
        if !seen {
            errors.at(word, format_args!("`{missing}` is missing: `{}`", words::RESIZE));
        }
    }
    Ok(lb.zip(extent).map(|(lb, extent)| Resize { lb, extent }))
}

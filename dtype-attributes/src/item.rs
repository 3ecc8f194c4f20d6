//! The attributes of a struct or an enum.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprPath, LitStr, Path, Token, WherePredicate, parenthesized, token};

use crate::errors::Errors;
use crate::words::{self, misplaced};
use crate::{Place, each_word, expression, once, string, value, words_of};

/// The contents of an item's attributes.
#[derive(Default)]
pub struct ItemAttrs {
    /// The bounds that replace the item's own, as `MPI_Type_create_resized` does.
    pub resize: Option<Resize>,
    /// The displacement of an `MPI_LB` marker.
    pub lb: Option<Displacement>,
    /// The displacement of an `MPI_UB` marker.
    pub ub: Option<Displacement>,
    /// The foreign type that is described instead of this one.
    pub remote: Option<Path>,
    /// The path of the runtime.
    pub krate: Option<Path>,
    /// The where predicates that replace the inferred ones.
    pub bound: Option<Vec<WherePredicate>>,
    /// The name in place of the item's own.
    pub name: Option<LitStr>,
    /// The function that checks the invariant.
    pub check: Option<Check>,
}

/// `check = path`.
pub struct Check {
    /// The word `check`.
    pub word: Ident,
    /// `function`, or `<Type as Trait>::function`.
    pub path: ExprPath,
}

/// `lb = E` or `ub = E`.
pub struct Displacement {
    /// The word.
    pub word: Ident,
    /// The displacement in bytes, of type `i64`.
    pub value: Expr,
}

/// `resize(lb = E, extent = E)`.
pub struct Resize {
    /// The word `resize`.
    pub word: Ident,
    /// The lower bound in bytes, of type `i64`.
    pub lb: Expr,
    /// The extent in bytes, of type `i64`.
    pub extent: Expr,
}

impl ItemAttrs {
    /// Reads the attributes of an item. A word with a mistake is recorded in `errors` and left out.
    pub fn read(attributes: &[Attribute], place: Place, errors: &mut Errors) -> Self {
        let mut attrs = Self::default();
        each_word(attributes, place, errors, |word, input, errors| {
            attrs.word(word, input, place, errors)
        });
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
                let path = value(word, input, words::CRATE, Path::parse_mod_style)?;
                once(&mut self.krate, word, path, errors);
            }
            "name" => once(&mut self.name, word, string(word, input, words::NAME)?, errors),
            "remote" => {
                let path = value(word, input, words::REMOTE, Path::parse)?;
                if may_be_fickle(path.to_token_stream()) {
                    return Err(syn::Error::new_spanned(
                        path,
                        "the output contains this path more than once, and a macro in it may expand \
                         differently each time: name the type with `type` and write that name here",
                    ));
                }
                once(&mut self.remote, word, path, errors);
            }
            "check" if on_struct => {
                let path = value(word, input, words::CHECK, ExprPath::parse)?;
                once(&mut self.check, word, Check { word: word.clone(), path }, errors);
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

/// Whether the tokens may contain a macro or an attribute.
fn may_be_fickle(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => may_be_fickle(group.stream()),
        TokenTree::Punct(punct) => matches!(punct.as_char(), '!' | '#'),
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    })
}

/// The predicates in the string of `bound = "…"`, which may be empty.
fn bound(string: &LitStr) -> syn::Result<Vec<WherePredicate>> {
    let parser = Punctuated::<WherePredicate, Token![,]>::parse_terminated;
    let predicates =
        string.parse_with(|input: ParseStream<'_>| parser(input)).map_err(|error| {
            // The parser's position is inside the string, where nothing can be underlined.
            syn::Error::new_spanned(string, format_args!("expected {} ({error})", words::BOUND))
        })?;
    Ok(predicates.into_iter().collect())
}

/// The two values of `resize(…)`; `None` after a mistake, which is then already recorded.
fn resize(
    word: &Ident,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<Option<Resize>> {
    if !input.peek(token::Paren) {
        return Err(syn::Error::new_spanned(word, format_args!("expected {}", words::RESIZE)));
    }
    let content;
    parenthesized!(content in input);
    let (mut lb, mut extent) = (None, None);
    // A value with a mistake in it is not missing.
    let (mut lb_seen, mut extent_seen) = (false, false);
    let expected = format!("`{}` or `{}`", words::RESIZE_LB.form, words::RESIZE_EXTENT.form);
    words_of(&content, &expected, errors, &mut |inner, input, errors| {
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
                    format_args!("unknown word `{inner}`; expected `{}`", words::RESIZE.form),
                ));
            }
        }
        Ok(())
    });
    for (seen, missing) in [(lb_seen, "lb"), (extent_seen, "extent")] {
        if !seen {
            errors.at(word, format_args!("`{missing}` is missing: `{}`", words::RESIZE.form));
        }
    }
    Ok(lb.zip(extent).map(|(lb, extent)| Resize { word: word.clone(), lb, extent }))
}

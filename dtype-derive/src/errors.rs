//! Collects mistakes, so that one compilation reports all mistakes in an item.

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;

/// The mistakes found so far, in the order in which they were found.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Records a mistake that underlines all of `tokens`.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    /// Records a mistake that the parser found.
    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Records the mistakes that were found in a part, in other words.
    pub(crate) fn extend(&mut self, others: Self, words: impl Fn(String) -> String) {
        for error in others.0.into_iter().flatten() {
            self.push(syn::Error::new(error.span(), words(error.to_string())));
        }
    }

    /// The `compile_error!`s; `None` if there was no mistake.
    pub(crate) fn into_compile_errors(self) -> Option<TokenStream> {
        self.0.map(syn::Error::into_compile_error)
    }
}

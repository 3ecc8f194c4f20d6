//! Collects mistakes, so that all mistakes in an item are reported together.

use std::fmt::Display;

use quote::ToTokens;

/// The mistakes found so far, in the order in which they were found.
#[derive(Debug, Default)]
pub struct Errors(Option<syn::Error>);

impl Errors {
    /// Records a mistake that underlines all of `tokens`.
    pub fn at(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    /// Records a mistake that the parser found.
    pub fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Records the mistakes that were found in a part, in other words.
    pub fn extend(&mut self, others: Self, words: impl Fn(String) -> String) {
        for error in others.0.into_iter().flatten() {
            self.push(syn::Error::new(error.span(), words(error.to_string())));
        }
    }

    /// All mistakes; `None` if there was none.
    pub fn into_error(self) -> Option<syn::Error> {
        self.0
    }
}

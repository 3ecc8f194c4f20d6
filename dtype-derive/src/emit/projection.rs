//! The expression that leads from a struct to one of its fields.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

use crate::model::Field;

/// A `fn(*const Of) -> *const Field` for the field of that name. The compiler infers the return type:
/// this is how the emitted code learns the type of a field.
///
/// `&raw const` makes no reference, which a packed field would not allow.
///
/// The expression begins and ends with the span of the field's type, so that an error about the type
/// underlines the type. Everything between, `unsafe` above all, has the span of the derive, so that the
/// lints of the user's crate do not apply to it.
pub(super) fn projection(of: &TokenStream, field: &Field<'_>) -> TokenStream {
    let member = &field.member;
    let place = Ident::new("__dtype_place", Span::mixed_site());
    let closure = quote!(|#place: *const #of| unsafe { &raw const (*#place).#member });
    let (first, last) = ends(&field.ty.to_token_stream());
    let mut closure = Group::new(Delimiter::Parenthesis, closure);
    closure.set_span(first);
    let pointer = quote_spanned!(last=> as fn(*const #of) -> *const _);
    quote!(#closure #pointer)
}

/// The spans of the first and the last token, with the derive's own hygiene.
pub(super) fn ends(tokens: &TokenStream) -> (Span, Span) {
    let derive = Span::call_site();
    let mut spans = tokens.clone().into_iter().map(|token| token.span());
    let first = spans.next().unwrap_or(derive);
    let last = spans.last().unwrap_or(first);
    (derive.located_at(first), derive.located_at(last))
}

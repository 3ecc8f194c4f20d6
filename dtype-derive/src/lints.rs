//! The lints of the user's crate.
//!
//! Few lints apply to code that another crate's macro emits. The emitted code allows such a lint only if there is a reason,
//! because an `allow` is an error in a crate that forbids the lint.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Data, DeriveInput, Fields, Meta};

/// Attributes for the emitted code: the lints that the author allows for the item, and `deprecated` if the
/// item or a part of it is deprecated.
pub(crate) fn allowed(input: &DeriveInput) -> Vec<TokenStream> {
    let mut allowed: Vec<_> = input.attrs.iter().filter_map(repeated).collect();
    // The bounds of the impl repeat the types of fields.
    if let Data::Struct(data) = &input.data {
        let of_fields = data.fields.iter().flat_map(|field| &field.attrs);
        allowed.extend(of_fields.filter_map(repeated));
    }
    if mentions_deprecated(input) {
        allowed.push(quote!(#[allow(deprecated)]));
    }
    allowed
}

/// An `allow` or `expect`, as an `allow`: the emitted code need not fulfil the expectation.
fn repeated(attribute: &Attribute) -> Option<TokenStream> {
    match &attribute.meta {
        Meta::List(list) if list.path.is_ident("allow") || list.path.is_ident("expect") => {
            let lints = &list.tokens;
            Some(quote!(#[allow(#lints)]))
        }
        _ => None,
    }
}

fn mentions_deprecated(input: &DeriveInput) -> bool {
    let is_deprecated = |attribute: &Attribute| attribute.path().is_ident("deprecated");
    let in_fields =
        |fields: &Fields| fields.iter().any(|field| field.attrs.iter().any(is_deprecated));
    input.attrs.iter().any(is_deprecated)
        || match &input.data {
            Data::Struct(data) => in_fields(&data.fields),
            Data::Enum(data) => {
                data.variants.iter().any(|variant| variant.attrs.iter().any(is_deprecated))
            }
            Data::Union(_) => false,
        }
}

//! The type map of a struct.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, ExprPath, Path};

use super::Target;
use super::projection::{ends, projection};
use crate::hint::Hint;
use crate::model::{Field, Item};
use dtype_attributes::{ItemAttrs, Resize};

/// The expression for the map.
pub(super) fn map(item: &Item<'_>, fields: &[Field<'_>], target: &Target) -> TokenStream {
    let Target { private, ty, .. } = target;
    let name = item.name();
    let exhaustive = exhaustive(fields, target);
    let honest = target.is_remote.then(|| honest(fields, target));
    let entries = fields.iter().map(|field| entry(field, target));
    let markers = markers(&item.attrs, fields, target);
    let checked = item.attrs.check.as_ref().map(|check| checked(&check.path, target));
    quote!({
        #exhaustive
        #honest
        &#private::TypeMap::structure::<#ty>(#name, const { &[#(#entries),*] }, #markers) #checked
    })
}

/// The invariant. The function is called in a closure, so that no type need be named: its argument is the struct.
fn checked(path: &ExprPath, Target { private, ty, .. }: &Target) -> TokenStream {
    let (bytes, value) = (local("__dtype_bytes"), local("__dtype_value"));
    // The name is prefixed, because the user's module may have a constant or a static that is called `check`.
    let check = local("__dtype_check");
    let call = quote_spanned!(ends(&path.to_token_stream()).1=> (#value));
    quote! {
        .checked(|#bytes| {
            let #check = |#value: &#ty| #path #call;
            unsafe { #private::call_check::<#ty, _>(#bytes, #check) }
        })
    }
}

fn local(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// Two patterns: the first has no `..` and so covers every field; the second has one, which
/// the compiler refuses for a union.
fn exhaustive(fields: &[Field<'_>], Target { ty, constructor, .. }: &Target) -> TokenStream {
    let members = fields.iter().map(|field| &field.member);
    // With this span on the braces, the compiler reports a missing field of a foreign struct at the path in the attribute.
    // Clippy takes the pattern for the author's own. It has a lint that wants `..` instead of `x: _`, but not instead of `x:
    // (_)`.
    let end = constructor.clone().into_iter().last().map_or(Span::call_site(), |last| last.span());
    let mut all = Group::new(Delimiter::Brace, quote!(#(#members: (_)),*));
    all.set_span(end);
    let value = Ident::new("__dtype_value", Span::mixed_site());
    let is_no_union = fields
        .first()
        .map(|Field { member, .. }| quote!(let #constructor { #member: _, .. } = #value;));
    quote! {
        let _: fn(&#ty) = |#value| {
            let #constructor #all = #value;
            #is_no_union
        };
    }
}

/// For a foreign struct: checks that the local fields have the same types. This uses every local field,
/// so that the compiler does not report the local struct as dead code.
fn honest(fields: &[Field<'_>], Target { private, ty, .. }: &Target) -> TokenStream {
    let local = quote!(Self);
    fields
        .iter()
        .map(|field| {
            let here = projection(&local, field);
            if field.is_mapped() {
                let there = projection(ty, field);
                quote!(#private::same_type(#there, #here);)
            } else {
                quote!(let _ = #here;)
            }
        })
        .collect()
}

/// One `Field` of the map.
pub(super) fn entry(field: &Field<'_>, target: &Target) -> TokenStream {
    let private = &target.private;
    let name = field.name();
    let offset = offset(field, target);
    let place = projection(&target.ty, field);
    if !field.is_mapped() {
        let size = quote!(#private::field_size(#place));
        return quote!(#private::Field::skipped(#name, #offset, #size));
    }
    let map = if let Some(with) = &field.attrs.with {
        let description = description(with, private);
        quote!(#private::field_map_with(#place, #description))
    } else {
        let function = Hint::for_type(field.ty).function();
        quote!(#private::#function(#place))
    };
    let default = field.attrs.default.as_ref().map(|word| {
        let function = located(quote!(#private::field_default), word.span());
        quote!(.with_default(#function(#place)))
    });
    quote!(#private::Field::new(#name, #offset, #map) #default)
}

/// `PhantomData::<With>`, with the spans of the path in the attribute.
fn description(with: &Path, private: &TokenStream) -> TokenStream {
    let (first, last) = ends(&with.to_token_stream());
    let phantom = quote!(#private::core::marker::PhantomData::<);
    let mut description = located(phantom, first);
    with.to_tokens(&mut description);
    description.extend(quote_spanned!(last=> >));
    description
}

/// Returns the tokens with the span `place`.
fn located(tokens: TokenStream, place: Span) -> TokenStream {
    let tokens = tokens.into_iter().map(|mut token| {
        token.set_span(token.span().located_at(place));
        token
    });
    tokens.collect()
}

fn offset(field: &Field<'_>, Target { private, ty, .. }: &Target) -> TokenStream {
    let member = &field.member;
    quote!(#private::memoffset::offset_of!(#ty, #member))
}

fn markers(item: &ItemAttrs, fields: &[Field<'_>], target: &Target) -> TokenStream {
    let private = &target.private;
    let none = quote!(#private::Markers);
    if let Some(Resize { lb, extent, .. }) = &item.resize {
        let (lb, extent) = (displacement(lb, target), displacement(extent, target));
        return quote!(#none::resized(#lb, #extent));
    }
    let start = fields.iter().find(|field| field.attrs.lb.is_some());
    let lb = match (&item.lb, start) {
        (Some(lb), _) => Some(displacement(&lb.value, target)),
        (None, Some(field)) => Some(start_of(field, target)),
        (None, None) => None,
    };
    let end = fields.iter().find(|field| field.attrs.ub.is_some());
    let ub = match (&item.ub, end) {
        (Some(ub), _) => Some(displacement(&ub.value, target)),
        (None, Some(field)) => Some(end_of(field, target)),
        (None, None) => None,
    };
    let lb = lb.map(|lb| quote!(.with_lb(#lb)));
    let ub = ub.map(|ub| quote!(.with_ub(#ub)));
    quote!(#none::NONE #lb #ub)
}

/// The author's expression, with its own span, so that the compiler underlines a wrong type there. A value that
/// is too large is underlined, too. In a `const` block of its own, a `return` in it is an error.
fn displacement(value: &Expr, Target { private, .. }: &Target) -> TokenStream {
    let local = local("__dtype_displacement");
    let value = value.to_token_stream();
    let (first, last) = ends(&value);
    let function = located(quote!(#private::bound), first);
    let call = quote_spanned!(last=> (#local));
    quote!(const { let #local: #private::core::primitive::i64 = #value; #function #call })
}

fn start_of(field: &Field<'_>, target: &Target) -> TokenStream {
    let private = &target.private;
    let offset = offset(field, target);
    quote!(#offset as #private::core::primitive::i64)
}

/// The end of a field. It is at most the size of the struct, so the addition never saturates.
fn end_of(field: &Field<'_>, target: &Target) -> TokenStream {
    let private = &target.private;
    let start = offset(field, target);
    let place = projection(&target.ty, field);
    quote! {
        #start.saturating_add(#private::field_size(#place)) as #private::core::primitive::i64
    }
}

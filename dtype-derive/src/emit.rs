//! Writing the impl.
//!
//! Soundness is decided by the emitted code, which trusts nothing that the derive has read. Another attribute macro may change
//! the item after the derive has seen it, and a macro in type position may expand differently each time. So the compiler infers
//! a field's type from the field itself and reports its offset, and a pattern without `..` turns a field that the derive does
//! not know into an error.
//!
//! For `struct Sample { value: f64, flag: bool }`, the emitted code is essentially
//!
//! ```text
//! unsafe impl Datatype for Sample {
//!     const TYPE_MAP: &'static TypeMap = {
//!         let _: fn(&Self) = |v| { let Self { value: _, flag: _ } = v; };     // no field is missing
//!         &TypeMap::structure::<Self>("Sample", const { &[
//!             Field::new("value", offset_of!(Self, value), field_map(|s| &raw const (*s).value)),
//!             Field::new("flag", offset_of!(Self, flag), field_map(|s| &raw const (*s).flag)),
//!         ] }, Markers::NONE)
//!     };
//! }
//! ```

mod enumeration;
mod projection;
mod structure;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{GenericParam, Lifetime, Path, PathArguments};

use crate::bound;
use crate::check::{is_unsized, refuses};
use crate::lints;
use crate::model::{Body, Item};
use dtype_attributes::parenthesised;

/// The impl for an item in which no mistake was found.
pub(crate) fn emit(item: &Item<'_>) -> TokenStream {
    let target = Target::new(item);
    let map = match &item.body {
        Body::Struct(fields) => Some(structure::map(item, fields, &target)),
        Body::Enum(variants) => enumeration::map(item, variants, &target),
        Body::Union(_) => None,
    };
    // Not reached: without a map, the check has recorded a mistake. Even if it were, emitting no impl would be sound: each use
    // of the type as a datatype is then an error.
    let Some(map) = map else { return TokenStream::new() };
    let predicates = bound::predicates(item, &target.private);
    implementation(item, &target, &predicates, &map, evaluation(item, &target).as_ref())
}

/// A placeholder impl for an item with a mistake, so that uses of the item do not add errors of their own.
/// It is emitted together with a `compile_error!`, so it never reaches a program.
///
/// Its map has the fields that have no mistake and need no bound, so that the same compilation also reports which of them is
/// not a datatype.
pub(crate) fn fallback(item: &Item<'_>) -> TokenStream {
    if let Body::Struct(fields) = &item.body
        && fields.last().is_some_and(|field| is_unsized(field.ty))
    {
        return TokenStream::new();
    }
    let target = Target::new(item);
    let Target { private, ty, .. } = &target;
    let name = item.name();
    let fields = match &item.body {
        Body::Struct(fields) if !target.is_remote => fields.as_slice(),
        _ => &[],
    };
    let independent = fields.iter().filter(|field| {
        let is_plain = field.is_mapped() && field.attrs.with.is_none();
        is_plain && !refuses(field.ty) && !bound::mentions_parameters(item, field.ty)
    });
    let entries = independent.map(|field| structure::entry(field, &target));
    let map = quote! {
        &#private::TypeMap::structure::<#ty>(
            #name,
            const { &[#(#entries),*] },
            #private::Markers::NONE,
        )
    };
    // With an unsized parameter, the item may have an unsized tail, which the compiler would report in many errors.
    let sized =
        item.generics.type_params().next().map(|_| quote!(Self: #private::core::marker::Sized));
    implementation(item, &target, sized.as_slice(), &map, None)
}

/// The type whose layout is described, and the names that the emitted code uses for it and the runtime.
struct Target {
    /// The runtime's private module.
    private: TokenStream,
    /// The type described: `Self`, or the foreign one.
    ty: TokenStream,
    /// The type's name as written in a pattern or a struct expression, without generic arguments.
    constructor: TokenStream,
    /// The trait that is implemented, and its constant.
    implemented: TokenStream,
    constant: Ident,
    is_remote: bool,
}

impl Target {
    fn new(item: &Item<'_>) -> Self {
        let krate = item.attrs.krate.as_ref();
        let krate = krate.map_or(quote!(::dtype_runtime), ToTokens::to_token_stream);
        let private = quote!(#krate::__private);
        match &item.attrs.remote {
            Some(remote) => Self {
                ty: remote.to_token_stream(),
                constructor: without_arguments(remote).to_token_stream(),
                implemented: quote!(#private::Describes<#remote>),
                constant: Ident::new("FOREIGN_MAP", Span::mixed_site()),
                is_remote: true,
                private,
            },
            None => Self {
                ty: quote!(Self),
                constructor: quote!(Self),
                implemented: quote!(#private::Datatype),
                constant: Ident::new("TYPE_MAP", Span::mixed_site()),
                is_remote: false,
                private,
            },
        }
    }
}

fn without_arguments(path: &Path) -> Path {
    let mut path = path.clone();
    for segment in &mut path.segments {
        segment.arguments = PathArguments::None;
    }
    path
}

fn implementation(
    item: &Item<'_>,
    target: &Target,
    predicates: &[TokenStream],
    map: &TokenStream,
    evaluation: Option<&TokenStream>,
) -> TokenStream {
    let ident = item.ident;
    let Target { private, implemented, constant, .. } = target;
    // Other attributes of parameters belong to other derives.
    let mut generics = item.generics.clone();
    for parameter in &mut generics.params {
        let attributes = match parameter {
            GenericParam::Lifetime(parameter) => &mut parameter.attrs,
            GenericParam::Type(parameter) => &mut parameter.attrs,
            GenericParam::Const(parameter) => &mut parameter.attrs,
        };
        attributes.retain(|a| a.path().is_ident("allow") || a.path().is_ident("expect"));
    }
    let (impl_generics, ty_generics, _) = generics.split_for_impl();
    let impl_generics = parenthesised(impl_generics.to_token_stream());
    let own = item.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let own = own.map(|predicate| parenthesised(predicate.to_token_stream()));
    let allowed = lints::allowed(item.source);
    quote! {
        #(#allowed)*
        const _: () = {
            #[automatically_derived]
            unsafe impl #impl_generics #implemented for #ident #ty_generics
            where
                #(#own,)*
                #(#predicates,)*
            {
                const #constant: &'static #private::TypeMap = #map;
            }
            #evaluation
        };
    }
}

/// A constant that uses the type map, so that `cargo check` evaluates it and reports mistakes in the
/// layout even before anything uses the type. The map of a generic type cannot be evaluated.
fn evaluation(item: &Item<'_>, target: &Target) -> Option<TokenStream> {
    let ident = item.ident;
    let Target { private, implemented, constant, is_remote, .. } = target;
    let mut lifetimes = Vec::new();
    for parameter in &item.generics.params {
        match parameter {
            // The path of the foreign type may name the lifetime, which is not in scope outside the impl.
            GenericParam::Lifetime(lifetime) if !is_remote => {
                lifetimes.push(Lifetime::new("'static", lifetime.lifetime.span()));
            }
            _ => return None,
        }
    }
    Some(quote! {
        const _: &#private::TypeMap = <#ident<#(#lifetimes),*> as #implemented>::#constant;
    })
}

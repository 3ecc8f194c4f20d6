//! Writing the impl.
//!
//! The emitted code is where soundness is decided, and it trusts nothing that the derive has read.
//! Another attribute macro may change the item after the derive has seen it, and a macro in type
//! position may expand differently each time. So a field's type is taken from its place, its offset
//! is asked of the compiler, and a pattern without `..` makes a field that the derive does not know
//! an error.

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

/// The impl for an item in which no mistake was found.
pub(crate) fn emit(item: &Item<'_>) -> TokenStream {
    let target = Target::of(item);
    let map = match &item.body {
        Body::Struct(fields) => Some(structure::map(item, fields, &target)),
        Body::Enum(variants) => enumeration::map(item, variants, &target),
        Body::Union(_) => None,
    };
    // Where there is no map, the check has noted why and this is not reached. An impl without one
    // would be unsound, and no impl is only an error where one is used.
    let Some(map) = map else { return TokenStream::new() };
    let predicates = bound::predicates(item, &target.private);
    implementation(item, &target, &predicates, &map, evaluation(item, &target).as_ref())
}

/// An impl that means nothing, for an item in which a mistake was found: so that its uses do not add
/// errors of their own to those that the author has to read. It goes out together with a
/// `compile_error!` and so never into a program.
///
/// Its map has the fields in which nothing was found, as far as no bound is needed for them, so that
/// the compiler says in the same go which of them is no datatype.
pub(crate) fn fallback(item: &Item<'_>) -> TokenStream {
    if let Body::Struct(fields) = &item.body
        && fields.last().is_some_and(|field| is_unsized(field.ty))
    {
        return TokenStream::new();
    }
    let target = Target::of(item);
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
    implementation(item, &target, &[], &map, None)
}

/// The type whose layout is described, and by which name the emitted code reaches the runtime.
struct Target {
    /// The runtime's private module.
    private: TokenStream,
    /// The type described: `Self`, or the foreign one.
    ty: TokenStream,
    /// The same as it stands in a pattern or a struct expression, without generic arguments.
    constructor: TokenStream,
    /// The trait that is implemented, and its constant.
    implemented: TokenStream,
    constant: Ident,
    is_remote: bool,
}

impl Target {
    fn of(item: &Item<'_>) -> Self {
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
    // Attributes of parameters belong to the derives that know them, which this impl has none of.
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
    let own = item.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    // A list of all the types that have been derived helps nobody whose own type is none of them. An
    // impl with bounds stays, because it leads to the argument that does not meet them.
    let is_generic = item.generics.type_params().next().is_some();
    let unlisted = (!is_generic).then(|| quote!(#[diagnostic::do_not_recommend]));
    let allowed = lints::allowed(item.source);
    quote! {
        #(#allowed)*
        const _: () = {
            #[automatically_derived]
            #unlisted
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

/// A constant that needs the type map, so that `cargo check` evaluates it and reports what is wrong
/// with the layout, even where nothing uses it yet. The map of a generic type has no value to
/// evaluate.
fn evaluation(item: &Item<'_>, target: &Target) -> Option<TokenStream> {
    let ident = item.ident;
    let Target { private, implemented, constant, is_remote, .. } = target;
    let mut lifetimes = Vec::new();
    for parameter in &item.generics.params {
        match parameter {
            // The path of the foreign type may name the lifetime, which means nothing out there.
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

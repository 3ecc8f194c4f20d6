//! The where clause of the impl.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Generics, Path, Type, TypeArray, TypeGroup, TypeParen};

use crate::hint::Hint;
use crate::model::{Body, Field, Item};
use dtype_attributes::parenthesised;

/// The predicates that the impl adds to the item's own: the predicates of `bound = "…"`, or else one for
/// every mapped field whose type mentions a type parameter.
///
/// The bound is on the field's type and not on the parameter. This accepts `PhantomData<T>` for any `T`, and `T::Item` if only
/// the item is a datatype. The bound repeats the tokens of the type, which the map itself never does. If a macro in them
/// expands differently the second time, the body of the impl lacks the bound that it needs, and does not compile.
pub(crate) fn predicates(item: &Item<'_>, private: &TokenStream) -> Vec<TokenStream> {
    if let Some(bound) = &item.attrs.bound {
        return bound.iter().map(ToTokens::to_token_stream).collect();
    }
    let Body::Struct(fields) = &item.body else { return Vec::new() };
    let parameters = Parameters::new(item.generics);
    if parameters.0.is_empty() {
        return Vec::new();
    }
    let mapped = fields.iter().filter(|field| field.is_mapped());
    let predicates = mapped.flat_map(|field| field_predicates(field, &parameters, private));
    predicates.map(parenthesised).collect()
}

/// Whether a type depends on a type parameter of the item.
pub(crate) fn mentions_parameters(item: &Item<'_>, ty: &Type) -> bool {
    !Parameters::new(item.generics).mentioned_in(ty.to_token_stream()).is_empty()
}

fn field_predicates(
    Field { ty, attrs, .. }: &Field<'_>,
    parameters: &Parameters,
    private: &TokenStream,
) -> Vec<TokenStream> {
    if let Some(with) = &attrs.with {
        return description_predicates(with, ty, parameters, private);
    }
    let mentioned = parameters.mentioned_in(ty.to_token_stream());
    if Hint::is_hopeless(ty) && !parameters.begin(ty) {
        // `where Vec<T>: Datatype` would compile to an impl that can never be used. With bounds on the
        // parameters, the compiler reports the mistake here, and a datatype of the user's own that is
        // called `Vec` still compiles.
        return mentioned.iter().map(|parameter| quote!(#parameter: #private::Datatype)).collect();
    }
    if mentioned.is_empty() { Vec::new() } else { vec![quote!(#ty: #private::Datatype)] }
}

fn description_predicates(
    with: &Path,
    ty: &Type,
    parameters: &Parameters,
    private: &TokenStream,
) -> Vec<TokenStream> {
    let mut tokens = with.to_token_stream();
    ty.to_tokens(&mut tokens);
    if parameters.mentioned_in(tokens).is_empty() {
        Vec::new()
    } else {
        vec![quote!(#with: #private::Describes<#ty>)]
    }
}

/// The type parameters of an item.
struct Parameters(Vec<Ident>);

impl Parameters {
    fn new(generics: &Generics) -> Self {
        Self(generics.type_params().map(|parameter| parameter.ident.clone()).collect())
    }

    /// Whether the type is an associated type, whose name says nothing about its layout.
    fn begin(&self, ty: &Type) -> bool {
        match ty {
            Type::Paren(TypeParen { elem, .. })
            | Type::Group(TypeGroup { elem, .. })
            | Type::Array(TypeArray { elem, .. }) => self.begin(elem),
            Type::Path(path) => {
                path.qself.is_some()
                    || path.path.segments.len() > 1 && self.0.contains(&path.path.segments[0].ident)
            }
            _ => false,
        }
    }

    /// The parameters that occur anywhere in the tokens, including the arguments of macros. A false match,
    /// such as in `module::T`, adds a bound that holds anyway.
    ///
    /// `<Self as Trait>::Item` may depend on all of them. `Self` elsewhere mentions none, because a bound on
    /// `Link<Self>` could be met only if it were met already.
    fn mentioned_in(&self, tokens: TokenStream) -> Vec<&Ident> {
        if has_item_of_self(tokens.clone()) {
            return self.0.iter().collect();
        }
        let mut found = Vec::new();
        self.collect(tokens, &mut found);
        found
    }

    fn collect<'a>(&'a self, tokens: TokenStream, found: &mut Vec<&'a Ident>) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.collect(group.stream(), found),
                TokenTree::Ident(ident) => {
                    let parameter = self.0.iter().find(|p| p.unraw() == ident.unraw());
                    if let Some(parameter) = parameter
                        && !found.contains(&parameter)
                    {
                        found.push(parameter);
                    }
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
}

/// Whether there is a `Self as` anywhere in the tokens.
fn has_item_of_self(tokens: TokenStream) -> bool {
    let mut is_after_self = false;
    tokens.into_iter().any(|token| {
        let was_after_self = std::mem::take(&mut is_after_self);
        match token {
            TokenTree::Group(group) => has_item_of_self(group.stream()),
            TokenTree::Ident(ident) => {
                is_after_self = ident == "Self";
                was_after_self && ident == "as"
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => false,
        }
    })
}

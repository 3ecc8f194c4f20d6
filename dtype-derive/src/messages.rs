//! `#[derive(Messages)]`: an enum whose variants are the messages of a stream.
//!
//! Each variant holds one value that is itself a message, and has a tag. The impl passes every method on to the
//! variant's value: when a message is written, the value selects the variant, and when one is read, the tag does.

use std::collections::BTreeMap;

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DataEnum, DeriveInput, Expr, Fields, Path, Type, parse_quote};

use crate::attr::{self, MessageAttrs};
use crate::check::check_message;
use crate::errors::Errors;
use crate::fragments::parenthesised;
use crate::hint::{Hint, List, list};
use crate::lints;

/// A variant without mistakes.
struct Message<'a> {
    ident: &'a Ident,
    /// The type of the variant's value; `None` for a variant without data.
    ty: Option<&'a Type>,
    tag: u32,
    /// The greatest number of bytes of payload, of records and of bytes of text.
    limits: [Option<Expr>; 3],
}

/// The impl, or errors for all mistakes.
pub(crate) fn derive(input: &DeriveInput) -> TokenStream {
    let mut errors = Errors::default();
    let krate = attr::message_crate(&input.attrs, &mut errors);
    let krate = krate.unwrap_or_else(|| parse_quote!(::dtype_message));
    let messages = match &input.data {
        Data::Enum(data) => messages(data, &mut errors),
        Data::Struct(_) | Data::Union(_) => {
            errors.at(
                &input.ident,
                "`Messages` is derived for an enum of the messages of a stream: a struct with \
                 `#[derive(Datatype)]` is a message as it is",
            );
            Vec::new()
        }
    };
    if !input.generics.params.is_empty() {
        errors.at(
            &input.generics,
            "an enum of messages takes no parameters: each tag stands for one type",
        );
    }
    errors.into_compile_errors().unwrap_or_else(|| emit(input, &krate, &messages))
}

/// The variants and their tags: the given tag, or otherwise the previous tag plus 1.
fn messages<'a>(data: &'a DataEnum, errors: &mut Errors) -> Vec<Message<'a>> {
    let mut taken: BTreeMap<u32, &Ident> = BTreeMap::new();
    let mut next = Some(0);
    let mut messages = Vec::new();
    for variant in &data.variants {
        let ident = &variant.ident;
        let attrs = MessageAttrs::read(&variant.attrs, errors);
        let Some(tag) = attrs.tag.or(next) else {
            errors.at(ident, "there is no tag after 4294967295: write `#[dtype(tag = N)]`");
            continue;
        };
        if let Some(other) = taken.insert(tag, ident) {
            errors.at(ident, format_args!("the tag {tag} is already that of `{other}`"));
        }
        next = tag.checked_add(1);
        for field in &variant.fields {
            attr::refuse_on_value(&field.attrs, errors);
            check_message(records(&field.ty), errors);
        }
        let ty = match &variant.fields {
            Fields::Unit => None,
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                fields.unnamed.first().map(|field| &field.ty)
            }
            _ => {
                errors.at(
                    variant,
                    "a message holds one value: put these fields into a struct with \
                     `#[derive(Datatype)]`, and that struct here",
                );
                continue;
            }
        };
        messages.push(Message { ident, ty, tag, limits: attrs.limits });
    }
    messages
}

/// The type of the records of a message, if it is a `Vec` by its path.
fn records(ty: &Type) -> &Type {
    match list(ty) {
        Some(List::Records(records)) => records,
        _ => ty,
    }
}

/// Bounds for types of which the path says that they are not datatypes, and calls that need the same bounds: the compiler
/// reports a call with the advice that a field of this type gets. Because of the bounds, it does not report each place where the
/// impl uses the type.
fn advice(messages: &[Message<'_>], krate: &Path, ident: &Ident) -> (TokenStream, TokenStream) {
    let (mut bounds, mut calls) = (TokenStream::new(), TokenStream::new());
    for ty in messages.iter().filter_map(|message| message.ty) {
        let is_text = matches!(list(ty), Some(List::Text));
        let records = records(ty);
        let Some(bound) = Hint::for_type(records).bound().filter(|_| !is_text) else { continue };
        let ty = repeated(records, ident);
        bounds.extend(quote_spanned!(records.span()=> #ty: #krate::__private::#bound,));
        calls.extend(quote! {
            const _: fn() = {
                fn message<T: #krate::__private::#bound>() {}
                message::<#ty>
            };
        });
    }
    (if bounds.is_empty() { bounds } else { quote!(where #bounds) }, calls)
}

/// The limits of the receiver, and those of the variant if it has any.
fn limits(message: &Message<'_>, krate: &Path) -> TokenStream {
    if message.limits.iter().all(Option::is_none) {
        return quote!(__dtype_limits);
    }
    let limits = message.limits.iter().map(|limit| match limit {
        Some(limit) => quote!(const { #limit }),
        None => quote!(#krate::__private::core::primitive::u64::MAX),
    });
    quote!(&#krate::__private::narrowed(__dtype_limits, #(#limits),*))
}

/// The impl. The names that it binds are prefixed: a binding may not have the name of a constant or a static of
/// the user's module.
fn emit(input: &DeriveInput, krate: &Path, messages: &[Message<'_>]) -> TokenStream {
    let ident = &input.ident;
    let name = ident.unraw().to_string();
    let assembler = Ident::new("__DtypeAssembler", Span::call_site());
    let core = quote!(#krate::__private::core);
    let result = quote!(#core::result::Result);

    let variants: Vec<_> = messages.iter().map(|message| message.ident).collect();
    let tags: Vec<_> = messages.iter().map(|message| message.tag).collect();
    let types: Vec<_> = messages
        .iter()
        .map(|message| message.ty.map_or_else(|| quote!(()), |ty| repeated(ty, ident)))
        .collect();
    let sending = sending(krate, messages, &types);
    let limits: Vec<_> = messages.iter().map(|message| limits(message, krate)).collect();
    let quick = quick(krate, messages, &types, &limits);
    let names: Vec<_> = variants.iter().map(|variant| variant.unraw().to_string()).collect();
    let (bounds, calls) = advice(messages, krate, ident);
    let trivial = (!bounds.is_empty()).then(|| quote!(#[allow(trivial_bounds)]));
    let makers: Vec<_> = messages
        .iter()
        .map(
            |Message { ident, ty, .. }| {
                if ty.is_some() { quote!(Self::#ident) } else { quote!(|()| Self::#ident) }
            },
        )
        .collect();
    let allowed = lints::allowed(input);

    quote! {
        #(#allowed)*
        const _: () = {
            #calls

            #[doc(hidden)]
            #trivial
            pub enum #assembler #bounds {
                #(#variants(<#types as #krate::Messages>::Assembler),)*
            }

            #[automatically_derived]
            #trivial
            impl #krate::Messages for #ident #bounds {
                type Assembler = #assembler;

                #sending

                #quick

                fn begin(
                    __dtype_header: &#krate::Header,
                    __dtype_limits: &#krate::Limits,
                ) -> #result<#assembler, #krate::Error> {
                    match __dtype_header.tag() {
                        #(#tags => #result::map(
                            <#types as #krate::Messages>::begin(__dtype_header, #limits),
                            #assembler::#variants,
                        ),)*
                        // Limits come first, as for a known tag.
                        __dtype_tag => #result::and_then(
                            __dtype_header.check_limits(__dtype_limits),
                            |()| #result::Err(#krate::Error::UnknownTag {
                                tag: __dtype_tag,
                                expected: #core::convert::Into::into(#name),
                            }),
                        ),
                    }
                }

                fn whole(
                    __dtype_header: &#krate::Header,
                    __dtype_frame: &#krate::__private::Whole<'_>,
                    __dtype_limits: &#krate::Limits,
                ) -> #core::option::Option<Self> {
                    match __dtype_header.tag() {
                        #(#tags => #core::option::Option::map(
                            <#types as #krate::Messages>::whole(
                                __dtype_header,
                                __dtype_frame,
                                #limits,
                            ),
                            #makers,
                        ),)*
                        _ => #core::option::Option::None,
                    }
                }

                fn describe(
                    _: #core::primitive::u32,
                    _: #core::option::Option<&#core::primitive::str>,
                    __dtype_protocol: &mut #krate::Protocol,
                ) {
                    #(<#types as #krate::Messages>::describe(
                        #tags,
                        #core::option::Option::Some(#names),
                        __dtype_protocol,
                    );)*
                }

                fn piece(
                    __dtype_assembler: &mut #assembler,
                    __dtype_packed: &[#core::primitive::u8],
                ) -> #result<(), #krate::Error> {
                    match *__dtype_assembler {
                        #(#assembler::#variants(ref mut __dtype_value) => {
                            <#types as #krate::Messages>::piece(__dtype_value, __dtype_packed)
                        })*
                    }
                }

                fn end(__dtype_assembler: #assembler) -> #result<Self, #krate::Error> {
                    match __dtype_assembler {
                        #(#assembler::#variants(__dtype_value) => #result::map(
                            <#types as #krate::Messages>::end(__dtype_value),
                            #makers,
                        ),)*
                    }
                }
            }
        };
    }
}

/// The type of a message, in the assembler and in the impl.
fn repeated(ty: &Type, ident: &Ident) -> TokenStream {
    without_self(parenthesised(quote!(#ty)), ident)
}

/// The tokens of a type with the name of the enum instead of `Self`, which inside of the assembler would mean the assembler.
fn without_self(tokens: TokenStream, ident: &Ident) -> TokenStream {
    let tokens = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(word) if word == "Self" => {
            let mut ident = ident.clone();
            ident.set_span(ident.span().located_at(word.span()));
            ident.into()
        }
        TokenTree::Group(group) => {
            let stream = without_self(group.stream(), ident);
            let mut changed = Group::new(group.delimiter(), stream);
            changed.set_span(group.span());
            changed.into()
        }
        _ => token,
    });
    tokens.collect()
}

/// The methods that write: the value selects the variant.
fn sending(krate: &Path, messages: &[Message<'_>], types: &[TokenStream]) -> TokenStream {
    let result = quote!(#krate::__private::core::result::Result);
    let tags: Vec<_> = messages.iter().map(|message| message.tag).collect();
    let patterns: Vec<_> = messages
        .iter()
        .map(|Message { ident, ty, .. }| {
            if ty.is_some() {
                quote!(Self::#ident(ref __dtype_value))
            } else {
                quote!(Self::#ident)
            }
        })
        .collect();
    let values: Vec<_> = messages
        .iter()
        .map(|message| if message.ty.is_some() { quote!(__dtype_value) } else { quote!(&()) })
        .collect();
    quote! {
                fn encoder(
                    &self,
                    __dtype_framing: #krate::Framing,
                ) -> #result<#krate::Encoder<'_>, #krate::Error> {
                    match *self {
                        #(#patterns => <#types as #krate::Messages>::encoder(
                            #values,
                            __dtype_framing.with_tag(#tags),
                        ),)*
                    }
                }

                #[inline]
                fn append(
                    &self,
                    __dtype_out: &mut impl #krate::__private::AppendBytes,
                    __dtype_framing: #krate::Framing,
                ) -> #result<(), #krate::Error> {
                    match *self {
                        #(#patterns => <#types as #krate::Messages>::append(
                            #values,
                            __dtype_out,
                            __dtype_framing.with_tag(#tags),
                        ),)*
                    }
                }
    }
}

/// The method that takes a message of the usual form: the tag selects the variant.
fn quick(
    krate: &Path,
    messages: &[Message<'_>],
    types: &[TokenStream],
    limits: &[TokenStream],
) -> TokenStream {
    let core = quote!(#krate::__private::core);
    let option = quote!(#core::option::Option);
    let tags: Vec<_> = messages.iter().map(|message| message.tag).collect();
    let calls: Vec<_> = messages
        .iter()
        .map(|Message { ident, ty, .. }| {
            if ty.is_some() {
                quote!(Self::#ident(__dtype_value))
            } else {
                quote!({ let () = __dtype_value; Self::#ident })
            }
        })
        .collect();
    quote! {
                #[inline]
                fn quick(
                    __dtype_input: &mut &[#core::primitive::u8],
                    __dtype_limits: &#krate::Limits,
                ) -> #option<(Self, #krate::Header)> {
                    match #krate::__private::quick_tag(__dtype_input) {
                        #(#option::Some(#tags) => #option::map(
                            <#types as #krate::Messages>::quick(__dtype_input, #limits),
                            |(__dtype_value, __dtype_header)| (#calls, __dtype_header),
                        ),)*
                        _ => #option::None,
                    }
                }
    }
}

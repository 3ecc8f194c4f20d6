//! `#[derive(Messages)]`: an enum whose variants are the messages of a stream.
//!
//! Each variant holds one value that is itself a message, or a head and a list, and has a tag. The impl passes every method on
//! to the variant's value: when a message is written, the value selects the variant, and when one is read, the tag does.

use std::collections::BTreeMap;

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DataEnum, DeriveInput, Expr, Field, Path, Type, Variant, parse_quote};

use crate::check::check_message;
use crate::hint::{Hint, List, list};
use crate::lints;
use dtype_attributes::parenthesised;
use dtype_attributes::{Errors, MessageAttrs, message_crate, refuse_on_value};

/// A variant without mistakes.
struct Message<'a> {
    ident: &'a Ident,
    /// No field, a message, or a head and a list.
    fields: Vec<&'a Field>,
    tag: u32,
    /// The greatest number of bytes of payload, of records and of bytes of text.
    limits: [Option<Expr>; 3],
}

/// The names of a variant's values in the emitted code.
const VALUES: [&str; 2] = ["__dtype_value", "__dtype_list"];

impl Message<'_> {
    fn values(&self) -> impl Iterator<Item = Ident> {
        VALUES.iter().take(self.fields.len()).map(|name| Ident::new(name, Span::call_site()))
    }

    /// The variant with its values, as an expression, or as a pattern with `reference` before each name.
    fn with_values(&self, reference: &TokenStream) -> TokenStream {
        let (ident, values) = (self.ident, self.values());
        match self.fields.first().map(|field| &field.ident) {
            None => quote!(Self::#ident {}),
            Some(None) => quote!(Self::#ident(#(#reference #values),*)),
            Some(Some(_)) => {
                let names = self.fields.iter().map(|field| &field.ident);
                quote!(Self::#ident { #(#names: #reference #values),* })
            }
        }
    }

    /// The type that is read: a message.
    fn ty(&self, krate: &Path, ident: &Ident) -> TokenStream {
        let types: Vec<_> = self.fields.iter().map(|field| repeated(&field.ty, ident)).collect();
        match &types[..] {
            [] => quote!(()),
            [message] => message.clone(),
            _ => quote!(#krate::__private::Headed::<#(#types),*>),
        }
    }

    /// A pattern for a value of the type that is read.
    fn pattern(&self, krate: &Path) -> TokenStream {
        let values: Vec<_> = self.values().collect();
        match &values[..] {
            [] => quote!(()),
            [value] => quote!(#value),
            [head, list, ..] => quote!(#krate::__private::Headed { head: #head, list: #list }),
        }
    }

    /// A function from the type that is read to the enum.
    fn maker(&self, krate: &Path) -> TokenStream {
        let (pattern, value) = (self.pattern(krate), self.with_values(&TokenStream::new()));
        quote!(|#pattern| #value)
    }
}

/// The impl, or errors for all mistakes.
pub(crate) fn derive(input: &DeriveInput) -> TokenStream {
    let mut errors = Errors::default();
    let krate = message_crate(&input.attrs, &mut errors);
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
    match errors.into_error() {
        Some(errors) => errors.into_compile_error(),
        None => emit(input, &krate, &messages),
    }
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
        let fields: Vec<_> = variant.fields.iter().collect();
        for field in &fields {
            refuse_on_value(&field.attrs, errors);
            check_message(records(&field.ty), errors);
        }
        check_fields(variant, &fields, errors);
        messages.push(Message { ident, fields, tag, limits: attrs.limits });
    }
    messages
}

/// Records a mistake if the fields are neither one message nor a head and a list.
fn check_fields(variant: &Variant, fields: &[&Field], errors: &mut Errors) {
    let is_list = |field: &&&Field| list(&field.ty).is_some();
    let lists = fields.iter().filter(is_list).count();
    let is_last = fields.last().is_some_and(|last| is_list(&last));
    match (fields, lists) {
        ([] | [_], _) => {}
        ([_, _], 1) if is_last => {}
        ([list, _], 1) => errors.at(list, "the list comes last: put the other field before it"),
        (_, 1) if is_last => errors.at(
            variant,
            "a message is a head and a list: put the fields before the list into a struct with \
             `#[derive(Datatype)]`, and that struct here",
        ),
        (_, 2..) => errors.at(
            variant,
            "a message has one list, which comes last: send the other lists in messages of their own",
        ),
        _ => errors.at(
            variant,
            "a message holds one value, or a head and a `Vec` or `String` after it: put the other fields \
             into a struct with `#[derive(Datatype)]`, and that struct here",
        ),
    }
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
    for ty in messages.iter().flat_map(|message| &message.fields).map(|field| &field.ty) {
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
    let none = quote!(#krate::__private::core::primitive::u64::MAX);
    let limits = message
        .limits
        .iter()
        .map(|limit| limit.as_ref().map_or_else(|| none.clone(), |limit| quote!(const { #limit })));
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
    let types: Vec<_> = messages.iter().map(|message| message.ty(krate, ident)).collect();
    let sending = sending(krate, messages, &types);
    let limits: Vec<_> = messages.iter().map(|message| limits(message, krate)).collect();
    let quick = quick(krate, messages, &types, &limits);
    let (bounds, calls) = advice(messages, krate, ident);
    let trivial = (!bounds.is_empty()).then(|| quote!(#[allow(trivial_bounds)]));
    let makers: Vec<_> = messages.iter().map(|message| message.maker(krate)).collect();
    let allowed = lints::allowed(input);

    let describe = describe(krate, messages, &types);

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

                #describe

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

/// The method that names the kinds of message.
fn describe(krate: &Path, messages: &[Message<'_>], types: &[TokenStream]) -> TokenStream {
    let core = quote!(#krate::__private::core);
    let tags: Vec<_> = messages.iter().map(|message| message.tag).collect();
    let names: Vec<_> = messages.iter().map(|message| message.ident.unraw().to_string()).collect();
    quote! {
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

                fn maps(
                    _: #core::primitive::u32,
                    __dtype_maps: &mut #krate::__private::Maps,
                ) {
                    #(<#types as #krate::Messages>::maps(#tags, __dtype_maps);)*
                }
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
    let patterns: Vec<_> =
        messages.iter().map(|message| message.with_values(&quote!(ref))).collect();
    // A head and a list are not a value of the type that is read: it has functions for the two.
    let functions = |one: &str, of_both: &str| -> Vec<_> {
        let functions = messages.iter().zip(types).map(|(message, ty)| {
            let name = if message.fields.len() > 1 { of_both } else { one };
            let function = Ident::new(name, Span::call_site());
            if message.fields.len() > 1 {
                quote!(#ty::#function)
            } else {
                quote!(<#ty as #krate::Messages>::#function)
            }
        });
        functions.collect()
    };
    let (encoders, appends) =
        (functions("encoder", "encoder_of"), functions("append", "append_of"));
    let values = messages.iter().map(|message| {
        let values: Vec<_> = message.values().collect();
        if values.is_empty() { quote!(&()) } else { quote!(#(#values),*) }
    });
    let values: Vec<_> = values.collect();
    quote! {
                fn encoder(
                    &self,
                    __dtype_framing: #krate::Framing,
                ) -> #result<#krate::Encoder<'_>, #krate::Error> {
                    match *self {
                        #(#patterns => #encoders(#values, __dtype_framing.with_tag(#tags)),)*
                    }
                }

                #[inline]
                fn append(
                    &self,
                    __dtype_out: &mut impl #krate::__private::AppendBytes,
                    __dtype_framing: #krate::Framing,
                ) -> #result<(), #krate::Error> {
                    match *self {
                        #(#patterns => #appends(
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
    let patterns: Vec<_> = messages.iter().map(|message| message.pattern(krate)).collect();
    let values = messages.iter().map(|message| message.with_values(&TokenStream::new()));
    let values: Vec<_> = values.collect();
    quote! {
                #[inline]
                fn quick(
                    __dtype_input: &mut &[#core::primitive::u8],
                    __dtype_limits: &#krate::Limits,
                    __dtype_header: &mut #option<#krate::Header>,
                ) -> #option<Self> {
                    match #krate::__private::quick_tag(__dtype_input) {
                        #(#option::Some(#tags) => #option::map(
                            <#types as #krate::Messages>::quick(
                                __dtype_input,
                                #limits,
                                __dtype_header,
                            ),
                            |#patterns| #values,
                        ),)*
                        _ => #option::None,
                    }
                }
    }
}

//! The integer of an enum.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::quote;
use syn::{Attribute, token};

/// The basic datatype of the first primitive integer among the arguments of all `#[repr(…)]`, as a path below the runtime's
/// private module.
///
/// The integer says nothing about the enum's layout: the emitted code asks the compiler whether the enum has this size, and
/// for the bytes of its values.
pub(crate) fn basic(attributes: &[Attribute]) -> Option<TokenStream> {
    let mut basic = None;
    for attribute in attributes.iter().filter(|a| a.path().is_ident("repr")) {
        // The compiler checks the arguments and reports mistakes in them. Each is read to its end, so
        // that `align(16)` does not hide the argument after it.
        let _ = attribute.parse_nested_meta(|argument| {
            basic = basic.take().or_else(|| basic_of_integer(argument.path.get_ident()?));
            if argument.input.peek(token::Paren) {
                argument.input.parse::<TokenTree>()?;
            }
            Ok(())
        });
    }
    basic
}

fn basic_of_integer(name: &Ident) -> Option<TokenStream> {
    let name = name.to_string();
    let upper = Ident::new(&name.to_uppercase(), Span::call_site());
    match name.as_str() {
        "u8" | "u16" | "u32" | "u64" | "u128" | "i8" | "i16" | "i32" | "i64" | "i128" => {
            Some(quote!(Basic::#upper))
        }
        "usize" | "isize" => Some(quote!(#upper)),
        _ => None,
    }
}

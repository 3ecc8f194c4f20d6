//! The integer of an enum.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::quote;
use syn::{Attribute, token};

/// A primitive integer that `#[repr(…)]` names.
///
/// It decides the basic datatype of the enum and nothing about its layout: the emitted code queries the
/// compiler whether the enum has this size, and for the bytes of its values.
#[derive(Clone, Copy)]
pub(crate) enum Integer {
    U8,
    U16,
    U32,
    U64,
    U128,
    Usize,
    I8,
    I16,
    I32,
    I64,
    I128,
    Isize,
}

impl Integer {
    /// The integer among the arguments of all `#[repr(…)]`, or `None`.
    pub(crate) fn from_attributes(attributes: &[Attribute]) -> Option<Self> {
        let mut integer = None;
        for attribute in attributes.iter().filter(|a| a.path().is_ident("repr")) {
            // The compiler checks the arguments and reports mistakes in them. Each is read to its end, so
            // that `align(16)` does not hide the argument after it.
            let _ = attribute.parse_nested_meta(|argument| {
                integer = integer.or_else(|| Self::named(argument.path.get_ident()?));
                if argument.input.peek(token::Paren) {
                    argument.input.parse::<TokenTree>()?;
                }
                Ok(())
            });
        }
        integer
    }

    fn named(ident: &Ident) -> Option<Self> {
        Some(match ident.to_string().as_str() {
            "u8" => Self::U8,
            "u16" => Self::U16,
            "u32" => Self::U32,
            "u64" => Self::U64,
            "u128" => Self::U128,
            "usize" => Self::Usize,
            "i8" => Self::I8,
            "i16" => Self::I16,
            "i32" => Self::I32,
            "i64" => Self::I64,
            "i128" => Self::I128,
            "isize" => Self::Isize,
            _ => return None,
        })
    }

    /// The basic datatype, as a path below the runtime's private module.
    pub(crate) fn basic(self) -> TokenStream {
        match self {
            Self::U8 => quote!(Basic::U8),
            Self::U16 => quote!(Basic::U16),
            Self::U32 => quote!(Basic::U32),
            Self::U64 => quote!(Basic::U64),
            Self::U128 => quote!(Basic::U128),
            Self::Usize => quote!(USIZE),
            Self::I8 => quote!(Basic::I8),
            Self::I16 => quote!(Basic::I16),
            Self::I32 => quote!(Basic::I32),
            Self::I64 => quote!(Basic::I64),
            Self::I128 => quote!(Basic::I128),
            Self::Isize => quote!(ISIZE),
        }
    }
}

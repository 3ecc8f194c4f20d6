//! The attributes of an enum of messages, of its variants and of their values.

use proc_macro2::Ident;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Expr, ExprLit, Lit, LitInt, Path};

use crate::errors::Errors;
use crate::words::{self, Shape, misplaced};
use crate::{Place, each_word, expression, once, value};

/// The path of `dtype_message` from the attributes of an enum of messages.
pub fn message_crate(attributes: &[Attribute], errors: &mut Errors) -> Option<Path> {
    let mut krate = None;
    each_word(attributes, Place::Messages, errors, |word, input, errors| {
        if word != "crate" {
            return Err(misplaced(word, Place::Messages));
        }
        let path = value(word, input, words::MESSAGE_CRATE, Path::parse_mod_style)?;
        once(&mut krate, word, path, errors);
        Ok(())
    });
    krate
}

/// The attributes of a variant.
#[derive(Default)]
pub struct MessageAttrs {
    /// The number of the message's kind.
    pub tag: Option<u32>,
    /// The greatest number of bytes of payload, of records and of bytes of text.
    pub limits: [Option<Expr>; 3],
}

impl MessageAttrs {
    /// Reads the attributes of a variant.
    pub fn read(attributes: &[Attribute], errors: &mut Errors) -> Self {
        let mut attrs = Self::default();
        let [payload, records, text] = &mut attrs.limits;
        each_word(attributes, Place::Message, errors, |word, input, errors| {
            let name = word.to_string();
            let (limit, shape) = match name.as_str() {
                "tag" => {
                    let number = value(word, input, words::TAG, number)?;
                    once(&mut attrs.tag, word, number, errors);
                    return Ok(());
                }
                "max_payload_bytes" => (&mut *payload, words::MAX_PAYLOAD_BYTES),
                "max_records" => (&mut *records, words::MAX_RECORDS),
                "max_text_bytes" => (&mut *text, words::MAX_TEXT_BYTES),
                _ => return Err(misplaced(word, Place::Message)),
            };
            once(limit, word, bound(word, input, shape)?, errors);
            Ok(())
        });
        attrs
    }
}

/// A number that is an expression.
fn bound(word: &Ident, input: ParseStream<'_>, shape: Shape) -> syn::Result<Expr> {
    let bound = expression(word, input, shape)?;
    match bound {
        Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) => {
            Err(syn::Error::new_spanned(bound, format_args!("expected {shape}")))
        }
        bound => Ok(bound),
    }
}

fn number(input: ParseStream<'_>) -> syn::Result<u32> {
    LitInt::parse(input)?.base10_parse()
}

/// Records a mistake for every `#[dtype(…)]` on the value of a message.
pub fn refuse_on_value(attributes: &[Attribute], errors: &mut Errors) {
    for attribute in attributes.iter().filter(|a| crate::is_ours(a)) {
        errors.at(&attribute.meta, "the value of a message takes no `dtype` attribute");
    }
}

//! The attributes of an enum of messages, of its variants and of their values.

use syn::parse::{Parse, ParseStream};
use syn::{Attribute, LitInt, Path};

use super::words::{self, misplaced};
use super::{Place, each_word, once, value};
use crate::errors::Errors;

/// The path of `dtype_message` from the attributes of an enum of messages.
pub(crate) fn message_crate(attributes: &[Attribute], errors: &mut Errors) -> Option<Path> {
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

/// The tag from the attributes of a variant.
pub(crate) fn tag(attributes: &[Attribute], errors: &mut Errors) -> Option<u32> {
    let mut tag = None;
    each_word(attributes, Place::Message, errors, |word, input, errors| {
        if word != "tag" {
            return Err(misplaced(word, Place::Message));
        }
        let number = value(word, input, words::TAG, number)?;
        once(&mut tag, word, number, errors);
        Ok(())
    });
    tag
}

fn number(input: ParseStream<'_>) -> syn::Result<u32> {
    LitInt::parse(input)?.base10_parse()
}

/// Records a mistake for every `#[dtype(…)]` on the value of a message.
pub(crate) fn refuse_on_value(attributes: &[Attribute], errors: &mut Errors) {
    for attribute in attributes.iter().filter(|a| super::is_ours(a)) {
        errors.at(&attribute.meta, "the value of a message takes no `dtype` attribute");
    }
}

//! The attributes of a variant of an enum.

use syn::{Attribute, LitStr};

use crate::errors::Errors;
use crate::words::misplaced;
use crate::{Place, each_word, name, once};

/// The name from the attributes of a variant. A word with a mistake is recorded in `errors` and left out.
pub fn rename(attributes: &[Attribute], errors: &mut Errors) -> Option<LitStr> {
    let mut rename = None;
    each_word(attributes, Place::Variant, errors, |word, input, errors| {
        if word != "rename" {
            return Err(misplaced(word, Place::Variant));
        }
        once(&mut rename, word, name(word, input)?, errors);
        Ok(())
    });
    rename
}

//! The attributes of a field.

use proc_macro2::Ident;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, LitStr, Path};

use crate::errors::Errors;
use crate::words::{self, misplaced};
use crate::{Place, bare, each_word, name, once, value};

/// The contents of a field's attributes. A bare word is kept for its span in the source.
#[derive(Default)]
pub struct FieldAttrs {
    /// Whether records that lack the field have its default.
    pub default: Option<Ident>,
    /// Whether an `MPI_LB` marker stands at the start of the field.
    pub lb: Option<Ident>,
    /// Whether an `MPI_UB` marker stands at the end of the field.
    pub ub: Option<Ident>,
    /// Whether the field is not data.
    pub skip: Option<Ident>,
    /// The name in place of the field's own.
    pub rename: Option<LitStr>,
    /// The type that describes this field.
    pub with: Option<Path>,
}

impl FieldAttrs {
    /// Reads the attributes of a field. A word with a mistake is recorded in `errors` and left out.
    pub fn read(attributes: &[Attribute], errors: &mut Errors) -> Self {
        let mut attrs = Self::default();
        each_word(attributes, Place::Field, errors, |word, input, errors| {
            attrs.word(word, input, errors)
        });
        attrs
    }

    fn word(
        &mut self,
        word: &Ident,
        input: ParseStream<'_>,
        errors: &mut Errors,
    ) -> syn::Result<()> {
        match word.to_string().as_str() {
            "default" => {
                let word = bare(word, input, ": the value is that of `Default`")?;
                once(&mut self.default, &word.clone(), word, errors);
            }
            "lb" => {
                let word = bare(word, input, ": the marker stands at the start of the field")?;
                once(&mut self.lb, &word.clone(), word, errors);
            }
            "ub" => {
                let word = bare(word, input, ": the marker stands at the end of the field")?;
                once(&mut self.ub, &word.clone(), word, errors);
            }
            "skip" => {
                let word = bare(word, input, "")?;
                once(&mut self.skip, &word.clone(), word, errors);
            }
            "rename" => once(&mut self.rename, word, name(word, input)?, errors),
            "with" => {
                let path = value(word, input, words::WITH, Path::parse)?;
                once(&mut self.with, word, path, errors);
            }
            _ => return Err(misplaced(word, Place::Field)),
        }
        Ok(())
    }
}

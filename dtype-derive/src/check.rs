//! What cannot be derived, and what to write instead.
//!
//! Nothing here is needed for soundness, which rests on the emitted code and the compiler. It is here
//! because the compiler, left alone, would report each of these as an unsatisfied trait bound.

mod markers;
mod types;
mod variants;

use syn::Type;

use crate::errors::Errors;
use crate::model::{Body, Field, Item};

pub(crate) use self::types::is_unsized;

/// Whether the syntax of a type gives it away as no datatype.
pub(crate) fn refuses(ty: &Type) -> bool {
    let mut errors = Errors::default();
    types::check(ty, &mut errors);
    errors.into_compile_errors().is_some()
}

/// Notes every mistake in the item that the reading of its attributes has not noted already.
pub(crate) fn check(item: &Item<'_>, errors: &mut Errors) {
    match &item.body {
        Body::Struct(fields) => {
            markers::check(&item.attrs, fields, errors);
            for field in fields {
                check_field(field, errors);
            }
        }
        Body::Enum(variants) => variants::check(item.source, variants, errors),
        Body::Union(keyword) => errors.push(syn::Error::new(
            *keyword,
            "a union is not a datatype: which of its fields holds the value is known to the program \
             alone. Derive on a struct that has the field in use, and convert",
        )),
    }
}

fn check_field(field: &Field<'_>, errors: &mut Errors) {
    match (&field.attrs.skip, &field.attrs.with) {
        (Some(skip), Some(_)) => errors.at(
            skip,
            "`skip` leaves the field out of the type map, `with` says how it is described there: \
             keep one of the two",
        ),
        (None, None) => types::check(field.ty, errors),
        // Whoever wrote one of them has dealt with the type.
        _ => {}
    }
}

//! Refuses items that cannot be derived, with messages that tell what to write instead.
//!
//! Soundness depends on the emitted code and the compiler, not on these checks. Their messages are better than the compiler's
//! messages about unsatisfied trait bounds.

mod markers;
mod names;
mod types;
mod variants;

use syn::Type;

use crate::model::{Body, Field, Item};
use dtype_attributes::Errors;
use dtype_attributes::ItemAttrs;

pub(crate) use self::types::{check_message, is_unsized};

/// Whether the syntax of a type shows that it is not a datatype.
pub(crate) fn refuses(ty: &Type) -> bool {
    let mut errors = Errors::default();
    types::check(ty, &mut errors);
    errors.into_error().is_some()
}

/// Records every mistake in the item, except mistakes in its attributes, which are already recorded.
pub(crate) fn check(item: &Item<'_>, errors: &mut Errors) {
    match &item.body {
        Body::Struct(fields) => {
            markers::check(&item.attrs, fields, errors);
            check_invariant(&item.attrs, fields, errors);
            names::check_fields(fields, errors);
            for field in fields {
                check_field(field, errors);
            }
        }
        Body::Enum(variants) => {
            variants::check(item.source, variants, errors);
            names::check_variants(variants, errors);
        }
        Body::Union(keyword) => errors.push(syn::Error::new(
            *keyword,
            "a union is not a datatype: only the program knows which of its fields holds the value. \
             Derive on a struct that has the field in use, and convert",
        )),
    }
}

/// `check` gets whole values of the struct itself.
fn check_invariant(attrs: &ItemAttrs, fields: &[Field<'_>], errors: &mut Errors) {
    let Some(check) = &attrs.check else { return };
    if attrs.remote.is_some() {
        errors.at(
            &check.word,
            "`check` takes a value of the struct, and with `remote` there is none: put it on the struct \
             that has the field",
        );
    }
    for skip in fields.iter().filter_map(|field| field.attrs.skip.as_ref()) {
        errors.at(
            skip,
            "`check` needs whole values, and a skipped field is not in the packed bytes: keep one of \
             the two",
        );
    }
}

fn check_field(field: &Field<'_>, errors: &mut Errors) {
    if let Some(default) = &field.attrs.default
        && (field.attrs.skip.is_some() || field.attrs.with.is_some())
    {
        errors.at(
            default,
            "`default` is for a field that is in the type map with its own type: it goes with neither `skip` nor `with`",
        );
    }
    match (&field.attrs.skip, &field.attrs.with) {
        (Some(skip), Some(_)) => errors.at(
            skip,
            "`skip` leaves the field out of the type map, and `with` describes it there: keep one of \
             the two",
        ),
        (None, None) => types::check(field.ty, errors),
        // With either attribute, the field's own type does not matter.
        _ => {}
    }
}

//! Enums: fieldless, not empty, and with an integer that the source names.

use syn::DeriveInput;

use crate::model::Variant;
use crate::repr;
use dtype_attributes::Errors;

pub(super) fn check(source: &DeriveInput, variants: &[Variant<'_>], errors: &mut Errors) {
    let ident = &source.ident;
    if variants.is_empty() {
        errors.at(ident, "an enum without variants has no values, so there is nothing to pack");
        return;
    }
    let mut carries_data = false;
    for Variant { source: variant, .. } in variants.iter().filter(|v| !v.source.fields.is_empty()) {
        carries_data = true;
        errors.at(
            variant,
            "an enum whose variants carry data is not a datatype: each variant uses other bytes. Write \
             a struct with a fieldless enum as its tag and the fields of all variants next to it, as in \
             the book's recipe \"An enum with data\", or send each variant as a message of its own, by \
             `#[derive(Messages)]`",
        );
    }
    // If variants carry data, the `repr` is not the mistake.
    if !carries_data && repr::basic(&source.attrs).is_none() {
        errors.at(
            ident,
            "an enum needs an integer to travel as: put `#[repr(u8)]`, or another integer type, on \
             it",
        );
    }
}

//! Names that `rename` gives twice.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use syn::LitStr;

use crate::model::{Field, Variant};
use dtype_attributes::Errors;

/// Records fields that have the name of another field. The name of a skipped field does not matter, because no file has the
/// field.
pub(super) fn check_fields(fields: &[Field<'_>], errors: &mut Errors) {
    let mapped = fields.iter().filter(|field| field.is_mapped());
    check("fields", mapped.map(|f| (f.name(), f.own_name(), f.attrs.rename.as_ref())), errors);
}

/// Records variants that have the name of another variant.
pub(super) fn check_variants(variants: &[Variant<'_>], errors: &mut Errors) {
    check("variants", variants.iter().map(|v| (v.name(), v.own_name(), v.rename.as_ref())), errors);
}

/// Takes each name with the name in the source and the attribute that replaces it.
fn check<'a>(
    what: &str,
    names: impl Iterator<Item = (String, String, Option<&'a LitStr>)>,
    errors: &mut Errors,
) {
    let mut taken = BTreeMap::new();
    for (name, own, rename) in names {
        match taken.entry(name) {
            Entry::Vacant(entry) => {
                entry.insert((own, rename));
            }
            Entry::Occupied(entry) => {
                let (other, before) = entry.get();
                let (place, other) = match (rename, before) {
                    (Some(rename), _) => (rename, other),
                    (None, Some(before)) => (*before, &own),
                    // The compiler reports two fields with one name in the source.
                    (None, None) => continue,
                };
                errors.at(
                    place,
                    format_args!(
                        "two {what} get the name `{}`: this one and `{other}`",
                        entry.key()
                    ),
                );
            }
        }
    }
}

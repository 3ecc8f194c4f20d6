//! Contradictory markers.

use proc_macro2::Ident;

use crate::model::Field;
use dtype_attributes::Errors;
use dtype_attributes::ItemAttrs;

/// Records the markers that another marker or `resize` overrides.
pub(super) fn check(item: &ItemAttrs, fields: &[Field<'_>], errors: &mut Errors) {
    let lbs = item.lb.iter().map(|lb| &lb.word);
    let lbs: Vec<_> = lbs.chain(fields.iter().filter_map(|f| f.attrs.lb.as_ref())).collect();
    let ubs = item.ub.iter().map(|ub| &ub.word);
    let ubs: Vec<_> = ubs.chain(fields.iter().filter_map(|f| f.attrs.ub.as_ref())).collect();
    if item.resize.is_some() {
        for marker in lbs.into_iter().chain(ubs) {
            errors.at(
                marker,
                "`resize` erases every marker of the type, so this one would have no effect: keep one \
                 of the two",
            );
        }
    } else {
        only_one(&lbs, "least", errors);
        only_one(&ubs, "greatest", errors);
    }
}

fn only_one(markers: &[&Ident], which: &str, errors: &mut Errors) {
    for marker in markers.iter().skip(1) {
        errors.at(
            marker,
            format_args!(
                "a second `{marker}` marker: only the one with the {which} displacement would \
                 count, so keep that one"
            ),
        );
    }
}

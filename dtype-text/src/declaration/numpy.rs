//! Reads NumPy dtypes: the layout that `dtype-npy` finds in an expression.

use dtype_npy::{Dtype, GrammarError, Kind};
use dtype_runtime::{Basic, Error};

use super::layout::{Layout, Member, structure};
use crate::notation::{FieldNames, Meaning, nearest};
use crate::problem::Problem;

/// The layout of a dtype.
pub(super) fn read(source: &str, fields: &mut FieldNames) -> Result<Layout, Vec<Problem>> {
    let dtype = Dtype::parse_native(source).map_err(|error| vec![problem(error)])?;
    of_dtype(&dtype, fields).map_err(|error| {
        vec![Problem::new(error.to_string(), 0..source.trim_end().len(), "too large")]
    })
}

fn problem(error: GrammarError) -> Problem {
    let mut problem = Problem::new(error.message, error.span, error.label);
    if let Some((span, label)) = error.other {
        problem = problem.and(span, label);
    }
    match error.unknown.and_then(|name| nearest(&name, Dtype::type_names())) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => Problem { help: error.help.map(str::to_owned), ..problem },
    }
}

/// The layout of a dtype; an error if this machine has no counterpart of one of its values.
pub(super) fn of_dtype(dtype: &Dtype, fields: &mut FieldNames) -> Result<Layout, Error> {
    match dtype.kind() {
        Kind::Structure { fields: all } => {
            let members = all.iter().map(|field| {
                let (lengths, element) = field.dtype.axes();
                let element = of_dtype(element, fields)?;
                let (length, inner) = lengths.split_first().unwrap_or((&1, &[]));
                let (name, length) = (Some(field.name.clone()), *length);
                let element = element.array(inner)?.ty;
                Ok(Member { name, offset: field.offset, element, length })
            });
            let members = members.collect::<Result<_, Error>>()?;
            structure(members, dtype.itemsize(), dtype.align(), fields)
        }
        Kind::Array { lengths, element } => of_dtype(element, fields)?.array(lengths),
        _ => {
            let one = Layout::basic(dtype.basic().unwrap_or(Basic::Byte));
            let meaning = match *dtype.kind() {
                Kind::Scalar { letter: 'S', .. } => Some(Meaning::Bytes),
                Kind::Scalar { letter: 'U', .. } => Some(Meaning::Characters),
                Kind::Scalar { letter: 'M', unit, .. } => Some(Meaning::Time(unit)),
                Kind::Scalar { letter: 'm', unit, .. } => Some(Meaning::Span(unit)),
                _ => None,
            };
            let all = match dtype.itemsize().checked_div(one.size).unwrap_or(1) {
                1 => one,
                // Text, and raw bytes.
                count => one.array(&[count])?,
            };
            match meaning {
                Some(meaning) => all.meaning(meaning, fields),
                None => Ok(all),
            }
        }
    }
}

//! Reads NumPy dtypes: the Python expressions that `np.dtype` takes and prints.

mod evaluate;
mod format;
mod python;
mod scalar;

use std::ops::Range;

use dtype_runtime::Error;

use super::layout::Layout;
use crate::notation::{FieldNames, nearest};
use crate::problem::{Problem, quoted};
use evaluate::Evaluator;

/// The layout of a dtype.
pub(super) fn read(source: &str, fields: &mut FieldNames) -> Result<Layout, Vec<Problem>> {
    let bare = bare(source);
    let value = match bare {
        Some(value) => value,
        None => python::read(source).map_err(|problem| vec![*problem])?,
    };
    Evaluator { fields }.dtype(&value, false).map_err(|problem| vec![*problem])
}

/// A text such as `<f8` or `i4, f8`, which needs no quotes in a shell.
fn bare(source: &str) -> Option<python::Value> {
    let text = source.trim();
    let is_bare = text.starts_with(['<', '>', '|', '=']);
    let start = source.find(text)?;
    let kind = python::Kind::Text(text.to_owned());
    is_bare.then(|| python::Value { span: start..start + text.len(), kind })
}

fn unknown(name: &str, span: &Range<usize>) -> Box<Problem> {
    let message = format!("unknown format {}", quoted(name));
    let problem = Problem::new(message, span.clone(), "unknown format");
    Box::new(match nearest(name, scalar::all()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => {
            problem.help("a format is a letter and a number of bytes, such as `<f8`, `i4` or `S10`")
        }
    })
}

fn refused(error: &Error, span: &Range<usize>) -> Box<Problem> {
    Box::new(Problem::new(error.to_string(), span.clone(), "too large"))
}

//! Types as texts, in the forms of `dtype_form`.

use std::fmt::Display;

use dtype_npy::{Dtype, NumpyDtype, NumpyOptions};
use dtype_runtime::Type;
use dtype_show::{CallingSequence, Diagram, EnvelopeTree, Language, SvgStyle, TextStyle, View};
#[cfg(feature = "text")]
use dtype_text::{declaration, notation, problem::Problem};

use crate::error::{DTYPE_ERROR_TEXT, Failure};

/// The most lines of a tree.
const LINES: usize = 10_000;

/// The type that a text describes.
pub(crate) fn read(text: &str, form: i32) -> Result<Type, Failure> {
    match form {
        5 => {
            let dtype = Dtype::parse_native(text);
            Ok(dtype.map_err(|error| malformed(error.span.start, &error.message))?.datatype()?)
        }
        #[cfg(feature = "text")]
        7 | 8 => {
            let parsed = match form {
                7 => notation::parse(text),
                _ => declaration::parse(text, declaration::Language::C, None),
            };
            parsed.map(|parsed| parsed.ty).map_err(|problems| {
                // There is at least one; the first is mostly the cause of the others.
                let Problem { message, span, help, .. } = &problems[0];
                let help = help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
                malformed(span.start, &format!("{message}{help}"))
            })
        }
        #[cfg(not(feature = "text"))]
        7 | 8 => Err(left_out()),
        other => Err(Failure::argument(format!("form is {other}, expected 5, 7 or 8"))),
    }
}

fn malformed(place: usize, message: &str) -> Failure {
    Failure::Other(DTYPE_ERROR_TEXT, format!("byte {place} of the text: {message}"))
}

fn unsupported(error: &dyn Display) -> Failure {
    Failure::unsupported(&error.to_string())
}

/// The text of a type.
pub(crate) fn write(ty: &Type, form: i32) -> Result<String, Failure> {
    let diagram = || Diagram::of_type(ty, &View::default());
    let numpy = |options| NumpyDtype::of_type(ty, &options).map_err(|error| unsupported(&error));
    Ok(match form {
        0 => diagram().text(&TextStyle::default()).to_string(),
        1 => diagram().svg(&SvgStyle::default()),
        2 => EnvelopeTree::new(ty, LINES).to_string(),
        3 => CallingSequence::new(ty, Language::C).to_string(),
        4 => CallingSequence::new(ty, Language::Rust).to_string(),
        5 => numpy(NumpyOptions::memory())?.to_string(),
        6 => numpy(NumpyOptions::packed())?.to_string(),
        #[cfg(feature = "text")]
        7 => notation::print(ty),
        #[cfg(feature = "text")]
        8 => {
            let (ty, fields) = (ty.clone(), notation::FieldNames::default());
            let parsed = notation::Parsed { ty, fields };
            declaration::c_struct(&parsed).map_err(|error| unsupported(&error))?
        }
        #[cfg(not(feature = "text"))]
        7 | 8 => return Err(left_out()),
        other => return Err(Failure::argument(format!("form is {other}, expected 0 to 8"))),
    })
}

#[cfg(not(feature = "text"))]
fn left_out() -> Failure {
    Failure::unsupported("this library was installed without the notation and C's declarations")
}

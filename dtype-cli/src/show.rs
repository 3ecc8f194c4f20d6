//! `dtype show`: a type in one of its forms.

use std::io::Write;

use dtype_runtime::Type;
use dtype_runtime::show::{Diagram, Language, NumpyOptions, SvgStyle, TextStyle, View, Wording};

use crate::arguments::{Form, Show};
use crate::failure::Failure;
use crate::field_paths::FieldPaths;
use crate::json;
use crate::notation::{Parsed, print};
use crate::output;

/// So many entries of a description, lines of a plan and lines of a tree are printed; what follows is counted.
const MOST_LINES: usize = 1000;

/// Prints a type in the form that was asked for.
pub(crate) fn show(
    parsed: &Parsed,
    show: &Show,
    colour: bool,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let ty = &parsed.ty;
    if let Some(path) = &show.svg {
        output::write(path, picture(parsed, show).svg(&SvgStyle::default()).as_bytes())?;
    }
    match if show.json { Form::Json } else { show.form } {
        // A picture that went to a file is not drawn again.
        Form::Diagram if show.svg.is_some() => {}
        Form::Diagram => {
            let style = TextStyle { ascii: show.ascii, colour, ..TextStyle::default() };
            write!(out, "{}", picture(parsed, show).text(&style))?;
        }
        Form::Svg => write!(out, "{}", picture(parsed, show).svg(&SvgStyle::default()))?,
        Form::Description => write!(out, "{}", ty.description().table(MOST_LINES))?,
        Form::Optimized => {
            write!(out, "{}", ty.commit().optimized_description().table(MOST_LINES))?;
        }
        Form::Plan => {
            let wording = Wording { instances: show.instances, lines: MOST_LINES };
            write!(out, "{}", ty.commit().plan_in_words(&wording))?;
        }
        Form::C => write!(out, "{}", ty.calling_sequence(Language::C))?,
        Form::Rust => write!(out, "{}", ty.calling_sequence(Language::Rust))?,
        Form::Tree => write!(out, "{}", ty.envelope_tree(MOST_LINES))?,
        Form::Numpy => {
            let dtype = ty
                .numpy_dtype(&NumpyOptions::default())
                .map_err(|error| Failure::Usage(format!("NumPy has {error}")))?;
            writeln!(out, "{dtype}")?;
        }
        Form::Notation => writeln!(out, "{}", notation(ty)?)?,
        Form::Json => json::print(&json::Everything::of(ty, &picture(parsed, show)), out)?,
    }
    Ok(())
}

fn notation(ty: &Type) -> Result<String, Failure> {
    print(ty).map_err(|error| Failure::refused("write this type in the notation", error))
}

/// The picture that was asked for, with the names that the fields have in the notation.
fn picture(parsed: &Parsed, show: &Show) -> Diagram {
    let view = View {
        instances: show.instances,
        columns: show.width.into(),
        row: show.row,
        rows: show.rows.into(),
        unit: show.unit,
    };
    let mut diagram = parsed.ty.diagram_of(&view);
    if !parsed.fields.is_empty() {
        let mut paths = FieldPaths::new(parsed);
        diagram.rename_fields(|field| paths.named(&field.path));
    }
    diagram
}

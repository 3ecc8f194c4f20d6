//! `dtype show`: a type in one of its forms.

use std::io::Write;

use dtype_runtime::explain::ExplainStyle;
use dtype_show::{
    CallingSequence, DescriptionTable, Diagram, EnvelopeTree, Language, SvgStyle, TextStyle, View,
};

use crate::arguments::{Form, Show};
use crate::failure::Failure;
use crate::field_paths;
use crate::input::Given;
use crate::json;
use crate::records;
use dtype_text::declaration::{
    ExportError, Message, c_messages, c_struct, numpy_dtype, rust_struct,
};
use dtype_text::notation::{Parsed, print_named};
use dtype_text::printable::printable;
use dtype_text::structure;

/// The maximum number of entries of a description, lines of a plan and lines of a tree to print; the rest is
/// counted.
const MAX_LINES: usize = 1000;

/// Prints a type in the requested form.
pub(crate) fn show(
    parsed: &Parsed,
    show: &Show,
    colour: bool,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let ty = &parsed.ty;
    match if show.json { Form::Json } else { show.form } {
        Form::Diagram => {
            let style = TextStyle::default().with_ascii(show.ascii).with_colour(colour);
            write!(out, "{}", seen(parsed, show)?.text(&style))?;
        }
        Form::Svg => write!(out, "{}", seen(parsed, show)?.svg(&SvgStyle::default()))?,
        Form::Description => {
            write!(out, "{}", DescriptionTable::new(&ty.description(), MAX_LINES))?;
        }
        Form::Optimized => {
            let description = ty.commit().optimized_description();
            write!(out, "{}", DescriptionTable::new(&description, MAX_LINES))?;
        }
        Form::Plan => {
            let style =
                ExplainStyle::default().with_instances(show.instances).with_lines(MAX_LINES);
            write!(out, "{}", ty.commit().explain(&style))?;
        }
        Form::C => write!(out, "{}", CallingSequence::new(ty, Language::C))?,
        Form::Rust => write!(out, "{}", CallingSequence::new(ty, Language::Rust))?,
        Form::CStruct => write!(out, "{}", c_struct(parsed).map_err(refused("C"))?)?,
        Form::RustStruct => write!(out, "{}", rust_struct(parsed).map_err(refused("Rust"))?)?,
        Form::Tree => write!(out, "{}", EnvelopeTree::new(ty, MAX_LINES))?,
        Form::Numpy => {
            let dtype = numpy_dtype(parsed)
                .map_err(|error| Failure::Usage(format!("NumPy has {error}")))?;
            json::write_text(&dtype.to_string(), out)?;
        }
        Form::Notation => writeln!(out, "{}", print_named(ty, &parsed.fields))?,
        // JSON has its own escapes.
        Form::Json => {
            let picture = picture(parsed, show, str::to_owned)?;
            json::print(&json::Everything::of(parsed, &picture), out)?;
        }
    }
    Ok(())
}

/// Prints the C header for the records of messages. `argument` gave their types.
pub(crate) fn messages(given: Given, argument: &str, out: &mut impl Write) -> Result<(), Failure> {
    let otherwise = if matches!(given, Given::Type(_)) { "Record" } else { "Message" };
    let is_name = |name: &&str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let file = argument.strip_prefix('@').and_then(|file| file.rsplit_once(':'));
    let name = file.map(|(_, name)| name).filter(is_name).unwrap_or(otherwise);
    let all = match given {
        Given::Type(parsed) => vec![(None, records::packed(&parsed)?)],
        Given::Messages(all) => {
            let packed = |(message, parsed): (Message, _)| {
                let head = message.head.as_ref().map(records::packed).transpose()?;
                Ok((Some(Message { head, ..message }), records::packed(&parsed)?))
            };
            all.into_iter().map(packed).collect::<Result<_, Failure>>()?
        }
    };
    Ok(write!(out, "{}", c_messages(name, &all).map_err(refused("C"))?)?)
}

/// The failure for a struct that cannot be declared in a language.
fn refused(language: &str) -> impl Fn(ExportError) -> Failure {
    move |error| Failure::Usage(format!("no struct in {language} has this layout: {error}"))
}

/// The requested picture for people: the members of a struct are in the order of their places.
fn seen(parsed: &Parsed, show: &Show) -> Result<Diagram, Failure> {
    let picture = picture(parsed, show, printable)?;
    let layout = parsed.fields.layout().filter(|layout| !layout.is_data());
    let is_struct = layout.is_some_and(|layout| layout.form == structure::Form::Struct);
    Ok(if is_struct { picture.in_order_of_places() } else { picture })
}

/// The requested picture, with the field names of the notation as `shown` writes them.
fn picture(parsed: &Parsed, show: &Show, shown: fn(&str) -> String) -> Result<Diagram, Failure> {
    let mut view = View::default()
        .with_instances(show.instances)
        .with_columns(show.width.into())
        .with_rows(show.rows.into());
    view.row = show.row;
    view.unit = show.unit;
    field_paths::picture(parsed, &view, shown)
        .map_err(|most| Failure::Usage(format!("the fields' names have more than {most} bytes")))
}

//! Declarations of structs in other languages: C, Rust and NumPy.
//!
//! Each reader makes the datatype of a struct and keeps the names of its fields. Sizes and alignments are those of
//! this machine's C compiler, as for the C names of the notation.

mod c;
mod choice;
mod export;
mod hints;
mod language;
pub mod layout;
mod numpy;
mod recognize;
mod rust;

use std::ops::Range;

use dtype_runtime::Error;

use crate::notation::{self, FieldNames, MAX_LENGTH, Parsed, Stored};
use crate::problem::{Problem, quoted};

pub use crate::names::{Words, of_c as header_type};
pub use export::c_messages;
pub use export::{ExportError, c_struct, numpy_dtype, rust_struct};
pub use language::Language;
use layout::Base;
pub use recognize::recognize;

/// How deep brackets and structs may nest in a declaration, so that no text can exhaust the stack.
pub const MAX_NESTING: usize = 128;

/// The maximum number of mistakes to report.
const MAX_PROBLEMS: usize = 20;

/// Where the fields of a declared type lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// As the compiler places the fields.
    Memory,
    /// One after another.
    Packed,
}

/// A kind of message on a stream.
#[derive(Clone, Debug)]
pub struct Message {
    /// The number of the kind.
    pub tag: u32,
    /// The name of the variant.
    pub name: String,
    /// Whether its records are the bytes of a text.
    pub is_text: bool,
    /// The type of the record before them, if there is one.
    pub head: Option<Parsed>,
}

/// A struct that a text declares.
struct Declared {
    name: String,
    /// The position of the name, or of the keyword `struct`.
    span: Range<usize>,
    /// The struct, or what is wrong with it.
    base: Base,
    /// Whether another struct of the text contains it.
    is_part: bool,
}

/// The datatype that a text describes in one of the languages.
///
/// A text in C or Rust may declare several structs. The result is the struct called `wanted` (in C, the name may be that of a
/// typedef); without `wanted`, it is the only struct that is not part of another. Everything else in the text, such as
/// functions, is skipped. Fields whose names start with `_pad` or `__pad` are gaps.
///
/// The text may come from an untrusted source: it has at most [`MAX_LENGTH`] bytes, and brackets nest at most
/// [`MAX_NESTING`] levels deep.
///
/// # Errors
///
/// The mistakes with their positions, at least one.
///
/// ```
/// use dtype_text::declaration::{Language, parse};
/// let c = parse("struct P { double x[3]; int id; };", Language::C, None).unwrap();
/// assert_eq!((c.ty.size(), c.ty.extent()), (28, 32));
/// let rust = "#[repr(C)] struct P { x: [f64; 3], id: std::ffi::c_int }";
/// assert_eq!(parse(rust, Language::Rust, None).unwrap().ty, c.ty);
///
/// let problems = parse("struct P { double *x; };", Language::C, None).unwrap_err();
/// assert_eq!(problems[0].message, "field `x` is a pointer");
/// assert_eq!(problems[0].span, 18..19);
/// ```
pub fn parse(
    source: &str,
    language: Language,
    wanted: Option<&str>,
) -> Result<Parsed, Vec<Problem>> {
    parse_as(source, language, wanted, Form::Memory, true)
}

/// As [`parse`], for a type that is only looked at: members that are no data, such as pointers, are in its
/// [layout](crate::notation::FieldNames::layout), and not in its datatype.
///
/// # Errors
///
/// As for [`parse`], without these members.
///
/// ```
/// use dtype_text::declaration::{Language, look};
/// let node = look("struct node { double mass; struct node *next; };", Language::C, None).unwrap();
/// assert_eq!((node.ty.size(), node.ty.extent()), (8, 16));
/// assert_eq!(&*node.fields.layout().unwrap().members[1].of.name, "struct node *");
/// ```
pub fn look(
    source: &str,
    language: Language,
    wanted: Option<&str>,
) -> Result<Parsed, Vec<Problem>> {
    parse_as(source, language, wanted, Form::Memory, false)
}

/// As [`parse`], for packed bytes, in which the fields follow one another as they are declared. A struct in Rust then needs no
/// `#[repr(C)]`, and all types that the derive of dtype-runtime accepts are known.
///
/// # Errors
///
/// As for [`parse`].
///
/// ```
/// use dtype_text::declaration::{Language, parse_packed};
/// let source = "struct P { id: u8, at: (f64, u16), name: FixedStr<8>, #[dtype(skip)] cache: Vec<u8> }";
/// assert_eq!(parse_packed(source, Language::Rust, None).unwrap().ty.size(), 1 + 10 + 12);
/// ```
pub fn parse_packed(
    source: &str,
    language: Language,
    wanted: Option<&str>,
) -> Result<Parsed, Vec<Problem>> {
    parse_as(source, language, wanted, Form::Packed, true)
}

/// The datatype of the records of a file.
///
/// # Errors
///
/// This machine has no counterpart of one of the values, or the type is too large.
pub fn of_stored(stored: Stored) -> Result<Parsed, Error> {
    let mut fields = FieldNames::default();
    let layout = numpy::of_dtype(&stored.dtype, &mut fields)?;
    fields.set_stored(stored);
    Ok(Parsed { ty: layout.ty, fields })
}

/// The messages of an enum with `#[derive(Messages)]`, with the types of their records. The enum is the one called `wanted`, or
/// the only one in the text; `None` if there is none.
///
/// # Errors
///
/// As for [`parse`].
pub fn messages(
    source: &str,
    wanted: Option<&str>,
) -> Result<Option<Vec<(Message, Parsed)>>, Vec<Problem>> {
    check_length(source)?;
    rust::messages(source, wanted)
}

fn check_length(source: &str) -> Result<(), Vec<Problem>> {
    if source.len() <= MAX_LENGTH {
        return Ok(());
    }
    let message = format!("the text has {} bytes, expected at most {MAX_LENGTH}", source.len());
    Err(vec![Problem::new(message, 0..0, "")])
}

fn parse_as(
    source: &str,
    language: Language,
    wanted: Option<&str>,
    form: Form,
    needs_data: bool,
) -> Result<Parsed, Vec<Problem>> {
    if language == Language::Notation {
        return match wanted {
            None => notation::parse(source),
            Some(name) => {
                let message = format!("{} is not declared", quoted(name));
                let problem = Problem::new(message, 0..0, "");
                Err(vec![problem.help("a text in the notation describes one type without a name")])
            }
        };
    }
    check_length(source)?;
    let mut fields = FieldNames::default();
    let base = match language {
        Language::C => {
            let (all, mistakes) = c::read(source, wanted, &mut fields)?;
            choice::choose(named(all, &mut fields), mistakes, wanted, source)?
        }
        Language::Rust => {
            let all = rust::read(source, form, &mut fields)?;
            choice::choose(named(all, &mut fields), Vec::new(), wanted, source)?
        }
        Language::Numpy | Language::Notation => numpy::read(source, &mut fields)?,
    };
    if needs_data && !base.others.is_empty() {
        return Err(base.others.to_vec());
    }
    fields.restrict_whole(base.restriction);
    fields.set_layout(base.structure.filter(|_| form == Form::Memory));
    Ok(Parsed { ty: base.ty, fields })
}

/// Keeps the names of the structs.
fn named(all: Vec<Declared>, fields: &mut FieldNames) -> Vec<Declared> {
    for one in &all {
        if let Ok(layout) = &one.base
            && !one.name.is_empty()
        {
            fields.add_type(&layout.ty, &one.name);
        }
    }
    all
}

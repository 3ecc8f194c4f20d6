//! The notation: datatypes as text for people to read and write.
//!
//! ```text
#![doc = include_str!("notation/grammar.md")]
//! ```

mod calls;
mod evaluate;
mod fields;
mod grammar;
mod hints;
mod names;
mod print;
mod restriction;
mod tree;

use dtype_runtime::Type;

use crate::problem::Problem;

pub use crate::names::nearest;
pub use fields::FieldNames;
pub use fields::{Block, Meaning, Stored};
pub use grammar::MAX_NESTING;
pub use names::all as predefined_names;
pub use print::{print, print_named};
pub use restriction::{Restriction, Values};

/// The greatest length of a text in bytes. The cost of reading a text is linear in its length.
pub const MAX_LENGTH: usize = 4 << 20;

/// The description of the notation for users.
pub const GRAMMAR: &str = include_str!("notation/grammar.md");

/// The meaning of a text.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The datatype.
    pub ty: Type,
    /// The names of its fields.
    pub fields: FieldNames,
}

impl Parsed {
    /// The alignment in bytes: that of the struct if its members are known, and otherwise the strictest of its basic types.
    /// `None` if the debug information leaves it open.
    pub fn align(&self) -> Option<u64> {
        self.fields.layout().map_or(Some(self.ty.align()), |structure| structure.align)
    }
}

/// The datatype that a text describes. The text may come from an untrusted source: brackets nest at most
/// [`MAX_NESTING`] levels deep, and the text has at most [`MAX_LENGTH`] bytes.
///
/// # Errors
///
/// The mistakes with their positions: either the first mistake in the grammar, or up to twenty mistakes in names,
/// arguments and constructors. There is at least one.
///
/// ```
/// use dtype_runtime::{Basic, Type};
/// let parsed = dtype_text::notation::parse("let row = [u16; 5]; hvector(4, 1, 12, row)").unwrap();
/// let row = Type::contiguous(5, &Type::basic(Basic::U16))?;
/// assert_eq!(parsed.ty, Type::hvector(4, 1, 12, &row)?);
///
/// let problems = dtype_text::notation::parse("vector(4, 5, 6, u46)").unwrap_err();
/// assert_eq!(problems[0].span, 16..19);
/// assert_eq!(problems[0].replacement.as_deref(), Some("u64"));
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
pub fn parse(source: &str) -> Result<Parsed, Vec<Problem>> {
    if source.len() > MAX_LENGTH {
        let message = format!("the text has {} bytes, expected at most {MAX_LENGTH}", source.len());
        return Err(vec![Problem::new(message, 0..0, "")]);
    }
    let program = grammar::parse(source).map_err(|problem| vec![*problem])?;
    let (ty, fields) = evaluate::evaluate(source, &program)?;
    Ok(Parsed { ty, fields })
}

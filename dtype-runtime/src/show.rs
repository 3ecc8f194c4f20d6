//! Layouts and types in human-readable forms, and in forms for other programs.
//!
//! | to see | use |
//! |---|---|
//! | the data and the gaps | [`Type::diagram_of`](crate::Type::diagram_of), or [`Diagram::of`] for a struct with its field names; [`Diagram::text`], [`Diagram::svg`] |
//! | what is executed | [`Committed::explain`](crate::Committed::explain) |
//! | a description, optimized or not | [`Description::table`](crate::types::Description::table) |
//! | the calls that made a type | [`Type::envelope_tree`](crate::Type::envelope_tree) |
//! | the program that makes it again | [`Type::calling_sequence`](crate::Type::calling_sequence) |
//! | the same bytes in NumPy | [`Type::numpy_dtype`](crate::Type::numpy_dtype), [`numpy_dtype`] |
//!
//! A picture is a [`Diagram`], a model of rows and cells from which text and SVG are drawn. Only the drawn part of
//! a type is visited, so a picture of a billion elements takes milliseconds. Equal types have equal texts, on
//! every machine with the same basic datatypes; only the names of kernels can differ.
//!
//! ```
//! use dtype_runtime::show::{TextStyle, View};
//! use dtype_runtime::types::Order;
//! use dtype_runtime::{Basic, Type};
//! // The right column of a halo, and one with the stride of another array.
//! let right = Type::subarray(&[4, 12], &[4, 1], &[0, 11], Order::C, &Type::basic(Basic::F64))?;
//! let wrong = Type::hindexed_block(1, &[88], &Type::vector(4, 1, 11, &Type::basic(Basic::F64))?)?;
//! let view = View::default().with_unit(8).with_row(12 * 8);
//! let style =
//!     TextStyle::default().with_title(false).with_rulers(false).with_ranges(false).with_legend(0);
//! assert_eq!(
//!     right.diagram_of(&view).text(&style).to_string(),
//!     "\
//! □□□□□□□□□□□■
//! □□□□□□□□□□□■
//! □□□□□□□□□□□■
//! □□□□□□□□□□□■
//! "
//! );
//! assert_eq!(
//!     wrong.diagram_of(&view).text(&style).to_string(),
//!     "\
//! □□□□□□□□□□□■
//! □□□□□□□□□□■□
//! □□□□□□□□□■□□
//! □□□□□□□□■
//! "
//! );
//! # Ok::<(), dtype_runtime::Error>(())
//! ```

mod calls;
mod diagram;
mod explain;
mod fields;
mod numpy;
mod source;
mod svg;
mod table;
mod tables;
mod text;
mod tree;

pub use crate::representation::numpy::{NumpyLayout, NumpyOptions};
pub use calls::{CallingSequence, Language};
pub use diagram::{Bracket, BracketPart, Cell, Diagram, Line, Row, Sign, View};
pub use explain::{ExplainStyle, Explanation};
pub use fields::{DiagramField, MOST_FIELDS, Repeat};
pub use numpy::{NumpyDtype, NumpyError, numpy_dtype};
pub use svg::{SvgStyle, Theme};
pub use tables::DescriptionTable;
pub use text::{Text, TextStyle};
pub use tree::EnvelopeTree;

//! Layouts for people to look at, and types as what other programs read.
//!
//! | to see | use |
//! |---|---|
//! | where the data and the gaps are | [`Type::diagram_of`](crate::Type::diagram_of), or [`Diagram::of`] for the names of a struct's fields; [`Diagram::text`], [`Diagram::svg`] |
//! | what is executed | [`Committed::plan_in_words`](crate::Committed::plan_in_words) |
//! | a description, optimized or not | [`Description::table`](crate::types::Description::table) |
//! | which calls made a type | [`Type::envelope_tree`](crate::Type::envelope_tree) |
//! | the program that makes it again | [`Type::calling_sequence`](crate::Type::calling_sequence) |
//! | the same bytes in NumPy | [`Type::numpy_dtype`](crate::Type::numpy_dtype), [`numpy_dtype`] |
//!
//! A picture is a [`Diagram`], a model of rows and cells from which text and SVG are drawn. What is looked at of a type
//! is what is drawn of it, so that a type of a billion elements has its picture in milliseconds. The text of all of
//! these is the same for equal types, on every machine of the same basic datatypes, but for the names of kernels.
//!
//! ```
//! use dtype_runtime::show::{TextStyle, View};
//! use dtype_runtime::types::Order;
//! use dtype_runtime::{Basic, Type};
//! // The right column of a halo, and one with the stride of another array.
//! let right = Type::subarray(&[4, 12], &[4, 1], &[0, 11], Order::C, &Type::basic(Basic::F64))?;
//! let wrong = Type::hindexed_block(1, &[88], &Type::vector(4, 1, 11, &Type::basic(Basic::F64))?)?;
//! let view = View { unit: 8, row: Some(12 * 8), ..View::default() };
//! let style = TextStyle {
//!     title: false,
//!     rulers: false,
//!     ranges: false,
//!     legend: 0,
//!     ..TextStyle::default()
//! };
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
mod fields;
mod numpy;
mod source;
mod svg;
mod table;
mod tables;
mod text;
mod tree;
mod words;

pub use calls::{CallingSequence, Language};
pub use diagram::{Cell, Diagram, Line, Part, Range, Row, Sign, View};
pub use fields::{Field, Level, MOST_FIELDS};
pub use numpy::{NumpyDtype, NumpyError, NumpyLayout, NumpyOptions, numpy_dtype};
pub use svg::{SvgStyle, Theme};
pub use tables::DescriptionTable;
pub use text::{Text, TextStyle};
pub use tree::EnvelopeTree;
pub use words::{PlanInWords, Wording};

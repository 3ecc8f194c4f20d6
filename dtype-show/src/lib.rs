//! Layouts and types in human-readable forms, and in forms for other programs.
//!
//! | to see | use |
//! |---|---|
//! | the data and the gaps | [`Diagram::of_type`], or [`Diagram::of`] for a struct with its field names; [`Diagram::text`], [`Diagram::svg`] |
//! | a description, optimized or not | [`DescriptionTable`] |
//! | the calls that made a type | [`EnvelopeTree`] |
//! | the program that makes it again | [`CallingSequence`] |
//!
//! The engine itself explains what it executes: [`Committed::explain`](dtype_runtime::Committed::explain). The crate
//! `dtype-npy` has the dtype that reads the same bytes in NumPy.
//!
//! A picture is a [`Diagram`], a model of rows and cells from which text and SVG are drawn. Only the drawn part of
//! a type is visited, so a picture of a billion elements takes milliseconds. Equal types have equal texts, on
//! every machine with the same basic datatypes.
//!
//! ```
//! use dtype_show::{Diagram, TextStyle, View};
//! use dtype_runtime::types::Order;
//! use dtype_runtime::{Basic, Type};
//! // The right column of a halo, and one with the stride of another array.
//! let right = Type::subarray(&[4, 12], &[4, 1], &[0, 11], Order::C, &Type::basic(Basic::F64))?;
//! let wrong = Type::hindexed_block(1, &[88], &Type::vector(4, 1, 11, &Type::basic(Basic::F64))?)?;
//! let view = View::default().with_unit(8).with_row(12 * 8);
//! let style =
//!     TextStyle::default().with_title(false).with_rulers(false).with_ranges(false).with_legend(0);
//! assert_eq!(
//!     Diagram::of_type(&right, &view).text(&style).to_string(),
//!     "\
//! □□□□□□□□□□□■
//! □□□□□□□□□□□■
//! □□□□□□□□□□□■
//! □□□□□□□□□□□■
//! "
//! );
//! assert_eq!(
//!     Diagram::of_type(&wrong, &view).text(&style).to_string(),
//!     "\
//! □□□□□□□□□□□■
//! □□□□□□□□□□■□
//! □□□□□□□□□■□□
//! □□□□□□□□■
//! "
//! );
//! # Ok::<(), dtype_runtime::Error>(())
//! ```

#![forbid(unsafe_code)]

/// Defines a `with_` method for each field of a style. The text after a type is the field's unit.
macro_rules! setters {
    ($($setter:ident, $field:ident: $ty:ty $(, $unit:literal)?;)*) => {$(
        #[doc = concat!("Sets [`", stringify!($field), "`](Self::", stringify!($field), ")" $(, ", in ", $unit)?, ".")]
        #[must_use]
        pub const fn $setter(mut self, $field: $ty) -> Self {
            self.$field = $field;
            self
        }
    )*};
}

mod calls;
mod diagram;
mod fields;
mod svg;
mod table;
mod tables;
mod text;
mod tree;

pub use calls::{CallingSequence, Language};
pub use diagram::{Bracket, BracketPart, Cell, Diagram, Line, Others, Row, Sign, View};
pub use fields::{DiagramField, MAX_FIELDS, Repeat};
pub use svg::{SvgStyle, Theme};
pub use tables::DescriptionTable;
pub use text::{Text, TextStyle};
pub use tree::EnvelopeTree;

/// The README's code runs with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

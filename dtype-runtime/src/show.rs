//! Layouts for people to look at, and types as the programs that make them.

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

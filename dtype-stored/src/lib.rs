//! Converts fields that a file stores to fields of records, and back: the part that readers of NumPy's files, of HDF5, of Arrow
//! and of older messages share. [`ReadOptions`] says what they accept, [`Loaded`] what they return besides the records.
//!
//! A format implements [`Item`] for its own datatypes. [`Fit::new`] compares one with a Rust type, field by field and by name,
//! and the [`Fit`] turns items into checked records and records into items.
//!
//! | stored | Rust | |
//! |---|---|---|
//! | the same number, at any offset | the number | moved by the kernels |
//! | a string | [`FixedStr`](dtype_runtime::FixedStr) | a longer one is an error |
//! | an enumeration whose names have other numbers | an enum | by name |
//! | another integer or float, a time of another unit | the number, the time | with [`ReadOptions::with_number_conversion`], if the value is the same |
//! | a field that the type does not have | none | with [`ReadOptions::with_other_fields`]: left out |
//! | none | a field with `#[dtype(default)]` | with [`ReadOptions::with_defaults`]: the value of `Default` |
//!
//! A [`Budget`] limits what a reader takes for one input, whatever that input repeats.

#![forbid(unsafe_code)]

mod budget;
mod convert;
mod fit;
mod number;
mod records;
mod time;

use std::collections::BTreeMap;

use dtype_runtime::representation::ByteOrder;
use dtype_runtime::{Error, TypeMap};

pub use budget::{Budget, Exceeded};
pub use number::{Number, NumberKind, Numbers};
pub use records::{Fit, Scratch};
pub use time::{Period, Time};

/// A datatype of a format, which describes one stored item.
pub trait Item: Sized {
    /// The format's own error.
    type Error: From<Misfit>;

    /// The format's term for a structure, in messages: `"a structure"`.
    const STRUCTURE: &'static str;

    /// Bytes of an item.
    fn size(&self) -> u64;

    /// The lengths of all its axes, the outermost first, and the element that they repeat: the item itself if there are none.
    fn axes(&self) -> (Vec<u64>, &Self);

    /// The fields of a structure; `None` for any other item.
    fn fields(&self) -> Option<Vec<StoredField<'_, Self>>>;

    /// How the values are stored, if they are those of a leaf of a type map; `None` for other values.
    ///
    /// # Errors
    ///
    /// An error of the format, for a leaf that it never stores, or whose names differ.
    fn value(
        &self,
        leaf: &TypeMap,
        path: &str,
        access: Access,
    ) -> Result<Option<Value>, Self::Error>;

    /// How a text is stored; `None` if the item is not a text.
    fn text(&self) -> Option<Text>;

    /// The number, if the item is an integer or a float whose values may become those of a leaf.
    fn number(&self, leaf: &TypeMap) -> Option<Number>;

    /// The item's name in a message: `<f8`.
    fn describe(&self) -> String;

    /// The name that an item for a leaf should have, in a message.
    fn expected(leaf: &TypeMap) -> String;
}

/// A field of a stored structure.
#[derive(Clone, Copy, Debug)]
pub struct StoredField<'a, I> {
    /// The name.
    pub name: &'a str,
    /// Bytes from the start of the structure.
    pub offset: u64,
    /// The field's own datatype.
    pub item: &'a I,
}

/// The direction in which items are converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Items become records.
    Read,
    /// Records become items.
    Write,
}

/// How the values of a leaf are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Value {
    /// Their byte order; `None` for single bytes.
    pub order: Option<ByteOrder>,
    /// The number that each number becomes, zero-extended, if numbers have names on both sides and some numbers differ. Other
    /// numbers have no name.
    pub renumbered: Option<BTreeMap<u128, u128>>,
}

/// How a text is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// UTF-8 in a number of bytes.
    Bytes {
        /// The number of bytes.
        size: usize,
        /// The end of a shorter text.
        end: TextEnd,
    },
    /// Characters of four bytes each, and zeros after the last one.
    Characters {
        /// The number of characters.
        length: usize,
        /// The byte order.
        order: ByteOrder,
    },
    /// The text is in [`Scratch::texts`]. The item has the index of its first byte there, a `usize` of this machine. An index
    /// past the end stands for an empty text.
    Index,
}

/// The end of a text that is shorter than its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextEnd {
    /// Zeros up to the end of the place.
    Zeros,
    /// The first zero, which must exist.
    FirstZero,
    /// Blanks up to the end of the place.
    Blanks,
}

/// Options for reading: what is accepted besides exactly the fields of a type.
///
/// ```
/// use dtype_stored::ReadOptions;
/// let options = ReadOptions::strict().with_other_fields();
/// assert!(options.other_fields && !options.number_conversion);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is accepted by itself")]
pub struct ReadOptions {
    /// Whether fields that the type does not have are left out. Otherwise they are an error.
    pub other_fields: bool,
    /// Whether fields that the stored records lack have the value that `#[dtype(default)]` gives. Otherwise they are an error,
    /// as are fields without that attribute.
    pub defaults: bool,
    /// Whether other integers and floats become the numbers of the type, each of which must keep its value. Otherwise they are
    /// an error. [`with_number_conversion`](Self::with_number_conversion) has the table.
    pub number_conversion: bool,
    /// Whether items that a file keeps in other files are read. Otherwise they are an error. (Only HDF5 has such files.)
    pub other_files: bool,
}

impl ReadOptions {
    /// All fields, and exactly their formats.
    pub const fn strict() -> Self {
        Self { other_fields: false, defaults: false, number_conversion: false, other_files: false }
    }

    /// Gives fields that the stored records lack the value of `Default`, if they have `#[dtype(default)]`.
    #[must_use]
    pub const fn with_defaults(mut self) -> Self {
        self.defaults = true;
        self
    }

    /// Leaves out fields that the type does not have.
    #[must_use]
    pub const fn with_other_fields(mut self) -> Self {
        self.other_fields = true;
        self
    }

    /// Converts numbers, value by value. Each must keep its value, or it is an error:
    ///
    /// | stored | type | |
    /// |---|---|---|
    /// | an integer | an integer of any width | 200 becomes a `u8`, and neither 300 nor −1 does |
    /// | an integer | an enum, `bool`, `char` | the numbers that are values of the type |
    /// | a time of any unit | an integer | the number of units: the days of an `M8[D]` |
    /// | a time | a [`Timestamp`](dtype_runtime::Timestamp) of another unit | the same point in time: a day becomes 86400 seconds, and 1500 ms no seconds. NumPy's `NaT` stays the least number |
    /// | a span of time | a [`TimeSpan`](dtype_runtime::TimeSpan) of another unit | the same span; one of months or years has no number of seconds |
    /// | `f16`, `f32`, `f64` | `f16`, `f32`, `f64` | 0.5 becomes an `f32`, and 0.1 does not. Signs of zeros, infinities and NaNs are kept; the payload of a NaN may change |
    ///
    /// Integers do not become floats or times, nor floats integers. Truth values, complex numbers and texts are not converted.
    #[must_use]
    pub const fn with_number_conversion(mut self) -> Self {
        self.number_conversion = true;
        self
    }

    /// Reads items that the file keeps in other files: in HDF5, external storage, and the sources of a virtual dataset. Whoever
    /// made the file has chosen these files, which may be any that this program can open.
    #[must_use]
    pub const fn with_other_files(mut self) -> Self {
        self.other_files = true;
        self
    }
}

/// Records, and what the file has besides them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded<T> {
    /// The records.
    pub records: Vec<T>,
    /// The paths of the fields that were left out.
    pub left_out: Vec<String>,
}

/// Why a stored datatype does not fit a Rust type. Each variant names the field: a path such as `"header.flags"`, empty for the
/// item itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// The stored datatype lacks a field of the type.
    Missing {
        /// The path.
        field: String,
    },
    /// The stored datatype has a field that the type does not have, or repeats a name.
    Unknown {
        /// The path.
        field: String,
    },
    /// Another kind of value, or another width.
    Format {
        /// The path.
        field: String,
        /// The format that the type needs.
        expected: String,
        /// The stored format.
        actual: String,
    },
    /// Another shape.
    Shape {
        /// The path.
        field: String,
        /// The lengths of the type's array.
        expected: Vec<u64>,
        /// The lengths of the stored array.
        actual: Vec<u64>,
    },
    /// Values have both byte orders.
    MixedByteOrder {
        /// The path of the first field whose order differs from that of the fields before.
        field: String,
    },
    /// The datatype contradicts itself, or is larger than memory.
    Malformed {
        /// The path.
        field: String,
    },
}

/// Why an item cannot become a record, or a record cannot become an item.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// A value of an enumeration has no name.
    #[error("record {record}, field {field}: no name has the number {value:#x}")]
    Unnamed {
        /// The index of the record.
        record: usize,
        /// The path of the field, `"header.flags[2]"`; empty for the item itself.
        field: String,
        /// The number, zero-extended.
        value: u128,
    },
    /// The type, or the file, does not have this value: a text is too long, for example.
    #[error("{0}")]
    Record(Error),
}

impl From<Error> for ValueError {
    fn from(error: Error) -> Self {
        Self::Record(error)
    }
}

impl ValueError {
    /// The same error, for records that come after `records` others.
    #[must_use]
    pub fn records_later(self, records: usize) -> Self {
        match self {
            Self::Unnamed { record, field, value } => {
                Self::Unnamed { record: record.saturating_add(records), field, value }
            }
            Self::Record(error) => Self::Record(error.records_later(records)),
        }
    }
}

/// The path of a field: `header.flags`. The path of an item is empty.
pub fn joined(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        let mut all = path.to_owned();
        all.push('.');
        all.push_str(name);
        all
    }
}

/// The code in the README is compiled and run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
